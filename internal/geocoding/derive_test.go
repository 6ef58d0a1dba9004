package geocoding

import (
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/geocoding/bruteforce"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// driveway adds roads without a name between positions, which a named way may share: on is the way that the first node
// is on.
func (w *world) driveway(line orb.LineString, on int64, street orb.LineString) {
	node := func(p orb.Point) int32 {
		c := newCoord(p)
		w.Nodes = append(w.Nodes, extract.Node{ID: int64(len(w.Nodes) + 1), Lat: c.Y, Lon: c.X})
		return int32(len(w.Nodes) - 1)
	}
	named := extract.Road{Way: on, Name: "named", Class: mapdata.Residential}
	for _, p := range street {
		named.Nodes = append(named.Nodes, node(p))
	}
	drive := extract.Road{Way: 900, Class: mapdata.Service}
	for _, p := range line {
		if k := slices.Index(street, p); k >= 0 {
			drive.Nodes = append(drive.Nodes, named.Nodes[k])
		} else {
			drive.Nodes = append(drive.Nodes, node(p))
		}
	}
	w.Roads = append(w.Roads, named, drive)
}

const eight, north, south = "addr:housenumber=8, building=house", "highway=residential, name=North Road",
	"highway=residential, name=South Road"

// streetsAround is a house between two streets: South Road is 9 m away, North Road 17 m.
func streetsAround(w *world) {
	w.area(1, eight, square(0, 0, 0.05))
	w.way(2, line(-2, 0.2, 2, 0.2), north)
	w.way(3, line(-2, -0.13, 2, -0.13), south)
}

// TestStreets asks in the middle of what has the id 1, a way or a node, what its address is.
func TestStreets(t *testing.T) {
	for name, c := range map[string]struct {
		draw func(w *world)
		want string // house number and street
		as   string // its name, where it is to be compared
	}{
		"the nearest": {draw: streetsAround, want: "8 South Road", as: "8 South Road"},
		"its own": {func(w *world) {
			streetsAround(w)
			w.Features[0].Tags = tags(eight + ", addr:street=Elm Street")
		}, "8 Elm Street", ""},
		"a place is none": {func(w *world) { streetsAround(w); w.Features[0].Tags = tags(eight + ", addr:place=Moor") }, "8 ",
			"8 Moor"},
		"a shop": {func(w *world) { streetsAround(w); w.Features[0].Tags = tags("name=Bean, shop=coffee") },
			" South Road", "Bean"},
		"a wood": {func(w *world) { streetsAround(w); w.Features[0].Tags = tags("name=Bean, natural=wood") }, " ",
			"Bean"},
		"a street": {func(w *world) { w.way(1, line(-1, 0, 1, 0), north) }, " North Road", ""},
		"a square": {func(w *world) { w.area(1, "leisure=park, name=Town Square, place=square", square(0, 0, 0.1)) },
			" Town Square", ""},
		"a bus stop": {func(w *world) {
			w.node(1, at(0, 0.1), "highway=bus_stop, name=Mill")
			w.way(2, line(-1, 0, 1, 0), north)
		}, " North Road", ""},
		"nothing near": {func(w *world) { w.area(1, eight, square(0, 0, 0.05)); w.way(2, line(-9, 2.6, 9, 2.6), north) },
			"8 ", "8"},
		"just near enough": {func(w *world) { w.area(1, eight, square(0, 0, 0.05)); w.way(2, line(-9, 2.2, 9, 2.2), north) },
			"8 North Road", ""},
		"a motorway": {func(w *world) {
			w.area(1, eight, square(0, 0, 0.05))
			w.way(2, line(-9, 0.2, 9, 0.2), "highway=motorway, name=Freeway")
		}, "8 ", ""},
		"a street that is not built yet": {func(w *world) {
			w.area(1, eight, square(0, 0, 0.05))
			w.way(2, line(-9, 0.2, 9, 0.2), "highway=proposed, name=Dream Road")
		}, "8 ", ""},
		"a street before a path": {func(w *world) {
			w.area(1, eight, square(0, 0, 0.05))
			w.way(2, line(-9, 0.1, 9, 0.1), "highway=footway, name=Dog Walk")
			w.way(3, line(-9, -0.2, 9, -0.2), south)
		}, "8 South Road", ""},
		"a path where there is no street": {func(w *world) {
			w.area(1, eight, square(0, 0, 0.05))
			w.way(2, line(-9, 0.1, 9, 0.1), "highway=footway, name=Garden Path")
		}, "8 Garden Path", ""},
		"a path far away": {func(w *world) {
			w.area(1, eight, square(0, 0, 0.05))
			w.way(2, line(-9, 0.6, 9, 0.6), "highway=path, name=Trail")
		}, "8 ", ""},
		"by its main entrance": {func(w *world) {
			streetsAround(w)
			w.Features[0].Geometry = orb.Polygon{orb.Ring(line(-0.05, -0.1, 0.05, -0.1, 0.05, 0.05, -0.05, 0.05, -0.05, -0.1))}
			w.Features[0].Entrances = []orb.Point{at(0, 0.05)}
		}, "8 North Road", ""},
		"by its own driveway": {func(w *world) {
			streetsAround(w)
			w.driveway(line(0, 0.2, 0, 0.06), 2, line(-2, 0.2, 0, 0.2, 2, 0.2))
		}, "8 North Road", ""},
		"by a driveway behind which streets are far": {func(w *world) {
			w.area(1, eight, square(0, 0, 0.05))
			w.way(2, line(-2, 3.5, 2, 3.5), north)
			w.driveway(line(0, 3.5, 0, 2, 0, 0.1), 2, line(-2, 3.5, 0, 3.5, 2, 3.5))
		}, "8 North Road", ""},
		"a driveway that leads nowhere": {func(w *world) {
			streetsAround(w)
			w.driveway(line(0, 0.15, 0, 0.06), 2, line(-2, 0.2, 2, 0.2))
		}, "8 South Road", ""},
		"the driveway of another house": {func(w *world) {
			streetsAround(w)
			w.driveway(line(0.5, 0.2, 0.5, 0.06), 2, line(-2, 0.2, 0.5, 0.2, 2, 0.2))
		}, "8 South Road", ""},
		"that of its neighbours": {func(w *world) {
			streetsAround(w)
			w.node(11, at(-0.15, 0), "addr:housenumber=6, addr:street=north-road")
			w.node(12, at(0.15, 0), "addr:housenumber=10, addr:street=North Road")
		}, "8 North Road", ""},
		"a neighbour far away does not count": {func(w *world) {
			streetsAround(w)
			w.node(11, at(-1.2, 0), "addr:housenumber=6, addr:street=North Road")
		}, "8 South Road", ""},
		"a house at each": {func(w *world) {
			streetsAround(w)
			w.node(11, at(-0.2, 0.1), "addr:housenumber=6, addr:street=North Road")
			w.node(12, at(0.2, -0.1), "addr:housenumber=6, addr:street=South Road")
		}, "8 South Road", ""},
		"one of two streets of one name": {func(w *world) {
			streetsAround(w)
			w.way(4, line(-2, 0.5, 2, 0.5), south)
		}, "8 South Road", ""},
		"a land register's number": {func(w *world) {
			streetsAround(w)
			w.Features[0].Tags = tags("addr:conscriptionnumber=1415, addr:streetnumber=7, building=house")
		}, "1415/7 South Road", "1415/7 South Road"},
		"several numbers": {func(w *world) { streetsAround(w); w.Features[0].Tags = tags("addr:housenumber=1;3") },
			"1;3 South Road", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			c.draw(&w)
			got := placeOf(t, w.build(t), w.Features[0].Kind, 1)
			if address := got.Address.HouseNumber + " " + got.Address.Street; address != c.want {
				t.Errorf("%q, want %q", address, c.want)
			}
			if c.as != "" && got.Name != c.as {
				t.Errorf("name %q, want %q", got.Name, c.as)
			}
		})
	}
}

