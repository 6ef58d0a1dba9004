package places_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// Tags that many objects have.
const (
	north, south = "highway=residential, name=North Road", "highway=residential, name=South Road"
	cafe         = "amenity=cafe, name=Bean"
)

// line writes an address: house number and street, and what else there is.
func line(a *geocoding.Address) string {
	text := strings.TrimSpace(a.HouseNumber + " " + a.Street)
	for _, part := range [][2]string{{"suburb", a.Suburb}, {"hamlet", a.Hamlet}, {"city", a.City}, {"county", a.County}, {"state", a.State}, {"", a.Postcode}} {
		if part[1] != "" {
			text += ", " + strings.TrimSpace(part[0]+" "+part[1])
		}
	}
	return text
}

// TestAddresses: the address of what has the id 1, at or near the middle.
func TestAddresses(t *testing.T) {
	t.Parallel()
	// A house; South Road is 9 m away from it, North Road 17 m.
	const eight, house = "addr:housenumber=8, building=house", "a1 0 0 0.05 addr:housenumber=8, building=house / "
	const roads = " / w2 -2 0.2 0 0.2 0.5 0.2 2 0.2 " + north + " / w3 -2 -0.13 2 -0.13 " + south
	const node = "n1 0 0 addr:housenumber=8 / "
	// A building with an address, and a road beside it.
	const elm5 = "addr:city=Salina, addr:housenumber=5, addr:postcode=67401, addr:street=Elm Street, building=yes"
	const inside, road = " / a2 0 0 0.2 " + elm5, " / w30 -2 0.3 2 0.3 " + north
	const door = " / n4 0.2 0 addr:housenumber=5, addr:street=Elm Street"
	// A house without a postcode, and others with one each.
	const plain = "n1 0 0 addr:housenumber=8, addr:street=Elm Street / "
	far := func(codes ...string) (text string) {
		for i, code := range codes {
			text += " / n" + string(rune('2'+i)) + "0 " + []string{"0.3", "0.6", "0.9", "1.2", "1.5", "1.8"}[i] + " 0 addr:housenumber=1, addr:postcode=" + code + ", addr:street=Far Street"
		}
		return strings.TrimPrefix(text, " / ")
	}
	const postal = "a3 0 0 0.1 boundary=postal_code, postal_code=100"
	for name, c := range map[string]struct {
		world, want string
		as          string // its name, where it is to be compared
	}{
		// Streets.
		"the nearest street":     {house + roads, "8 South Road", "8 South Road"},
		"its own street":         {"a1 0 0 0.05 " + eight + ", addr:street=Elm Street" + roads, "8 Elm Street", ""},
		"a place":                {"a1 0 0 0.05 " + eight + ", addr:place=Moor" + roads, "8, hamlet Moor", "8 Moor"},
		"a shop":                 {"a1 0 0 0.05 name=Bean, shop=coffee" + roads, "South Road", "Bean"},
		"a wood":                 {"a1 0 0 0.05 name=Bean, natural=wood" + roads, "", "Bean"},
		"a street":               {"w1 -1 0 1 0 " + north, "North Road", ""},
		"a motorway":             {"w1 -1 0 1 0 highway=motorway, name=Freeway", "Freeway", ""},
		"a square":               {"a1 0 0 0.1 leisure=park, name=Town Square, place=square", "Town Square", ""},
		"a bus stop":             {"n1 0 0.1 highway=bus_stop, name=Mill / w2 -1 0 1 0 " + north, "North Road", ""},
		"no street near":         {house + "w2 -9 2.6 9 2.6 " + north, "8", "8"},
		"one just near enough":   {house + "w2 -9 2.2 9 2.2 " + north, "8 North Road", ""},
		"beside a motorway":      {house + "w2 -9 0.2 9 0.2 highway=motorway, name=Freeway", "8", ""},
		"a street to be built":   {house + "w2 -9 0.2 9 0.2 highway=proposed, name=Dream Road", "8", ""},
		"a street before a path": {house + "w2 -9 0.1 9 0.1 highway=footway, name=Dog Walk / w3 -9 -0.2 9 -0.2 " + south, "8 South Road", ""},
		"only a path":            {house + "w2 -9 0.1 9 0.1 highway=footway, name=Garden Path", "8 Garden Path", ""},
		"a path far away":        {house + "w2 -9 0.6 9 0.6 highway=path, name=Trail", "8", ""},
		"two of one name":        {house + "w4 -2 0.5 2 0.5 " + south + roads, "8 South Road", ""},
		"services":               {"n1 0 0 " + cafe + " / a2 0 0 0.5 highway=services, name=Maryland House", "", ""},
		"services with a street": {"a1 0 0 0.5 addr:housenumber=7, addr:street=Elm Street, highway=services, name=Maryland House", "7 Elm Street", ""},
		"its own driveway":       {house + "d 0 0.2 0 0.06" + roads, "8 North Road", ""},
		"a long driveway":        {house + "w2 -2 3.5 0 3.5 2 3.5 " + north + " / d 0 3.5 0 2 0 0.1", "8 North Road", ""},
		"one that leads nowhere": {house + "d 0 0.15 0 0.06" + roads, "8 South Road", ""},
		"another's driveway":     {house + "d 0.5 0.2 0.5 0.06" + roads, "8 South Road", ""},
		"a driveway to a path":   {house + "w2 -2 1 0 1 2 1 highway=path, name=Trail / d 0 1 0 0.1", "8", ""},
		"its neighbours' street": {house + "n11 -0.15 0 addr:housenumber=6, addr:street=north-road / n12 0.15 0 addr:housenumber=10, addr:street=North Road" + roads, "8 North Road", ""},
		"a neighbour far away":   {house + "n11 -1.2 0 addr:housenumber=6, addr:street=North Road" + roads, "8 South Road", ""},
		"a neighbour on each": {house + "n11 -0.2 0.1 addr:housenumber=6, addr:street=North Road / n12 0.2 -0.1 addr:housenumber=6, addr:street=South Road" + roads,
			"8 South Road", ""},
		"neighbours on a street farther away": {node + "w2 -2 0.5 2 0.5 " + north + " / w3 -2 -0.55 2 -0.55 " + south + " / n11 0.02 0 addr:housenumber=6, addr:street=South Road", "8 South Road", ""},
		"neighbours against a service road":   {node + "w2 -2 0.405 2 0.405 highway=service, name=Mall Lane / w3 -2 -0.72 2 -0.72 " + south + " / n11 0.02 0 addr:housenumber=6, addr:street=South Road", "8 South Road", ""},
		"a land register's number":            {"a1 0 0 0.05 addr:conscriptionnumber=1415, addr:streetnumber=7, building=house" + roads, "1415/7 South Road", "1415/7 South Road"},
		"several numbers":                     {"a1 0 0 0.05 addr:housenumber=1;3" + roads, "1;3 South Road", ""},

		// Buildings.
		"in a building":               {"n1 0 0 " + cafe + inside + road, "5 Elm Street, city Salina, 67401", ""},
		"at an entrance":              {"n1 0 0 " + cafe + " / a2 -0.2 -0.2 0.2 " + elm5 + road, "5 Elm Street, city Salina, 67401", ""},
		"beside a building":           {"n1 0 0 " + cafe + " / a2 0.5 0 0.2 " + elm5 + road, "North Road", ""},
		"its own address":             {"n1 0 0 addr:housenumber=7, addr:street=Oak Street, " + cafe + inside, "7 Oak Street", ""},
		"its own street, another":     {"n1 0 0 addr:street=Oak Street, " + cafe + inside, "Oak Street", ""},
		"its own street, the same":    {"n1 0 0 addr:street=Elm Street, " + cafe + inside, "5 Elm Street, city Salina, 67401", ""},
		"its own city":                {"n1 0 0 addr:city=Wichita, " + cafe + inside, "5 Elm Street, city Wichita, 67401", ""},
		"a building without a street": {"n1 0 0 " + cafe + " / a2 0 0 0.2 " + eight + road, "8 North Road", ""},
		"the smaller of two, with the postcode of a house on its street": {"n1 0 0 " + cafe + inside + " / a3 0 0 0.1 addr:housenumber=6, addr:street=Elm Street, building=yes",
			"6 Elm Street, 67401", ""},
		"a building by its door":        {"a1 0 0 0.2 building=yes, " + cafe + door, "5 Elm Street", ""},
		"a building with two addresses": {"a1 0 0 0.2 building=yes, " + cafe + door + " / n5 -0.2 0 addr:housenumber=7, addr:street=Elm Street" + road, "North Road", ""},
		"in a building with a door":     {"n1 0 0 " + cafe + " / a2 0 0 0.2 building=yes, name=House" + door + road, "5 Elm Street", ""},

		// Postcodes.
		"its own postcode":            {"n1 0 0 addr:housenumber=8, addr:postcode=999 / " + postal, "8, 999", ""},
		"its own, in the other key":   {"n1 0 0 addr:housenumber=8, postal_code=999 / " + postal, "8, 999", ""},
		"of its boundary":             {plain + postal + " / " + far("200", "200", "200"), "8 Elm Street, 100", ""},
		"of its building":             {"n1 0 0 " + cafe + " / a2 0 0 0.2 addr:housenumber=8, addr:street=Elm Street, addr:postcode=300, building=yes / " + far("200", "200"), "8 Elm Street, 300", ""},
		"a building that disagrees":   {"n1 0 0 " + cafe + " / a2 0 0 0.2 addr:housenumber=8, addr:street=Elm Street, addr:postcode=300, building=yes / " + postal, "8 Elm Street, 100", ""},
		"of its street":               {plain + "w2 -1 0.1 1 0.1 highway=residential, name=Elm Street, postal_code=400 / " + far("200", "200"), "8 Elm Street, 400", ""},
		"of the street that it takes": {node + "w2 -1 0.1 1 0.1 addr:postcode=400, highway=residential, name=Elm Street", "8 Elm Street, 400", ""},
		"not of another street":       {plain + "w2 -1 0.1 1 0.1 highway=residential, name=Oak Street, postal_code=400", "8 Elm Street", ""},
		"several of a street":         {node + "w2 -1 0.1 1 0.1 highway=residential, name=Elm Street, postal_code=67401;67402", "8 Elm Street", ""},
		"several of a boundary": {node + "a3 0 0 0.1 admin_level=8, boundary=administrative, name=Salina, postal_code=67401;67402 / w2 -1 0.05 1 0.05 highway=residential, name=Elm Street, postal_code=67401",
			"8 Elm Street, city Salina, 67401", ""},
		"of a house on its street": {plain + "n40 3 0 addr:housenumber=2, addr:postcode=500, addr:street=Elm Street / " + far("200", "300"), "8 Elm Street, 500", ""},
		"of houses that agree":     {plain + far("200", "200"), "8 Elm Street, 200", ""},
		"of houses that disagree":  {plain + far("200", "200", "300"), "8 Elm Street", ""},
		"of a single house":        {plain + far("200"), "8 Elm Street", ""},
		"of houses too far away":   {plain + "n20 13 0 addr:housenumber=8, addr:street=Elm Street, addr:postcode=1 / n21 13 1 addr:housenumber=8, addr:street=Elm Street, addr:postcode=1", "8 Elm Street", ""},
		"of the nearest houses":    {plain + far("200", "200", "200", "200", "200", "300"), "8 Elm Street, 200", ""},

		// Counties: an area that is the city is not the county too.
		"a county":          {node + "r2 0 0 20 admin_level=6, boundary=administrative, name=Lincoln", "8, county Lincoln", ""},
		"a county by place": {node + "r2 0 0 20 name=Lincoln, place=county", "8, county Lincoln", ""},
		"a city-county":     {node + "r2 0 0 20 ISO3166-2=DE-BY, admin_level=6, boundary=administrative, name=Lincoln", "8, city Lincoln", ""},
		"a park":            {node + "r2 0 0 20 name=Park, leisure=park", "8", ""},
	} {
		w := new(placestest.World).Draw(c.world).Cover()
		i := slices.IndexFunc(w.Features, func(f placestest.Feature) bool { return f.ID == 1 })
		got := geocodingtest.PlaceOf(t, geocodingtest.Build(t, w), w.Features[i].Kind, 1)
		if address := line(&got.Address); address != c.want || c.as != "" && got.Name != c.as {
			t.Errorf("%s: %q is at %q, want %q", name, got.Name, address, c.want)
		}
	}
	w := new(placestest.World).Draw("a1 0 0 0.05 " + eight + roads)
	w.Features[0].Geometry = orb.Polygon{orb.Ring(placestest.Line(-0.05, -0.1, 0.05, -0.1, 0.05, 0.05, -0.05, 0.05, -0.05, -0.1))}
	w.Features[0].Entrances = []orb.Point{placestest.At(0, 0.05)}
	got := geocodingtest.PlaceOf(t, geocodingtest.Build(t, w.Cover()), region.KindWay, 1)
	if address := line(&got.Address); address != "8 North Road" {
		t.Errorf("by its main entrance: %q", address)
	}
}

