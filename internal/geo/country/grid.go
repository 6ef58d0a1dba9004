package country

import (
	_ "embed"
	"encoding/binary"
	"math"

	"github.com/paulmach/orb"
)

// The file countries.bin, all integers little-endian:
//
//	magic      8 bytes, "CTRYGRD1"
//	nodes      uint32, how many nodes there are
//	leafBytes  uint32, how many bytes the leaves have
//	node       uint32 for each node; the first columns*rows are the base cells, row by row from the south-west corner
//	leaf       leafBytes bytes, one record after another
//	codes      three letters for each country, in the order of the table countries
//
// The world is 2^22 by 2^21 units from (-180, -90); a unit is some 9.5 metres of latitude. A base cell is 2^14 units
// wide and high. The two highest bits of a node are the type of its cell:
//
//	tagWhole   one country, or none, all over: country number plus one, 0 for none
//	tagBranch  four cells of half the width, in four consecutive nodes (SW, SE, NW, NE) from this index
//	tagLeaf    a border: the offset of a record among the leaves
//
// A leaf record has the country (plus one, 0 for none) outside its areas, the number of areas, and for each area its
// country plus one, the number of rings, and each ring: the number of vertices, the first vertex relative to the cell's
// south-west corner, and the steps from vertex to vertex. All are varints, steps zigzag-coded. Rings are closed. An
// area is the part of a country in the cell, by the even-odd rule.
const (
	magic      = "CTRYGRD1"
	headerSize = len(magic) + 8

	cellShift  = 14
	columns    = 256
	rows       = 128
	worldWidth = columns << cellShift
	worldUpper = rows << cellShift

	unitsPerDegree = worldWidth / 360.0

	tagShift  = 30
	tagWhole  = 0
	tagBranch = 1
	tagLeaf   = 2
	valueMask = 1<<tagShift - 1
)

//go:embed countries.bin
var grid []byte

// node reads the node of an index as its tag and value.
func node(i uint32) (tag, value uint32) {
	n := binary.LittleEndian.Uint32(grid[headerSize+4*int(i):])
	return n >> tagShift, n & valueMask
}

// leaf returns the leaves from an offset on.
func leaf(offset uint32) []byte {
	nodes := binary.LittleEndian.Uint32(grid[len(magic):])
	return grid[headerSize+4*int(nodes)+int(offset):]
}

// position converts a point to units; false if it is not on Earth. Longitude 180 is -180, and the North Pole belongs to
// the northernmost cells.
func position(p orb.Point) (x, y float64, ok bool) {
	lon, lat := p.Lon(), p.Lat()
	if !(lon >= -180 && lon <= 180 && lat >= -90 && lat <= 90) { // also false for NaN
		return 0, 0, false
	}
	x = (lon + 180) * unitsPerDegree
	if x >= worldWidth {
		x = 0
	}
	y = math.Min((lat+90)*unitsPerDegree, worldUpper-1.0/1024)
	return x, y, true
}

// reader takes varints from a leaf record.
type reader struct {
	data []byte
	at   int
}

func (r *reader) uint() int {
	b := r.data[r.at]
	r.at++
	if b < 0x80 {
		return int(b)
	}
	v := int(b & 0x7f)
	for shift := 7; ; shift += 7 {
		b = r.data[r.at]
		r.at++
		v |= int(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

func (r *reader) int() int {
	u := r.uint()
	return u>>1 ^ -(u & 1)
}
