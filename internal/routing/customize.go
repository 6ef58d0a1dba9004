package routing

import (
	"context"
	"math"
	"slices"
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
	m := &Matrices{first: make([]uint64, o.first[Levels]+1)}
	for cell := range o.first[Levels] {
		b := o.borderOf(cell)
		m.first[cell+1] = m.first[cell] + uint64(len(b.entries)*len(b.exits))
	}
	n := m.first[o.first[Levels]]
	m.costs, m.lengths = make([]Cost, n), make([]uint32, n)
	for level := range Levels {
		from, to := o.first[level], o.first[level+1]
		next := func(a, b int) (_ struct{}, err error) {
			defer region.Recover(&err, region.FaultsPanic())
			c := customizer{o: o, m: m, model: model}
			for i := a; i < b; i++ {
				c.cell(level, from+i)
			}
			return struct{}{}, nil
		}
		const some = 16
		if err := pipeline.Ranges(ctx, to-from, some, next, func(struct{}) error { return nil }); err != nil {
			return nil, err
		}
	}
	return m, nil
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
	costs, lengths := c.m.Of(cell), c.m.lengths[c.m.first[cell]:c.m.first[cell+1]]
	if level > 0 {
		matrices := fullMatrices{c.m}
		for i, entry := range b.entries {
			c.inner.run(c.o, matrices, level, cell, entry, noState)
			for k, exit := range b.exits {
				l := c.inner.labels.at(exit)
				costs[i*len(b.exits)+k], lengths[i*len(b.exits)+k] = l.cost, l.length
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
			if costs[at] = c.local.costs[exit]; costs[at] != noWay {
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

// source gives the matrices of a metric.
type source interface {
	// row appends the costs from an entry of a cell, which has exits, to each of these.
	row(to []Cost, cell, entry, exits int) []Cost
	// column appends the costs to an exit of a cell from each of its entries.
	column(to []Cost, cell, exit, entries, exits int) []Cost
	// lengthsOf returns the lengths of a row, or nil if they are not known.
	lengthsOf(cell, entry, exits int) []uint32
}

// fullMatrices are matrices in memory.
type fullMatrices struct{ *Matrices }

func (m fullMatrices) row(_ []Cost, cell, entry, exits int) []Cost {
	at := m.first[cell] + uint64(entry*exits)
	return m.costs[at : at+uint64(exits)]
}

func (m fullMatrices) column(to []Cost, cell, exit, entries, exits int) []Cost {
	for i, at := 0, m.first[cell]+uint64(exit); i < entries; i, at = i+1, at+uint64(exits) {
		to = append(to, m.costs[at])
	}
	return to
}

func (m fullMatrices) lengthsOf(cell, entry, exits int) []uint32 {
	at := m.first[cell] + uint64(entry*exits)
	return m.lengths[at : at+uint64(exits)]
}

// storedMatrices are the matrices of the region file.
type storedMatrices struct{ *Overlay }

func (m storedMatrices) row(to []Cost, cell, entry, exits int) []Cost {
	c := m.cells.At(cell)
	if c.Wide == 0 {
		at := int(c.Weights) + entry*exits
		for _, w := range m.weights.Range(at, at+exits) {
			to = append(to, wide(w))
		}
		return to
	}
	at := int(c.Weights) + 2*entry*exits
	words := m.weights.Range(at, at+2*exits)
	for i := 0; i < len(words); i += 2 {
		to = append(to, Cost(words[i])|Cost(words[i+1])<<16)
	}
	return to
}

// wide returns a cost of one word.
func wide(w uint16) Cost {
	if w == math.MaxUint16 {
		return noWay
	}
	return Cost(w)
}

func (m storedMatrices) column(to []Cost, cell, exit, entries, exits int) []Cost {
	c := m.cells.At(cell)
	if c.Wide == 0 {
		words := m.weights.Range(int(c.Weights), int(c.Weights)+entries*exits)
		for i := exit; i < len(words); i += exits {
			to = append(to, wide(words[i]))
		}
		return to
	}
	words := m.weights.Range(int(c.Weights), int(c.Weights)+2*entries*exits)
	for i := 2 * exit; i < len(words); i += 2 * exits {
		to = append(to, Cost(words[i])|Cost(words[i+1])<<16)
	}
	return to
}

func (storedMatrices) lengthsOf(int, int, int) []uint32 { return nil }

// Pack returns the words of the matrix of a cell as the region file stores it, and whether they are wide.
func Pack(words []uint16, costs []Cost) (_ []uint16, isWide bool) {
	isWide = slices.ContainsFunc(costs, func(c Cost) bool { return c >= math.MaxUint16 && c != noWay })
	for _, c := range costs {
		words = append(words, uint16(c))
		if isWide {
			words = append(words, uint16(c>>16))
		}
	}
	return words, isWide
}

// inner is a search inside a cell of level 1 or more, over the matrices of its cells on the level below.
type inner struct {
	labels labels
	heap   heap.Heap[Cost, uint32]
	buffer []Cost
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
		lengths := m.lengthsOf(below, row, len(b.exits))
		s.buffer = m.row(s.buffer[:0], below, row, len(b.exits))
		for k, cost := range s.buffer {
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

const (
	pageBits = 4
	pageSize = 1 << pageBits
)

// labels are labels by boundary arc, in pages that are made when they are used: a search visits few parts of a country.
type labels struct {
	number  []uint32 // of each page, from 1 on; 0 if it is not used
	pages   []*[pageSize]label
	touched []uint32
}

// at returns the label of a boundary arc. It is valid until reset.
func (l *labels) at(arc uint32) *label {
	n := l.number[arc>>pageBits]
	if n == 0 {
		n = l.add(arc >> pageBits)
	}
	return &l.pages[n-1][arc&(pageSize-1)]
}

func (l *labels) add(page uint32) uint32 {
	l.touched = append(l.touched, page)
	n := uint32(len(l.touched))
	l.number[page] = n
	if int(n) > len(l.pages) {
		l.pages = append(l.pages, new([pageSize]label))
	}
	for i := range l.pages[n-1] {
		l.pages[n-1][i] = label{cost: noWay}
	}
	return n
}

// reset forgets all labels. There are arcs boundary arcs.
func (l *labels) reset(arcs int) {
	for _, page := range l.touched {
		l.number[page] = 0
	}
	l.touched = l.touched[:0]
	if pages := (arcs + pageSize - 1) / pageSize; pages > len(l.number) {
		l.number = make([]uint32, pages)
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
