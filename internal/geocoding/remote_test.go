package geocoding

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

func cafe(id int64, geometry orb.Geometry) Found {
	return Found{Kind: mapdata.KindNode, ID: id, Name: "Bean", Category: "amenity", Type: "cafe", Geometry: geometry, Address: Address{
		HouseNumber: "5", Street: "Elm Street", Suburb: "North", City: "Salina", State: "Kansas", Postcode: "67401",
		Country: "United States", CountryCode: "us"}}
}

// What another geocoder found is told as a region tells it.
func TestRemoteAnswerIsTheSame(t *testing.T) {
	var w world
	w.node(42, at(0, 1), "addr:city=Salina, addr:housenumber=5, addr:postcode=67401, addr:state=Kansas, addr:street=Elm Street, addr:suburb=North, amenity=cafe, name=Bean")
	w.add(1, 7, line(-5, 1, 5, 1), "highway=residential, name=Elm Street, addr:city=Salina, addr:state=Kansas")
	w.area(8, "leisure=park, name=Park, addr:city=Salina, addr:state=Kansas", square(0, 0, 0.5))
	want := ask(t, w.build(t), kansas, 5)
	if len(want) != 3 {
		t.Fatalf("%+v", want)
	}
	in := Address{City: "Salina", State: "Kansas", CountryCode: "US"}
	park := in
	park.Street, park.Postcode = "Elm Street", "67401"
	req := Request{Point: kansas, Size: 5, MaxDistance: 1000}
	got := req.Answer([]Found{
		{Kind: mapdata.KindWay, ID: 7, Name: "Elm Street", Category: "highway", Type: "residential", Geometry: line(-5, 1, 5, 1), Address: in},
		cafe(42, at(0, 1)),
		{Kind: mapdata.KindWay, ID: 8, Name: "Park", Category: "leisure", Type: "park",
			Geometry: orb.Polygon{square(0, 0, 0.5)}, Address: park},
	})
	if diff := cmp.Diff(want, got.Places, approximate); diff != "" {
		t.Errorf("(-region +other):\n%s", diff)
	}
}

