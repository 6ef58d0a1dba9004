package roads

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
)

// restrictions turns the restrictions of the extract into forbidden sequences of arcs, and builds the automaton that knows them.
//
// An only_ restriction forbids every other way to go on once the way from its first member over all its via members has
// been taken. A restriction whose members do not meet end to end, or that leads where the mode may not go, is left out:
// it cannot be told what was meant.
func (w *turnBuilder) restrictions(firstCopy uint32) (*automaton, error) {
	m := &automaton{roots: map[uint32]int32{}, first: firstCopy}
	cost := w.b.data.Cost
	for i := range w.b.data.Restrictions {
		r := &w.b.data.Restrictions[i]
		if r.Modes&w.b.mode == 0 {
			continue
		}
		beginnings, err := w.beginnings(r)
		if err != nil {
			return nil, err
		}
		for _, begin := range beginnings {
			last := begin[len(begin)-1]
			err := cmp.Or(cost.Work(forbidSteps*int64(len(w.leaving[w.head(last)]))),
				cost.TakeMemory(costState*int64(len(begin))))
			if err != nil {
				return nil, err
			}
			var wanted, others []uint32
			for _, to := range w.leaving[w.head(last)] {
				if w.b.data.Roads[w.roadOut(to)].Way == r.To && w.endsAt(w.roadOut(to), w.head(last)) {
					wanted = append(wanted, to)
				} else if to != last^1 {
					others = append(others, to)
				}
			}
			switch {
			case !r.Only:
				m.forbid(begin, wanted)
			case len(wanted) > 0:
				m.forbid(begin, others)
			}
		}
	}
	m.link()
	return m, nil
}

// beginnings are the sequences of arcs on which a restriction is about to act: an arc of its from member that ends at the
// via node, or one that is followed by the via ways from end to end.
func (w *turnBuilder) beginnings(r *extract.Restriction) ([][]uint32, error) {
	if r.ViaNode >= 0 {
		var found [][]uint32
		for _, arc := range w.entering(r.From, r.ViaNode) {
			found = append(found, []uint32{arc})
		}
		return found, w.b.data.Cost.Work(int64(len(w.ending[r.ViaNode])))
	}
	if len(r.ViaWays) == 0 {
		return nil, nil
	}
	first := w.b.road(r.ViaWays[0])
	if first == nil {
		return nil, nil
	}
	var found [][]uint32
	ends := []int32{first.Nodes[0], first.Nodes[len(first.Nodes)-1]}
	for _, start := range slices.Compact(ends) {
		via, err := w.along(r.ViaWays, start)
		if err != nil {
			return nil, err
		}
		if via == nil {
			continue
		}
		for _, arc := range w.entering(r.From, start) {
			found = append(found, append([]uint32{arc}, via...))
		}
	}
	return found, nil
}

// entering are the open arcs that reach a node on a way that ends there.
func (w *turnBuilder) entering(way int64, node int32) []uint32 {
	var found []uint32
	for _, arc := range w.ending[node] {
		if road := w.roadIn(arc); w.b.data.Roads[road].Way == way && w.endsAt(road, node) {
			found = append(found, arc)
		}
	}
	return found
}

// endsAt reports whether a node is the first or the last of a road.
func (w *turnBuilder) endsAt(road, node int32) bool {
	nodes := w.b.data.Roads[road].Nodes
	return nodes[0] == node || nodes[len(nodes)-1] == node
}

// forbidSteps is what it takes to remember that an arc may not follow.
const forbidSteps = 8

// maxVia is how many arcs the via ways of a restriction may have. Some have a dozen.
const maxVia = 32

// along are the arcs that follow ways, each from one end to the other, beginning at a node; nil where they do not connect
// or the mode may not travel them, or where they are more than maxVia.
func (w *turnBuilder) along(ways []int64, node int32) ([]uint32, error) {
	var arcs []uint32
	for _, way := range ways {
		road := w.b.road(way)
		if road == nil {
			return nil, nil
		}
		if err := w.b.data.Cost.Work(4 * int64(len(road.Nodes))); err != nil {
			return nil, err
		}
		nodes := slices.Compact(slices.Clone(road.Nodes))
		if nodes[0] != node {
			slices.Reverse(nodes)
		}
		if nodes[0] != node {
			return nil, nil
		}
		for at := 0; at < len(nodes)-1; {
			arc, n, err := w.covering(nodes[at:])
			if n == 0 || len(arcs) == maxVia {
				return nil, err
			}
			arcs = append(arcs, arc)
			at += n
		}
		node = nodes[len(nodes)-1]
	}
	return arcs, nil
}

// covering is the open arc that travels the first nodes of a list, and the number of its pieces; 0 where there is none.
func (w *turnBuilder) covering(nodes []int32) (arc uint32, pieces int, err error) {
	for _, arc := range w.leaving[nodes[0]] {
		s := w.b.segments[arc>>1].nodes
		if len(s) > len(nodes) {
			continue
		}
		if err := w.b.data.Cost.Work(int64(len(s))); err != nil {
			return 0, 0, err
		}
		same := true
		for i := 0; same && i < len(s); i++ {
			if arc&1 == 0 {
				same = s[i] == nodes[i]
			} else {
				same = s[len(s)-1-i] == nodes[i]
			}
		}
		if same {
			return arc, len(s) - 1, nil
		}
	}
	return 0, 0, nil
}

// automaton is what a route has to remember of the arcs it came by so that it never completes a forbidden sequence: the
// longest beginning of one that it stands at the end of. It is the automaton of Aho and Corasick, with arcs for letters.
// States of one arc are no more than the arc itself; each deeper one becomes a copy of its arc in the graph.
type automaton struct {
	roots  map[uint32]int32 // the states of one arc
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
	m.states = append(m.states, state{arc: arc, depth: depth, shorter: -1, next: map[uint32]int32{}, forbidden: map[uint32]bool{}})
	return int32(len(m.states) - 1)
}

// forbid adds sequences of at least two arcs that begin alike.
func (m *automaton) forbid(arcs, last []uint32) {
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

// root is the state of a route that remembers nothing but the arc it is on; -1 where no sequence begins with it.
func (m *automaton) root(arc uint32) int32 {
	if at, ok := m.roots[arc]; ok {
		return at
	}
	return -1
}

// link finds the shorter state of each, from the short ones to the long ones, and numbers the copies.
func (m *automaton) link() {
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

// step is the arc, or the copy of it, that a route in a state gets on to when it goes on to an arc, and whether it may.
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
