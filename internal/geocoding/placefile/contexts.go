package placefile

import (
	"encoding/binary"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
)

// ContextZoom is the zoom of the tiles of which a region knows the areas around them.
const ContextZoom = 14

// Run is some tiles of one row that have the same areas around them and settlements near them, from First up to that of
// the next run.
type Run struct {
	First   uint32 // see ContextTile
	Context uint32 // where it begins in the contexts; 0 where there are no areas
	Near    uint32 // where the settlements are in the contexts, see AppendNearby; 0 where only a search can tell
}

// nearbyMany stands in place of how many settlements there are where these are more than Fanout, and not listed;
// nearbyCertain for one that is the nearest everywhere.
const (
	nearbyMany    = Fanout + 1
	nearbyCertain = Fanout + 2
)

// AppendNearby adds the settlements of one kind that can be the nearest ones of positions in some tiles: how many there
// are, and their numbers.
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

// Nearby is some settlements that can be the nearest ones.
type Nearby struct {
	Known   bool // else there may be any
	Certain bool // the first one is the nearest
	Count   int
	Numbers [Fanout]uint32
}

// Read reads some settlements; of no bytes, none that are known.
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

// ContextTile is the number of the tile of a position: y<<14 | x. The antimeridian belongs to what lies east of it, as
// it does where areas are tested.
func ContextTile(p orb.Point) uint32 {
	if p[0] >= 180 {
		p[0] -= 360
	}
	t := maptile.At(p, ContextZoom)
	const last = 1<<ContextZoom - 1
	return min(t.Y, last)<<ContextZoom | min(t.X, last)
}

// AppendContext adds the areas of some tiles: how many are around all of them, these areas, and those whose outlines
// come through. Each list is in ascending order, as how far each feature is after the one before.
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

// Context reads the areas of some tiles.
type Context struct {
	Reader
	around uint64 // how many of these are still to come
	last   uint32
}

// ReadContext begins to read the areas of some tiles. No bytes are no areas.
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