// TestSettlements: the city, suburb and hamlet of a house. A state lets tiles know their settlements.
func TestSettlements(t *testing.T) {
	t.Parallel()
	const oak, town = "n10 20 0 name=Oak, place=village / ", "n10 20 0 name=Oak, place=town / "
	const house, moor = "n1 0 0 addr:housenumber=8", "n1 0 0 addr:housenumber=8, addr:place=Moor"
	for world, want := range map[string]string{
		oak + house: "8, city Oak",
		"n10 20 0 name=Elm, place=hamlet / " + house:                                          "8, city Elm",
		"n10 2 0 name=Elm, place=hamlet / " + house:                                           "8, hamlet Elm, city Elm",
		"n11 2 0 name=Elm, place=hamlet / " + oak + house:                                     "8, hamlet Elm, city Oak",
		"n10 2 0 name=Fir, place=farm / " + house:                                             "8, city Fir",
		"n10 2 0 name=Fir, place=farm / n11 20 0 name=Elm, place=hamlet / " + house:           "8, city Elm",
		"n10 2 0 name=Rock, place=locality / " + house:                                        "8",
		"n11 2 0 name=Elm, place=hamlet / n12 -2 0 name=East, place=suburb / " + town + house: "8, suburb East, hamlet Elm, city Oak",
		"n11 50 0 name=Moor, place=hamlet / " + town + moor:                                   "8, hamlet Moor, city Oak",
		"n11 50 0 name=Moor, place=village / " + town + moor:                                  "8, city Moor",
		"n11 50 0 name=Moor, place=suburb / " + town + moor:                                   "8, suburb Moor, city Oak",
		town + moor: "8, hamlet Moor, city Oak",
		house + ", addr:city=Moor, addr:place=Moor": "8, city Moor",
		house + ", addr:city=Oak, addr:hamlet=Elm":  "8, hamlet Elm, city Oak",
	} {
		for _, state := range []string{"", " / r2 0 0 200 ISO3166-2=US-KS, admin_level=4, boundary=administrative, name=Kansas"} {
			want := want
			if state != "" {
				want += ", state Kansas"
			}
			w := new(placestest.World).Draw(world + state)
			got := geocodingtest.PlaceOf(t, geocodingtest.Build(t, w.Cover()), region.KindNode, 1)
			if address := line(&got.Address); address != want {
				t.Errorf("%s%s: %q, want %q", world, state, address, want)
			}
		}
	}
}

