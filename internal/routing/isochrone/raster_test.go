package isochrone

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
)

// TestRaster: around points of a raster at random, areas are valid, and lie in those of greater limits. Blocks of 5×5
// points are too large to be left out: they are in the area or not, as their values say.
func TestRaster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.IntRange(1, 5).Draw(t, "block")
		r := &raster{perX: 1e-3, perY: 1e-3, columns: 4 + block*rapid.IntRange(1, 14).Draw(t, "columns")}
		r.rows = r.columns + block
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		kinds := []float32{1, 9.99, 10, 10.01, 11, 20, 30, float32(math.Inf(1))}
		values := make([]float32, r.columns*r.rows)
		blocks := make([]float32, len(values))
		for i := range blocks {
			blocks[i] = kinds[random.IntN(len(kinds))]
		}
		around := rapid.Bool().Draw(t, "blocks around blocks")
		for k := range values {
			x, y := k%r.columns-2, k/r.columns-2
			values[k] = float32(math.Inf(1))
			if x >= 0 && y >= 0 && x < r.columns-4 && y < r.rows-4 {
				x, y = x/block, y/block
				if around {
					x, y = min(x, y, (r.columns-5)/block-x, (r.rows-5)/block-y), 0
				}
				values[k] = blocks[y*r.columns+x]
			}
		}
		at := func(k int) orb.Point {
			return orb.Point{float64(k%r.columns) * r.perX, float64(k/r.columns) * r.perY}
		}
		begin := r.rows/2*r.columns + r.columns/2
		values[begin] = 0
		var smaller orb.MultiPolygon
		for _, limit := range []float32{0.5, 10, 25} {
			area := r.area(values, limit, at(begin))
			if err := tilestest.CheckArea(area); err != nil {
				t.Fatalf("limit %v: %v", limit, err)
			}
			if err := tilestest.CheckNested(smaller, area); err != nil {
				t.Fatalf("limit %v: %v", limit, err)
			}
			smaller = area
			for k, value := range values {
				if (block == 5 || k == begin) && planar.MultiPolygonContains(area, at(k)) != (value <= limit) {
					t.Fatalf("limit %v: a point with the value %v", limit, value)
				}
			}
		}
	})
}