func TestRemoteAnswer(t *testing.T) {
	way := func(category, kind string, g orb.Geometry) Found {
		return Found{Kind: mapdata.KindWay, ID: 1, Name: "Elm", Category: category, Type: kind, Geometry: g}
	}
	area := orb.Polygon{square(0, 0, 1)}
	park := way("leisure", "park", area)
	park.Tags = extract.Tags{{Key: "building", Value: "yes"}, {Key: "wikidata", Value: "cafe"}, {Key: "historic", Value: "castle;Keep"}}
	protected := way("leisure", "park", area)
	protected.Tags = extract.Tags{{Key: "boundary", Value: "protected_area"}}
	house := Found{Kind: mapdata.KindWay, ID: 1, Category: "place", Type: "house", Geometry: kansas, Address: Address{HouseNumber: "12", Street: "Moor"}}
	named := house
	named.Name = "Elm"
	bare := house
	bare.Address.Street = ""
	nameless := way("amenity", "bench", kansas)
	nameless.Name = ""
	for name, c := range map[string]struct {
		found      Found
		categories []string
		want       string // category/type name metres
	}{
		"point":                     {cafe(1, at(0, 1)), nil, "amenity/cafe Bean 111.2"},
		"too far":                   {cafe(1, at(0, 10)), nil, ""},
		"key":                       {cafe(1, kansas), []string{"shop", " AMENITY "}, "amenity/cafe Bean 0"},
		"value":                     {cafe(1, kansas), []string{"Cafe"}, "amenity/cafe Bean 0"},
		"another category":          {cafe(1, kansas), []string{"bar", "shop"}, ""},
		"blank terms":               {cafe(1, kansas), []string{"", " "}, "amenity/cafe Bean 0"},
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
		"place of unknown extent":   {way("place", "hamlet", kansas), nil, ""},
		"boundary line":             {way("boundary", "fence", line(0, 1, 1, 1)), nil, "boundary/fence Elm 111.2"},
		"several lines":             {way("waterway", "river", orb.MultiLineString{line(0, 4, 1, 4), line(0, 1, 1, 1)}), nil, "waterway/river Elm 111.2"},
		"several points":            {way("natural", "tree", orb.MultiPoint{at(0, 4), at(0, 1)}), nil, "natural/tree Elm 111.2"},
		"collection":                {way("natural", "wood", orb.Collection{at(0, 4), orb.Polygon{square(0, 0, 1)}}), nil, "natural/wood Elm 0"},
		"no geometry":               {way("natural", "wood", nil), nil, ""},
		"empty geometry":            {way("natural", "wood", orb.Polygon{}), nil, ""},
		"no category":               {way("", "", kansas), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := Request{Point: kansas, Size: 5, MaxDistance: 1000, Categories: c.categories}
			got := ""
			for _, p := range req.Answer([]Found{c.found}).Places {
				got += p.Category + "/" + p.Type + " " + p.Name + " " + metresText(p.Distance)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestRemoteAnswerOrder(t *testing.T) {
	park := func(id int64, size float64) Found {
		f := cafe(id, orb.Polygon{square(0, 0, size)})
		f.Kind = mapdata.KindRelation
		return f
	}
	found := []Found{cafe(9, at(0, 2)), park(3, 2), cafe(1, at(0, 3)), park(2, 1), cafe(8, at(0, 2)), cafe(9, at(0, 2)), cafe(7, kansas)}
	for size, want := range map[int][]string{
		0: {"node:7"}, 1: {"node:7"}, 3: {"node:7", "relation:2", "relation:3"},
		5: {"node:7", "relation:2", "relation:3", "node:8", "node:9"},
		9: {"node:7", "relation:2", "relation:3", "node:8", "node:9"},
	} {
		req := Request{Point: kansas, Size: size}
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
	unit := func(id int64, category, kind, name string, g orb.Geometry) Found {
		return Found{Kind: mapdata.KindRelation, ID: id, Name: name, Category: category, Type: kind, Geometry: g,
			Address: Address{Suburb: "North", City: "Salina", State: "Kansas", Country: "United States", CountryCode: "us"}}
	}
	city := unit(1, "boundary", "administrative", "Salina", orb.Polygon{square(0, 0, 50)})
	suburb := unit(2, "place", "suburb", "North", orb.Polygon{square(0, 0, 5)})
	state := unit(3, "place", "state", "Kansas", orb.Polygon{square(0, 0, 500)})
	county := unit(4, "boundary", "administrative", "Saline County", orb.Polygon{square(0, 0, 90)})
	county.Address.City, county.Address.Suburb = "", ""
	island := unit(5, "place", "island", "Islet", orb.Polygon{square(0, 0, 2)})
	far := unit(6, "place", "village", "Far", at(0, 100))
	for name, c := range map[string]struct {
		found []Found
		want  string // display name
	}{
		"the smallest around":   {[]Found{state, city, suburb, far}, "North, Salina, Kansas, United States"},
		"a city":                {[]Found{state, city}, "Salina, Kansas, United States"},
		"a county":              {[]Found{state, county}, "Saline County, Kansas, United States"},
		"a state":               {[]Found{state}, "Kansas, United States"},
		"an island":             {[]Found{city, island}, "Islet, North, Salina, Kansas, United States"},
		"the nearest":           {[]Found{far}, "Far, Salina, Kansas, United States"},
		"no settlement":         {[]Found{cafe(1, kansas)}, ""},
		"an island farther off": {[]Found{unit(5, "place", "island", "Islet", orb.Polygon{square(9, 9, 1)})}, ""},
		"nothing":               {nil, ""},
	} {
		req := Request{Point: kansas, Size: 5, MaxDistance: 1000}
		got := ""
		for _, p := range req.Fallback(c.found).Places {
			got += p.DisplayName
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	req := Request{Point: orb.Point{-30, 30}} // in the Atlantic
	if got := req.Fallback([]Found{far}).Places; len(got) > 0 {
		t.Errorf("at sea: %+v", got)
	}
}

func TestCountryOf(t *testing.T) {
	for name, c := range map[string]struct {
		at         orb.Point
		name, code string // as the other geocoder says
		want       string
	}{
		"by its code":              {kansas, "États-Unis", "us", "États-Unis USA"},
		"in capitals":              {kansas, "", "US", "United States USA"},
		"Kosovo":                   {orb.Point{21.16, 42.66}, "Kosova", "xk", "Kosova XKX"},
		"none":                     {kansas, "", "", "United States USA"},
		"a name alone":             {kansas, "USA", "", "USA USA"},
		"no such code":             {kansas, "Somewhere", "zz", "Somewhere USA"},
		"the United Kingdom":       {orb.Point{-0.12, 51.5}, "United Kingdom", "gb", "United Kingdom GBR"},
		"a territory as its state": {orb.Point{-66.1, 18.4}, "United States", "us", "Puerto Rico PRI"},
		"a territory as itself":    {orb.Point{-66.1, 18.4}, "Puerto Rico", "pr", "Puerto Rico PRI"},
		"beside the border":        {orb.Point{7.83, 48.57}, "France", "fr", "France FRA"},
		"nowhere":                  {orb.Point{-30, 30}, "", "", " "},
	} {
		country, code := countryOf(&Address{Country: c.name, CountryCode: c.code}, c.at)
		if got := country + " " + code; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestNameless(t *testing.T) {
	bench := Found{Category: "amenity", Type: "bench"}
	number := Found{Address: Address{HouseNumber: "5"}}
	if !Nameless([]Found{bench}) || !Nameless(nil) || Nameless([]Found{bench, number}) || Nameless([]Found{cafe(1, kansas)}) {
		t.Error("what has a name or a house number is not told from what has not")
	}
}

func metresText(m float64) string { return strconv.FormatFloat(m, 'f', -1, 64) }
