// Package boxtree is the layout of packed R-trees: things in the order of a Hilbert curve (Kamel and Faloutsos 1993),
// the boxes of each sixteen of them, of each sixteen of those and so on. Where the boxes of a node lie follows from
// its number, so that there are no pointers, and the levels can be written one after the other.
package geo

import (
	"math"
	"slices"
)

const (
	fanoutBits = 4
	// TreeFanout is how many boxes have a parent in common.
	TreeFanout = 1 << fanoutBits
	// levels is how many there are over 2^32 things, with the things.
	levels = 9
)

// Box is a rectangle of longitudes (X) and latitudes (Y) in 1e-7 degrees, its edges included. It never crosses the
// antimeridian.
type Box struct{ MinX, MinY, MaxX, MaxY int32 }

// EmptyBox is the box of nothing.
var EmptyBox = Box{math.MaxInt32, math.MaxInt32, math.MinInt32, math.MinInt32}

// Extend makes a box hold another one.
func (b *Box) Extend(o Box) {
	b.MinX, b.MinY = min(b.MinX, o.MinX), min(b.MinY, o.MinY)
	b.MaxX, b.MaxY = max(b.MaxX, o.MaxX), max(b.MaxY, o.MaxY)
}

// ExtendTo makes a box hold a position.
func (b *Box) ExtendTo(x, y int32) { b.Extend(Box{x, y, x, y}) }

// Overlaps reports whether two boxes have a position in common.
func (b *Box) Overlaps(o *Box) bool {
	return b.MinX <= o.MaxX && b.MaxX >= o.MinX && b.MinY <= o.MaxY && b.MaxY >= o.MinY
}

// Order is the place of a box's centre on the curve that things are sorted along.
func (b *Box) Order() uint64 {
	x, y := (int64(b.MinX)+int64(b.MaxX))/2, (int64(b.MinY)+int64(b.MaxY))/2
	return HilbertOfPosition(int32(x), int32(y))
}

// Tree is the layout of the boxes over a number of things: level 1 has one for each Fanout things, level 2 one for each
// Fanout of those, up to the level that has at most Fanout. The levels follow one another in one array, the lowest
// first; level 0 is the things.
type Tree struct {
	First  [levels]uint32 // where each level begins in the array
	Count  [levels]uint32 // how many nodes each level has
	Height int            // the top level
}

// NewTree is the layout over n things.
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

// Boxes is how many boxes the array has: those of all levels but level 0.
func (t *Tree) Boxes() int {
	if t.Height == 0 {
		return 0
	}
	return int(t.First[t.Height]) + int(t.Count[t.Height])
}

// Children are the nodes of the level below that node i of a level is over: from the first up to the last, without it.
func (t *Tree) Children(level int, i uint32) (from, to uint32) {
	return i << fanoutBits, min(i<<fanoutBits+TreeFanout, t.Count[level-1])
}

// AppendTreeLevels appends the boxes of all levels over things that have these boxes.
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
