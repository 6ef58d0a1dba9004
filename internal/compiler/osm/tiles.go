package osm

import (
	"math/bits"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// Tiles is a set of tiles of zoom 12, numbered as by region.CoverageTile. Add is safe for concurrent use.
type Tiles struct {
	words [1 << (2*region.CoverageZoom - 6)]uint64
}

// Add adds a tile.
func (t *Tiles) Add(tile uint32) {
	if word, bit := &t.words[tile/64], uint64(1)<<(tile%64); atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// Has reports whether a tile is in the set.
func (t *Tiles) Has(tile uint32) bool { return t.words[tile/64]>>(tile%64)&1 != 0 }

// Sorted returns the tiles in order.
func (t *Tiles) Sorted() (tiles []uint32) {
	for i, word := range t.words {
		for ; word != 0; word &= word - 1 {
			tiles = append(tiles, uint32(i*64+bits.TrailingZeros64(word)))
		}
	}
	return tiles
}
