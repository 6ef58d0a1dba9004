// Package mapfile is the format of the map in a region file, which compiler/basemap writes and package tiles reads. It
// knows no layers or kinds: see package schema. Start with Tile and AppendRecord.
//
// From zoom CellZoom on tiles are rendered on demand, from the records of their cell, which is their parent tile of
// CellZoom. Tiles of lower zooms are stored as they are served.
package mapfile

import (
	"math/bits"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
)

// The sections of a region file that hold its map.
const (
	SectionCells   = "map.cells"   // []Entry: where the records of the cells are, by their tiles' IDs
	SectionRecords = "map.records" // bytes: of each cell its records, see AppendRecord
	SectionText    = "map.text"    // bytes: classes and names, each with its length before it; the first is the empty one
	SectionTiles   = "map.tiles"   // []Entry: where the tiles below CellZoom are, by their IDs
	SectionPyramid = "map.pyramid" // bytes: of each of these tiles the vector tile, compressed by gzip
)

const (
	// CellZoom is the zoom of the cells.
	CellZoom = 12
	// MaxZoom is the highest zoom of tiles: there a step of a tile is a unit of the world.
	MaxZoom = 16
	// ExtentBits is the binary logarithm of Extent.
	ExtentBits = geo.WorldBits - MaxZoom
	// Extent is the number of steps from one side of a tile to the other.
	Extent = 1 << ExtentBits
	// Buffer is how far a tile reaches beyond its sides, in steps.
	Buffer = 64
)

// Tile is a square of the world: X counts from the west, Y from the north, from 0 to 2^Z - 1.
type Tile struct {
	Z    uint8
	X, Y uint32
}

// TileAt returns the tile of a zoom that contains a position or, beyond the border of the world, the nearest one.
func TileAt(z uint8, p geo.Projected) Tile {
	at := func(v int32) uint32 { return uint32(max(0, min(v>>(geo.WorldBits-z), 1<<z-1))) }
	return Tile{z, at(p.X), at(p.Y)}
}

// Valid reports whether the tile exists.
func (t Tile) Valid() bool { return t.Z <= MaxZoom && t.X < 1<<t.Z && t.Y < 1<<t.Z }

// Size is the length of a side in units of the world.
func (t Tile) Size() int32 { return geo.World >> t.Z }

// Origin is the north-western corner.
func (t Tile) Origin() geo.Projected {
	return geo.Projected{X: int32(t.X) * t.Size(), Y: int32(t.Y) * t.Size()}
}

// Rect is the tile without its buffer.
func (t Tile) Rect() clip.Rect {
	from, size := t.Origin(), t.Size()
	return clip.Rect{Min: from, Max: geo.Projected{X: from.X + size, Y: from.Y + size}}
}

// Margin is the width of the buffer in units of the world.
func (t Tile) Margin() int32 { return t.Size() >> ExtentBits * Buffer }

// Buffered is the tile with its buffer.
func (t Tile) Buffered() clip.Rect { return t.Rect().Grow(t.Margin()) }

// Parent returns the tile of zoom z that contains the tile; z is at most the tile's zoom.
func (t Tile) Parent(z uint8) Tile { return Tile{z, t.X >> (t.Z - z), t.Y >> (t.Z - z)} }

// ID numbers all tiles as PMTiles does: those of lower zooms first, and those of a zoom along a Hilbert curve. The
// descendants of a tile follow one another.
func (t Tile) ID() uint64 {
	shift := 32 - t.Z
	return firstID(t.Z) + geo.Hilbert(t.X<<shift, t.Y<<shift)>>(2*shift)
}

// firstID is the number of the first tile of a zoom.
func firstID(z uint8) uint64 { return (1<<(2*z) - 1) / 3 }

// TileOf is the tile with an ID.
func TileOf(id uint64) Tile {
	z := uint8(bits.Len64(3*id+1)-1) / 2
	x, y := geo.HilbertPoint((id - firstID(z)) << (64 - 2*z))
	return Tile{z, x >> (32 - z), y >> (32 - z)}
}

// Descendants yields those of a tile that have a zoom, in the order of their IDs, until yield returns false.
func (t Tile) Descendants(z uint8, yield func(Tile) bool) bool {
	each := 2 * (z - t.Z)
	first := firstID(z) + (t.ID()-firstID(t.Z))<<each
	for id := first; id < first+1<<each; id++ {
		if !yield(TileOf(id)) {
			return false
		}
	}
	return true
}

// Entry locates the bytes of a tile in the section of the index.
type Entry struct {
	ID     uint32 // see Tile.ID
	Length uint32 // bytes
	Offset uint64
}
