package placefile

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// A region file divides what it covers into cells: squares on the plane of longitude and latitude, halved until few
// features can be among the nearest of any position in them, and until the areas around them are the same everywhere in
// them. A cell holds all that matters in it, so that most requests look at some dozens of boxes instead of at a tree,
// and at no polygon at all. What a cell does not know is searched for in the trees.

const (
	// RootBits is the logarithm of the width of the largest cells in 1e-7 degrees: 0.105°, 11.7 km.
	RootBits = 20
	// LeafBits is that of the smallest: 91 m.
	LeafBits = 13
	// CellDistance is how far, in metres, the features of a cell are known where there are fewer than CellNearest.
	CellDistance = 1000
	// CellNearest is how many of the nearest features of any of its positions a cell knows.
	CellNearest = 5
)

// Root is one of the largest cells. Its bytes are what its cells have in common, of which Surroundings has the length,
// and its node.
type Root struct {
	Key          uint32 // see RootKey
	Base         uint32 // a feature that those of its cells are counted from
	Surroundings uint32
	Length       uint32 // of all its bytes
	At           uint64 // where they begin
}

// RootKey numbers the largest cells by column and row, counted from the antimeridian and from the south pole, along a
// Morton curve: the cells of a square that is halved again and again follow each other.
func RootKey(column, row uint32) uint32 {
	spread := func(v uint32) uint32 {
		v = (v | v<<8) & 0x00ff00ff
		v = (v | v<<4) & 0x0f0f0f0f
		v = (v | v<<2) & 0x33333333
		return (v | v<<1) & 0x55555555
	}
	return spread(row)<<1 | spread(column)
}

// A node begins with a byte that has two bits for each of its children: south-west, south-east, north-west, north-east.
// What follows is for each child that there is, but the last, how many bytes it takes, and the children.
const (
	ChildNone = iota // nothing is known of it
	ChildCell
	ChildNode
)

// Child is a node or a cell on its way into a file.
type Child struct {
	Kind byte
	Data []byte
}

// AppendNode adds a node.
func AppendNode(data []byte, c *[4]Child) []byte {
	kinds, last := byte(0), 0
	for i := range c {
		kinds |= c[i].Kind << (2 * i)
		if c[i].Kind != ChildNone {
			last = i
		}
	}
	data = append(data, kinds)
	for i := range c[:last] {
		if c[i].Kind != ChildNone {
			data = binary.AppendUvarint(data, uint64(len(c[i].Data)))
		}
	}
	for i := range c {
		data = append(data, c[i].Data...)
	}
	return data
}

// NodeBytes is at least what a node takes before its children.
const NodeBytes = 1 + 3*binary.MaxVarintLen32

// ReadNode reads the beginning of a node: what a child is, and where it begins.
func ReadNode(data []byte, child uint) (kind byte, at int) {
	kinds := data[0]
	if kinds == 0 {
		return ChildNone, 1
	}
	r := Reader{Data: data, At: 1}
	last := uint(bits.Len8(kinds)-1) / 2
	for i := range last {
		if kinds>>(2*i)&3 != ChildNone {
			if length := r.Uint(); i < child {
				at += int(length)
			}
		}
	}
	return kinds >> (2 * child) & 3, r.At + at
}

// What a cell knows. Its first byte has these flags, and above them how many runs of features there are, or manyRuns,
// which the number follows.
const (
	CellCovered  = 1 << iota // all of it is covered by the region
	CellFeatures             // its features are known
	CellEnough               // they are CellNearest or more: none is missing, however far one looks
	CellContext              // the areas around it and its settlements are known
	cellRuns     = iota
	manyRuns     = 1<<(8-cellRuns) - 1
)

// Cell is what is known of all positions in it.
type Cell struct {
	Flags        byte
	Surroundings uint64  // where they begin among those of the root
	Radius       float64 // metres from its middle to the last of its nearest features, where they are enough
	runs         int
	data         []byte // of the runs
}

// radiusUnit is what radii are rounded up to, in metres.
const radiusUnit = 0.5

// AppendCell adds a cell with the features in it, in ascending order, counted from that of the root.
func AppendCell(data []byte, c *Cell, base uint32, features []uint32) []byte {
	flags := c.Flags
	runs, n := appendRuns(nil, features, base)
	if n >= manyRuns {
		data = binary.AppendUvarint(append(data, flags|manyRuns<<cellRuns), uint64(n))
	} else {
		data = append(data, flags|byte(n)<<cellRuns)
	}
	if flags&CellContext != 0 {
		data = binary.AppendUvarint(data, c.Surroundings)
	}
	if flags&CellEnough != 0 {
		data = binary.AppendUvarint(data, uint64(math.Ceil(c.Radius/radiusUnit)))
	}
	return append(data, runs...)
}

// A run of features is a byte with how many it has, less one, and above that how many features after the end of the run
// before it begins, or farRun, which what there is more of follows.
const (
	runBits = 4
	longest = 1 << runBits
	farRun  = 1<<(8-runBits) - 1
	// mostBetween is how many features between two runs become a part of them: to look at one takes less than to say
	// that it is not meant.
	mostBetween = 4
)

func appendRuns(data []byte, features []uint32, end uint32) (_ []byte, n int) {
	for i := 0; i < len(features); n++ {
		from, to := features[i], features[i]+1
		for i++; i < len(features) && features[i]-to <= mostBetween && features[i]-from < longest; i++ {
			to = features[i] + 1
		}
		gap := from - end
		data = append(data, byte(to-from-1)|byte(min(gap, farRun))<<runBits)
		if gap >= farRun {
			data = binary.AppendUvarint(data, uint64(gap-farRun))
		}
		end = to
	}
	return data, n
}

// CellBytes is at least what a cell takes that a build has made.
const CellBytes = 1 + 3*binary.MaxVarintLen32 + MaxCellFeatures*(1+binary.MaxVarintLen32)

// MaxCellFeatures is how many features a cell knows at most.
const MaxCellFeatures = 255

// ReadCell reads a cell.
func ReadCell(data []byte) (c Cell) {
	r := Reader{Data: data}
	head := r.Byte()
	c.Flags, c.runs = head&(1<<cellRuns-1), int(head>>cellRuns)
	if c.runs == manyRuns {
		c.runs = int(min(r.Uint(), MaxCellFeatures))
	}
	if c.Flags&CellContext != 0 {
		c.Surroundings = r.Uint()
	}
	if c.Flags&CellEnough != 0 {
		c.Radius = float64(r.Uint()) * radiusUnit
	}
	c.data = data[r.At:]
	return c
}

// Runs yields the features of a cell, counted from that of its root, as the first of each run and what comes after the
// last.
func (c *Cell) Runs(base uint32, yield func(from, to uint32)) {
	r := Reader{Data: c.data}
	for range c.runs {
		head := r.Byte()
		gap := uint32(head >> runBits)
		if gap == farRun {
			gap += uint32(r.Uint())
		}
		base += gap
		to := base + uint32(head&(longest-1)) + 1
		yield(base, to)
		base = to
	}
}

// CellMargin, in metres, is more than distances are rounded by.
const CellMargin = 0.1
