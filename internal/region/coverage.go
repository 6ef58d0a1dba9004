package region

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// CoverageZoom is the zoom of the tiles of a region's coverage.
const CoverageZoom = 12

// CoverageTile returns the number of the coverage tile of a position: x<<12 | y. Positions beyond Web Mercator's 85.05°
// belong to the outermost tiles.
func CoverageTile(p orb.Point) uint32 {
	t := maptile.At(p, CoverageZoom)
	last := uint32(1)<<CoverageZoom - 1
	return min(t.X, last)<<CoverageZoom | min(t.Y, last)
}

// AddCoverage adds the coverage: sorted, distinct numbers of CoverageTile. It is stored as runs of consecutive numbers,
// each with its first number and the one after its last: a country has a hundred thousand tiles in a few thousand runs.
func AddCoverage(w *Writer, tiles []uint32) {
	var runs []uint32
	for _, t := range tiles {
		if n := len(runs); n > 0 && runs[n-1] == t {
			runs[n-1]++
			continue
		}
		runs = append(runs, t, t+1)
	}
	Add(w, coverageSection, runs)
}

// Covers reports whether a position lies in a tile of the coverage: tiles with any data, or touched by a named area.
func (f *File) Covers(p orb.Point) bool {
	i, found := Search(&f.coverage, CoverageTile(p))
	isFirst := i%2 == 0
	return found == isFirst // a run begins there, or the last one has not ended
}

// NearestCovered returns p if it lies in the coverage, otherwise the middle of the coverage tile nearest to it. A run
// from the southern to the northern edge of the world counts as the former. It reads the whole coverage.
func (f *File) NearestCovered(p orb.Point) orb.Point {
	if f.Covers(p) {
		return p
	}
	const column = 1<<CoverageZoom - 1
	want := CoverageTile(p)
	nearest, least := want, math.MaxInt
	for i := 0; i+1 < f.coverage.Len(); i += 2 {
		first, last := *f.coverage.At(i), *f.coverage.At(i + 1)-1
		tile := min(max(first&^column|want&column, first), last)
		dx, dy := int(tile>>CoverageZoom)-int(want>>CoverageZoom), int(tile&column)-int(want&column)
		if d := dx*dx + dy*dy; d < least {
			nearest, least = tile, d
		}
	}
	return maptile.New(nearest>>CoverageZoom, nearest&column, CoverageZoom).Center()
}
