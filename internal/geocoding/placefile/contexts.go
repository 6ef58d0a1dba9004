package placefile

import (
	"encoding/binary"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// ContextZoom is the zoom of the tiles for which a region lists the surrounding areas.
const ContextZoom = 14

// Run is a run of tiles in a row, from First up to the next run's, with the same surrounding areas and nearby
// settlements.
type Run struct {
	First   uint32 // see ContextTile
	Context uint32 // where it begins in the contexts; 0 where there are no areas
	Near    uint32 // offset of the settlements in the contexts, see AppendNearby; 0 if they have to be searched
}

// nearbyMany replaces the number of settlements if there are more than Fanout, which are not listed; nearbyCertain if
// there is one that is the nearest everywhere.
const (
	nearbyMany    = Fanout + 1
	nearbyCertain = Fanout + 2
)

// AppendNearby appends the settlements of one kind that can be nearest to a position in a run of tiles: their number,
// then their indexes.
func AppendNearby(data []byte, settlements []uint32, certain bool) []byte {
	if len(settlements) > Fanout {
		return append(data, nearbyMany)
	}
	head := byte(len(settlements))
	if certain {
		head = nearbyCertain
	}
	data = append(data, head)
	for _, n := range settlements {
		data = binary.AppendUvarint(data, uint64(n))
	}
	return data
}

// Nearby is the settlements that can be the nearest.
type Nearby struct {
	Known   bool // else there may be any
	Certain bool // the first one is the nearest
	Count   int
	Numbers [Fanout]uint32
}

// Read reads settlements. Without any bytes they are not Known.
func (n *Nearby) Read(r *Reader) {
	if len(r.Data) == 0 {
		return
	}
	head := r.Byte()
	n.Known, n.Certain, n.Count = head != nearbyMany, head == nearbyCertain, int(head)
	switch {
	case n.Certain:
		n.Count = 1
	case n.Count > Fanout:
		n.Count = 0
	}
	for i := range n.Numbers[:n.Count] {
		n.Numbers[i] = uint32(r.Uint())
	}
}

// ContextTile returns the number of a position's tile: y<<14 | x. The antimeridian belongs to the tiles east of it, as
// in the test of areas.
func ContextTile(p orb.Point) uint32 {
	if p[0] >= 180 {
		p[0] -= 360
	}
	t := maptile.At(p, ContextZoom)
	const last = 1<<ContextZoom - 1
	return min(t.Y, last)<<ContextZoom | min(t.X, last)
}

// AppendContext appends the areas of a run of tiles: the number of areas around all of them, these areas, then those
// whose outlines cross the tiles. Each list is ascending and delta-encoded.
func AppendContext(data []byte, around, crossing []uint32) []byte {
	data = binary.AppendUvarint(data, uint64(len(around)))
	for _, list := range [...][]uint32{around, crossing} {
		last := uint32(0)
		for _, n := range list {
			data = binary.AppendUvarint(data, uint64(n-last))
			last = n
		}
	}
	return data
}

// Context reads the areas of a run of tiles.
type Context struct {
	Reader
	around uint64 // how many of these are still to come
	last   uint32
}

// ReadContext starts to read the areas of a run of tiles. Without any bytes there are none.
func ReadContext(data []byte) (c Context) {
	if c.Data = data; len(data) > 0 {
		c.around = c.Uint()
	}
	return c
}

// Next returns the next area, and whether it contains all of the tile or must be tested; false after the last.
func (c *Context) Next() (area uint32, contains, ok bool) {
	if c.At >= len(c.Data) {
		return 0, false, false
	}
	contains = c.around > 0
	c.last += uint32(c.Uint())
	area = c.last
	if contains {
		if c.around--; c.around == 0 {
			c.last = 0
		}
	}
	return area, contains, true
}
