package objects_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

func newData(t testing.TB) *objects.Data {
	t.Helper()
	d, err := objects.NewData(osmtest.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// describe describes features and interpolations, a line each: where they are by the nodes of a sketch's grid, and their
// tags.
func describe(d *objects.Data) (all []string) {
	nodes := func(line []orb.Point) string {
		var names []string
		for _, p := range line {
			names = append(names, osmtest.NodeOf(osm.CoordOf(p)))
		}
		return strings.Join(names, " ")
	}
	text := func(tags placestest.FeatureTags) string {
		var list []string
		for _, t := range tags {
			list = append(list, t.Key+"="+strings.ReplaceAll(t.Value, " ", "+"))
		}
		return strings.Join(list, " ")
	}
	for f := range placestest.All(d) {
		where := ""
		switch g := f.Geometry.(type) {
		case orb.Point:
			where = nodes([]orb.Point{g})
		case orb.LineString:
			where = nodes(g)
		case orb.Polygon:
			where = rings(orb.MultiPolygon{g})
		case orb.MultiPolygon:
			where = rings(g)
		}
		if len(f.Entrances) > 0 {
			where += " [entrances " + nodes(f.Entrances) + "]"
		}
		all = append(all, fmt.Sprintf("%c%d %s %s", "nwr"[f.Kind], f.ID, where, text(f.Tags)))
	}
	for line := range placestest.Interpolations(d) {
		all = append(all, fmt.Sprintf("w%d %s [numbers %v, parity %d, step %d] %s", line.Way, nodes(line.Line), line.Numbers, line.Parity, line.Step, text(line.Tags)))
	}
	return all
}

func rings(mp orb.MultiPolygon) string {
	var polygons []osm.Polygon
	for _, polygon := range mp {
		var rings osm.Polygon
		for _, r := range polygon {
			var ring osm.Ring
			for _, p := range r {
				ring = append(ring, osm.CoordOf(p))
			}
			rings = append(rings, ring)
		}
		polygons = append(polygons, rings)
	}
	return osmtest.Rings(polygons)
}

// TestCollected: which objects become features and interpolations, with which tags, shapes and entrances.
func TestCollected(t *testing.T) {
	t.Parallel()
	const house = "w1 0 1 11 10 0 building=yes addr:housenumber=1"
	const lake, old = "name=Lake natural=water", " type=multipolygon"
	// A house, node 5, beside a street with and one without a name.
	const street = "n5 addr:housenumber=8 / w2 20 21 highway=residential name=Brook+Lane / w3 21 22 highway=residential / r1 "
	const onStreet = "n5 5 addr:housenumber=8 addr:street=%s / w2 20 21 highway=residential name=Brook+Lane"
	for name, c := range map[string]struct{ sketch, want string }{
		"kept tags": {"n7 source=survey name:fr=Ville name=Town place=town addr:city=X population=5 tiger:cfcc=A41 place=village " +
			"is_in:state=DE ISO3166-2=US-DE note= wikipedia=en:Town highway= bridge=yes wikidata=Q1 old_name=Burgh alt_name=B " +
			"short_name=T official_name=City+of+Town loc_name=L int_name=I addr:housename=Hall",
			"n7 7 ISO3166-2=US-DE addr:city=X addr:housename=Hall alt_name=B bridge=yes int_name=I is_in:state=DE loc_name=L name=Town " +
				"name:fr=Ville official_name=City+of+Town old_name=Burgh place=town population=5 short_name=T wikidata=Q1"},
		"features": {"n5 name=Cafe amenity=cafe / n6 amenity=bench / n7 name=Something source=survey / n8 addr:conscriptionnumber=1415 / n9 addr:streetnumber=7 / " +
			"n10 addr:housename=Villa / n11 name= amenity=cafe / w2 20 21 22 name=Brook waterway=stream / w3 30 31 41 40 30 building=yes postal_code=19901",
			"n5 5 amenity=cafe name=Cafe / n8 8 addr:conscriptionnumber=1415 / n9 9 addr:streetnumber=7 / n10 10 addr:housename=Villa / w2 20 21 22 name=Brook waterway=stream"},
		"boundaries": {"w1 0 1 11 10 0 boundary=postal_code postal_code=19901 / w2 0 1 11 0 boundary=administrative ISO3166-1=AD / w3 0 1 11 0 boundary=administrative admin_level=8",
			"w1 (0 1 11 10) boundary=postal_code postal_code=19901 / w2 (0 1 11) ISO3166-1=AD boundary=administrative"},

		"the longest part of a line": {"w1 0 1 999 2 3 4 name=Gap waterway=river", "w1 2 3 4 name=Gap waterway=river"},
		"an area with a gap":         {"w1 0 1 999 10 0 name=Corner leisure=park", ""},
		"an area of no width":        {"w1 0 1 0 name=Flat leisure=park", "w1 0 1 0 leisure=park name=Flat"},
		"the old style, one way":     {"w1 0 3 33 30 0 " + lake + " / w2 11 12 22 21 11 / r7 w1:outer w2:inner source=survey" + old, "w1 (0 3 33 30) (11 21 22 12) " + lake},
		"the old style, two ways":    {"w1 0 3 33 water=lake " + lake + " / w2 33 30 0 " + lake + " / r7 w1:outer w2:outer" + old, "r7 (0 3 33 30) " + lake},
		"the old style, a name": {"w1 0 3 33 30 0 natural=water / w2 55 56 66 65 55 natural=water / r7 w1:outer w2:outer name=Twins" + old,
			"r7 (0 3 33 30) + (55 56 66 65) name=Twins natural=water"},
		"the old style, streets": {"w1 0 3 33 name=North highway=residential / w2 33 30 0 name=South highway=residential / r7 w1:outer w2:outer" + old,
			"w1 0 3 33 highway=residential name=North / w2 33 30 0 highway=residential name=South"},

		"no entrance":        {house, "w1 (0 1 11 10) addr:housenumber=1 building=yes"},
		"all entrances":      {"n1 entrance=yes / n10 entrance=staircase / " + house, "w1 (0 1 11 10) [entrances 1 10] addr:housenumber=1 building=yes"},
		"the main entrance":  {"n1 entrance=yes / n10 entrance=main / " + house, "w1 (0 1 11 10) [entrances 10] addr:housenumber=1 building=yes"},
		"entrances for cars": {"n1 entrance=emergency / n10 entrance=garage / n11 entrance=no / " + house, "w1 (0 1 11 10) addr:housenumber=1 building=yes"},
		"of a multipolygon": {"n0 entrance=yes / n55 entrance=main / w2 0 1 11 10 0 / r3 w2:outer building=yes addr:housenumber=1" + old,
			"r3 (0 1 11 10) [entrances 0] addr:housenumber=1 building=yes"},

		"a street relation's name":     {street + "n5:house w2:street type=associatedStreet name=High+Street", fmt.Sprintf(onStreet, "High+Street")},
		"its addr:street":              {street + "n5:address w2:street type=associatedStreet addr:street=Low+Street", fmt.Sprintf(onStreet, "Low+Street")},
		"its street's name":            {street + "n5 w2:street type=associatedStreet", fmt.Sprintf(onStreet, "Brook+Lane")},
		"its first street with a name": {street + "w3:street w2:street n5:house type=street", fmt.Sprintf(onStreet, "Brook+Lane")},
		"the first of two relations":   {street + "n5:house type=street name=B / r2 n5:house type=street name=A", fmt.Sprintf(onStreet, "A")},
		"a street that is not there":   {street + "n5:house w99:street type=associatedStreet", strings.Replace(onStreet, " addr:street=%s", "", 1)},
		"another role":                 {street + "n5:outline w2:street type=associatedStreet", strings.Replace(onStreet, " addr:street=%s", "", 1)},
		"a house that says its street": {"n5 addr:housenumber=8 addr:street=Own / r1 n5:house type=associatedStreet name=High", "n5 5 addr:housenumber=8 addr:street=Own"},
		"a house that says its hamlet": {"n5 addr:housenumber=8 addr:place=Moor / r1 n5:house type=associatedStreet name=High", "n5 5 addr:housenumber=8 addr:place=Moor"},

		"interpolations that are none": {"n0 addr:housenumber=2 / n3 addr:housenumber=8 / n10 addr:housenumber=A / n13 addr:housenumber=F / w2 0 3 addr:interpolation=alphabetic / " +
			"w3 10 13 addr:interpolation=all / w4 0 13 addr:interpolation=all / w6 0 3 addr:interpolation=0 / w7 0 3 addr:interpolation=101",
			"n0 0 addr:housenumber=2 / n3 3 addr:housenumber=8 / n10 10 addr:housenumber=A / n13 13 addr:housenumber=F"},
		"an interpolation": {"n0 addr:housenumber=2 addr:city=Town / n3 addr:housenumber=18b / w1 0 1 3 addr:interpolation=even addr:street=Elm",
			"n0 0 addr:city=Town addr:housenumber=2 addr:street=Elm / n3 3 addr:city=Town addr:housenumber=18b addr:street=Elm / " +
				"w1 0 1 3 [numbers [2 -1 18], parity 2, step 2] addr:city=Town addr:street=Elm"},
		"an interpolation with a gap": {"n0 addr:housenumber=2 / n3 addr:housenumber=18 / w1 3 999 0 addr:interpolation=4 addr:place=Moor",
			"n0 0 addr:housenumber=2 addr:place=Moor / n3 3 addr:housenumber=18 addr:place=Moor / w1 3 0 [numbers [18 2], parity 0, step 4] addr:place=Moor"},
		"ends that disagree": {"n0 addr:housenumber=0 addr:street=Oak addr:city=Town / n3 addr:housenumber=8 addr:street=Elm / w1 0 3 addr:interpolation=all",
			"n0 0 addr:city=Town addr:housenumber=0 addr:street=Oak / n3 3 addr:city=Town addr:housenumber=8 addr:street=Elm / " +
				"w1 0 3 [numbers [0 8], parity 0, step 1] addr:city=Town"},
		"an end of another place": {"n0 addr:housenumber=1 addr:place=Moor / n3 addr:housenumber=7 / w1 0 3 addr:interpolation=odd addr:street=Elm",
			"n0 0 addr:housenumber=1 addr:place=Moor / n3 3 addr:housenumber=7 addr:street=Elm / w1 0 3 [numbers [1 7], parity 1, step 2] addr:street=Elm"},
		"an interpolation in a street relation": {"n0 addr:housenumber=1 / n3 addr:housenumber=7 / w1 0 3 addr:interpolation=odd / r1 w1:house type=associatedStreet name=High",
			"n0 0 addr:housenumber=1 addr:street=High / n3 3 addr:housenumber=7 addr:street=High / w1 0 3 [numbers [1 7], parity 1, step 2] addr:street=High"},
	} {
		d := newData(t)
		osmtest.Sketch(c.sketch).Read(t, d)
		if diff := cmp.Diff(c.want, strings.Join(describe(d), " / ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestDelaware: what is kept of a real extract depends on it only, down to the numbers of texts.
func TestDelaware(t *testing.T) {
	t.Parallel()
	var read [2][]objects.Feature
	for i := range read {
		d := newData(t)
		osmtest.Read(t, []string{testkit.Extract(t, testkit.Delaware)}, d)
		if d.Counts != (objects.Counts{Features: 36576, Addresses: 1396}) {
			t.Errorf("counts: %+v", d.Counts)
		}
		for _, f := range d.Features.All {
			one := *f
			one.Tags, one.Entrances = slices.Clone(f.Tags), slices.Clone(f.Entrances)
			read[i] = append(read[i], one)
		}
	}
	if !reflect.DeepEqual(read[0], read[1]) {
		t.Error("reading again gives other features")
	}
}
