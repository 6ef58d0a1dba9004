package geocoding_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// ask returns the answer to a request.
func ask(t testing.TB, x *geocodingtest.Index, req geocoding.Request) []geocoding.Place {
	t.Helper()
	r, err := x.Reverse(t.Context(), &req)
	if err != nil {
		t.Fatal(err)
	}
	return r.Places
}

func TestLayers(t *testing.T) {
	for tags, want := range map[string]geocoding.Layer{
		"n1 0 0 addr:housenumber=5, addr:street=Elm Street":                         geocoding.LayerHouse,
		"a1 0 0 1 addr:housenumber=5, building=house":                               geocoding.LayerHouse,
		"n1 0 0 name=Rose, place=house":                                             geocoding.LayerHouse,
		"n1 0 0 addr:housenumber=5, amenity=cafe, name=Bean":                        geocoding.LayerOther,
		"w1 -1 0 1 0 highway=residential, name=Elm Street":                          geocoding.LayerStreet,
		"a1 0 0 1 leisure=park, name=Town Square, place=square":                     geocoding.LayerStreet,
		"n1 0 0 highway=bus_stop, name=Elm Street":                                  geocoding.LayerOther,
		"w1 -1 0 1 0 name=Main Line, railway=rail":                                  geocoding.LayerOther,
		"n1 0 0 name=Oak, natural=tree":                                             geocoding.LayerOther,
		"n1 0 0 name=Salina, place=city":                                            geocoding.LayerCity,
		"n1 0 0 name=Salina, place=village":                                         geocoding.LayerCity,
		"n1 0 0 name=Moor, place=hamlet":                                            geocoding.LayerDistrict,
		"n1 0 0 name=North, place=suburb":                                           geocoding.LayerDistrict,
		"n1 0 0 name=North, place=neighbourhood":                                    geocoding.LayerLocality,
		"n1 0 0 name=Isle, place=island":                                            geocoding.LayerOther,
		"n1 0 0 name=Kansas, place=state":                                           geocoding.LayerState,
		"n1 0 0 name=Lincoln, place=county":                                         geocoding.LayerCounty,
		"n1 0 0 name=Union, place=country":                                          geocoding.LayerCountry,
		"r1 0 0 9 admin_level=8, boundary=administrative, name=Salina":              geocoding.LayerCity,
		"r1 0 0 9 admin_level=10, boundary=administrative, name=Riverside":          geocoding.LayerDistrict,
		"r1 0 0 9 admin_level=6, boundary=administrative, name=Lincoln":             geocoding.LayerCounty,
		"r1 0 0 9 admin_level=4, boundary=administrative, name=Kansas":              geocoding.LayerState,
		"r1 0 0 9 ISO3166-1=US, admin_level=2, boundary=administrative, name=Union": geocoding.LayerCountry,
		"r1 0 0 9 boundary=national_park, name=Park":                                geocoding.LayerOther,
	} {
		t.Run(tags, func(t *testing.T) {
			x := geocodingtest.Build(t, new(placestest.World).Draw(tags).Cover())
			var categories []string
			if strings.Contains(tags, "boundary=") {
				categories = []string{"boundary"}
			}
			got := geocodingtest.Ask(t, x, placestest.Kansas, 1, categories...)
			if len(got) != 1 || got[0].Layer != want {
				t.Errorf("%+v, want layer %d", got, want)
			}
		})
	}
}

// TestKeep: what is not wanted does not take the place of what is, and where nothing is near, parts of the address are
// the answer.
func TestKeep(t *testing.T) {
	x := geocodingtest.Build(t, county().Draw("w40 -13 0.2 -11 0.2 name=Main Line, railway=rail / n41 -12 0.3 amenity=cafe, name=Bean"+
		" / n42 -12 0.5 building=yes, name=House, shop=books").Cover())
	at := placestest.At(-12, 0.2)
	for name, c := range map[string]struct {
		keep func(category, kind string, layer geocoding.Layer) bool
		size int
		want string
	}{
		"all":            {func(string, string, geocoding.Layer) bool { return true }, 2, "way:40 node:41"},
		"no railways":    {func(category, _ string, _ geocoding.Layer) bool { return category != "railway" }, 2, "node:41 way:30"},
		"a kind":         {func(_, kind string, _ geocoding.Layer) bool { return kind == "cafe" }, 5, "node:41"},
		"a further kind": {func(category, _ string, _ geocoding.Layer) bool { return category == "building" }, 5, "node:42"},
		"streets":        {func(_, _ string, l geocoding.Layer) bool { return l == geocoding.LayerStreet }, 5, "way:30"},
		"a state":        {func(_, _ string, l geocoding.Layer) bool { return l == geocoding.LayerState }, 5, "relation:2"},
		"nothing":        {func(string, string, geocoding.Layer) bool { return false }, 5, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, x, geocoding.Request{Point: at, Size: c.size, Keep: c.keep, MaxDistance: 200})
			if geocodingtest.Ids(got) != c.want {
				t.Errorf("got %+v, want %s", got, c.want)
			}
			if name == "a further kind" && got[0].Category+"/"+got[0].Type != "building/yes" {
				t.Errorf("presented as %s/%s", got[0].Category, got[0].Type)
			}
		})
	}
}

