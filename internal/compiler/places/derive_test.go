package places_test

import (
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// Tags of a house and of two streets.
const eight, north, south = "addr:housenumber=8, building=house", "highway=residential, name=North Road",
	"highway=residential, name=South Road"

// streetsAround is a house between two streets: South Road is 9 m away, North Road 17 m.
func streetsAround(w *placestest.World) {
	w.Area(1, eight, placestest.Square(0, 0, 0.05))
	w.Way(2, placestest.Line(-2, 0.2, 0, 0.2, 0.5, 0.2, 2, 0.2), north)
	w.Way(3, placestest.Line(-2, -0.13, 2, -0.13), south)
}

// TestStreets asks in the middle of what has the id 1, a way or a node, what its address is.
func TestStreets(t *testing.T) {
	for name, c := range map[string]struct {
		draw func(w *placestest.World)
		want string // house number and street
		as   string // its name, where it is to be compared
	}{
		"the nearest": {draw: streetsAround, want: "8 South Road", as: "8 South Road"},
		"its own": {func(w *placestest.World) {
			streetsAround(w)
			w.Features[0].Tags = placestest.Tags(eight + ", addr:street=Elm Street")
		}, "8 Elm Street", ""},
		"a place is none": {func(w *placestest.World) {
			streetsAround(w)
			w.Features[0].Tags = placestest.Tags(eight + ", addr:place=Moor")
		}, "8 ",
			"8 Moor"},
		"a shop": {func(w *placestest.World) {
			streetsAround(w)
			w.Features[0].Tags = placestest.Tags("name=Bean, shop=coffee")
		},
			" South Road", "Bean"},
		"a wood": {func(w *placestest.World) {
			streetsAround(w)
			w.Features[0].Tags = placestest.Tags("name=Bean, natural=wood")
		}, " ",
			"Bean"},
		"a street": {func(w *placestest.World) { w.Way(1, placestest.Line(-1, 0, 1, 0), north) }, " North Road",
			""},
		"a square": {func(w *placestest.World) {
			w.Area(1, "leisure=park, name=Town Square, place=square", placestest.Square(0, 0, 0.1))
		},
			" Town Square", ""},
		"a bus stop": {func(w *placestest.World) {
			w.Node(1, placestest.At(0, 0.1), "highway=bus_stop, name=Mill")
			w.Way(2, placestest.Line(-1, 0, 1, 0), north)
		}, " North Road", ""},
		"nothing near": {func(w *placestest.World) {
			w.Area(1, eight, placestest.Square(0, 0, 0.05))
			w.Way(2, placestest.Line(-9, 2.6, 9, 2.6), north)
		},
			"8 ", "8"},
		"just near enough": {func(w *placestest.World) {
			w.Area(1, eight, placestest.Square(0, 0, 0.05))
			w.Way(2, placestest.Line(-9, 2.2, 9, 2.2), north)
		},
			"8 North Road", ""},
		"a motorway": {func(w *placestest.World) {
			w.Area(1, eight, placestest.Square(0, 0, 0.05))
			w.Way(2, placestest.Line(-9, 0.2, 9, 0.2), "highway=motorway, name=Freeway")
		}, "8 ", ""},
		"a street that is not built yet": {func(w *placestest.World) {
			w.Area(1, eight, placestest.Square(0, 0, 0.05))
			w.Way(2, placestest.Line(-9, 0.2, 9, 0.2), "highway=proposed, name=Dream Road")
		}, "8 ", ""},
		"a street before a path": {func(w *placestest.World) {
			w.Area(1, eight, placestest.Square(0, 0, 0.05))
			w.Way(2, placestest.Line(-9, 0.1, 9, 0.1), "highway=footway, name=Dog Walk")
			w.Way(3, placestest.Line(-9, -0.2, 9, -0.2), south)
		}, "8 South Road", ""},
		"a path where there is no street": {func(w *placestest.World) {
			w.Area(1, eight, placestest.Square(0, 0, 0.05))
			w.Way(2, placestest.Line(-9, 0.1, 9, 0.1), "highway=footway, name=Garden Path")
		}, "8 Garden Path", ""},
		"a path far away": {func(w *placestest.World) {
			w.Area(1, eight, placestest.Square(0, 0, 0.05))
			w.Way(2, placestest.Line(-9, 0.6, 9, 0.6), "highway=path, name=Trail")
		}, "8 ", ""},
		"by its main entrance": {func(w *placestest.World) {
			streetsAround(w)
			w.Features[0].Geometry = orb.Polygon{orb.Ring(placestest.Line(-0.05, -0.1, 0.05, -0.1, 0.05, 0.05, -0.05, 0.05,
				-0.05, -0.1))}
			w.Features[0].Entrances = []orb.Point{placestest.At(0, 0.05)}
		}, "8 North Road", ""},
		"by its own driveway": {func(w *placestest.World) {
			streetsAround(w)
			w.Drives = []orb.LineString{placestest.Line(0, 0.2, 0, 0.06)}
		}, "8 North Road", ""},
		"by a driveway behind which streets are far": {func(w *placestest.World) {
			w.Area(1, eight, placestest.Square(0, 0, 0.05))
			w.Way(2, placestest.Line(-2, 3.5, 0, 3.5, 2, 3.5), north)
			w.Drives = []orb.LineString{placestest.Line(0, 3.5, 0, 2, 0, 0.1)}
		}, "8 North Road", ""},
		"a driveway that leads nowhere": {func(w *placestest.World) {
			streetsAround(w)
			w.Drives = []orb.LineString{placestest.Line(0, 0.15, 0, 0.06)}
		}, "8 South Road", ""},
		"the driveway of another house": {func(w *placestest.World) {
			streetsAround(w)
			w.Drives = []orb.LineString{placestest.Line(0.5, 0.2, 0.5, 0.06)}
		}, "8 South Road", ""},
		"that of its neighbours": {func(w *placestest.World) {
			streetsAround(w)
			w.Node(11, placestest.At(-0.15, 0), "addr:housenumber=6, addr:street=north-road")
			w.Node(12, placestest.At(0.15, 0), "addr:housenumber=10, addr:street=North Road")
		}, "8 North Road", ""},
		"a neighbour far away does not count": {func(w *placestest.World) {
			streetsAround(w)
			w.Node(11, placestest.At(-1.2, 0), "addr:housenumber=6, addr:street=North Road")
		}, "8 South Road", ""},
		"a house at each": {func(w *placestest.World) {
			streetsAround(w)
			w.Node(11, placestest.At(-0.2, 0.1), "addr:housenumber=6, addr:street=North Road")
			w.Node(12, placestest.At(0.2, -0.1), "addr:housenumber=6, addr:street=South Road")
		}, "8 South Road", ""},
		"one of two streets of one name": {func(w *placestest.World) {
			streetsAround(w)
			w.Way(4, placestest.Line(-2, 0.5, 2, 0.5), south)
		}, "8 South Road", ""},
		"a land register's number": {func(w *placestest.World) {
			streetsAround(w)
			w.Features[0].Tags = placestest.Tags("addr:conscriptionnumber=1415, addr:streetnumber=7, building=house")
		}, "1415/7 South Road", "1415/7 South Road"},
		"several numbers": {func(w *placestest.World) {
			streetsAround(w)
			w.Features[0].Tags = placestest.Tags("addr:housenumber=1;3")
		},
			"1;3 South Road", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var w placestest.World
			c.draw(&w)
			got := geocodingtest.PlaceOf(t, geocodingtest.Build(t, w.Cover()), w.Features[0].Kind, 1)
			if address := got.Address.HouseNumber + " " + got.Address.Street; address != c.want {
				t.Errorf("%q, want %q", address, c.want)
			}
			if c.as != "" && got.Name != c.as {
				t.Errorf("name %q, want %q", got.Name, c.as)
			}
		})
	}
}