// TestInterpolatedAddresses: an interpolated house has an address like any other, and so have those at the ends.
func TestInterpolatedAddresses(t *testing.T) {
	t.Parallel()
	for tags, want := range map[string][2]string{ // its name and its address
		"addr:city=Salina, addr:postcode=67401, addr:street=Elm Street": {"12 Elm Street", "12 Elm Street, city Salina, 67401"},
		"addr:place=Moor": {"12 Moor", "12, hamlet Moor"},
		"":                {"12 South Road", "12 South Road"}, // which is beside the line
	} {
		// The end at number 14 is nearer to North Road.
		w := new(placestest.World).Draw("n10 -1 0 addr:housenumber=10 / n11 1 0 addr:housenumber=14 / w30 -3 -0.15 3 -0.15 " + south + " / w31 1.05 -1 1.05 1 " + north)
		w.Interpolations = []placestest.Interpolation{{Interpolation: objects.Interpolation{Way: 9, Line: placestest.Line(-1, 0, 1, 0),
			Nodes: []int64{10, 11}, Numbers: []int32{10, 14}, Step: 2}}}
		if tags != "" {
			w.Interpolations[0].Tags = placestest.Tags(tags)
		}
		x := geocodingtest.Build(t, w.Cover())
		got := geocodingtest.PlaceOf(t, x, region.KindWay, 9)
		if is := [2]string{got.Name, line(&got.Address)}; is != want || got.Category != "place" || got.Type != "house" {
			t.Errorf("%q: %+v, want %q", tags, got, want)
		}
		if end := geocodingtest.Ask(t, x, placestest.At(1, 0), 1)[0]; tags == "" && end.Name != "14 South Road" {
			t.Errorf("the end is %q", end.Name)
		}
	}
}

