package places

import (
	"math"
	"math/bits"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// coverage is the set of the tiles of zoom region.CoverageZoom that the region covers.
type coverage struct{ words []uint64 }

const coverageMask = 1<<region.CoverageZoom - 1

func newCoverage(tiles []uint32) *coverage {
	c := &coverage{make([]uint64, 1<<(2*region.CoverageZoom-6))}
	for _, t := range tiles {
		c.words[t/64] |= 1 << (t % 64)
	}
	return c
}

func (c *coverage) has(tile uint32) bool { return c.words[tile/64]>>(tile%64)&1 != 0 }

// How much of a cell the region covers.
const (
	coveredNowhere = iota
	coveredPartly
	coveredAll
)

// of tells how much of a square of at most a root's size is covered.
func (c *coverage) of(s *square) int {
	corner := func(x, y int64) orb.Point {
		return orb.Point{float64(x) / geometry.UnitsPerDegree, float64(y) / geometry.UnitsPerDegree}
	}
	size := int64(1) << s.bits
	from := region.CoverageTile(corner(s.minX(), s.minY()+size)) // tiles count from the north
	to := region.CoverageTile(corner(s.minX()+size, s.minY()))
	some, all := false, true
	for column := from >> region.CoverageZoom; column <= to>>region.CoverageZoom; column++ {
		for row := from & coverageMask; row <= to&coverageMask; row++ {
			has := c.has(column<<region.CoverageZoom | row)
			some, all = some || has, all && has
		}
	}
	switch {
	case all:
		return coveredAll
	case some:
		return coveredPartly
	}
	return coveredNowhere
}

// roots is the set of the roots that touch a covered tile, by their keys. Where the antimeridian or a pole is near,
// cells would have to look across them: there are none.
func (c *coverage) roots() (roots []uint64, n int) {
	roots = make([]uint64, 1<<(2*rootKeyBits-6))
	for i, word := range c.words {
		for ; word != 0; word &= word - 1 {
			west, south, east, north := tileBox(uint32(i*64 + bits.TrailingZeros64(word)))
			for row := max(south>>placefile.RootBits, 50); row <= min(north>>placefile.RootBits, lastRootRow); row++ {
				for column := max(west>>placefile.RootBits, 4); column <= min(east>>placefile.RootBits, lastRootColumn); column++ {
					key := placefile.RootKey(column, row)
					if roots[key/64]>>(key%64)&1 == 0 {
						roots[key/64] |= 1 << (key % 64)
						n++
					}
				}
			}
		}
	}
	return roots, n
}

const (
	rootKeyBits    = 32 - placefile.RootBits // of a row or a column
	lastRootRow    = geometry.HalfTurn>>placefile.RootBits - 50
	lastRootColumn = geometry.FullTurn>>placefile.RootBits - 5
)

// tileBox is at least the box of a coverage tile, counted from the south pole and the antimeridian.
func tileBox(tile uint32) (west, south, east, north uint32) {
	x, y := tile>>region.CoverageZoom, tile&coverageMask
	bound := maptile.New(x, y, region.CoverageZoom).Bound()
	if y == 0 {
		bound.Max[1] = 90
	}
	if y == coverageMask {
		bound.Min[1] = -90
	}
	from := func(degrees, half float64) uint32 {
		return uint32(min(max(math.Floor((degrees+half)*geometry.UnitsPerDegree)-1, 0), 2*half*geometry.UnitsPerDegree))
	}
	return from(bound.Min[0], 180), from(bound.Min[1], 90), from(bound.Max[0], 180) + 2, from(bound.Max[1], 90) + 2
}
