package objects_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

func TestKeptTags(t *testing.T) {
	d := (&sketch{nodes: osmtest.Grid(), nodeTags: map[int64]string{
		7: "source=survey name:fr=Ville name=Town place=town addr:city=X population=5 tiger:cfcc=A41 place=village " +
			"is_in:state=DE ISO3166-2=US-DE note= wikipedia=en:Town highway= bridge=yes wikidata=Q1 old_name=Burgh alt_name=B " +
			"short_name=T official_name=City+of+Town loc_name=L int_name=I addr:housename=Hall",
	}}).read(t)
	want := placestest.TagsOf("ISO3166-2=US-DE, addr:city=X, addr:housename=Hall, alt_name=B, bridge=yes, int_name=I, " +
		"is_in:state=DE, loc_name=L, name=Town, name:fr=Ville, official_name=City of Town, old_name=Burgh, place=town, " +
		"population=5, short_name=T, wikidata=Q1")
	if diff := cmp.Diff(want, d.feature(region.KindNode, 7).Tags); diff != "" {
		t.Error(diff)
	}
}

func TestFeatures(t *testing.T) {
	s := sketch{
		nodes: osmtest.Grid(),
		nodeTags: map[int64]string{
			5: "name=Cafe amenity=cafe", 6: "amenity=bench", 7: "addr:housenumber=3 addr:street=Side+Street",
			8: "addr:housenumber=4",
			9: "addr:housenumber=5 addr:place=Hamlet",
		},
		ways: []sketchWay{
			{1, []int64{0, 1, 11, 10, 0}, "building=yes addr:housenumber=1"},
			{2, []int64{20, 21, 22}, "name=Brook waterway=stream"},
			{3, []int64{30, 31, 41, 40, 30}, "building=yes"},
		},
		relations: []sketchRelation{
			{1, "w1:house n7:house n8:address n9:house w2:street", "type=associatedStreet name=High+Street"},
			{2, "n8:house", "type=associatedStreet name=Low+Street"},
		},
	}
	d := s.read(t)
	want := []placestest.Feature{
		{Kind: region.KindNode, ID: 5, Geometry: orb.Point{0.05, 0}, Tags: placestest.TagsOf("amenity=cafe, name=Cafe")},
		{Kind: region.KindNode, ID: 7, Geometry: orb.Point{0.07, 0},
			Tags: placestest.TagsOf("addr:housenumber=3, addr:street=Side Street")},
		{Kind: region.KindNode, ID: 8, Geometry: orb.Point{0.08, 0},
			Tags: placestest.TagsOf("addr:housenumber=4, addr:street=High Street")},
		{Kind: region.KindNode, ID: 9, Geometry: orb.Point{0.09, 0},
			Tags: placestest.TagsOf("addr:housenumber=5, addr:place=Hamlet")},
		{Kind: region.KindWay, ID: 1, Geometry: orb.Polygon{{{0, 0}, {0.01, 0}, {0.01, 0.01}, {0, 0.01}, {0, 0}}},
			Tags: placestest.TagsOf("addr:housenumber=1, addr:street=High Street, building=yes")},
		{Kind: region.KindWay, ID: 2, Geometry: orb.LineString{{0, 0.02}, {0.01, 0.02}, {0.02, 0.02}},
			Tags: placestest.TagsOf("name=Brook, waterway=stream")},
	}
	if diff := cmp.Diff(want, d.Features); diff != "" {
		t.Error(diff)
	}
	if d.Counts != (objects.Counts{Features: 6, Addresses: 4}) {
		t.Errorf("counts: %+v", d.Counts)
	}
}

func TestInterpolations(t *testing.T) {
	s := sketch{
		nodes: osmtest.Grid(),
		nodeTags: map[int64]string{
			0: "addr:housenumber=2 addr:street=Elm+Street addr:city=Town", 3: "addr:housenumber=18b addr:postcode=19901",
			10: "addr:housenumber=A", 13: "addr:housenumber=F", 20: "addr:housenumber=1", 23: "building=yes",
		},
		ways: []sketchWay{
			{1, []int64{0, 1, 2, 3}, "addr:interpolation=even"},
			{2, []int64{0, 3}, "addr:interpolation=alphabetic"},
			{3, []int64{10, 13}, "addr:interpolation=all"},
			{4, []int64{20, 23}, "addr:interpolation=all"},
			{5, []int64{3, 999, 0}, "addr:interpolation=4 addr:street=Oak+Street"},
			{6, []int64{0, 3}, "addr:interpolation=0"},
		},
	}
	d := s.read(t)
	want := []placestest.Interpolation{
		{Tags: placestest.TagsOf("addr:city=Town, addr:postcode=19901, addr:street=Elm Street"),
			Interpolation: objects.Interpolation{
				Way: 1, Line: orb.LineString{{0, 0}, {0.01, 0}, {0.02, 0}, {0.03, 0}}, Nodes: []int64{0, 1, 2, 3},
				Numbers: []int32{2, objects.NoNumber, objects.NoNumber, 18}, Step: 2, Parity: objects.Even}},
		{Tags: placestest.TagsOf("addr:city=Town, addr:postcode=19901, addr:street=Oak Street"),
			Interpolation: objects.Interpolation{
				Way: 5, Line: orb.LineString{{0.03, 0}, {0, 0}}, Nodes: []int64{3, 0}, Numbers: []int32{18, 2}, Step: 4}},
	}
	if diff := cmp.Diff(want, d.Interpolations); diff != "" {
		t.Error(diff)
	}
}

