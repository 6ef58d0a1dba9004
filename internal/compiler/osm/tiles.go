package osm

import (
	"math"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// Tiles is a set of tiles of zoom 12, as region.CoverageTile numbers them. It may be added to by any number of
// goroutines at a time.
type Tiles struct {
	words [1 << (2*region.CoverageZoom - 6)]uint64
}

// Add adds a tile.
func (t *Tiles) Add(tile uint32) {
	if word, bit := &t.words[tile/64], uint64(1)<<(tile%64); atomic.LoadUint64(word)&bit == 0 {
		atomic.OrUint64(word, bit)
	}
}

// Has says whether a tile is in the set.
func (t *Tiles) Has(tile uint32) bool { return t.words[tile/64]>>(tile%64)&1 != 0 }

// Len is how many tiles there are.
func (t *Tiles) Len() (n int) {
	for _, word := range t.words {
		n += bits.OnesCount64(word)
	}
	return n
}

// Sorted returns the tiles in order.
func (t *Tiles) Sorted() []uint32 {
	out := make([]uint32, 0, t.Len())
	for i, word := range t.words {
		for ; word != 0; word &= word - 1 {
			out = append(out, uint32(i*64+bits.TrailingZeros64(word)))
		}
	}
	return out
}

// bounds are the bounds of nodes, in 1e-7 degrees.
type bounds struct{ minLat, minLon, maxLat, maxLon int32 }

var noBounds = bounds{maxLat7 + 1, maxLon7 + 1, -maxLat7 - 1, -maxLon7 - 1}

func (b *bounds) add(lat, lon int32) {
	b.minLat, b.minLon = min(b.minLat, lat), min(b.minLon, lon)
	b.maxLat, b.maxLon = max(b.maxLat, lat), max(b.maxLon, lon)
}

func (b *bounds) join(o bounds) {
	b.minLat, b.minLon = min(b.minLat, o.minLat), min(b.minLon, o.minLon)
	b.maxLat, b.maxLon = max(b.maxLat, o.maxLat), max(b.maxLon, o.maxLon)
}

// bound returns the bounds in degrees; the zero bound if there are none.
func (b *bounds) bound() orb.Bound {
	if b.minLat > b.maxLat {
		return orb.Bound{}
	}
	return orb.Bound{Min: toPoint(b.minLat, b.minLon), Max: toPoint(b.maxLat, b.maxLon)}
}

// tileBox is the part of the Earth that one tile covers. Nodes that follow each other are mostly in one tile, and to
// tell whether they are takes far less time than to tell the tile.
type tileBox struct{ south, north, west, east int32 } // without the northern and the eastern edge

func (b *tileBox) has(lat, lon int32) bool {
	return lat >= b.south && lat < b.north && lon >= b.west && lon < b.east
}

// tileOf returns the tile with a position.
func tileOf(lat, lon int32) uint32 { return region.CoverageTile(toPoint(lat, lon)) }

// boxOf returns the part of the Earth that a tile covers.
func boxOf(tile uint32) tileBox {
	e := TileEdges()
	x, y := tile>>region.CoverageZoom, tile&(1<<region.CoverageZoom-1)
	return tileBox{south: e.Lats[y+1], north: e.Lats[y], west: e.Lons[x], east: e.Lons[x+1]}
}

const tilesAcross = 1 << region.CoverageZoom

// Edges are where the rows of tiles end in the north, and the columns begin in the west, in 1e-7 degrees; the last ones
// end at the poles and the antimeridian, which they hold.
type Edges struct{ Lats, Lons [tilesAcross + 1]int32 }

// TileEdges finds the edges by asking region.CoverageTile itself, so that no rounding makes a difference.
var TileEdges = sync.OnceValue(func() *Edges {
	const last = tilesAcross
	e := new(Edges)
	e.Lats[0], e.Lats[last], e.Lons[0], e.Lons[last] = maxLat7+1, -maxLat7, -maxLon7, maxLon7+1
	for i := int32(1); i < last; i++ {
		lon := (float64(i)/last - 0.5) * 360 * 1e7
		e.Lons[i] = firstNear(lon, func(lon int32) bool {
			return int32(region.CoverageTile(toPoint(0, lon))>>region.CoverageZoom) >= i
		})
		lat := math.Atan(math.Sinh(math.Pi*(1-2*float64(i)/last))) * 180 / math.Pi * 1e7
		e.Lats[i] = firstNear(lat, func(lat int32) bool {
			return int32(region.CoverageTile(toPoint(lat, 0))%tilesAcross) < i
		})
	}
	return e
})

// firstNear returns the first number near another one for which something holds.
func firstNear(about float64, holds func(int32) bool) int32 {
	n := int32(about) - 3
	for !holds(n) {
		n++
	}
	return n
}
