package places_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// TestFeatures asks beside a single object what it is.
func TestFeatures(t *testing.T) {
	for name, c := range map[string]struct {
		tags       string
		area       bool
		categories []string
		want       string // category/type name; "" for no feature
	}{
		"named node": {tags: "amenity=cafe, name=Bean", want: "amenity/cafe Bean"},
		"no name":    {tags: "amenity=cafe", want: ""},
		"name alone": {tags: "name=Bean", want: ""},
		"bare address": {tags: "addr:housenumber=12, addr:street=Main Street",
			want: "place/house 12 Main Street"},
		"address without a street": {tags: "addr:housenumber=12", want: "place/house 12"},
		"address by place":         {tags: "addr:housenumber=12, addr:place=Moor", want: "place/house 12 Moor"},
		"building with an address": {tags: "addr:housenumber=12, addr:street=Main Street, building=garage", area: true,
			want: "building/garage 12 Main Street"},
		"building without": {tags: "building=yes", area: true, want: ""},
		"named building":   {tags: "building=church, name=St. Mark", area: true, want: "building/church St. Mark"},
		"shop with an address": {tags: "addr:housenumber=12, addr:street=Main Street, shop=bakery",
			want: "shop/bakery 12 Main Street"},
		"name before address": {tags: "addr:housenumber=12, addr:street=Main Street, shop=bakery, name=Bun",
			want: "shop/bakery Bun"},
		"named, other key, address": {tags: "addr:housenumber=1, addr:street=Main Street, healthcare=clinic, name=Heal",
			want: "place/house Heal"},
		"first key": {tags: "building=yes, historic=castle, name=Keep, tourism=museum", area: true,
			want: "tourism/museum Keep"},
		"key asked for": {tags: "building=yes, historic=castle, name=Keep, tourism=museum", area: true,
			categories: []string{"building"}, want: "building/yes Keep"},
		"value asked for": {tags: "building=yes, historic=castle, name=Keep, tourism=museum", area: true,
			categories: []string{"castle"}, want: "historic/castle Keep"},
		"first of several asked for": {tags: "building=yes, historic=castle, name=Keep, tourism=museum", area: true,
			categories: []string{"yes", "castle"}, want: "historic/castle Keep"},
		"every value": {tags: "amenity=bar; restaurant, name=Both", categories: []string{"restaurant"},
			want: "amenity/restaurant Both"},
		"every value, none asked for": {tags: "amenity=bar;restaurant, name=Both", want: "amenity/bar Both"},
		"case and space": {tags: "amenity=Fast_Food, name=Quick", categories: []string{"  fast_FOOD "},
			want: "amenity/Fast_Food Quick"},
		"key in capitals": {tags: "amenity=cafe, name=Bean", categories: []string{"AMENITY"},
			want: "amenity/cafe Bean"},
		"part of a value":             {tags: "amenity=fast_food, name=Quick", categories: []string{"fast"}, want: ""},
		"a term that nothing matches": {tags: "amenity=cafe, name=Bean", categories: []string{"nothing"}, want: ""},
		"alternatives": {tags: "amenity=cafe, name=Bean", categories: []string{"nothing", "cafe"},
			want: "amenity/cafe Bean"},
		"blank terms": {tags: "amenity=cafe, name=Bean", categories: []string{"", " "},
			want: "amenity/cafe Bean"},
		"place node": {tags: "place=hamlet, name=Elm", want: "place/hamlet Elm"},
		"place area": {tags: "place=hamlet, name=Elm, leisure=park", area: true,
			categories: []string{"hamlet"}, want: "place/hamlet Elm"},
		"boundary area asked for": {tags: "boundary=protected_area, leisure=park, name=Elm", area: true,
			categories: []string{"boundary"}, want: "boundary/protected_area Elm"},
		"boundary area by other key": {tags: "boundary=protected_area, leisure=park, name=Elm", area: true,
			categories: []string{"park"}, want: "leisure/park Elm"},
		"boundary area": {tags: "boundary=protected_area, leisure=park, name=Elm", area: true, want: ""},
		"boundary line": {tags: "boundary=fence, name=Line", want: "boundary/fence Line"},
		"river":         {tags: "waterway=river, name=Run", want: ""},
		"river asked for": {tags: "waterway=river, name=Run", categories: []string{"river"},
			want: "waterway/river Run"},
	} {
		t.Run(name, func(t *testing.T) {
			var w placestest.World
			if c.area {
				w.Area(7, c.tags, placestest.Square(0, 0, 1))
			} else {
				w.Node(7, placestest.At(0.1, 0), c.tags)
			}
			got := ""
			for _, p := range geocodingtest.Ask(t, geocodingtest.Build(t, w.Cover()), placestest.Kansas, 5, c.categories...) {
				got += p.Category + "/" + p.Type + " " + p.Name
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestManyValues: an object is no more things than anything is.
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
	}}
	if diff := cmp.Diff(want, got, placestest.Approximate); diff != "" {
		t.Error(diff)
	}
}

func TestInterpolatedHouses(t *testing.T) {
	var w placestest.World
	w.Interpolations = []placestest.Interpolation{{
		Tags: placestest.Tags("addr:city=Salina, addr:postcode=67401, addr:street=Elm Street"),
		Interpolation: objects.Interpolation{Way: 9, Line: placestest.Line(0, 0, 2, 0, 4, 0),
			Numbers: []int32{10, objects.NoNumber, 18}, Step: 2},
	}}
	x := geocodingtest.Build(t, w.Cover())
	// 12, 14 and 16 stand at a quarter, a half and three quarters; the ends are nodes of their own.
	got := geocodingtest.Ask(t, x, placestest.At(2.9, 0.1), 5)
	want := []geocoding.Place{{
		ID: "way:9", Name: "16 Elm Street", DisplayName: "16 Elm Street, Salina, United States", Category: "place",
		Type:     "house",
		Location: placestest.At(3, 0), Distance: 14.12,
		Address: geocoding.Address{HouseNumber: "16", Street: "Elm Street", City: "Salina", Postcode: "67401",
			Country: "United States", CountryCode: "USA"},
	}}
	if diff := cmp.Diff(want, got, placestest.Approximate); diff != "" {
		t.Error(diff)
	}
}
