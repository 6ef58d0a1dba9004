package geocoding

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/geocoding/bruteforce"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/paulmach/orb"
)

// county is a world with a country, two states, towns and their parts, and one road through all of it.
func county() *world {
	w := new(world)
	w.multi(1, "ISO3166-1=US, admin_level=2, boundary=administrative, name=Union", orb.Polygon{square(0, 0, 200)})
	w.multi(2, "ISO3166-2=US-WE, admin_level=4, boundary=administrative, name=West", orb.Polygon{orb.Ring(line(-200, -200, 0, -200, 0, 200, -200, 200, -200, -200))})
	w.multi(3, "ISO3166-2=US-EA, admin_level=4, boundary=administrative, name=East", orb.Polygon{orb.Ring(line(0, -200, 200, -200, 200, 200, 0, 200, 0, -200))})
	w.multi(4, "admin_level=6, boundary=administrative, name=Some County", orb.Polygon{square(-20, 0, 19)})
	w.multi(5, "admin_level=8, boundary=administrative, name=Milltown", orb.Polygon{square(-10, 0, 5), reversed(square(-10, 0, 1))})
	w.multi(6, "admin_level=10, boundary=administrative, name=Riverside", orb.Polygon{square(-12, 0, 1)})
	w.area(7, "boundary=postal_code, postal_code=12345", square(-10, 0, 3))
	w.area(8, "name=Oakley, place=village", square(150, 0, 3))
	w.node(20, at(-1, 14), "name=Borderville, place=town")
	w.node(21, at(40, 5), "name=Easton, place=city")
	w.node(22, at(39, 5), "name=Harbor, place=suburb")
	w.node(23, at(0.5, 5), "name=Nearby, place=hamlet")
	w.way(30, line(-200, 0, 200, 0), "highway=primary, name=Long Road")
	for east := -200.0; east <= 200; east += 20 {
		for north := -200.0; north <= 200; north += 20 {
			w.Tiles = append(w.Tiles, region.CoverageTile(at(east, north)))
		}
	}
	return w
}

func TestAddress(t *testing.T) {
	x := county().build(t)
	for name, c := range map[string]struct {
		at      orb.Point
		want    Address
		display string
	}{
		"in a town": {at(-14, 0.1), Address{City: "Milltown", County: "Some County", State: "West"},
			"Long Road, Milltown, West, Union"},
		"in a ward, with a postcode": {at(-12, 0.1), Address{Suburb: "Riverside", City: "Milltown", County: "Some County",
			State: "West", Postcode: "12345"},
			"Long Road, Riverside, Milltown, West, Union"},
		"in the hole of the town, the nearest town is meant": {at(-10, 0.1),
			Address{City: "Borderville", County: "Some County", State: "West", Postcode: "12345"},
			"Long Road, Borderville, West, Union"},
		"in a village's polygon": {at(152, 0.1), Address{City: "Oakley", State: "East"}, "Long Road, Oakley, East, Union"},
		"near a town of the other state": {at(0.2, 0.1), Address{Hamlet: "Nearby", City: "Easton", State: "East"},
			"Long Road, Easton, East, Union"},
		"near a suburb": {at(39, 0.1), Address{Suburb: "Harbor", City: "Easton", State: "East"}, "Long Road, Harbor, Easton, East, Union"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, x, c.at, 1)
			if ids(got) != "way:30" {
				t.Fatalf("got %+v", got)
			}
			c.want.Street, c.want.Country, c.want.CountryCode = "Long Road", "Union", "USA"
			if diff := cmp.Diff(c.want, got[0].Address); diff != "" {
				t.Error(diff)
			}
			if got[0].DisplayName != c.display {
				t.Errorf("display name %q, want %q", got[0].DisplayName, c.display)
			}
		})
	}
}

func TestOwnAddressFirst(t *testing.T) {
	w := county()
	w.node(40, at(-12, 0), "addr:city=Elsewhere, addr:housenumber=1, addr:postcode=99, addr:state=WE, addr:street=Elm Street, addr:suburb=Old Town")
	got := ask(t, w.build(t), at(-12, 0), 1)
	want := Address{HouseNumber: "1", Street: "Elm Street", Suburb: "Old Town", City: "Elsewhere", County: "Some County",
		State: "West", Postcode: "99", Country: "Union", CountryCode: "USA"}
	if diff := cmp.Diff(want, got[0].Address); diff != "" {
		t.Error(diff)
	}
	if want := "1 Elm Street, Old Town, Elsewhere, West, Union"; got[0].DisplayName != want {
		t.Errorf("display name %q, want %q", got[0].DisplayName, want)
	}
}

