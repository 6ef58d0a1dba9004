package geocoding_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

func cafe(id int64, geometry orb.Geometry) geocoding.Found {
	return geocoding.Found{Kind: region.KindNode, ID: id, Name: "Bean", Category: "amenity", Type: "cafe",
		Geometry: geometry, Address: geocoding.Address{
			HouseNumber: "5", Street: "Elm Street", Suburb: "North", City: "Salina", State: "Kansas", Postcode: "67401",
			Country: "United States", CountryCode: "us"}}
}

// What another geocoder found is told as a region tells it.
func TestRemoteAnswerIsTheSame(t *testing.T) {
	var w placestest.World
	w.Node(42, placestest.At(0, 1),
		"addr:city=Salina, addr:housenumber=5, addr:postcode=67401, addr:state=Kansas, "+
			"addr:street=Elm Street, addr:suburb=North, amenity=cafe, name=Bean")
	w.Add(1, 7, placestest.Line(-5, 1, 5, 1), "highway=residential, name=Elm Street, addr:city=Salina, addr:state=Kansas")
	w.Area(8, "leisure=park, name=Park, addr:city=Salina, addr:state=Kansas", placestest.Square(0, 0, 0.5))
	want := geocodingtest.Ask(t, geocodingtest.Build(t, w.Cover()), placestest.Kansas, 5)
	if len(want) != 3 {
		t.Fatalf("%+v", want)
	}
	in := geocoding.Address{City: "Salina", State: "Kansas", CountryCode: "US"}
	park := in
	park.Street, park.Postcode = "Elm Street", "67401"
	req := geocoding.Request{Point: placestest.Kansas, Size: 5, MaxDistance: 1000}
	got := req.Answer([]geocoding.Found{
		{Kind: region.KindWay, ID: 7, Name: "Elm Street", Category: "highway", Type: "residential", Geometry: placestest.Line(-5, 1, 5, 1), Address: in},
		cafe(42, placestest.At(0, 1)),
		{Kind: region.KindWay, ID: 8, Name: "Park", Category: "leisure", Type: "park",
			Geometry: orb.Polygon{placestest.Square(0, 0, 0.5)}, Address: park},
	})
	if diff := cmp.Diff(want, got.Places, placestest.Approximate); diff != "" {
		t.Errorf("(-region +other):\n%s", diff)
	}
}

