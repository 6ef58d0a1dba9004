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
		}
		fmt.Fprintf(&d, "n%d %.7f %.7f %s\n", 1000+i, rng.Float64(), rng.Float64(), tags)
	}
	return osmtest.Sketch(d.String())
}

// TestScan: what is found along the tree of documents ranks as when all documents are ranked one by one.
func TestScan(t *testing.T) {
	t.Parallel()
	x := openRegion(t, crowd(6000))
	most := 0
	for _, text := range []string{"sa", "s", "number", "sa number", "number7 s", "sa town", "shop sa", "town s"} {
		for _, near := range []*orb.Point{nil, {.5, .5}, {.013, .97}, {30, 30}} {
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
