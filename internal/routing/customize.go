package routing

import (
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/base/heap"
	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Matrices are the matrices of all cells of an overlay: from the beginning of each entry to the beginning of each exit.
type Matrices struct {
	first   []uint64 // where the matrix of each cell begins; one more than there are cells
	costs   []Cost   // noWay if there is no way
	lengths []uint32 // of the same routes, in centimetres
}

// Of returns the costs of a cell by rows: one for each entry, with its exits.
func (m *Matrices) Of(cell int) []Cost { return m.costs[m.first[cell]:m.first[cell+1]] }

// Customize computes the matrices of all cells, those of the lower levels first, on all processors. Its error is that
// of the context. The result does not depend on the number of processors.
func Customize(ctx context.Context, o *Overlay, model *Model) (*Matrices, error) {
	m := newMatrices(o)
	m.costs, m.lengths = make([]Cost, m.size()), make([]uint32, m.size())
	return m, m.fill(ctx, o, model)
}

// CustomizeIn is Customize without the lengths of routes, in memory for costs that allocate returns.
func CustomizeIn(ctx context.Context, o *Overlay, model *Model, allocate func(n int) ([]Cost, error)) (
	m *Matrices, err error) {
	m = newMatrices(o)
	if m.costs, err = allocate(m.size()); err != nil {
		return nil, err
	}
	return m, m.fill(ctx, o, model)
}

// newMatrices returns matrices without memory.
func newMatrices(o *Overlay) *Matrices {
	m := &Matrices{first: make([]uint64, o.first[Levels]+1)}
	for cell := range o.first[Levels] {
		b := o.borderOf(cell)
		m.first[cell+1] = m.first[cell] + uint64(len(b.entries)*len(b.exits))
	}
	return m
}

// size returns how many elements all matrices have.
func (m *Matrices) size() int { return int(m.first[len(m.first)-1]) }

func (m *Matrices) fill(ctx context.Context, o *Overlay, model *Model) error {
	idle := sync.Pool{New: func() any { return &customizer{o: o, m: m, model: model} }}
	for level := range Levels {
		from, to := o.first[level], o.first[level+1]
		next := func(a, b int) (_ struct{}, err error) {
			defer region.Recover(&err, region.FaultsPanic())
			c := idle.Get().(*customizer)
			defer idle.Put(c)
			for i := a; i < b; i++ {
				c.cell(level, from+i)
			}
			return struct{}{}, nil
		}
		const some = 16
		if err := pipeline.Ranges(ctx, to-from, some, next, func(struct{}) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

// customizer computes matrices in one goroutine.
type customizer struct {
	o       *Overlay
	m       *Matrices
	model   *Model
	builder leafBuilder
	local   local
	inner   inner
}

func (c *customizer) cell(level, cell int) {
	b := c.o.borderOf(cell)
	if len(b.entries) == 0 || len(b.exits) == 0 {
		return
	}
	costs, lengths := c.m.Of(cell), []uint32(nil)
	if c.m.lengths != nil {
		lengths = c.m.lengths[c.m.first[cell]:c.m.first[cell+1]]
	}
	if level > 0 {
		matrices := fullMatrices{c.m}
		for i, entry := range b.entries {
			c.inner.run(c.o, matrices, level, cell, entry, noState)
			for k, exit := range b.exits {
				l := c.inner.labels.at(exit)
				if costs[i*len(b.exits)+k] = l.cost; lengths != nil {
					lengths[i*len(b.exits)+k] = l.length
				}
			}
		}
		return
	}
	l := c.builder.build(c.o, uint32(cell), c.model, nil)
	for i, entry := range l.entries {
		c.local.reset(len(l.states))
		c.local.relax(entry, noState, 0)
		c.local.run(l)
		for k, exit := range l.exits {
			at := i*len(b.exits) + k
			if costs[at] = c.local.costs[exit]; costs[at] != noWay && lengths != nil {
				lengths[at] = l.lengthTo(c.local.before, exit, 0)
			}
		}
	}
}

// lengthTo returns the length in centimetres of the route to the beginning of a state, after millimetres before it.
func (c *leaf) lengthTo(before []uint32, at, millimetres uint32) uint32 {
	sum := uint64(millimetres)
	for at = before[at]; at != noState; at = before[at] {
		sum += uint64(c.lengths[at])
	}
	return centimetres(sum)
}

// centimetres rounds millimetres. A route may be longer than a uint32 has millimetres.
func centimetres(millimetres uint64) uint32 { return uint32((millimetres + 5) / 10) }

// source gives the matrices of a metric. What it returns is valid until the buffer is used again.
type source interface {
	// row returns the costs from an entry of a cell to each of its exits, and the lengths of these routes if they are
	// known.
	row(b *buffer, cell, entry, exits int) (costs, lengths []uint32)
	// column returns the same from each entry of a cell to an exit.
	column(b *buffer, cell, exit, entries, exits int) (costs, lengths []uint32)
}

type buffer struct{ costs, lengths []uint32 }

// fullMatrices are matrices in memory.
type fullMatrices struct{ *Matrices }

func (m fullMatrices) row(_ *buffer, cell, entry, exits int) (costs, lengths []uint32) {
	at := m.first[cell] + uint64(entry*exits)
	if m.lengths != nil {
		lengths = m.lengths[at : at+uint64(exits)]
	}
	return m.costs[at : at+uint64(exits)], lengths
}

func (m fullMatrices) column(b *buffer, cell, exit, entries, exits int) (costs, lengths []uint32) {
	b.costs, b.lengths = b.costs[:0], b.lengths[:0]
	for at := m.first[cell] + uint64(exit); len(b.costs) < entries; at += uint64(exits) {
		if b.costs = append(b.costs, m.costs[at]); m.lengths != nil {
			b.lengths = append(b.lengths, m.lengths[at])
		}
	}
	return b.costs, b.lengths
}

// storedMatrices are the matrices of the region file.
type storedMatrices struct{ *Overlay }

func (m storedMatrices) row(b *buffer, cell, entry, exits int) (costs, lengths []uint32) {
	return m.read(b, cell, entry*exits, (entry+1)*exits, 1), nil
}

func (m storedMatrices) column(b *buffer, cell, exit, entries, exits int) (costs, lengths []uint32) {
	return m.read(b, cell, exit, entries*exits, exits), nil
}

// read returns every step-th element of a matrix from one index to another.
func (m storedMatrices) read(b *buffer, cell, from, to, step int) []Cost {
	matrix, width := m.matrix(cell, to)
	costs := b.costs[:0]
	for i := from; i < to; i += step {
		costs = append(costs, element(matrix, width, i))
	}
	b.costs = costs
	return costs
}

// matrix returns the first n elements of the matrix of a cell, and how many bits each of them has.
func (m storedMatrices) matrix(cell, n int) ([]byte, int) {
	c := m.cells.At(cell)
	begin := int(c.Weights)
	return m.weights.Range(begin, begin+(n*c.bits()+7)/8+WeightsEnd), c.bits()
}

// element returns an element of a matrix.
func element(matrix []byte, width, i int) Cost {
	at := uint(i * width)
	all := uint64(1)<<width - 1
	if cost := binary.LittleEndian.Uint64(matrix[at/8:]) >> (at % 8) & all; cost != all {
		return Cost(cost)
	}
	return noWay
}

// Pack appends the matrix of a cell as the region file stores it, and returns how many bits its elements have.
func Pack(matrix []byte, costs []Cost) (_ []byte, width int) {
	most := Cost(0)
	for _, c := range costs {
		if c != noWay {
			most = max(most, c)
		}
	}
	width = bits.Len32(most + 1) // all ones is not a cost
	word, n := uint64(0), 0
	for _, c := range costs {
		word |= uint64(c) & (1<<width - 1) << n
		for n += width; n >= 8; n -= 8 {
			matrix = append(matrix, byte(word))
			word >>= 8
		}
	}
	if n > 0 {
		matrix = append(matrix, byte(word))
	}
	return matrix, width
}

// inner is a search inside a cell of level 1 or more, over the matrices of its cells on the level below.
type inner struct {
	labels labels
	heap   heap.Heap[Cost, uint32]
	buffer buffer
}

// run finds the fastest routes from the beginning of an entry to the exits of a cell, or only to one exit.
func (s *inner) run(o *Overlay, m source, level, cell int, entry, exit uint32) {
	s.labels.reset(o.boundary.Len())
	s.heap = s.heap[:0]
	l := s.labels.at(entry)
	l.cost, l.before = 0, noState
	s.heap.Push(0, entry)
	for len(s.heap) > 0 {
		e := s.heap.Pop()
		if e.Value == exit {
			return
		}
		from := *s.labels.at(e.Value)
		head := o.boundary.At(int(e.Value)).To
		if e.Key > from.cost || o.cellOf(level, head) != cell {
			continue
		}
		below := o.cellOf(level-1, head)
		b := o.borderOf(below)
		row := indexOf(b.entries, e.Value)
		costs, lengths := m.row(&s.buffer, below, row, len(b.exits))
		for k, cost := range costs {
			if cost == noWay {
				continue
			}
			l := s.labels.at(b.exits[k])
			if to := from.cost + cost; to < l.cost {
				l.cost, l.before = to, e.Value
				if lengths != nil {
					l.length = from.length + lengths[k]
				}
				s.heap.Push(to, b.exits[k])
			}
		}
	}
}

// label is what a search knows of a boundary arc.
type label struct {
	cost    Cost   // to its beginning; in reverse, from its beginning to the target
	length  uint32 // centimetres
	before  uint32 // the boundary arc before, or noState
	settled bool
}

const pageSize = 16

// labels are labels by boundary arc, in pages that are made when they are used: a search visits few parts of a country.
type labels struct {
	first   []uint32 // where each page begins in all; 0 if it is not used
	all     []label
	touched []uint32
}

// at returns the label of a boundary arc. It is valid until the next call.
func (l *labels) at(arc uint32) *label {
	if first := l.first[arc/pageSize]; first != 0 {
		return &l.all[first+arc%pageSize]
	}
	return l.add(arc)
}

func (l *labels) add(arc uint32) *label {
	page := arc / pageSize
	l.touched = append(l.touched, page)
	first := len(l.touched) * pageSize
	l.all = slices.Grow(l.all[:first], pageSize)[:first+pageSize]
	for i := range pageSize {
		l.all[first+i] = label{cost: noWay}
	}
	l.first[page] = uint32(first)
	return &l.all[uint32(first)+arc%pageSize]
}

// reset forgets all labels. There are arcs boundary arcs.
func (l *labels) reset(arcs int) {
	for _, page := range l.touched {
		l.first[page] = 0
	}
	l.touched = l.touched[:0]
	if pages := (arcs + pageSize - 1) / pageSize; pages > len(l.first) {
		l.first = make([]uint32, pages)
	}
	if len(l.all) == 0 {
		l.all = make([]label, pageSize) // no page begins at 0
	}
}

// leafCache keeps leaf cells of a metric in memory, up to leafBytes.
type leafCache struct {
	overlay *Overlay
	model   *Model
	cells   []atomic.Pointer[leaf]
	bytes   atomic.Int64
	hand    atomic.Uint32
}

// leafBytes is enough for all leaf cells of a federal state or a large city.
const leafBytes = 128 << 20

// get returns a leaf cell. It neither locks nor allocates if the cell is in memory.
func (c *leafCache) get(number uint32, b *leafBuilder) *leaf {
	if l := c.cells[number].Load(); l != nil {
		return l
	}
	l := b.build(c.overlay, number, c.model, nil)
	if c.cells[number].CompareAndSwap(nil, l) {
		for c.bytes.Add(l.bytes()); c.bytes.Load() > leafBytes; {
			if old := c.cells[c.hand.Add(1)%uint32(len(c.cells))].Swap(nil); old != nil {
				c.bytes.Add(-old.bytes())
			}
		}
	}
	return l
}
