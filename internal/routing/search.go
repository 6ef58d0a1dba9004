package routing

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/base/heap"
)

// metric is an overlay with costs. It is safe for concurrent use.
type metric struct {
	*Overlay
	matrices source
	cache    *leafCache
	// closed is set for areas that routes must not enter.
	closed *closed
}

func newMetric(o *Overlay, matrices source, model *Model) *metric {
	return &metric{Overlay: o, matrices: matrices, cache: &leafCache{overlay: o, model: model,
		cells: make([]atomic.Pointer[leaf], o.NumLeaves())}}
}

// hasLengths reports whether the matrices have lengths.
func (m *metric) hasLengths() bool {
	_, full := m.matrices.(fullMatrices)
	return full
}

// leaf returns a leaf cell.
func (m *metric) leaf(number uint32, b *leafBuilder) *leaf {
	if m.closed != nil && m.closed.cells[0][number] {
		return m.closed.leaf(m, number, b)
	}
	return m.cache.get(number, b)
}

// end is a place where a route may begin or end: on a state's arc.
type end struct {
	state  uint32
	leaf   uint32  // of an origin, the one in which the state ends; of a destination, that in which it begins
	at     float64 // metres from the beginning of the arc
	cost   Cost    // from an origin to the end of the arc; to a destination from its beginning
	length uint32  // of the same part, in millimetres
}

// half is the search from the origin or, in reverse, from the destination. First it searches the leaf cells of the
// ends, then the overlay.
type half struct {
	reverse bool
	ends    []end
	cells   [][Levels]uint32 // of the ends, by level
	leaves  []*leaf
	local   []local
	labels  labels
	heap    heap.Heap[Cost, uint32]
	buffer  buffer
	arcs    []uint32 // that have been settled, if keep is set
	keep    bool
}

// in reports whether a cell of a level has one of the ends.
func (h *half) in(level int, cell uint32) bool {
	for i := range h.ends {
		if h.cells[i][level] == cell {
			return true
		}
	}
	return false
}

// reach labels a boundary arc.
func (h *half) reach(arc, before uint32, cost Cost, length uint32) {
	if l := h.labels.at(arc); cost < l.cost {
		l.cost, l.before, l.length = cost, before, length
		h.heap.Push(cost, arc)
	}
}

// Search finds routes on a metric. It may be used again, by one goroutine at a time.
type Search struct {
	m              *metric
	origin, target half
	builder        leafBuilder
	inners         [Levels]inner
	local          local
	hops           [Levels][]uint32
	meter          Meter
	work           int64
	bound          Cost // of costs that matter
}

// meterStep is the work between two calls of the meter.
const meterStep = 1024

// spend counts work, in settled arcs.
func (s *Search) spend(work int64) error {
	if s.work += work; s.work < meterStep || s.meter == nil {
		return nil
	}
	err := s.meter.Spend(s.work)
	s.work = 0
	return err
}

// begin searches the leaf cells of the ends, and labels the arcs at their borders.
func (s *Search) begin(h *half, reverse bool, ends []end) error {
	h.reverse, h.ends = reverse, ends
	h.labels.reset(s.m.boundary.Len())
	h.heap, h.arcs = h.heap[:0], h.arcs[:0]
	n := len(ends)
	h.cells, h.leaves = slices.Grow(h.cells[:0], n)[:n], slices.Grow(h.leaves[:0], n)[:n]
	for len(h.local) < n {
		h.local = append(h.local, local{})
	}
	for i := range ends {
		e := &ends[i]
		h.cells[i][0] = e.leaf
		copy(h.cells[i][1:], s.m.leaves.At(int(e.leaf)).Parents[:])
		c := s.m.leaf(e.leaf, &s.builder)
		l := &h.local[i]
		h.leaves[i] = c
		l.reset(len(c.states))
		at, ok := c.find(e.state)
		if !ok {
			continue
		}
		if err := s.spend(int64(len(c.states))); err != nil {
			return err
		}
		b := s.m.borderOf(int(e.leaf))
		if reverse {
			l.relax(at, noState, e.cost)
			l.runBack(c)
			h.border(c, l, c.entries, b.entries, e.length)
			if k := slices.Index(c.exits, at); k >= 0 { // the arc itself leaves the cell
				h.reach(b.exits[k], noState, e.cost, centimetres(uint64(e.length)))
			}
			continue
		}
		for _, t := range c.forward.of(at) {
			l.relax(t.to, noState, e.cost+t.cost)
		}
		l.run(c)
		h.border(c, l, c.exits, b.exits, e.length)
	}
	return nil
}

// border labels the arcs at the border of a leaf cell that a local search has reached. length is that of the end.
func (h *half) border(c *leaf, l *local, at, arcs []uint32, length uint32) {
	for k, i := range at {
		if l.costs[i] == noWay {
			continue
		}
		var sum uint32
		if !h.reverse {
			sum = c.lengthTo(l.before, i, length)
		} else {
			millimetres := uint64(length)
			for j := i; l.before[j] != noState; j = l.before[j] {
				millimetres += uint64(c.lengths[j])
			}
			sum = centimetres(millimetres)
		}
		h.reach(arcs[k], noState, l.costs[i], sum)
	}
}