func TestRemoteAnswer(t *testing.T) {
	way := func(category, kind string, g orb.Geometry) geocoding.Found {
		return geocoding.Found{Kind: region.KindWay, ID: 1, Name: "Elm", Category: category, Type: kind, Geometry: g}
	}
	area := orb.Polygon{placestest.Square(0, 0, 1)}
	park := way("leisure", "park", area)
	park.Tags = map[string]string{"building": "yes", "wikidata": "cafe", "historic": "castle;Keep"}
	protected := way("leisure", "park", area)
	protected.Tags = map[string]string{"boundary": "protected_area"}
	house := geocoding.Found{Kind: region.KindWay, ID: 1, Category: "place", Type: "house", Geometry: placestest.Kansas,
		Address: geocoding.Address{HouseNumber: "12", Street: "Moor"}}
	named := house
	named.Name = "Elm"
	bare := house
	bare.Address.Street = ""
	nameless := way("amenity", "bench", placestest.Kansas)
	nameless.Name = ""
	for name, c := range map[string]struct {
		found      geocoding.Found
		categories []string
		want       string // category/type name metres
	}{
		"point":                     {cafe(1, placestest.At(0, 1)), nil, "amenity/cafe Bean 111.2"},
		"too far":                   {cafe(1, placestest.At(0, 10)), nil, ""},
		"key":                       {cafe(1, placestest.Kansas), []string{"shop", " AMENITY "}, "amenity/cafe Bean 0"},
		"value":                     {cafe(1, placestest.Kansas), []string{"Cafe"}, "amenity/cafe Bean 0"},
		"another category":          {cafe(1, placestest.Kansas), []string{"bar", "shop"}, ""},
		"blank terms":               {cafe(1, placestest.Kansas), []string{"", " "}, "amenity/cafe Bean 0"},
		"further tag":               {park, []string{"yes"}, "building/yes Elm 0"},
		"further tag, one of many":  {park, []string{"keep"}, "historic/Keep Elm 0"},
		"tag that says nothing":     {park, []string{"cafe"}, ""},
		"house":                     {house, nil, "place/house 12 Moor 0"},
		"named house":               {named, nil, "place/house Elm 0"},
		"house without a street":    {bare, nil, "place/house 12 0"},
		"nameless":                  {nameless, nil, ""},
		"nameless, asked for":       {nameless, []string{"bench"}, ""},
		"boundary area":             {way("boundary", "administrative", area), nil, ""},
		"boundary area, asked for":  {way("boundary", "administrative", area), []string{"boundary"}, "boundary/administrative Elm 0"},
		"boundary by a further tag": {protected, nil, ""},
		"place of unknown extent":   {way("place", "hamlet", placestest.Kansas), nil, ""},
		"boundary line":             {way("boundary", "fence", placestest.Line(0, 1, 1, 1)), nil, "boundary/fence Elm 111.2"},
		"several lines": {way("waterway", "river", orb.MultiLineString{placestest.Line(0, 4, 1, 4),
			placestest.Line(0, 1, 1, 1)}), nil, "waterway/river Elm 111.2"},
		"several points": {way("natural", "tree", orb.MultiPoint{placestest.At(0, 4), placestest.At(0, 1)}), nil, "natural/tree Elm 111.2"},
		"collection":     {way("natural", "wood", orb.Collection{placestest.At(0, 4), orb.Polygon{placestest.Square(0, 0, 1)}}), nil, "natural/wood Elm 0"},
		"no geometry":    {way("natural", "wood", nil), nil, ""},
		"empty geometry": {way("natural", "wood", orb.Polygon{}), nil, ""},
		"no category":    {way("", "", placestest.Kansas), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := geocoding.Request{Point: placestest.Kansas, Size: 5, MaxDistance: 1000, Categories: c.categories}
			got := ""
			for _, p := range req.Answer([]geocoding.Found{c.found}).Places {
				got += p.Category + "/" + p.Type + " " + p.Name + " " + metresText(p.Distance)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestRemoteAnswerOrder(t *testing.T) {
	park := func(id int64, size float64) geocoding.Found {
		f := cafe(id, orb.Polygon{placestest.Square(0, 0, size)})
		f.Kind = region.KindRelation
		return f
	}
	found := []geocoding.Found{cafe(9, placestest.At(0, 2)), park(3, 2), cafe(1, placestest.At(0, 3)), park(2, 1), cafe(8,
		placestest.At(0, 2)), cafe(9, placestest.At(0, 2)), cafe(7, placestest.Kansas)}
	for size, want := range map[int][]string{
		0: {"node:7"}, 1: {"node:7"}, 3: {"node:7", "relation:2", "relation:3"},
		5: {"node:7", "relation:2", "relation:3", "node:8", "node:9"},
		9: {"node:7", "relation:2", "relation:3", "node:8", "node:9"},
	} {
		req := geocoding.Request{Point: placestest.Kansas, Size: size}
		var got []string
		for _, p := range req.Answer(found).Places {
			got = append(got, p.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d (-want +got):\n%s", size, diff)
		}
	}
}

func TestRemoteFallback(t *testing.T) {
	unit := func(id int64, category, kind, name string, g orb.Geometry) geocoding.Found {
		return geocoding.Found{Kind: region.KindRelation, ID: id, Name: name, Category: category, Type: kind, Geometry: g,
			Address: geocoding.Address{Suburb: "North", City: "Salina", State: "Kansas", Country: "United States", CountryCode: "us"}}
	}
	city := unit(1, "boundary", "administrative", "Salina", orb.Polygon{placestest.Square(0, 0, 50)})
	suburb := unit(2, "place", "suburb", "North", orb.Polygon{placestest.Square(0, 0, 5)})
	state := unit(3, "place", "state", "Kansas", orb.Polygon{placestest.Square(0, 0, 500)})
	county := unit(4, "boundary", "administrative", "Saline County", orb.Polygon{placestest.Square(0, 0, 90)})
	county.Address.City, county.Address.Suburb = "", ""
	island := unit(5, "place", "island", "Islet", orb.Polygon{placestest.Square(0, 0, 2)})
	far := unit(6, "place", "village", "Far", placestest.At(0, 100))
	for name, c := range map[string]struct {
		found []geocoding.Found
		want  string // display name
	}{
		"the smallest around":   {[]geocoding.Found{state, city, suburb, far}, "North, Salina, Kansas, United States"},
		"a city":                {[]geocoding.Found{state, city}, "Salina, Kansas, United States"},
		"a county":              {[]geocoding.Found{state, county}, "Saline County, Kansas, United States"},
		"a state":               {[]geocoding.Found{state}, "Kansas, United States"},
		"an island":             {[]geocoding.Found{city, island}, "Islet, North, Salina, Kansas, United States"},
		"the nearest":           {[]geocoding.Found{far}, "Far, Salina, Kansas, United States"},
		"no settlement":         {[]geocoding.Found{cafe(1, placestest.Kansas)}, ""},
		"an island farther off": {[]geocoding.Found{unit(5, "place", "island", "Islet", orb.Polygon{placestest.Square(9, 9, 1)})}, ""},
		"nothing":               {nil, ""},
	} {
		req := geocoding.Request{Point: placestest.Kansas, Size: 5, MaxDistance: 1000}
		got := ""
		for _, p := range req.Fallback(c.found).Places {
			got += p.DisplayName
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	req := geocoding.Request{Point: orb.Point{-30, 30}} // in the Atlantic
	if got := req.Fallback([]geocoding.Found{far}).Places; len(got) > 0 {
		t.Errorf("at sea: %+v", got)
	}
}

func TestCountryOf(t *testing.T) {
	for name, c := range map[string]struct {
		at         orb.Point
		name, code string // as the other geocoder says
		want       string
	}{
		"by its code":              {placestest.Kansas, "États-Unis", "us", "États-Unis USA"},
		"Kosovo":                   {orb.Point{21.16, 42.66}, "Kosova", "xk", "Kosova XKX"},
		"none":                     {placestest.Kansas, "", "", "United States USA"},
		"no such code":             {placestest.Kansas, "Somewhere", "zz", "Somewhere USA"},
		"a territory as its state": {orb.Point{-66.1, 18.4}, "United States", "us", "Puerto Rico PRI"},
		"beside the border":        {orb.Point{7.83, 48.57}, "France", "fr", "France FRA"},
		"nowhere":                  {orb.Point{-30, 30}, "", "", " "},
	} {
		found := cafe(1, c.at)
		found.Address = geocoding.Address{Country: c.name, CountryCode: c.code}
		req := geocoding.Request{Point: c.at}
		got := req.Answer([]geocoding.Found{found}).Places[0].Address
		if text := got.Country + " " + got.CountryCode; text != c.want {
			t.Errorf("%s: got %q, want %q", name, text, c.want)
		}
	}
}

func TestNameless(t *testing.T) {
	bench := geocoding.Found{Category: "amenity", Type: "bench"}
	number := geocoding.Found{Address: geocoding.Address{HouseNumber: "5"}}
	if !geocoding.Nameless([]geocoding.Found{bench}) || !geocoding.Nameless(nil) ||
		geocoding.Nameless([]geocoding.Found{bench, number}) || geocoding.Nameless([]geocoding.Found{cafe(1,
		placestest.Kansas)}) {
		t.Error("what has a name or a house number is not told from what has not")
	}
}

func metresText(m float64) string { return strconv.FormatFloat(m, 'f', -1, 64) }

// What a search needs to know of an object beyond its place: its layer, box and importance, by which callers filter.
func TestQueryAnswer(t *testing.T) {
	address := geocoding.Address{City: "Newark", State: "Delaware", Country: "United States", CountryCode: "us"}
	at := orb.Point{-75.75, 39.68}
	node := func(id int64, name, category, kind string) geocoding.Found {
		return geocoding.Found{Kind: region.KindWay, ID: id, Name: name, Category: category, Type: kind, Geometry: at, Address: address}
	}
	house := node(3, "", "building", "yes")
	house.Address.HouseNumber, house.Address.Street = "5", "Main Street"
	newark := node(4, "Newark", "boundary", "administrative")
	newark.Bound, newark.Importance = orb.Bound{Min: orb.Point{-75.8, 39.6}, Max: orb.Point{-75.7, 39.7}}, 0.5
	found := []geocoding.Found{node(1, "Deer Park", "amenity", "bar"), node(2, "Main Street", "highway", "secondary"), house, newark,
		node(5, "Delaware", "boundary", "administrative"), node(6, "Newark", "place", "town"), node(2, "again", "highway", "secondary"),
		node(7, "", "amenity", "bench"), {Kind: region.KindNode, ID: 8, Name: "nowhere", Category: "amenity", Type: "bar"}}
	var layers []geocoding.Layer
	for _, p := range (&geocoding.Query{Limit: 50}).Answer(found).Places {
		layers = append(layers, p.Layer)
		if p.Location != at || p.Address.CountryCode != "USA" || p.Name == "" || p.Distance != 0 {
			t.Errorf("%+v", p)
		}
		if p.ID == "way:4" && (p.Bound != newark.Bound || p.Importance != 0.5) || p.ID == "way:1" && p.Bound != at.Bound() {
			t.Errorf("%+v", p)
		}
	}
	if want := []geocoding.Layer{geocoding.LayerOther, geocoding.LayerStreet, geocoding.LayerHouse, geocoding.LayerCity, geocoding.LayerState, geocoding.LayerCity}; !slices.Equal(layers, want) {
		t.Errorf("layers %v, want %v", layers, want)
	}
	kept := (&geocoding.Query{Limit: 50, Keep: func(_, _ string, l geocoding.Layer) bool { return l == geocoding.LayerCity }}).Answer(found).Places
	if len(kept) != 2 || kept[0].ID != "way:4" || kept[1].ID != "way:6" {
		t.Errorf("cities: %+v", kept)
	}
}
