package geocoding_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	_ "github.com/mapsedge/caddy-maps/internal/testkit" // fewer checks under the race detector
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// TestRandomWorldsEqualBruteForce compares whole searches on random features, near and far, at any latitude.
func TestRandomWorldsEqualBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		middle := orb.Point{rapid.Float64Range(-179, 179).Draw(rt, "lon"), rapid.Float64Range(-75, 75).Draw(rt, "lat")}
		spread := rapid.SampledFrom([]float64{0.01, 0.2}).Draw(rt, "spread")
		var w placestest.World
		for i := range rapid.IntRange(1, 25).Draw(rt, "features") {
			g := placestest.RandomGeometry(rt, fmt.Sprint("feature", i), placestest.Near(rt, fmt.Sprint("middle", i), middle, spread), spread/8)
			kind := rapid.SampledFrom([]region.Kind{region.KindWay, region.KindRelation}).Draw(rt, "kind")
			if i > 0 && rapid.IntRange(0, 4).Draw(rt, "copy") == 0 { // as far away, and as large
				earlier := w.Features[rapid.IntRange(0, i-1).Draw(rt, "of")]
				g, kind = earlier.Geometry, rapid.SampledFrom([]region.Kind{region.KindWay, region.KindRelation}).Draw(rt, "copy's kind")
			}
			id := int64(i)
			if rapid.Bool().Draw(rt, "from above") {
				id = 100 - id // those that are read later have the smaller ids
			}
			w.Add(kind, id+1, g, rapid.SampledFrom([]string{"leisure=park, name=A", "amenity=school, name=B"}).Draw(rt, "tags"))
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
		features := geocodingtest.Features(w.AllFeatures, w.AllInterpolations)
		for i := range 5 {
			p := placestest.Near(rt, fmt.Sprint("from", i), middle, spread*1.2)
			reach := rapid.SampledFrom([]float64{100, 1000, 20_000}).Draw(rt, "reach")
			term := rapid.SampledFrom([]string{"park", "school", "", ""}).Draw(rt, "term")
			size := rapid.SampledFrom([]int{1, 3, geocoding.MaxSize}).Draw(rt, "size")
			r, err := x.Reverse(t.Context(), &geocoding.Request{Point: p, Size: size, MaxDistance: reach, Categories: []string{term}})
			if err != nil {
				rt.Fatal(err)
			}
			if !x.File.Covers(p) {
				continue
			}
			want := geocodingtest.Search(features, p, term, reach)
			var hits []geocodingtest.Hit
			for _, got := range r.Places {
				hits = append(hits, geocodingtest.Hit{ID: got.ID, Distance: got.Distance})
				if d := geocodingtest.Haversine(p, got.Location); math.Abs(d-got.Distance) > 0.0051 {
					rt.Errorf("%v: %g m to its location, which is at %.4f m", p, got.Distance, d)
				}
			}
			if len(want) == 0 && term == "" {
				continue // the fallback has tests of its own
			}
			if problem := geocodingtest.Equal(hits, want, size); problem != "" {
				rt.Errorf("%v %q: %s", p, term, problem)
			}
		}
	})
}