// passed returns the level of the cell that a route passes at a leaf cell: the greatest without an end of the halves.
func (s *Search) passed(leaf uint32, a, b *half) int {
	p := &s.m.leaves.At(int(leaf)).Parents
	for level := Levels - 1; level > 0; level-- {
		cell := p[level-1]
		if !a.in(level, cell) && !b.in(level, cell) && (s.m.closed == nil || !s.m.closed.cells[level][cell]) {
			return level
		}
	}
	return 0
}

// settle takes the nearest arc of a half and follows the row or the column of the cell behind it. other is the half
// that decides with it how large that cell is. It returns noState for an arc that has been settled.
func (s *Search) settle(h, other *half) (arc uint32) {
	e := h.heap.Pop()
	l := h.labels.at(e.Value)
	if l.settled {
		return noState
	}
	l.settled = true
	from := *l
	if h.keep {
		h.arcs = append(h.arcs, e.Value)
	}
	behind := s.m.boundary.At(int(e.Value))
	leaf := behind.To
	if h.reverse {
		leaf = behind.From
	}
	cell := s.m.cellOf(s.passed(leaf, h, other), leaf)
	b := s.m.borderOf(cell)
	var arcs, costs, lengths []uint32
	if h.reverse {
		arcs = b.entries
		costs, lengths = s.m.matrices.column(&h.buffer, cell, indexOf(b.exits, e.Value), len(b.entries), len(b.exits))
	} else {
		arcs = b.exits
		costs, lengths = s.m.matrices.row(&h.buffer, cell, indexOf(b.entries, e.Value), len(b.exits))
	}
	limit := s.bound - min(from.cost, s.bound)
	for k, cost := range costs {
		if cost >= limit {
			continue
		}
		cost += from.cost
		if l := h.labels.at(arcs[k]); cost < l.cost { // as reach does; a call makes the search slower by a twentieth
			l.cost, l.before = cost, e.Value
			if len(lengths) > 0 {
				l.length = from.length + lengths[k]
			}
			h.heap.Push(cost, arcs[k])
		}
	}
	return e.Value
}

// found is the fastest route that a search has found.
type found struct {
	cost Cost // noWay if there is none
	// Where the halves meet: at a boundary arc, or else inside the leaf cell of an origin, at a destination. Direct routes
	// go from the one to the other on one arc.
	arc            uint32 // noState if they meet in a leaf cell
	origin, target int    // ends, if arc is noState
	direct         bool
}

// run finds the fastest route between one of some origins and one of some destinations.
func (s *Search) run(origins, targets []end) (found, error) { return s.runPast(origins, targets, 1) }

// runPast is run, and goes on until the halves have settled all that is on routes that cost up to factor times as much.
func (s *Search) runPast(origins, targets []end, factor float64) (found, error) {
	best := found{cost: noWay, arc: noState}
	s.bound = noWay
	f, b := &s.origin, &s.target
	if err := cmp.Or(s.begin(f, false, origins), s.begin(b, true, targets)); err != nil {
		return best, err
	}
	s.meetInside(&best)
	for {
		if best.cost != noWay {
			s.bound = Cost(min(float64(best.cost)*factor, float64(noWay)))
		}
		if len(f.heap) == 0 || len(b.heap) == 0 || f.heap[0].Key >= s.bound-min(b.heap[0].Key, s.bound) {
			return best, nil
		}
		h, other := f, b
		if b.heap[0].Key < f.heap[0].Key {
			h, other = b, f
		}
		arc := s.settle(h, other)
		if arc == noState {
			continue
		}
		if err := s.spend(1); err != nil {
			return best, err
		}
		if there := other.labels.at(arc).cost; there != noWay {
			if cost := h.labels.at(arc).cost + there; cost < best.cost {
				best = found{cost: cost, arc: arc}
			}
		}
	}
}

// meetInside finds the fastest route that stays in a leaf cell.
func (s *Search) meetInside(best *found) {
	for i := range s.origin.ends {
		for k := range s.target.ends {
			cost, direct := s.inside(i, &s.target.ends[k])
			if cost < best.cost {
				*best = found{cost, noState, i, k, direct}
			}
		}
	}
}

// inside returns the cost of the fastest route from an origin to a destination inside the leaf cell of the origin, and
// whether it is on one arc.
func (s *Search) inside(origin int, t *end) (cost Cost, direct bool) {
	o := &s.origin.ends[origin]
	cost = noWay
	c := s.origin.leaves[origin]
	if at, ok := c.find(t.state); ok && t.leaf == o.leaf {
		if before := s.origin.local[origin].costs[at]; before != noWay {
			cost = before + t.cost
		}
	}
	if s.m.Graph.ArcOf(o.state) == s.m.Graph.ArcOf(t.state) && t.at >= o.at {
		if at, ok := c.find(o.state); ok {
			if along := max(t.cost+o.cost, c.costs[at]) - c.costs[at]; along <= cost {
				return along, true
			}
		}
	}
	return cost, false
}