// TestBuildings asks for a café, node 1, at or near the middle.
func TestBuildings(t *testing.T) {
	const cafe, addressed = "amenity=cafe, name=Bean",
		"addr:city=Salina, addr:housenumber=5, addr:postcode=67401, addr:street=Elm Street, building=yes"
	road := func(w *placestest.World) { w.Way(30, placestest.Line(-2, 0.3, 2, 0.3), north) }
	for name, c := range map[string]struct {
		draw func(w *placestest.World)
		want geocoding.Address // without its country
	}{
		"inside": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, cafe)
			w.Area(2, addressed, placestest.Square(0, 0, 0.2))
			road(w)
		},
			geocoding.Address{HouseNumber: "5", Street: "Elm Street", City: "Salina", Postcode: "67401"}},
		"an entrance": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, cafe)
			w.Area(2, addressed, placestest.Square(-0.2, -0.2, 0.2))
			road(w)
		},
			geocoding.Address{HouseNumber: "5", Street: "Elm Street", City: "Salina", Postcode: "67401"}},
		"beside": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, cafe)
			w.Area(2, addressed, placestest.Square(0.5, 0, 0.2))
			road(w)
		},
			geocoding.Address{Street: "North Road"}},
		"its own": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, "addr:housenumber=7, addr:street=Oak Street, "+cafe)
			w.Area(2, addressed, placestest.Square(0, 0, 0.2))
		}, geocoding.Address{HouseNumber: "7", Street: "Oak Street"}},
		"its own street, another one": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, "addr:street=Oak Street, "+cafe)
			w.Area(2, addressed, placestest.Square(0, 0, 0.2))
		},
			geocoding.Address{Street: "Oak Street"}},
		"its own street, the same": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, "addr:street=Elm Street, "+cafe)
			w.Area(2, addressed, placestest.Square(0, 0, 0.2))
		},
			geocoding.Address{HouseNumber: "5", Street: "Elm Street", City: "Salina", Postcode: "67401"}},
		"its own city": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, "addr:city=Wichita, "+cafe)
			w.Area(2, addressed, placestest.Square(0, 0, 0.2))
		},
			geocoding.Address{HouseNumber: "5", Street: "Elm Street", City: "Wichita", Postcode: "67401"}},
		"a building without a street": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, cafe)
			w.Area(2, eight, placestest.Square(0, 0, 0.2))
			road(w)
		}, geocoding.Address{HouseNumber: "8", Street: "North Road"}},
		"the smaller one": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, cafe)
			w.Area(2, addressed, placestest.Square(0, 0, 0.2))
			w.Area(3, "addr:housenumber=6, addr:street=Elm Street, building=yes", placestest.Square(0, 0, 0.1))
		}, geocoding.Address{HouseNumber: "6", Street: "Elm Street", Postcode: "67401"}}, // as the other house on that street
		"a building by its door": {func(w *placestest.World) {
			w.Area(1, "amenity=cafe, building=yes, name=Bean", placestest.Square(0, 0, 0.2))
			w.Node(4, placestest.At(0.2, 0), "addr:housenumber=5, addr:street=Elm Street")
		}, geocoding.Address{HouseNumber: "5", Street: "Elm Street"}},
		"a building with two addresses": {func(w *placestest.World) {
			w.Area(1, "amenity=cafe, building=yes, name=Bean", placestest.Square(0, 0, 0.2))
			w.Node(4, placestest.At(0.2, 0), "addr:housenumber=5, addr:street=Elm Street")
			w.Node(5, placestest.At(-0.2, 0), "addr:housenumber=7, addr:street=Elm Street")
			road(w)
		}, geocoding.Address{Street: "North Road"}},
	} {
		t.Run(name, func(t *testing.T) {
			var w placestest.World
			c.draw(&w)
			got := geocodingtest.PlaceOf(t, geocodingtest.Build(t, w.Cover()), w.Features[0].Kind, 1).Address
			c.want.Country, c.want.CountryCode = "United States", "USA"
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestPostcodes asks for a house, node 1, in the middle.
func TestPostcodes(t *testing.T) {
	near := func(w *placestest.World, codes ...string) {
		for i, code := range codes {
			w.Node(int64(20+i), placestest.At(0.3*float64(i+1), 0),
				"addr:housenumber=1, addr:postcode="+code+", addr:street=Far Street")
		}
	}
	boundary := func(w *placestest.World) {
		w.Area(3, "boundary=postal_code, postal_code=100", placestest.Square(0, 0, 0.1))
	}
	const number = "addr:housenumber=8, addr:street=Elm Street"
	for name, c := range map[string]struct {
		tags string
		draw func(w *placestest.World)
		want string
	}{
		"its own":                   {number + ", addr:postcode=999", boundary, "999"},
		"its own, in the other key": {number + ", postal_code=999", boundary, "999"},
		"of its boundary":           {number, func(w *placestest.World) { boundary(w); near(w, "200", "200", "200") }, "100"},
		"of its building": {"amenity=cafe, name=Bean", func(w *placestest.World) {
			w.Area(2, number+", addr:postcode=300, building=yes", placestest.Square(0, 0, 0.2))
			near(w, "200", "200")
		}, "300"},
		"a building that disagrees": {"amenity=cafe, name=Bean",
			func(w *placestest.World) {
				w.Area(2, number+", addr:postcode=300, building=yes", placestest.Square(0, 0, 0.2))
				boundary(w)
			}, "100"},
		"of its street": {number, func(w *placestest.World) {
			w.Way(2, placestest.Line(-1, 0.1, 1, 0.1), "highway=residential, name=Elm Street, postal_code=400")
			near(w, "200", "200")
		}, "400"},
		"of the street that it takes": {"addr:housenumber=8", func(w *placestest.World) {
			w.Way(2, placestest.Line(-1, 0.1, 1, 0.1), "addr:postcode=400, highway=residential, name=Elm Street")
		}, "400"},
		"of a house in its street": {number, func(w *placestest.World) {
			near(w, "200", "300")
			w.Node(40, placestest.At(3, 0), "addr:housenumber=2, addr:postcode=500, addr:street=Elm Street")
		}, "500"},
		"of houses that agree":      {number, func(w *placestest.World) { near(w, "200", "200") }, "200"},
		"houses that disagree":      {number, func(w *placestest.World) { near(w, "200", "200", "300") }, ""},
		"one house is no agreement": {number, func(w *placestest.World) { near(w, "200") }, ""},
		"houses too far away": {number, func(w *placestest.World) {
			w.Node(20, placestest.At(13, 0), number+", addr:postcode=1")
			w.Node(21, placestest.At(13, 1), number+", addr:postcode=1")
		}, ""},
		"the nearest houses are enough": {number, func(w *placestest.World) {
			near(w, "200", "200", "200", "200", "200",
				"300")
		},
			"200"},
		"none of a street of other name": {number, func(w *placestest.World) {
			w.Way(2, placestest.Line(-1, 0.1, 1, 0.1), "highway=residential, name=Oak Street, postal_code=400")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var w placestest.World
			w.Node(1, placestest.Kansas, c.tags)
			c.draw(&w)
			if got := geocodingtest.PlaceOf(t, geocodingtest.Build(t, w.Cover()), region.KindNode,
				1).Address.Postcode; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestSettlements asks beside the only settlements, or for a house that names its place.
func TestSettlements(t *testing.T) {
	type settlement struct {
		tags string
		at   orb.Point
	}
	for name, c := range map[string]struct {
		places []settlement
		house  string
		want   [3]string // city, suburb, hamlet
	}{
		"a village":        {[]settlement{{"name=Oak, place=village", placestest.At(20, 0)}}, "", [3]string{"Oak", "", ""}},
		"a hamlet alone":   {[]settlement{{"name=Elm, place=hamlet", placestest.At(20, 0)}}, "", [3]string{"Elm", "", ""}},
		"a hamlet near by": {[]settlement{{"name=Elm, place=hamlet", placestest.At(2, 0)}}, "", [3]string{"Elm", "", "Elm"}},
		"a hamlet of a village": {[]settlement{{"name=Elm, place=hamlet", placestest.At(2, 0)}, {"name=Oak, place=village",
			placestest.At(20, 0)}},
			"", [3]string{"Oak", "", "Elm"}},
		"a farm alone": {[]settlement{{"name=Fir, place=farm", placestest.At(2, 0)}}, "", [3]string{"Fir", "", ""}},
		"a hamlet and a farm": {[]settlement{{"name=Fir, place=farm", placestest.At(2, 0)}, {"name=Elm, place=hamlet",
			placestest.At(20, 0)}}, "",
			[3]string{"Elm", "", ""}},
		"a locality is none": {[]settlement{{"name=Rock, place=locality", placestest.At(2, 0)}}, "", [3]string{}},
		"a suburb and a hamlet": {[]settlement{{"name=Elm, place=hamlet", placestest.At(2, 0)}, {"name=East, place=suburb",
			placestest.At(-2, 0)},
			{"name=Oak, place=town", placestest.At(20, 0)}}, "",
			[3]string{"Oak", "East", "Elm"}},
		"addr:place of a hamlet": {[]settlement{{"name=Moor, place=hamlet", placestest.At(50, 0)},
			{"name=Oak, place=town", placestest.At(20, 0)}}, "addr:place=Moor", [3]string{"Oak", "", "Moor"}},
		"addr:place of a village": {[]settlement{{"name=Moor, place=village", placestest.At(50, 0)},
			{"name=Oak, place=town", placestest.At(20, 0)}}, "addr:place=Moor", [3]string{"Moor", "", ""}},
		"addr:place of a suburb": {[]settlement{{"name=Moor, place=suburb", placestest.At(50, 0)},
			{"name=Oak, place=town", placestest.At(20, 0)}}, "addr:place=Moor", [3]string{"Oak", "Moor", ""}},
		"addr:place unknown": {[]settlement{{"name=Oak, place=town", placestest.At(20, 0)}}, "addr:place=Moor",
			[3]string{"Oak", "", "Moor"}},
		"addr:place is the city":    {nil, "addr:city=Moor, addr:place=Moor", [3]string{"Moor", "", ""}},
		"addr:hamlet and addr:city": {nil, "addr:city=Oak, addr:hamlet=Elm", [3]string{"Oak", "", "Elm"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, state := range []bool{true, false} {
				var w placestest.World
				w.Node(1, placestest.Kansas, "addr:housenumber=8, "+c.house)
				for i, s := range c.places {
					w.Node(int64(10+i), s.at, s.tags)
				}
				if state { // so that cells know the settlements
					w.Multi(2, "ISO3166-2=US-KS, admin_level=4, boundary=administrative, name=Kansas", orb.Polygon{placestest.Square(0,
						0, 200)})
				}
				a := geocodingtest.PlaceOf(t, geocodingtest.Build(t, w.Cover()), region.KindNode, 1).Address
				if got := [3]string{a.City, a.Suburb, a.Hamlet}; got != c.want {
					t.Errorf("city, suburb, hamlet %q, want %q", got, c.want)
				}
			}
		})
	}
}

// TestCounties: a polygon that is the city is not the county too.
func TestCounties(t *testing.T) {
	for name, c := range map[string]struct {
		tags         string
		city, county string
	}{
		"a county":         {"admin_level=6, boundary=administrative, name=Lincoln", "", "Lincoln"},
		"by place":         {"name=Lincoln, place=county", "", "Lincoln"},
		"a city-county":    {"ISO3166-2=DE-BY, admin_level=6, boundary=administrative, name=Lincoln", "Lincoln", ""},
		"its own, by tags": {"name=Park, leisure=park", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var w placestest.World
			w.Node(1, placestest.Kansas, "addr:housenumber=8")
			w.Multi(2, c.tags, orb.Polygon{placestest.Square(0, 0, 20)})
			if a := geocodingtest.PlaceOf(t, geocodingtest.Build(t, w.Cover()), region.KindNode, 1).Address; a.City != c.city ||
				a.County != c.county {
				t.Errorf("city %q, county %q; want %q, %q", a.City, a.County, c.city, c.county)
			}
		})
	}
}

// TestInterpolatedAddresses: an interpolated house has an address like any other, and so have those at the ends.
func TestInterpolatedAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		tags   placestest.FeatureTags
		want   string // of the house in the middle
		hamlet string
	}{
		"a street":                 {placestest.Tags("addr:street=Elm Street"), "12 Elm Street", ""},
		"a place":                  {placestest.Tags("addr:place=Moor"), "12 ", "Moor"},
		"the road beside the line": {nil, "12 South Road", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var w placestest.World
			w.Node(10, placestest.At(-1, 0), "addr:housenumber=10")
			w.Node(11, placestest.At(1, 0), "addr:housenumber=14")
			w.Interpolations = []placestest.Interpolation{{
				Tags: c.tags, Interpolation: objects.Interpolation{Way: 9, Line: placestest.Line(-1, 0, 1, 0),
					Nodes: []int64{10, 11}, Numbers: []int32{10, 14}, Step: 2},
			}}
			w.Way(30, placestest.Line(-3, -0.15, 3, -0.15), south)
			w.Way(31, placestest.Line(1.05, -1, 1.05, 1), north) // that the end at number 14 is nearer to
			x := geocodingtest.Build(t, w.Cover())
			got := geocodingtest.PlaceOf(t, x, region.KindWay, 9)
			if address := got.Address.HouseNumber + " " + got.Address.Street; address != c.want ||
				got.Address.Hamlet != c.hamlet {
				t.Errorf("%q, %q; want %q, %q", address, got.Address.Hamlet, c.want, c.hamlet)
			}
			if c.tags == nil {
				if end := geocodingtest.Ask(t, x, placestest.At(1, 0), 1)[0]; end.Name != "14 South Road" {
					t.Errorf("the end is %q", end.Name)
				}
			}
		})
	}
}

// TestStreetInLanguages: a street's name is given in the language that is asked for, and its address as it is on the
// ground.
func TestStreetInLanguages(t *testing.T) {
	var w placestest.World
	w.Way(1, placestest.Line(-1, 0, 1, 0), "highway=residential, name=Rue du Lac, name:en=Lake Street")
	r, err := geocodingtest.Build(t, w.Cover()).Reverse(t.Context(), &geocoding.Request{Point: placestest.Kansas, Size: 1,
		Languages: []string{"en"}})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Places[0]; p.Name != "Lake Street" || p.Address.Street != "Rue du Lac" {
		t.Errorf("%q in %q", p.Name, p.Address.Street)
	}
}

// TestEvidence asks for the address of what has the id 1.
func TestEvidence(t *testing.T) {
	const cafe = "amenity=cafe, name=Bean"
	for name, c := range map[string]struct {
		draw func(w *placestest.World)
		want string // house number, street and postcode
	}{
		"a driveway to a path far away": {func(w *placestest.World) {
			w.Area(1, eight, placestest.Square(0, 0, 0.05))
			w.Way(2, placestest.Line(-2, 1, 0, 1, 2, 1), "highway=path, name=Trail")
			w.Drives = []orb.LineString{placestest.Line(0, 1, 0, 0.1)}
		}, "8, , "},
		"neighbours on a street beyond the first look": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, "addr:housenumber=8")
			w.Way(2, placestest.Line(-2, 0.5, 2, 0.5), north)
			w.Way(3, placestest.Line(-2, -0.55, 2, -0.55), south)
			w.Node(11, placestest.At(0.02, 0), "addr:housenumber=6, addr:street=South Road")
		}, "8, South Road, "},
		"neighbours against a service road in the first look": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, "addr:housenumber=8")
			w.Way(2, placestest.Line(-2, 0.405, 2, 0.405), "highway=service, name=Mall Lane")
			w.Way(3, placestest.Line(-2, -0.72, 2, -0.72), south)
			w.Node(11, placestest.At(0.02, 0), "addr:housenumber=6, addr:street=South Road")
		}, "8, South Road, "},
		"services at a motorway are no street": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, cafe)
			w.Area(2, "highway=services, name=Maryland House", placestest.Square(0, 0, 0.5))
		}, ", , "},
		"services have a street": {func(w *placestest.World) {
			w.Area(1, "addr:housenumber=7, addr:street=Elm Street, highway=services, name=Maryland House", placestest.Square(0,
				0, 0.5))
		}, "7, Elm Street, "},
		"a motorway is its own street": {func(w *placestest.World) {
			w.Way(1, placestest.Line(-1, 0, 1, 0), "highway=motorway, name=Freeway")
		}, ", Freeway, "},
		"several postcodes of a street": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, "addr:housenumber=8")
			w.Way(2, placestest.Line(-1, 0.1, 1, 0.1), "highway=residential, name=Elm Street, postal_code=67401;67402")
		}, "8, Elm Street, "},
		"several postcodes of a boundary": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, "addr:housenumber=8")
			w.Area(3, "admin_level=8, boundary=administrative, name=Salina, postal_code=67401;67402", placestest.Square(0, 0,
				0.1))
			w.Way(2, placestest.Line(-1, 0.05, 1, 0.05), "highway=residential, name=Elm Street, postal_code=67401")
		}, "8, Elm Street, 67401"},
		"in a building with its number at the door": {func(w *placestest.World) {
			w.Node(1, placestest.Kansas, cafe)
			w.Area(2, "building=yes, name=House", placestest.Square(0, 0, 0.2))
			w.Node(4, placestest.At(0.2, 0), "addr:housenumber=5, addr:street=Elm Street")
			w.Way(30, placestest.Line(-2, 0.3, 2, 0.3), north)
		}, "5, Elm Street, "},
	} {
		t.Run(name, func(t *testing.T) {
			var w placestest.World
			c.draw(&w)
			a := geocodingtest.PlaceOf(t, geocodingtest.Build(t, w.Cover()), w.Features[0].Kind, 1).Address
			if got := a.HouseNumber + ", " + a.Street + ", " + a.Postcode; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