// TestInsideAreas: a position in an area that the region knows has an answer, even far from any node, as in a sea, a
// desert or a lake; one outside has none.
func TestInsideAreas(t *testing.T) {
	t.Parallel()
	const state = " ISO3166-1=MV, admin_level=2, boundary=administrative, name=Islands"
	hole := new(placestest.World)
	hole.Multi(1, strings.TrimSpace(state), orb.Polygon{placestest.Square(0, 0, 900), placestest.Reversed(placestest.Square(300, 0, 400))})
	for name, c := range map[string]struct {
		world *placestest.World
		at    orb.Point
		want  string
	}{
		"an island state":           {new(placestest.World).Draw("r1 0 0 900" + state + " / n2 10 10 name=Atoll, place=islet"), placestest.At(500, -500), "Islands"},
		"a desert in a county":      {new(placestest.World).Draw("r1 0 0 2000" + state + " / r2 300 0 600 admin_level=6, boundary=administrative, name=Desert County"), placestest.At(350, 50), "Desert County"},
		"a lake with its own name":  {new(placestest.World).Draw("r1 0 0 900" + state + " / r2 300 0 400 name=Great Lake, natural=water"), placestest.At(300, 0), "Great Lake"},
		"a hole":                    {hole, placestest.At(300, 0), ""},
		"outside":                   {new(placestest.World).Draw("r1 0 0 100" + state), placestest.At(500, 0), ""},
		"an area without an answer": {new(placestest.World).Draw("r1 0 0 900 name=Forest, natural=wood"), placestest.At(500, 0), ""},
	} {
		x := geocodingtest.Build(t, c.world)
		got := ""
		if places := geocodingtest.Ask(t, x, c.at, 1); len(places) > 0 {
			got = places[0].Name
		}
		if got != c.want || x.File.Covers(c.at) != (c.want != "") {
			t.Errorf("%s: %q, covered: %v, want %q", name, got, x.File.Covers(c.at), c.want)
		}
	}
}
