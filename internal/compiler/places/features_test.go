package places_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// TestFeatures asks beside a single object what it is.
func TestFeatures(t *testing.T) {
	t.Parallel()
	const castle = "building=yes, historic=castle, name=Keep, tourism=museum"
	for _, c := range []struct {
		object, tags, categories string // of a node or an area; categories are separated by |
		want                     string // category/type name; "" for no feature
	}{
		{"n7 0.1 0", "amenity=cafe, name=Bean", "", "amenity/cafe Bean"},
		{"n7 0.1 0", "amenity=cafe", "", ""},
		{"n7 0.1 0", "name=Bean", "", ""},
		{"n7 0.1 0", "addr:housenumber=12, addr:street=Main Street", "", "place/house 12 Main Street"},
		{"n7 0.1 0", "addr:housenumber=12", "", "place/house 12"},
		{"n7 0.1 0", "addr:housenumber=12, addr:place=Moor", "", "place/house 12 Moor"},
		{"a7 0 0 1", "addr:housenumber=12, addr:street=Main Street, building=garage", "", "building/garage 12 Main Street"},
		{"a7 0 0 1", "building=yes", "", ""},
		{"a7 0 0 1", "building=church, name=St. Mark", "", "building/church St. Mark"},
		{"n7 0.1 0", "addr:housenumber=12, addr:street=Main Street, shop=bakery", "", "shop/bakery 12 Main Street"},
		{"n7 0.1 0", "addr:housenumber=12, addr:street=Main Street, shop=bakery, name=Bun", "", "shop/bakery Bun"},
		{"n7 0.1 0", "addr:housenumber=1, addr:street=Main Street, healthcare=clinic, name=Heal", "", "place/house Heal"},
		{"a7 0 0 1", castle, "", "tourism/museum Keep"},
		{"a7 0 0 1", castle, "building", "building/yes Keep"},
		{"a7 0 0 1", castle, "castle", "historic/castle Keep"},
		{"a7 0 0 1", castle, "yes|castle", "historic/castle Keep"},
		{"n7 0.1 0", "amenity=bar; restaurant, name=Both", "restaurant", "amenity/restaurant Both"},
		{"n7 0.1 0", "amenity=bar;restaurant, name=Both", "", "amenity/bar Both"},
		{"n7 0.1 0", "amenity=Fast_Food, name=Quick", "  fast_FOOD ", "amenity/Fast_Food Quick"},
		{"n7 0.1 0", "amenity=cafe, name=Bean", "AMENITY", "amenity/cafe Bean"},
		{"n7 0.1 0", "amenity=fast_food, name=Quick", "fast", ""},
		{"n7 0.1 0", "amenity=cafe, name=Bean", "nothing", ""},
		{"n7 0.1 0", "amenity=cafe, name=Bean", "nothing|cafe", "amenity/cafe Bean"},
		{"n7 0.1 0", "amenity=cafe, name=Bean", "| ", "amenity/cafe Bean"},
		{"n7 0.1 0", "place=hamlet, name=Elm", "", "place/hamlet Elm"},
		{"a7 0 0 1", "place=hamlet, name=Elm, leisure=park", "hamlet", "place/hamlet Elm"},
		{"a7 0 0 1", "boundary=protected_area, leisure=park, name=Elm", "boundary", "boundary/protected_area Elm"},
		{"a7 0 0 1", "boundary=protected_area, leisure=park, name=Elm", "park", "leisure/park Elm"},
		{"a7 0 0 1", "boundary=protected_area, leisure=park, name=Elm", "", ""},
		{"n7 0.1 0", "boundary=fence, name=Line", "", "boundary/fence Line"},
		{"n7 0.1 0", "waterway=river, name=Run", "", ""},
		{"n7 0.1 0", "waterway=river, name=Run", "river", "waterway/river Run"},
	} {
		var categories []string
		if c.categories != "" {
			categories = strings.Split(c.categories, "|")
		}
		got := ""
		x := geocodingtest.Build(t, new(placestest.World).Draw(c.object+" "+c.tags).Cover())
		for _, p := range geocodingtest.Ask(t, x, placestest.Kansas, 5, categories...) {
			got += p.Category + "/" + p.Type + " " + p.Name
		}
		if got != c.want {
			t.Errorf("%s, asked for %q: %q, want %q", c.tags, c.categories, got, c.want)
		}
	}
}

