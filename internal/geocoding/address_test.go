package geocoding_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

func TestAddress(t *testing.T) {
	x := geocodingtest.Build(t, county().Cover())
	for name, c := range map[string]struct {
		at      orb.Point
		want    geocoding.Address
		display string
	}{
		"in a town": {placestest.At(-14, 0.1), geocoding.Address{City: "Milltown", County: "Some County", State: "West"},
			"Long Road, Milltown, West, Union"},
		"in a ward, with a postcode": {placestest.At(-12, 0.1), geocoding.Address{Suburb: "Riverside", City: "Milltown",
			County: "Some County",
			State:  "West", Postcode: "12345"},
			"Long Road, Riverside, Milltown, West, Union"},
		"in the hole of the town, the nearest town is meant": {placestest.At(-10, 0.1),
			geocoding.Address{City: "Borderville", County: "Some County", State: "West", Postcode: "12345"},
			"Long Road, Borderville, West, Union"},
		"in a village's polygon": {placestest.At(152, 0.1), geocoding.Address{City: "Oakley", State: "East"}, "Long Road, Oakley, East, Union"},
		"near a town of the other state": {placestest.At(0.2, 0.1), geocoding.Address{Hamlet: "Nearby", City: "Easton",
			State: "East"},
			"Long Road, Easton, East, Union"},
		"near a suburb": {placestest.At(39, 0.1), geocoding.Address{Suburb: "Harbor", City: "Easton", State: "East"},
			"Long Road, Harbor, Easton, East, Union"},
	} {
		t.Run(name, func(t *testing.T) {
			got := geocodingtest.Ask(t, x, c.at, 1)
			if geocodingtest.Ids(got) != "way:30" {
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

// TestHouseName: the name of a house is used if neither it nor its building has a number.
func TestHouseName(t *testing.T) {
	for name, c := range map[string]struct{ tags, building, number, display string }{
		"an address by itself": {"addr:housename=Rose Cottage", "", "Rose Cottage", "Rose Cottage Long Road"},
		"a number":             {"addr:housename=Rose Cottage, addr:housenumber=7", "", "7", "7 Long Road"},
		"a place with a name":  {"addr:housename=Rose Cottage, name=Inn, amenity=pub", "", "Rose Cottage", "Inn"},
		"a numbered building":  {"addr:housename=Suite, name=Inn, amenity=pub", "building=yes, addr:housenumber=9", "9", "Inn"},
	} {
		t.Run(name, func(t *testing.T) {
			w := county()
			w.Node(40, placestest.At(-12, 0.2), c.tags)
			if c.building != "" {
				w.Area(41, c.building, placestest.Square(-12, 0.2, 0.05))
			}
			for _, f := range geocodingtest.Ask(t, geocodingtest.Build(t, w.Cover()), placestest.At(-12, 0.2), 2) {
				if f.ID != "node:40" {
					continue
				}
				if display, _, _ := strings.Cut(f.DisplayName, ","); f.Address.HouseNumber != c.number || display != c.display ||
					f.Address.Street != "Long Road" {
					t.Errorf("%q, %+v", f.DisplayName, f.Address)
				}
				return
			}
			t.Error("not found")
		})
	}
}

func TestOwnAddressFirst(t *testing.T) {
	w := county()
	w.Node(40, placestest.At(-12, 0),
		"addr:city=Elsewhere, addr:housenumber=1, addr:postcode=99, addr:state=WE, "+
			"addr:street=Elm Street, addr:suburb=Old Town")
	got := geocodingtest.Ask(t, geocodingtest.Build(t, w.Cover()), placestest.At(-12, 0), 1)
	want := geocoding.Address{HouseNumber: "1", Street: "Elm Street", Suburb: "Old Town", City: "Elsewhere",
		County: "Some County",
		State:  "West", Postcode: "99", Country: "Union", CountryCode: "USA"}
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
	w.Features = slices.DeleteFunc(w.Features, func(f placestest.Feature) bool { return f.ID == 30 })
	x := geocodingtest.Build(t, w.Cover())
	for name, c := range map[string]struct {
		at   orb.Point
		want string
	}{
		"smallest area":    {placestest.At(-20, 18), "relation:4"},
		"town":             {placestest.At(-14, 0), "relation:5"},
		"ward":             {placestest.At(-12, 0), "relation:6"},
		"place polygon":    {placestest.At(150, 0), "way:8"},
		"state":            {placestest.At(-60, -60), "relation:2"},
		"hole of the town": {placestest.At(-10, 0), "relation:4"},
	} {
		t.Run(name, func(t *testing.T) {
			got := geocodingtest.Ask(t, x, c.at, 5)
			if geocodingtest.Ids(got) != c.want || got[0].Distance != 0 || got[0].Location != c.at {
				t.Errorf("got %+v, want %s", got, c.want)
			}
			if got := geocodingtest.Ask(t, x, c.at, 5, "restaurant"); len(got) != 0 {
				t.Errorf("with a category: %+v", got)
			}
		})
	}
	t.Run("nearest place, in the same state", func(t *testing.T) {
		var w placestest.World
		w.Multi(2, "admin_level=4, boundary=administrative, name=West", orb.Polygon{orb.Ring(placestest.Line(-50, -50, -3,
			-50, -3, 50, -50, 50, -50, -50))})
		w.Node(20, placestest.At(-30, 20), "name=Inside West, place=village")
		w.Node(21, placestest.At(25, 0), "name=Outside, place=isolated_dwelling")
		w.Node(22, placestest.At(15, 0), "name=Kansas, place=state")
		w.Area(23, "name=Farmland, place=farm", placestest.Square(-60, 0, 2))
		got := geocodingtest.Ask(t, geocodingtest.Build(t, w.Cover()), placestest.Kansas, 5)
		if geocodingtest.Ids(got) != "node:21" || got[0].Distance < 2000 || got[0].Category != "place" ||
			got[0].Type != "isolated_dwelling" {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("not at sea", func(t *testing.T) {
		var w placestest.World
		sea := orb.Point{-40, 35}
		w.Node(20, orb.Point{-40, 35.03}, "name=Atlantis, place=city")
		if got := geocodingtest.Ask(t, geocodingtest.Build(t, w.Cover()), sea, 5); len(got) != 0 {
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
		"by the world's borders": {"", orb.Point{9.52, 47.14}, "Liechtenstein", "LIE"},
		"Kosovo":                 {"", orb.Point{21.16, 42.66}, "Kosovo", "XKX"},
		"by its own polygon": {"ISO3166-1:alpha2=AD, admin_level=2, boundary=administrative, name=Andorra (local)",
			orb.Point{9.52, 47.14}, "Andorra (local)", "AND"},
		"by an alpha-3 code": {"ISO3166-1:alpha3=XKX, admin_level=2, boundary=administrative, name=Kosova", orb.Point{9.52, 47.14}, "Kosova", "XKX"},
		"by the code of a part": {"ISO3166-2=FR-64, admin_level=6, boundary=administrative, name=Basses-Pyrénées",
			orb.Point{9.52, 47.14}, "France", "FRA"},
		"a code that is not assigned": {"ISO3166-1=ZZ, admin_level=2, boundary=administrative, name=Zed", orb.Point{9.52, 47.14}, "Zed", "LIE"},
		"off the coast":               {"", orb.Point{-75.0, 38.55}, "United States", "USA"},
		"on the high seas":            {"", orb.Point{-40, 35}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var w placestest.World
			w.Node(1, c.at, "amenity=bench, name=Bench")
			if c.tags != "" {
				r := orb.Bound{Min: c.at, Max: c.at}.Pad(0.01).ToRing()
				w.Multi(2, c.tags, orb.Polygon{r})
			}
			got := geocodingtest.Ask(t, geocodingtest.Build(t, w.Cover()), c.at, 1)
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
			var w placestest.World
			w.Node(1, placestest.Kansas, c.tags)
			if got := geocodingtest.Ask(t, geocodingtest.Build(t, w.Cover()), placestest.Kansas,
				1); got[0].DisplayName != c.want {
				t.Errorf("got %q, want %q", got[0].DisplayName, c.want)
			}
		})
	}
}

// TestEqualsBruteForceContainment compares city and state at random points with the polygons that contain them, by
// looking at each.
func TestEqualsBruteForceContainment(t *testing.T) {
	testkit.Whole(t)
	d := placestest.Read(t, testkit.Delaware)
	x := geocodingtest.Build(t, d)
	own := map[string]bool{} // the features that name their city themselves
	for _, f := range d.Features {
		own[geocodingtest.ID(f.Kind, f.ID)] = f.Tags.Get("addr:city") != ""
	}
	compared := map[string]int{}
	for _, p := range delawarePoints(900) {
		got := geocodingtest.Ask(t, x, p, 1)
		if len(got) == 0 {
			continue
		}
		around := map[string][]string{}
		for _, f := range d.Features {
			role := map[string]string{"4": "state", "7": "city", "8": "city"}[f.Tags.Get("admin_level")]
			if name := f.Tags.Get("name"); role != "" && name != "" && f.Tags.Get("boundary") == "administrative" &&
				geocodingtest.Contains(f.Geometry, p) {
				around[role] = append(around[role], name)
			}
		}
		for role, name := range map[string]string{"state": got[0].Address.State, "city": got[0].Address.City} {
			if len(around[role]) == 0 || role == "city" && own[got[0].ID] {
				continue
			}
			if compared[role]++; !slices.Contains(around[role], name) {
				t.Errorf("%v: %s %q, but it lies in %s", p, role, name, around[role])
			}
		}
	}
	if compared["city"] < 30 || compared["state"] < 400 {
		t.Errorf("only %v lie in polygons", compared)
	}
}
