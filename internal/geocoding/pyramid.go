package geocoding

import (
	"math"
	"slices"
)

// fanoutBits is the logarithm of how many boxes share a parent.
const fanoutBits = 4

const fanout = 1 << fanoutBits

// pyramid is the layout of the boxes over n things: level 1 has one for each fanout things, level 2 one for each fanout of
// those, up to the level that has at most fanout. The levels follow one another in one array; level 0 is the things.
type pyramid struct {
	first  [9]uint32 // where each level starts in the array
	count  [9]uint32
	height int // the top level
}

func newPyramid(n uint32) pyramid {
	p := pyramid{}
	p.count[0] = n
	for at := uint32(0); n > fanout; {
		n = (n + fanout - 1) >> fanoutBits
		p.height++
		p.first[p.height], p.count[p.height] = at, n
		at += n
	}
	return p
}

// children returns the range of level-1 that node i of a level covers.
func (p *pyramid) children(level int, i uint32) (from, to uint32) {
	return i << fanoutBits, min(i<<fanoutBits+fanout, p.count[level-1])
}

// appendPyramid appends the levels above some boxes, lowest first.
func appendPyramid(dst []box, below []box) []box {
	for len(below) > fanout {
		level := make([]box, 0, (len(below)+fanout-1)/fanout)
		for group := range slices.Chunk(below, fanout) {
			b := emptyBox
			for i := range group {
				b.extend(group[i])
			}
			level = append(level, b)
		}
		dst = append(dst, level...)
		below = level
	}
	return dst
}

var emptyBox = box{math.MaxInt32, math.MaxInt32, math.MinInt32, math.MinInt32}

func (b *box) extend(o box) {
	b.MinX, b.MinY = min(b.MinX, o.MinX), min(b.MinY, o.MinY)
	b.MaxX, b.MaxY = max(b.MaxX, o.MaxX), max(b.MaxY, o.MaxY)
}

func boxOf(coords []coord) box {
	b := emptyBox
	for _, c := range coords {
		b.extend(box{c.X, c.Y, c.X, c.Y})
	}
	return b
}

// hilbert is the position along a Hilbert curve of a point of a square of 2^32 by 2^32.
func hilbert(x, y uint32) uint64 {
	var d uint64
	for s := uint32(1) << 31; s > 0; s >>= 1 {
		var rx, ry uint32
		if x&s != 0 {
			rx = 1
		}
		if y&s != 0 {
			ry = 1
		}
		d += uint64(s) * uint64(s) * uint64(3*rx^ry)
		if ry == 0 {
			if rx == 1 {
				x, y = ^x, ^y
			}
			x, y = y, x
		}
	}
	return d
}

// order is the position of a box's centre along the curve that the features are sorted by.
func (b box) order() uint64 {
	x := (int64(b.MinX) + int64(b.MaxX)) / 2
	y := (int64(b.MinY) + int64(b.MaxY)) / 2
	return hilbert(uint32(x+1<<31), uint32(y+1<<31))
}
