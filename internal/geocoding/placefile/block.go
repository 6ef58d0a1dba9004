package placefile

import (
	"math"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// Block has the boxes of Fanout features, with 16 bits relative to the corner of their common box, and the offsets of
// their records.
type Block struct {
	At            uint64 // of the first record
	X, Y          int32  // south-west corner of all of them, in 1e-7 degrees
	Width, Height uint16 // of the box of all of them
	Shift         uint8  // of the boxes: one is 1<<Shift of 1e-7 degrees
	Unit          uint8  // of the records' offsets: one is 1<<Unit bytes
	_             [2]uint8

	MinX, MinY, MaxX, MaxY [Fanout]uint16
	Offsets                [Fanout]uint16 // of the records, from At
}

// Box returns the box of feature i of the block, rounded outwards.
func (b *Block) Box(i int) geo.Box {
	i &= Fanout - 1
	return geo.Box{MinX: b.X + int32(b.MinX[i])<<b.Shift, MinY: b.Y + int32(b.MinY[i])<<b.Shift,
		MaxX: b.X + int32(b.MaxX[i])<<b.Shift, MaxY: b.Y + int32(b.MaxY[i])<<b.Shift}
}

// All is the box of all features of the block.
func (b *Block) All() geo.Box {
	return geo.Box{MinX: b.X, MinY: b.Y, MaxX: b.X + int32(b.Width)<<b.Shift, MaxY: b.Y + int32(b.Height)<<b.Shift}
}

// NewBlock makes a block of the boxes of up to Fanout features, and returns the distance of each corner from the corner
// of its rounded box.
func NewBlock(boxes []geo.Box) (b Block, corners [Fanout]Corner) {
	all := geo.EmptyBox
	for i := range boxes {
		all.Extend(boxes[i])
	}
	b.X, b.Y = all.MinX, all.MinY
	for up := int64(0); (int64(all.MaxX)-int64(b.X)+up)>>b.Shift > math.MaxUint16 ||
		(int64(all.MaxY)-int64(b.Y)+up)>>b.Shift > math.MaxUint16; up = 1<<b.Shift - 1 {
		b.Shift++
	}
	up := int64(1)<<b.Shift - 1
	for i := range boxes {
		x, y := int64(boxes[i].MinX)-int64(b.X), int64(boxes[i].MinY)-int64(b.Y)
		b.MinX[i], b.MinY[i] = uint16(x>>b.Shift), uint16(y>>b.Shift)
		b.MaxX[i] = uint16((int64(boxes[i].MaxX) - int64(b.X) + up) >> b.Shift)
		b.MaxY[i] = uint16((int64(boxes[i].MaxY) - int64(b.Y) + up) >> b.Shift)
		corners[i] = Corner{uint32(x & up), uint32(y & up)}
		b.Width, b.Height = max(b.Width, b.MaxX[i]), max(b.Height, b.MaxY[i])
	}
	return b, corners
}

// Corner is the distance of a feature's south-west corner from that of its box in the block.
type Corner struct{ Dx, Dy uint32 }

// cornerBytes returns the bytes of each of a corner's two differences in a block with a shift.
func cornerBytes(shift uint8) int { return (min(int(shift), 16) + 7) / 8 }

// InsertCorner puts a corner into a record that AppendRecord made, for a block with a shift.
func InsertCorner(record []byte, at int, c Corner, shift uint8) []byte {
	switch cornerBytes(shift) {
	case 1:
		return slices.Insert(record, at, byte(c.Dx), byte(c.Dy))
	case 2:
		return slices.Insert(record, at, byte(c.Dx), byte(c.Dx>>8), byte(c.Dy), byte(c.Dy>>8))
	}
	return record
}

// AddressName returns the display name of a feature without a name: its house number and street.
func AddressName(houseNumber, street string) string {
	return strings.TrimSpace(houseNumber + " " + street)
}