// TestFallback asks where no feature is near.
func TestFallback(t *testing.T) {
	w := county()
	w.Features = slices.DeleteFunc(w.Features, func(f extract.Feature) bool { return f.ID == 30 })
	x := w.build(t)
	for name, c := range map[string]struct {
		at   orb.Point
		want string
	}{
		"smallest area":    {at(-20, 18), "relation:4"},
		"town":             {at(-14, 0), "relation:5"},
		"ward":             {at(-12, 0), "relation:6"},
		"place polygon":    {at(150, 0), "way:8"},
		"state":            {at(-60, -60), "relation:2"},
		"hole of the town": {at(-10, 0), "relation:4"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, x, c.at, 5)
			if ids(got) != c.want || got[0].Distance != 0 || got[0].Location != c.at {
				t.Errorf("got %+v, want %s", got, c.want)
			}
			if got := ask(t, x, c.at, 5, "restaurant"); len(got) != 0 {
				t.Errorf("with a category: %+v", got)
			}
		})
	}
	t.Run("nearest place, in the same state", func(t *testing.T) {
		var w world
		w.multi(2, "admin_level=4, boundary=administrative, name=West", orb.Polygon{orb.Ring(line(-50, -50, -3, -50, -3, 50, -50, 50, -50, -50))})
		w.node(20, at(-30, 20), "name=Inside West, place=village")
		w.node(21, at(25, 0), "name=Outside, place=isolated_dwelling")
		w.node(22, at(15, 0), "name=Kansas, place=state")
		w.area(23, "name=Farmland, place=farm", square(-60, 0, 2))
		got := ask(t, w.build(t), kansas, 5)
		if ids(got) != "node:21" || got[0].Distance < 2000 || got[0].Category != "place" || got[0].Type != "isolated_dwelling" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("not at sea", func(t *testing.T) {
		var w world
		sea := orb.Point{-40, 35}
		w.node(20, orb.Point{-40, 35.03}, "name=Atlantis, place=city")
		if got := ask(t, w.build(t), sea, 5); len(got) != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestCountry(t *testing.T) {
	for name, c := range map[string]struct {
		tags          string
		at            orb.Point
		country, code string
	}{
		"by the world's borders":      {"", orb.Point{9.52, 47.14}, "Liechtenstein", "LIE"},
		"Kosovo":                      {"", orb.Point{21.16, 42.66}, "Kosovo", "XKX"},
		"by its own polygon":          {"ISO3166-1:alpha2=AD, admin_level=2, boundary=administrative, name=Andorra (local)", orb.Point{9.52, 47.14}, "Andorra (local)", "AND"},
		"by an alpha-3 code":          {"ISO3166-1:alpha3=XKX, admin_level=2, boundary=administrative, name=Kosova", orb.Point{9.52, 47.14}, "Kosova", "XKX"},
		"by the code of a part":       {"ISO3166-2=FR-64, admin_level=6, boundary=administrative, name=Basses-Pyrénées", orb.Point{9.52, 47.14}, "France", "FRA"},
		"a code that is not assigned": {"ISO3166-1=ZZ, admin_level=2, boundary=administrative, name=Zed", orb.Point{9.52, 47.14}, "Zed", "LIE"},
		"off the coast":               {"", orb.Point{-75.0, 38.55}, "United States", "USA"},
		"on the high seas":            {"", orb.Point{-40, 35}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			w.node(1, c.at, "amenity=bench, name=Bench")
			if c.tags != "" {
				r := orb.Bound{Min: c.at, Max: c.at}.Pad(0.01).ToRing()
				w.multi(2, c.tags, orb.Polygon{r})
			}
			got := ask(t, w.build(t), c.at, 1)
			if got[0].Address.Country != c.country || got[0].Address.CountryCode != c.code {
				t.Errorf("got %+v, want %s %s", got[0].Address, c.country, c.code)
			}
		})
	}
}

func TestDisplayNameWithoutRepeats(t *testing.T) {
	for name, c := range map[string]struct{ tags, want string }{
		"city is the name":              {"name=Salina, place=city, addr:city=Salina", "Salina, United States"},
		"suburb is the city":            {"addr:city=Salina, addr:suburb=salina, amenity=cafe, name=Bean", "Bean, salina, United States"},
		"state in the city's name":      {"addr:city=Bear| Delaware, addr:state=Delaware, amenity=cafe, name=Bean", "Bean, Bear, Delaware, United States"},
		"not a part of a word":          {"addr:city=Salina, addr:suburb=Old Salina, amenity=cafe, name=Bean", "Bean, Old Salina, Salina, United States"},
		"a city has no suburb after it": {"addr:suburb=Old Town, name=Salina, place=city", "Salina, United States"},
		"a suburb lies in a city":       {"addr:city=Salina, name=Old Town, place=suburb", "Old Town, Salina, United States"},
		"a state has no city after it":  {"addr:city=Salina, name=Kansas, place=state", "Kansas, United States"},
		"a shop has all of them":        {"addr:city=Salina, addr:suburb=Old Town, name=Bean, shop=coffee", "Bean, Old Town, Salina, United States"},
		"name begins like it":           {"addr:city=Salina, amenity=cafe, name=Salina Cafe", "Salina Cafe, Salina, United States"},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			w.node(1, kansas, c.tags)
			if got := ask(t, w.build(t), kansas, 1); got[0].DisplayName != c.want {
				t.Errorf("got %q, want %q", got[0].DisplayName, c.want)
			}
		})
	}
}

// TestEqualsBruteForceContainment compares city, state and country at random points with the polygons that contain them, by
// looking at each.
func TestEqualsBruteForceContainment(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var andorran []orb.Point
	for range 400 {
		andorran = append(andorran, orb.Point{1.41 + rng.Float64()*0.37, 42.43 + rng.Float64()*0.22})
	}
	for _, c := range []struct {
		name   string
		points []orb.Point
		state  string // admin_level
		cities []string
	}{
		{delaware, delawarePoints(900), "4", []string{"8", "7"}},
		{andorra, andorran, "none", []string{"7"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := readExtract(t, c.name)
			x := build(t, d)
			areas := administrative(d)
			own := ownCities(d)
			states, cities := 0, 0
			for _, p := range c.points {
				got := ask(t, x, p, 1)
				if len(got) == 0 {
					continue
				}
				var inStates, inCities []string
				for _, f := range areas {
					if level := f.Tags.Get("admin_level"); bruteforce.Contains(f.Geometry, p) {
						if level == c.state {
							inStates = append(inStates, f.Tags.Get("name"))
						} else if slices.Contains(c.cities, level) {
							inCities = append(inCities, f.Tags.Get("name"))
						}
					}
				}
				if len(inStates) > 0 {
					if states++; !slices.Contains(inStates, got[0].Address.State) {
						t.Errorf("%v: state %q, but it lies in %s", p, got[0].Address.State, inStates)
					}
				}
				if len(inCities) > 0 && !own[got[0].ID] {
					if cities++; !slices.Contains(inCities, got[0].Address.City) {
						t.Errorf("%v: city %q, but it lies in %s", p, got[0].Address.City, inCities)
					}
				}
			}
			t.Logf("%d states, %d cities compared", states, cities)
			if cities < 30 || c.state != "none" && states < 400 {
				t.Error("too few points lie in polygons")
			}
		})
	}
}

func administrative(d *extract.Data) []extract.Feature {
	var areas []extract.Feature
	for _, f := range d.Features {
		if f.Tags.Get("boundary") == "administrative" && f.Tags.Get("name") != "" {
			areas = append(areas, f)
		}
	}
	return areas
}

// ownCities are the features that name their city themselves.
func ownCities(d *extract.Data) map[string]bool {
	own := map[string]bool{}
	for _, f := range d.Features {
		if f.Tags.Get("addr:city") != "" {
			own[bruteforce.ID(f.Kind, f.ID)] = true
		}
	}
	return own
}

// TestPlacesAtTheirOwnPosition asks for every named point of interest where it stands.
func TestPlacesAtTheirOwnPosition(t *testing.T) {
	for _, name := range []string{delaware, andorra} {
		d := readExtract(t, name)
		x := build(t, d)
		n := 0
		for _, f := range bruteforce.Features(d) {
			p, ok := f.Geometry.(orb.Point)
			if !ok || !strings.HasPrefix(f.ID, "node:") { // an interpolated house has the id of its way
				continue
			}
			n++
			got := ask(t, x, p, 1)
			if len(got) != 1 || got[0].Distance != 0 || got[0].ID != f.ID && !isNode(d, got[0].ID, p) {
				t.Errorf("%s at %v: %+v", f.ID, p, got)
			}
		}
		if n < 500 {
			t.Errorf("%s has %d points only", name, n)
		}
	}
}

// isNode tells whether an id is that of a node less than a centimetre from a position.
func isNode(d *extract.Data, id string, p orb.Point) bool {
	return slices.ContainsFunc(d.Features, func(f extract.Feature) bool {
		at, ok := f.Geometry.(orb.Point)
		return ok && bruteforce.ID(f.Kind, f.ID) == id && bruteforce.Haversine(at, p) < 0.01
	})
}

func TestLevels(t *testing.T) {
	table, err := parseLevels(levelsText)
	if err != nil {
		t.Fatal(err)
	}
	for code, l := range table {
		if code == "*" {
			continue
		}
		if _, ok := byCode(code); !ok || len(code) != 2 {
			t.Errorf("%q is no country", code)
		}
		for _, list := range [][]int{l.state, l.county, l.city, l.suburb} {
			sorted := slices.Clone(list)
			slices.Sort(sorted)
			if len(slices.Compact(sorted)) != len(list) {
				t.Errorf("%s: a level is twice in %v", code, list)
			}
		}
	}
	if diff := cmp.Diff([]int{8, 7}, levelsOf("US").city); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(table["*"].city, levelsOf("QQ").city); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"US 4 8", "US 4 6 8 9 10", "US 4 8 9", "US x 6 8 9", "US 4 6 99 9",
		"US 4 6 8 9\nUS 4 6 8 9"} {
		if _, err := parseLevels(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
