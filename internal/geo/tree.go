package geo

import (
	"math"
	"slices"
)

const (
	fanoutBits = 4
	// TreeFanout is the number of children of a node.
	TreeFanout = 1 << fanoutBits
	// levels is the number of levels over 2^32 things, including level 0.
	levels = 9
)

// Box is a rectangle of longitudes (X) and latitudes (Y) in 1e-7 degrees, its edges included. It never crosses the
// antimeridian.
type Box struct{ MinX, MinY, MaxX, MaxY int32 }

// EmptyBox contains nothing.
var EmptyBox = Box{math.MaxInt32, math.MaxInt32, math.MinInt32, math.MinInt32}

// Extend extends a box to contain another one.
func (b *Box) Extend(o Box) {
	b.MinX, b.MinY = min(b.MinX, o.MinX), min(b.MinY, o.MinY)
	b.MaxX, b.MaxY = max(b.MaxX, o.MaxX), max(b.MaxY, o.MaxY)
}

// ExtendTo extends a box to contain a position.
func (b *Box) ExtendTo(x, y int32) { b.Extend(Box{x, y, x, y}) }

// Overlaps reports whether two boxes have a position in common.
func (b *Box) Overlaps(o *Box) bool {
	return b.MinX <= o.MaxX && b.MaxX >= o.MinX && b.MinY <= o.MaxY && b.MaxY >= o.MinY
}

// Order returns the place of the box's centre on the Hilbert curve.
func (b *Box) Order() uint64 {
	x, y := (int64(b.MinX)+int64(b.MaxX))/2, (int64(b.MinY)+int64(b.MaxY))/2
	return HilbertOfPosition(int32(x), int32(y))
}

// Tree is the layout of a packed R-tree (Kamel and Faloutsos 1993) over things in Hilbert order. Level 1 has a box for
// each TreeFanout things, level 2 one for each TreeFanout of those, up to a level of at most TreeFanout. The levels are
// in one array, the lowest first, and positions follow from numbers, without pointers. Level 0 is the things.
type Tree struct {
	First  [levels]uint32 // where each level begins in the array
	Count  [levels]uint32 // how many nodes each level has
	Height int            // the top level
}

// NewTree returns the layout over n things.
func NewTree(n uint32) Tree {
	t := Tree{}
	t.Count[0] = n
	for at := uint32(0); n > TreeFanout; {
		n = (n-1)>>fanoutBits + 1
		t.Height++
		t.First[t.Height], t.Count[t.Height] = at, n
		at += n
	}
	return t
}

// Boxes returns the number of boxes in the array: of all levels but level 0.
func (t *Tree) Boxes() int {
	if t.Height == 0 {
		return 0
	}
	return int(t.First[t.Height]) + int(t.Count[t.Height])
}

// Children returns the children of node i of a level: their first number, and the one after the last.
func (t *Tree) Children(level int, i uint32) (from, to uint32) {
	return i << fanoutBits, min(i<<fanoutBits+TreeFanout, t.Count[level-1])
}

// AppendTreeLevels appends the boxes of all levels over things with the given boxes.
func AppendTreeLevels(dst, things []Box) []Box {
	for below := things; len(below) > TreeFanout; {
		first := len(dst)
		for group := range slices.Chunk(below, TreeFanout) {
			b := EmptyBox
			for i := range group {
				b.Extend(group[i])
			}
			dst = append(dst, b)
		}
		below = dst[first:len(dst):len(dst)]
	}
	return dst
}
