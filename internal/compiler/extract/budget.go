package extract

import (
	"fmt"
	"math"
	"sync/atomic"
)

// Budget bounds what extracts may cost to compile by how large they are, in memory and temporary files together. No map
// costs much for each of its bytes; but a file can be made that does, of a few kilobytes: a block that unpacks to a
// thousand times its size, a way that is the border of a thousand areas, ten thousand roads that meet at one node. It
// is counted where something grows faster than the file does, and roughly.
//
// A nil Budget bounds nothing. It is safe for use by any number of goroutines.
type Budget struct {
	size         int64
	memory, work atomic.Int64 // what is left
}

// What extracts may cost. Delaware, with 7.8 MB, takes 170 MB and 90 million steps.
const (
	memorySlack, memoryPerByte = 256 << 20, 128 // bytes
	workSlack, workPerByte     = 1 << 29, 1024  // steps, of some nanoseconds each
)

// newBudget is the budget of extracts of no size.
func newBudget() *Budget {
	b := new(Budget)
	b.memory.Store(memorySlack)
	b.work.Store(workSlack)
	return b
}

// grow adds an extract of a size in bytes, before anything is taken.
func (b *Budget) grow(size int64) {
	b.size += size
	b.memory.Add(memoryPerByte * size)
	b.work.Add(workPerByte * size)
}

// costError says that compiling would cost more than a map of that size can.
type costError struct {
	what string
	size int64
}

func (e *costError) Error() string {
	return fmt.Sprintf("compiling it takes more %s than a map of %d bytes can need: it is damaged, or made to do that",
		e.what, e.size)
}

// TakeMemory takes some bytes of memory, which are never given back. The error says that a map of that size cannot need
// so much; every later call fails as well.
func (b *Budget) TakeMemory(bytes int64) error {
	if b != nil && b.memory.Add(-bytes) < 0 {
		return &costError{"memory", b.size}
	}
	return nil
}

// Again returns a budget as it was at first, for what can be left out when it turns out to cost too much. A nil
// Budget gives a nil one.
func (b *Budget) Again() *Budget {
	if b == nil {
		return nil
	}
	again := newBudget()
	again.grow(b.size)
	return again
}

// Work takes some steps, each of some nanoseconds. The error is as that of TakeMemory.
func (b *Budget) Work(steps int64) error {
	if b != nil && b.work.Add(-steps) < 0 {
		return &costError{"work", b.size}
	}
	return nil
}

// Share is how many steps there are for each of n parts of some work, where no part may depend on what the others take.
func (b *Budget) Share(n int) int64 {
	if b == nil {
		return math.MaxInt64 / 2
	}
	return (workSlack + workPerByte*b.size) / int64(n)
}

// CostFeature is what a feature costs beside its tags and its nodes, in bytes; so does each house of an interpolation.
const CostFeature = 1536

// What other things cost: what is kept of them, and what becomes of them while the region is compiled.
const (
	costTile     = 64
	costRef      = 128 // a node of a way
	costWay      = 512
	costArea     = 1024
	costTag      = 96 // and twice the length of its value
	costMember   = 64
	costTurn     = 512 // a restriction
	costAreaNode = 96  // a node of a way that is part of an area

	costDrawing = 256 // what a map shows of an object, beside its nodes and twice the length of its classes

	costNode = 24 // a node, whatever it is

	// An object of XML with tags, on top of what else it costs: reading it takes long.
	costTagged = 320
)

func (t Tags) cost() int64 {
	sum := int64(0)
	for i := range t {
		sum += costTag + 2*int64(len(t[i].Value))
	}
	return sum
}
