package search_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// crowd draws shops whose names begin with "sa", and some "sa" only, some of them important, all over 100 km; and towns
// of some of the names.
func crowd(shops int) osmtest.Sketch {
	rng := rand.New(rand.NewPCG(1, 2))
	var d strings.Builder
	for i := range shops {
		tags := fmt.Sprintf("shop=yes name=Sa%c%c+Number%d", 'a'+rng.IntN(26), 'a'+rng.IntN(26), rng.IntN(40))
		switch rng.IntN(10) {
		case 0:
			tags = "shop=yes name=Sa"
		case 1:
			tags += " wikidata=Q1"
		case 2:
			tags = fmt.Sprintf("place=village name=Sa%c+Town population=%d", 'a'+rng.IntN(26), rng.IntN(100_000))
		case 3:
			tags = fmt.Sprintf("amenity=cafe name=Number%d+Salt", rng.IntN(40))
		case 4:
			tags = fmt.Sprintf("amenity=bar name=Zebra+%d old_name=Sa%c+Bar wikidata=Q2", i, 'a'+rng.IntN(26))
		}
		fmt.Fprintf(&d, "n%d %.7f %.7f %s\n", 1000+i, rng.Float64(), rng.Float64(), tags)
	}
	return osmtest.Sketch(d.String())
}

// TestScan: what is found along the tree of documents ranks as when all documents are ranked one by one.
func TestScan(t *testing.T) {
	t.Parallel()
	x := openRegion(t, crowd(3000))
	most := 0
	for _, text := range []string{"sa", "s", "number", "sa number", "number7 s", "sa town", "shop sa", "town s"} {
		points := []*orb.Point{nil, {.013, .97}, {.5, .5}, {30, 30}}
		for _, near := range points[:max(testkit.Some(len(points)), 2)] {
			for _, zoom := range []float64{8, 14, 18} {
				for _, limit := range []int{1, 5, 20} {
					got, want, visited, err := x.Ranks(&geocoding.Query{Text: text, Autocomplete: true, Near: near, Zoom: zoom, Limit: limit})
					if err != nil || len(want) == 0 || !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) {
						t.Errorf("%q near %v, zoom %g: %.4f, want %.4f, %v", text, near, zoom, got, want, err)
					}
					most = max(most, visited)
				}
			}
		}
	}
	if most <= search.MaxVisited {
		t.Errorf("at most %d documents are too few", most)
	}
}

// TestNothingBetter: no document that was left out, because its name cannot be good enough, would have ranked higher.
func TestNothingBetter(t *testing.T) {
	t.Parallel()
	check := func(x *search.Index, text string, half bool, near *orb.Point) {
		for _, limit := range []int{1, 2, 5} {
			got, want, _, err := x.Ranks(&geocoding.Query{Text: text, Autocomplete: half, Near: near, Limit: limit})
			if err == nil && len(got) > 0 && len(got) < len(want) {
				want = want[:len(got)] // the last ones may match too badly beside one that was the best for a while
			}
			if err != nil || !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) {
				t.Errorf("%q near %v, %d results: %.4f, want %.4f, %v", text, near, limit, got, want, err)
			}
		}
	}
	x := openRegion(t, state())
	for _, near := range []*orb.Point{nil, &dover} {
		for _, street := range []string{"main street", "weaver st", "loockerman street, dover", "loockerman", "main street wilmington", "saint paul av", "newport road newport"} {
			for _, number := range []string{"", "36 ", "34 ", "12 a ", "12 b ", "12a ", "824 ", "205 ", "14 ", "rose cottage ", "9 dover 19904 "} {
				for _, half := range []bool{false, true} {
					check(x, number+street, half, near)
				}
			}
		}
	}
	if !testkit.Little() {
		x = delaware(t)
	}
	for _, kind := range kinds {
		for _, text := range kind.texts {
			text, half := halfTyped(text)
			check(x, text, half, nil)
			check(x, text, half, &dover)
		}
	}
}
