package region

import (
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// TestCoverage: exactly the tiles that were added are covered, in runs of any shape.
func TestCoverage(t *testing.T) {
	number := func(x, y uint32) uint32 { return x<<CoverageZoom | y }
	const last = 1<<CoverageZoom - 1
	for name, c := range map[string]struct {
		tiles []uint32
		bytes int64
	}{
		"none":             {nil, 0},
		"one":              {[]uint32{number(3, 3)}, 8},
		"the first":        {[]uint32{0}, 8},
		"the last":         {[]uint32{number(last, last)}, 8},
		"a column":         {[]uint32{number(2, 1), number(2, 2), number(2, 3)}, 8},
		"a row":            {[]uint32{number(1, 2), number(2, 2), number(3, 2)}, 24},
		"a gap":            {[]uint32{number(2, 1), number(2, 3), number(2, 4)}, 16},
		"around the edges": {[]uint32{number(1, last), number(2, 0)}, 8},
	} {
		t.Run(name, func(t *testing.T) {
			f := written(t, testMeta, func(w *Writer) { AddCoverage(w, c.tiles) })
			for _, x := range []uint32{0, 1, 2, 3, 4, last - 1, last} {
				for _, y := range []uint32{0, 1, 2, 3, 4, 5, last - 1, last} {
					at := maptile.New(x, y, CoverageZoom).Center()
					got, want := f.Covers(at), slices.Contains(c.tiles, number(x, y))
					if got != want {
						t.Errorf("%d/%d: %v, want %v", x, y, got, want)
					}
					distance := func(tile uint32) float64 {
						return math.Hypot(float64(tile>>CoverageZoom)-float64(x), float64(tile&last)-float64(y))
					}
					near := f.NearestCovered(at)
					if want && near != at || len(c.tiles) > 0 && !f.Covers(near) ||
						name != "around the edges" && slices.ContainsFunc(c.tiles, func(tile uint32) bool {
							return distance(tile) < distance(CoverageTile(near))
						}) {
						t.Errorf("%d/%d: the nearest covered position is in %x", x, y, CoverageTile(near))
					}
				}
			}
			if got := int64(f.coverage.Len() * 4); got != c.bytes {
				t.Errorf("%d bytes, want %d", got, c.bytes)
			}
			if pole := (orb.Point{0, 90}); f.Covers(pole) {
				t.Errorf("%v is covered", pole)
			}
		})
	}
}