// TestManyValues: an object is found by its first values.
func TestManyValues(t *testing.T) {
	var w placestest.World
	var values []string
	for i := range 1000 {
		values = append(values, strconv.Itoa(i))
	}
	w.Node(7, placestest.At(0.1, 0), "amenity="+strings.Join(values, ";")+", name=Bean")
	x := geocodingtest.Build(t, w.Cover())
	for i, want := range map[int]int{0: 1, placefile.MaxKinds - 1: 1, placefile.MaxKinds: 0} {
		if got := geocodingtest.Ask(t, x, placestest.Kansas, 5, values[i]); len(got) != want {
			t.Errorf("value %d: %d results, want %d", i, len(got), want)
		}
	}
}

// TestPlaceOfAllFields compares a whole answer.
func TestPlaceOfAllFields(t *testing.T) {
	var w placestest.World
	w.Node(42, placestest.At(0, 1),
		"addr:city=Salina, addr:housenumber=5, addr:postcode=67401, addr:state=KS, addr:street=Elm Street, "+
			"addr:suburb=North, amenity=cafe, name=Bean")
	got := geocodingtest.Ask(t, geocodingtest.Build(t, w.Cover()), placestest.Kansas, 1)
	want := []geocoding.Place{{
		ID: "node:42", Name: "Bean", DisplayName: "Bean, North, Salina, KS, United States", Category: "amenity", Type: "cafe",
		Location: orb.Point{-98.5, 38.501}, Distance: 111.2,
		Address: geocoding.Address{HouseNumber: "5", Street: "Elm Street", Suburb: "North", City: "Salina", State: "KS",
			Postcode: "67401",
			Country:  "United States", CountryCode: "USA"},
		Bound: orb.Bound{Min: orb.Point{-98.5, 38.501}, Max: orb.Point{-98.5, 38.501}},
	}}
	if diff := cmp.Diff(want, got, placestest.Approximate); diff != "" {
		t.Error(diff)
	}
}

// TestStreetInLanguages: a street's name is in the requested language, and its address as it is on the ground.
func TestStreetInLanguages(t *testing.T) {
	w := new(placestest.World).Draw("w1 -1 0 1 0 highway=residential, name=Rue du Lac, name:en=Lake Street")
	r, err := geocodingtest.Build(t, w.Cover()).Reverse(t.Context(), &geocoding.Request{Point: placestest.Kansas, Size: 1, Languages: []string{"en"}})
	if err != nil || r.Places[0].Name != "Lake Street" || r.Places[0].Address.Street != "Rue du Lac" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestFarApart: objects are found that lie anywhere on the Earth, with any id, between long lines. What a block says of
// them takes all of its bits.
func TestFarApart(t *testing.T) {
	t.Parallel()
	w := new(placestest.World)
	var line orb.LineString
	for i := range 100_000 {
		line = append(line, orb.Point{float64(i%359) - 179.0000001, float64(i%170)/2 - 60.0000003})
	}
	want := map[int64]orb.Point{-7: {180, -90}, 0: {-180, -90}, 1<<58 + 1: {-180, 90}, 1: {0, 0}}
	for i := range int64(placefile.Fanout - len(want) - 3) {
		want[i+2] = orb.Point{float64(i) * 1.2345671, 89.1234567}
	}
	for id, at := range want {
		w.Node(id, at, "amenity=cafe, name=Bean")
	}
	for id := range int64(3) {
		w.Way(1<<57+id, line, "name=Run, waterway=river")
	}
	x := geocodingtest.Build(t, w.Cover())
	for id, at := range want {
		got := geocodingtest.Ask(t, x, at, 5, "cafe")
		if !slices.ContainsFunc(got, func(p geocoding.Place) bool { return p.ID == geocodingtest.ID(region.KindNode, id) && p.Distance < 0.1 }) {
			t.Errorf("node %d at %v: %+v", id, at, got)
		}
	}
	if got := geocodingtest.Ask(t, x, line[0], 5, "river"); len(got) != 3 || got[2].Distance > 0.1 {
		t.Errorf("the lines: %+v", got)
	}
}

// TestSize: what many features have in common is there once.
func TestSize(t *testing.T) {
	t.Parallel()
	const n = 3200
	long := strings.Repeat("x", 4000)
	w := new(placestest.World)
	for i := range n {
		w.Node(int64(i), placestest.At(float64(i)*1e-4, 0), strings.ReplaceAll(
			fmt.Sprint("addr:housenumber=x, addr:street=x, amenity=x, name=x, name:de=x, addr:city=", i%10), "=x", "="+long))
	}
	path := filepath.Join(t.TempDir(), "test.region")
	geocodingtest.Write(t, path, w)
	if info, err := os.Stat(path); err != nil || info.Size() > n*40 {
		t.Errorf("%d bytes each, %v", info.Size()/n, err)
	}
}