// placeOf returns an object that is at or near the middle.
func placeOf(t testing.TB, x *Index, kind mapdata.Kind, id int64) Place {
	t.Helper()
	places := ask(t, x, kansas, 5)
	i := slices.IndexFunc(places, func(p Place) bool { return p.ID == bruteforce.ID(kind, id) })
	if i < 0 {
		t.Fatalf("not found: %+v", places)
	}
	return places[i]
}

// TestBuildings asks for a café, node 1, at or near the middle.
func TestBuildings(t *testing.T) {
	const cafe, addressed = "amenity=cafe, name=Bean",
		"addr:city=Salina, addr:housenumber=5, addr:postcode=67401, addr:street=Elm Street, building=yes"
	road := func(w *world) { w.way(30, line(-2, 0.3, 2, 0.3), north) }
	for name, c := range map[string]struct {
		draw func(w *world)
		want Address // without its country
	}{
		"inside": {func(w *world) { w.node(1, kansas, cafe); w.area(2, addressed, square(0, 0, 0.2)); road(w) },
			Address{HouseNumber: "5", Street: "Elm Street", City: "Salina", Postcode: "67401"}},
		"an entrance": {func(w *world) { w.node(1, kansas, cafe); w.area(2, addressed, square(-0.2, -0.2, 0.2)); road(w) },
			Address{HouseNumber: "5", Street: "Elm Street", City: "Salina", Postcode: "67401"}},
		"beside": {func(w *world) { w.node(1, kansas, cafe); w.area(2, addressed, square(0.5, 0, 0.2)); road(w) },
			Address{Street: "North Road"}},
		"its own": {func(w *world) {
			w.node(1, kansas, "addr:housenumber=7, addr:street=Oak Street, "+cafe)
			w.area(2, addressed, square(0, 0, 0.2))
		}, Address{HouseNumber: "7", Street: "Oak Street"}},
		"its own street, another one": {func(w *world) {
			w.node(1, kansas, "addr:street=Oak Street, "+cafe)
			w.area(2, addressed, square(0, 0, 0.2))
		},
			Address{Street: "Oak Street"}},
		"its own street, the same": {func(w *world) {
			w.node(1, kansas, "addr:street=Elm Street, "+cafe)
			w.area(2, addressed, square(0, 0, 0.2))
		},
			Address{HouseNumber: "5", Street: "Elm Street", City: "Salina", Postcode: "67401"}},
		"its own city": {func(w *world) {
			w.node(1, kansas, "addr:city=Wichita, "+cafe)
			w.area(2, addressed, square(0, 0, 0.2))
		},
			Address{HouseNumber: "5", Street: "Elm Street", City: "Wichita", Postcode: "67401"}},
		"a building without a street": {func(w *world) {
			w.node(1, kansas, cafe)
			w.area(2, eight, square(0, 0, 0.2))
			road(w)
		}, Address{HouseNumber: "8", Street: "North Road"}},
		"the smaller one": {func(w *world) {
			w.node(1, kansas, cafe)
			w.area(2, addressed, square(0, 0, 0.2))
			w.area(3, "addr:housenumber=6, addr:street=Elm Street, building=yes", square(0, 0, 0.1))
		}, Address{HouseNumber: "6", Street: "Elm Street", Postcode: "67401"}}, // as the other house on that street
		"a building by its door": {func(w *world) {
			w.area(1, "amenity=cafe, building=yes, name=Bean", square(0, 0, 0.2))
			w.node(4, at(0.2, 0), "addr:housenumber=5, addr:street=Elm Street")
		}, Address{HouseNumber: "5", Street: "Elm Street"}},
		"a building with two addresses": {func(w *world) {
			w.area(1, "amenity=cafe, building=yes, name=Bean", square(0, 0, 0.2))
			w.node(4, at(0.2, 0), "addr:housenumber=5, addr:street=Elm Street")
			w.node(5, at(-0.2, 0), "addr:housenumber=7, addr:street=Elm Street")
			road(w)
		}, Address{Street: "North Road"}},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			c.draw(&w)
			got := placeOf(t, w.build(t), w.Features[0].Kind, 1).Address
			c.want.Country, c.want.CountryCode = "United States", "USA"
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestPostcodes asks for a house, node 1, in the middle.
func TestPostcodes(t *testing.T) {
	near := func(w *world, codes ...string) {
		for i, code := range codes {
			w.node(int64(20+i), at(0.3*float64(i+1), 0), "addr:housenumber=1, addr:postcode="+code+", addr:street=Far Street")
		}
	}
	boundary := func(w *world) { w.area(3, "boundary=postal_code, postal_code=100", square(0, 0, 0.1)) }
	const number = "addr:housenumber=8, addr:street=Elm Street"
	for name, c := range map[string]struct {
		tags string
		draw func(w *world)
		want string
	}{
		"its own":                   {number + ", addr:postcode=999", boundary, "999"},
		"its own, in the other key": {number + ", postal_code=999", boundary, "999"},
		"of its boundary":           {number, func(w *world) { boundary(w); near(w, "200", "200", "200") }, "100"},
		"of its building": {"amenity=cafe, name=Bean", func(w *world) {
			w.area(2, number+", addr:postcode=300, building=yes", square(0, 0, 0.2))
			near(w, "200", "200")
		}, "300"},
		"a building that disagrees": {"amenity=cafe, name=Bean",
			func(w *world) { w.area(2, number+", addr:postcode=300, building=yes", square(0, 0, 0.2)); boundary(w) }, "100"},
		"of its street": {number, func(w *world) {
			w.way(2, line(-1, 0.1, 1, 0.1), "highway=residential, name=Elm Street, postal_code=400")
			near(w, "200", "200")
		}, "400"},
		"of the street that it takes": {"addr:housenumber=8", func(w *world) {
			w.way(2, line(-1, 0.1, 1, 0.1), "addr:postcode=400, highway=residential, name=Elm Street")
		}, "400"},
		"of a house in its street": {number, func(w *world) {
			near(w, "200", "300")
			w.node(40, at(3, 0), "addr:housenumber=2, addr:postcode=500, addr:street=Elm Street")
		}, "500"},
		"of houses that agree":      {number, func(w *world) { near(w, "200", "200") }, "200"},
		"houses that disagree":      {number, func(w *world) { near(w, "200", "200", "300") }, ""},
		"one house is no agreement": {number, func(w *world) { near(w, "200") }, ""},
		"houses too far away": {number, func(w *world) {
			w.node(20, at(13, 0), number+", addr:postcode=1")
			w.node(21, at(13, 1), number+", addr:postcode=1")
		}, ""},
		"the nearest houses are enough": {number, func(w *world) { near(w, "200", "200", "200", "200", "200", "300") },
			"200"},
		"none of a street of other name": {number, func(w *world) {
			w.way(2, line(-1, 0.1, 1, 0.1), "highway=residential, name=Oak Street, postal_code=400")
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			w.node(1, kansas, c.tags)
			c.draw(&w)
			if got := placeOf(t, w.build(t), mapdata.KindNode, 1).Address.Postcode; got != c.want {
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
		"a village":        {[]settlement{{"name=Oak, place=village", at(20, 0)}}, "", [3]string{"Oak", "", ""}},
		"a hamlet alone":   {[]settlement{{"name=Elm, place=hamlet", at(20, 0)}}, "", [3]string{"Elm", "", ""}},
		"a hamlet near by": {[]settlement{{"name=Elm, place=hamlet", at(2, 0)}}, "", [3]string{"Elm", "", "Elm"}},
		"a hamlet of a village": {[]settlement{{"name=Elm, place=hamlet", at(2, 0)}, {"name=Oak, place=village", at(20, 0)}},
			"", [3]string{"Oak", "", "Elm"}},
		"a farm alone": {[]settlement{{"name=Fir, place=farm", at(2, 0)}}, "", [3]string{"Fir", "", ""}},
		"a hamlet and a farm": {[]settlement{{"name=Fir, place=farm", at(2, 0)}, {"name=Elm, place=hamlet", at(20, 0)}}, "",
			[3]string{"Elm", "", ""}},
		"a locality is none": {[]settlement{{"name=Rock, place=locality", at(2, 0)}}, "", [3]string{}},
		"a suburb and a hamlet": {[]settlement{{"name=Elm, place=hamlet", at(2, 0)}, {"name=East, place=suburb", at(-2, 0)},
			{"name=Oak, place=town", at(20, 0)}}, "",
			[3]string{"Oak", "East", "Elm"}},
		"addr:place of a hamlet": {[]settlement{{"name=Moor, place=hamlet", at(50, 0)},
			{"name=Oak, place=town", at(20, 0)}}, "addr:place=Moor", [3]string{"Oak", "", "Moor"}},
		"addr:place of a village": {[]settlement{{"name=Moor, place=village", at(50, 0)},
			{"name=Oak, place=town", at(20, 0)}}, "addr:place=Moor", [3]string{"Moor", "", ""}},
		"addr:place of a suburb": {[]settlement{{"name=Moor, place=suburb", at(50, 0)},
			{"name=Oak, place=town", at(20, 0)}}, "addr:place=Moor", [3]string{"Oak", "Moor", ""}},
		"addr:place unknown": {[]settlement{{"name=Oak, place=town", at(20, 0)}}, "addr:place=Moor",
			[3]string{"Oak", "", "Moor"}},
		"addr:place is the city":    {nil, "addr:city=Moor, addr:place=Moor", [3]string{"Moor", "", ""}},
		"addr:hamlet and addr:city": {nil, "addr:city=Oak, addr:hamlet=Elm", [3]string{"Oak", "", "Elm"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, state := range []bool{true, false} {
				var w world
				w.node(1, kansas, "addr:housenumber=8, "+c.house)
				for i, s := range c.places {
					w.node(int64(10+i), s.at, s.tags)
				}
				if state { // so that cells know the settlements
					w.multi(2, "ISO3166-2=US-KS, admin_level=4, boundary=administrative, name=Kansas", orb.Polygon{square(0, 0, 200)})
				}
				a := placeOf(t, w.build(t), mapdata.KindNode, 1).Address
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
			var w world
			w.node(1, kansas, "addr:housenumber=8")
			w.multi(2, c.tags, orb.Polygon{square(0, 0, 20)})
			if a := placeOf(t, w.build(t), mapdata.KindNode, 1).Address; a.City != c.city || a.County != c.county {
				t.Errorf("city %q, county %q; want %q, %q", a.City, a.County, c.city, c.county)
			}
		})
	}
}

// TestInterpolatedAddresses: an interpolated house has an address like any other, and so have those at the ends.
func TestInterpolatedAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		tags   extract.Tags
		want   string // of the house in the middle
		hamlet string
	}{
		"a street":                 {tags("addr:street=Elm Street"), "12 Elm Street", ""},
		"a place":                  {tags("addr:place=Moor"), "12 ", "Moor"},
		"the road beside the line": {nil, "12 South Road", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			w.node(10, at(-1, 0), "addr:housenumber=10")
			w.node(11, at(1, 0), "addr:housenumber=14")
			w.Interpolations = []extract.Interpolation{{
				Way: 9, Line: line(-1, 0, 1, 0), Nodes: []int64{10, 11}, Numbers: []int32{10, 14}, Step: 2, Tags: c.tags,
			}}
			w.way(30, line(-3, -0.15, 3, -0.15), south)
			w.way(31, line(1.05, -1, 1.05, 1), north) // that the end at number 14 is nearer to
			x := w.build(t)
			got := placeOf(t, x, mapdata.KindWay, 9)
			if address := got.Address.HouseNumber + " " + got.Address.Street; address != c.want ||
				got.Address.Hamlet != c.hamlet {
				t.Errorf("%q, %q; want %q, %q", address, got.Address.Hamlet, c.want, c.hamlet)
			}
			if c.tags == nil {
				if end := ask(t, x, at(1, 0), 1)[0]; end.Name != "14 South Road" {
					t.Errorf("the end is %q", end.Name)
				}
			}
		})
	}
}

// TestStreetInLanguages: a street's name is given in the language that is asked for, and its address as it is on the
// ground.
func TestStreetInLanguages(t *testing.T) {
	var w world
	w.way(1, line(-1, 0, 1, 0), "highway=residential, name=Rue du Lac, name:en=Lake Street")
	r, err := w.build(t).Reverse(t.Context(), &Request{Point: kansas, Size: 1, Languages: []string{"en"}})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Places[0]; p.Name != "Lake Street" || p.Address.Street != "Rue du Lac" {
		t.Errorf("%q in %q", p.Name, p.Address.Street)
	}
}
