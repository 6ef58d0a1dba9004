package network

import (
	"cmp"
	"slices"
)

// automaton is what a route has to remember of the arcs it came by so that it never completes a forbidden sequence.
// Nothing for those of two arcs. For longer ones it is the longest beginning of one that the route stands at the end
// of: the automaton of Aho and Corasick, with arcs for letters. States of one arc are no more than the arc itself;
// each deeper one becomes a copy of its arc in the graph.
type automaton struct {
	pairs  []uint64 // an arc and the one that may not follow it, sorted by link
	roots  map[uint32]int32
	begins []uint64 // bits of the arcs that sequences begin with, by the lowest bits of their numbers; a power of two
	states []state
	ofCopy []int32 // the states that are copies, in the order of the copies
	copyOf []int32 // for each state its place in ofCopy, or -1
	first  uint32  // the number of the first copy
}

type state struct {
	arc       uint32
	depth     int32
	shorter   int32 // the longest other state that is an end of this one; -1 where there is none
	next      map[uint32]int32
	forbidden map[uint32]bool
}

func (m *automaton) add(arc uint32, depth int32) int32 {
	m.states = append(m.states, state{arc: arc, depth: depth, shorter: -1, next: map[uint32]int32{},
		forbidden: map[uint32]bool{}})
	return int32(len(m.states) - 1)
}

// forbid adds sequences of at least two arcs that begin alike.
func (m *automaton) forbid(arcs, last []uint32) {
	if len(arcs) == 1 {
		for _, arc := range last {
			m.pairs = append(m.pairs, pair(arcs[0], arc))
		}
		return
	}
	if len(last) == 0 {
		return
	}
	at, ok := m.roots[arcs[0]]
	if !ok {
		at = m.add(arcs[0], 1)
		m.roots[arcs[0]] = at
	}
	for i, arc := range arcs[1:] {
		next, ok := m.states[at].next[arc]
		if !ok {
			next = m.add(arc, int32(i)+2)
			m.states[at].next[arc] = next
		}
		at = next
	}
	for _, arc := range last {
		m.states[at].forbidden[arc] = true
	}
}

func pair(arc, next uint32) uint64 { return uint64(arc)<<32 | uint64(next) }

// mayBegin reports whether a sequence may begin with an arc; few others are taken for one with which it does.
func (m *automaton) mayBegin(arc uint32) bool {
	return m.begins[arc/64&uint32(len(m.begins)-1)]>>(arc%64)&1 != 0
}

// mark fills begins, with at most one arc in 64 that no sequence begins with.
func (m *automaton) mark() {
	words := 1
	for words < len(m.pairs)+len(m.roots) {
		words *= 2
	}
	m.begins = make([]uint64, words)
	begin := func(arc uint32) { m.begins[arc/64&uint32(words-1)] |= 1 << (arc % 64) }
	for _, p := range m.pairs {
		begin(uint32(p >> 32))
	}
	for arc := range m.roots {
		begin(arc)
	}
}

// after are the pairs of an arc.
func (m *automaton) after(arc uint32) []uint64 {
	if !m.mayBegin(arc) {
		return nil
	}
	first, _ := slices.BinarySearch(m.pairs, pair(arc, 0))
	end := first
	for end < len(m.pairs) && uint32(m.pairs[end]>>32) == arc {
		end++
	}
	return m.pairs[first:end]
}

// root is the state of a route that remembers nothing but the arc it is on; -1 where no longer sequence begins with it.
func (m *automaton) root(arc uint32) int32 {
	if m.mayBegin(arc) {
		if at, ok := m.roots[arc]; ok {
			return at
		}
	}
	return -1
}

// link finds the shorter state of each, from the short ones to the long ones, and numbers the copies.
func (m *automaton) link() {
	slices.Sort(m.pairs)
	m.mark()
	order := make([]int32, len(m.states))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(m.states[a].depth, m.states[b].depth) })
	for _, at := range order {
		for arc, next := range m.states[at].next {
			m.states[next].shorter = m.follow(m.states[at].shorter, arc)
		}
	}
	m.copyOf = make([]int32, len(m.states))
	for i := range m.states {
		m.copyOf[i] = -1
		if m.states[i].depth > 1 {
			m.ofCopy = append(m.ofCopy, int32(i))
		}
	}
	slices.SortStableFunc(m.ofCopy, func(a, b int32) int { return cmp.Compare(m.states[a].arc, m.states[b].arc) })
	for place, at := range m.ofCopy {
		m.copyOf[at] = int32(place)
	}
}

// follow is the state after one more arc.
func (m *automaton) follow(at int32, arc uint32) int32 {
	for ; at >= 0; at = m.states[at].shorter {
		if next, ok := m.states[at].next[arc]; ok {
			return next
		}
	}
	return m.root(arc)
}

// copies are the arcs of which there are copies, sorted: one entry a copy.
func (m *automaton) copies() []uint32 {
	arcs := make([]uint32, len(m.ofCopy))
	for i, at := range m.ofCopy {
		arcs[i] = m.states[at].arc
	}
	return arcs
}

// step is the arc, or the copy of it, that a route in a state gets on to when it goes on to an arc, and whether it may
// for all that longer sequences say.
func (m *automaton) step(at int32, arc uint32) (to uint32, allowed bool) {
	for s := at; s >= 0; s = m.states[s].shorter {
		if m.states[s].forbidden[arc] {
			return 0, false
		}
	}
	if next := m.follow(at, arc); next >= 0 && m.copyOf[next] >= 0 {
		return m.first + uint32(m.copyOf[next]), true
	}
	return arc, true
}
