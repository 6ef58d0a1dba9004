package geocoding_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/build/places/placestest"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geocoding/bruteforce"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// TestRandomWorldsEqualBruteForce compares whole searches on random features, near and far, at any latitude.
func TestRandomWorldsEqualBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		middle := orb.Point{rapid.Float64Range(-179, 179).Draw(rt, "lon"), rapid.Float64Range(-75, 75).Draw(rt, "lat")}
		spread := rapid.SampledFrom([]float64{0.01, 0.2}).Draw(rt, "spread")
		var w placestest.World
		for i := range rapid.IntRange(1, 25).Draw(rt, "features") {
			g := placestest.RandomGeometry(rt, fmt.Sprint("feature", i), placestest.Near(rt, fmt.Sprint("middle", i), middle,
				spread), spread/8)
			w.Add(mapdata.KindWay, int64(i+1), g, rapid.SampledFrom([]string{"leisure=park, name=A",
				"amenity=school, name=B"}).Draw(rt, "tags"))
		}
		var tiles []uint32
		for i := range 20 {
			for j := range 20 {
				tiles = append(tiles, region.CoverageTile(orb.Point{middle[0] + spread*float64(i-10)/8, middle[1] +
					spread*float64(j-10)/8}))
			}
		}
		slices.Sort(tiles)
		w.Tiles = slices.Compact(tiles)
		x := geocodingtest.Build(t, &w)
		defer x.File.Release()
		features := bruteforce.Features(w.AllFeatures, w.AllInterpolations)
		for i := range 5 {
			p := placestest.Near(rt, fmt.Sprint("from", i), middle, spread*1.2)
			reach := rapid.SampledFrom([]float64{100, 1000, 20_000}).Draw(rt, "reach")
			term := rapid.SampledFrom([]string{"park", "school", "", ""}).Draw(rt, "term")
			r, err := x.Reverse(t.Context(), &geocoding.Request{Point: p, Size: geocoding.MaxSize, MaxDistance: reach,
				Categories: []string{term}})
			if err != nil {
				rt.Fatal(err)
			}
			if !x.File.Covers(p) {
				continue
			}
			want := bruteforce.Search(features, p, term, reach)
			if len(r.Places) < min(len(want), geocoding.MaxSize) {
				rt.Fatalf("%d results, want %d", len(r.Places), min(len(want), geocoding.MaxSize))
			}
			for j, got := range r.Places {
				if j < len(want) && math.Abs(got.Distance-want[j].Distance) > 0.0051 {
					rt.Errorf("%v: result %d at %g m, want %.4f m", p, j, got.Distance, want[j].Distance)
				}
				if d := bruteforce.Haversine(p, got.Location); math.Abs(d-got.Distance) > 0.0051 {
					rt.Errorf("%v: %g m to its location, which is at %.4f m", p, got.Distance, d)
				}
			}
		}
	})
}
