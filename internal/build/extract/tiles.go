package extract

import (
	"math/bits"
	"sync/atomic"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// coverage gathers the tiles and the bounds of all nodes of an extract. Its methods may be called concurrently.
type coverage struct {
	bits                           []uint64
	minLat, minLon, maxLat, maxLon atomic.Int32
}

func newCoverage() *coverage {
	c := &coverage{bits: make([]uint64, 1<<(2*region.CoverageZoom)/64)}
	c.minLat.Store(maxLat7 + 1)
	c.minLon.Store(maxLon7 + 1)
	c.maxLat.Store(-maxLat7 - 1)
	c.maxLon.Store(-maxLon7 - 1)
	return c
}

func (c *coverage) add(lat, lon int32) {
	t := region.CoverageTile(toPoint(lat, lon))
	word, bit := &c.bits[t/64], uint64(1)<<(t%64)
	if atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
	lower(&c.minLat, lat)
	lower(&c.minLon, lon)
	raise(&c.maxLat, lat)
	raise(&c.maxLon, lon)
}

func lower(a *atomic.Int32, v int32) {
	for old := a.Load(); v < old && !a.CompareAndSwap(old, v); old = a.Load() {
	}
}

func raise(a *atomic.Int32, v int32) {
	for old := a.Load(); v > old && !a.CompareAndSwap(old, v); old = a.Load() {
	}
}

// tiles returns the tiles, sorted.
func (c *coverage) tiles() []uint32 {
	var out []uint32
	for i, word := range c.bits {
		for ; word != 0; word &= word - 1 {
			out = append(out, uint32(i*64+bits.TrailingZeros64(word)))
		}
	}
	return out
}

// bounds returns the bounds of all nodes; the zero bound if there are none.
func (c *coverage) bounds() orb.Bound {
	if c.minLat.Load() > c.maxLat.Load() {
		return orb.Bound{}
	}
	return orb.Bound{
		Min: toPoint(c.minLat.Load(), c.minLon.Load()),
		Max: toPoint(c.maxLat.Load(), c.maxLon.Load()),
	}
}
