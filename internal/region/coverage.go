package region

import (
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// CoverageZoom is the zoom level of the tiles that a region's coverage is counted in.
const CoverageZoom = 12

// CoverageTile is the number of the coverage tile of a position: x<<12 | y. Positions beyond Web Mercator's 85.05°
// belong to the outermost tiles.
func CoverageTile(p orb.Point) uint32 {
	t := maptile.At(p, CoverageZoom)
	last := uint32(1)<<CoverageZoom - 1
	return min(t.X, last)<<CoverageZoom | min(t.Y, last)
}

// AddCoverage adds the coverage: sorted numbers as of CoverageTile, each once. It is kept as runs of numbers that
// follow each other, of each the first and the one after the last: a country has a hundred thousand tiles, and a few
// thousand runs.
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

// Covers reports whether a position lies in one of the tiles that the region covers: those of zoom CoverageZoom that
// hold any of its data, or that an area touches which it can name.
func (f *File) Covers(p orb.Point) bool {
	i, found := Search(&f.coverage, CoverageTile(p))
	isFirst := i%2 == 0
	return found == isFirst // a run begins there, or none has ended since the last that did
}