// TestStreetRelations: a relation without a name is that of its street.
func TestStreetRelations(t *testing.T) {
	for name, c := range map[string]struct{ members, tags, want string }{
		"its name":                   {"n5:house w2:street", "type=associatedStreet name=High+Street", "High Street"},
		"addr:street":                {"n5:house w2:street", "type=associatedStreet addr:street=Low+Street", "Low Street"},
		"of its street":              {"n5:house w2:street", "type=associatedStreet", "Brook Lane"},
		"of its first with a name":   {"w3:street w2:street n5:house", "type=street", "Brook Lane"},
		"a house without a role":     {"n5 w2:street", "type=associatedStreet", "Brook Lane"},
		"a street that is not there": {"n5:house w99:street", "type=associatedStreet", ""},
		"another role":               {"n5:outline w2:street", "type=associatedStreet", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := sketch{
				nodes: osmtest.Grid(), nodeTags: map[int64]string{5: "addr:housenumber=8"},
				ways: []sketchWay{
					{2, []int64{20, 21}, "name=Brook+Lane highway=residential"}, {3, []int64{21, 22}, "highway=residential"},
				},
				relations: []sketchRelation{{1, c.members, c.tags}},
			}
			if got := s.read(t).feature(region.KindNode, 5).Tags.Get("addr:street"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestInterpolationAddresses: what the way, a relation, or one of the houses at its ends says counts for the others.
func TestInterpolationAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		way, first, last string
		relation         string // its members
		want             string // street, place and city of the line
		ends             [2]string
	}{
		"the way's": {"addr:street=Elm addr:city=Town", "", "", "", "Elm  Town",
			[2]string{"Elm  Town", "Elm  Town"}},
		"a place":              {"addr:place=Moor", "", "", "", " Moor ", [2]string{" Moor ", " Moor "}},
		"an end of another":    {"addr:street=Elm", "addr:street=Oak", "", "", "Elm  ", [2]string{"Oak  ", "Elm  "}},
		"a street, not places": {"addr:street=Elm", "addr:place=Moor", "", "", "Elm  ", [2]string{" Moor ", "Elm  "}},
		"one end's":            {"", "addr:street=Oak", "", "", "Oak  ", [2]string{"Oak  ", "Oak  "}},
		"ends that disagree": {"", "addr:street=Oak addr:city=Town", "addr:street=Elm", "", "  Town",
			[2]string{"Oak  Town", "Elm  Town"}},
		"a relation's": {"", "", "", "w1:house", "High  ", [2]string{"High  ", "High  "}},
	} {
		t.Run(name, func(t *testing.T) {
			s := sketch{
				nodes:     osmtest.Grid(),
				nodeTags:  map[int64]string{0: "addr:housenumber=0 " + c.first, 3: "addr:housenumber=8 " + c.last},
				ways:      []sketchWay{{1, []int64{0, 1, 2, 3}, "addr:interpolation=even " + c.way}},
				relations: []sketchRelation{{1, c.relation, "type=associatedStreet name=High"}},
			}
			d := s.read(t)
			if len(d.Interpolations) != 1 {
				t.Fatalf("%+v", d.Interpolations)
			}
			address := func(t placestest.FeatureTags) string {
				return t.Get("addr:street") + " " + t.Get("addr:place") + " " + t.Get("addr:city")
			}
			if got := address(d.Interpolations[0].Tags); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			for i, node := range []int64{0, 3} {
				if got := address(d.feature(region.KindNode, node).Tags); got != c.ends[i] {
					t.Errorf("end %d: %q, want %q", i, got, c.ends[i])
				}
			}
		})
	}
}

func TestEntrances(t *testing.T) {
	for name, c := range map[string]struct {
		tags map[int64]string
		want []orb.Point
	}{
		"none":          {nil, nil},
		"all":           {map[int64]string{1: "entrance=yes", 10: "entrance=staircase"}, []orb.Point{{0.01, 0}, {0, 0.01}}},
		"the main one":  {map[int64]string{1: "entrance=yes", 10: "entrance=main"}, []orb.Point{{0, 0.01}}},
		"no way in":     {map[int64]string{1: "entrance=emergency", 10: "entrance=garage", 11: "entrance=no"}, nil},
		"of the ring's": {map[int64]string{0: "entrance=yes", 55: "entrance=main"}, []orb.Point{{0, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := sketch{
				nodes: osmtest.Grid(), nodeTags: c.tags,
				ways: []sketchWay{
					{1, []int64{0, 1, 11, 10, 0}, "building=yes addr:housenumber=1"}, {2, []int64{0, 1, 11, 10, 0}, "note=outline"},
				},
				relations: []sketchRelation{{3, "w2:outer", "type=multipolygon building=yes addr:housenumber=1"}},
			}
			d := s.read(t)
			for _, f := range []*placestest.Feature{d.feature(region.KindWay, 1), d.feature(region.KindRelation, 3)} {
				if diff := cmp.Diff(c.want, f.Entrances); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestDelaware: a real extract. What is kept depends on it alone, down to the numbers of texts.
func TestDelaware(t *testing.T) {
	path := testkit.Extract(t, testkit.Delaware)
	d := read(t, path)
	checkData(t, d)
	if d.Counts != (objects.Counts{Features: 36576, Addresses: 1396}) {
		t.Errorf("counts: %+v", d.Counts)
	}
	again := read(t, path)
	if !reflect.DeepEqual(d.records, again.records) {
		t.Error("read again, it is another one")
	}
}