// TestAreas: the places around a position come from small to large.
func TestAreas(t *testing.T) {
	x := geocodingtest.Build(t, county().Cover())
	upTo := func(least geocoding.Layer) func(category, kind string, layer geocoding.Layer) bool {
		return func(_, _ string, l geocoding.Layer) bool { return l != geocoding.LayerOther && l <= least }
	}
	for name, c := range map[string]struct {
		at   orb.Point
		keep func(category, kind string, layer geocoding.Layer) bool
		want string
	}{
		"all":          {placestest.At(-12, 0.1), nil, "relation:6 relation:5 relation:4 relation:2 relation:1"},
		"from a city":  {placestest.At(-12, 0.1), upTo(geocoding.LayerCity), "relation:5 relation:4 relation:2 relation:1"},
		"from a state": {placestest.At(-12, 0.1), upTo(geocoding.LayerState), "relation:2 relation:1"},
		"settlements":  {placestest.At(39, 0.1), upTo(geocoding.LayerDistrict), "node:22 node:21 relation:3 relation:1"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, x, geocoding.Request{Point: c.at, Size: 9, Areas: true, Keep: c.keep, MaxDistance: 200})
			if geocodingtest.Ids(got) != c.want {
				t.Errorf("got %+v, want %s", got, c.want)
			}
			for _, p := range got {
				if inside := p.Distance == 0; inside != strings.HasPrefix(p.ID, "relation:") || p.Location == c.at != inside {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// TestInferredCity: without an area and a settlement, the addresses nearby tell the city.
func TestInferredCity(t *testing.T) {
	const here, baltimore, towson = "n1 0 0 amenity=cafe, name=Bean / ", "addr:city=Baltimore, addr:housenumber=1", "addr:city=Towson, addr:housenumber=1"
	for name, c := range map[string]struct{ world, want string }{
		"of two that agree":  {"n2 1 0 " + baltimore + " / n3 2 0 " + baltimore, "Baltimore"},
		"of one":             {"n2 1 0 " + baltimore, ""},
		"of most":            {"n2 1 0 " + towson + " / n3 2 0 " + baltimore + " / n4 3 0 " + baltimore, "Baltimore"},
		"of as many":         {"n2 3 0 " + towson + " / n3 4 0 " + towson + " / n4 1 0 " + baltimore + " / n5 5 0 " + baltimore, "Baltimore"},
		"too far away":       {"n2 1 0 " + baltimore + " / n3 24 0 " + baltimore, ""},
		"its own city":       {"n2 1 0 " + baltimore + " / n3 2 0 " + baltimore + " / n4 0 0.1 addr:city=Dover, amenity=bar, name=Own", "Dover"},
		"a settlement":       {"n2 1 0 " + baltimore + " / n3 2 0 " + baltimore + " / n4 9 0 name=Salina, place=town", "Salina"},
		"a boundary":         {"n2 1 0 " + baltimore + " / n3 2 0 " + baltimore + " / r4 0 0 9 admin_level=8, boundary=administrative, name=Salina", "Salina"},
		"a farm":             {"n2 1 0 " + baltimore + " / n3 2 0 " + baltimore + " / n4 9 0 name=Green Acres, place=farm", "Green Acres"},
		"of another country": {"n2 1 0 " + baltimore + " / n3 2 0 " + baltimore + " / r4 0 0 0.5 ISO3166-1=CA, admin_level=2, boundary=administrative, name=Canada", ""},
	} {
		t.Run(name, func(t *testing.T) {
			at := placestest.Kansas
			if name == "its own city" {
				at = placestest.At(0, 0.1)
			}
			got := geocodingtest.Ask(t, geocodingtest.Build(t, new(placestest.World).Draw(here+c.world).Cover()), at, 1)
			if len(got) != 1 || got[0].Address.City != c.want || c.want != "" && !strings.Contains(got[0].DisplayName, c.want) {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

// TestRandomCitiesEqualBruteForce compares the inferred city with that of a count over all addresses.
func TestRandomCitiesEqualBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var w placestest.World
		w.Node(1, placestest.Kansas, "amenity=cafe, name=Bean")
		type address struct {
			distance float64 // whole centimetres
			id       int
			city     string
		}
		var all []address
		for i := range rapid.IntRange(0, 25).Draw(rt, "addresses") {
			at := placestest.At(rapid.Float64Range(-25, 25).Draw(rt, "east"), rapid.Float64Range(-20, 20).Draw(rt, "north"))
			city := rapid.SampledFrom([]string{"", "A", "B", "C"}).Draw(rt, "city")
			w.Node(int64(i+2), at, "addr:housenumber=1"+map[bool]string{true: ", addr:city=" + city}[city != ""])
			if d := math.Round(geocodingtest.Haversine(placestest.Kansas, at) * 100); city != "" && d < 199_999 {
				all = append(all, address{d, i, city})
			} else if math.Abs(d-200_000) < 2 {
				rt.Skip("too close to the limit")
			}
		}
		slices.SortFunc(all, func(a, b address) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.id, b.id)) })
		all = all[:min(len(all), 9)]
		votes, want := map[string]int{}, ""
		for _, a := range all {
			votes[a.city]++
		}
		for _, a := range all {
			if votes[a.city] > max(votes[want], 1) {
				want = a.city
			}
		}
		if got := geocodingtest.Ask(t, geocodingtest.Build(t, w.Cover()), placestest.Kansas, 1); got[0].Address.City != want {
			rt.Errorf("%q, want %q: %s", got[0].Address.City, want, fmt.Sprint(all))
		}
	})
}
