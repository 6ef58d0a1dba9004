package network

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// automaton keeps routes from completing a forbidden sequence of arcs. It is an Aho-Corasick automaton whose letters
// are arcs: a state is the longest beginning of a forbidden sequence that a route has just travelled. A state of one
// arc is the arc itself. Each longer one becomes a roadgraph.State.
type automaton struct {
	states    []state // first the empty state of each mode
	next      map[step]int32
	forbidden map[step]bool
	stored    []int32 // the states of more than one arc, in the order of the file
}

type state struct {
	mode    region.Modes
	arc     uint32 // the last one
	number  uint32 // of the arc, or of the state in the file
	length  int
	before  int32 // the state without the last arc
	shorter int32 // the longest other state that is a suffix of this one, or -1 (failure link)
}

// step is an arc that follows a state.
type step struct {
	state int32
	arc   uint32
}

// forbid adds forbidden sequences for a mode: arcs, followed by any of last.
func (m *automaton) forbid(mode int, arcs, last []uint32) {
	if len(last) == 0 {
		return
	}
	at := int32(mode)
	for i, arc := range arcs {
		next, ok := m.next[step{at, arc}]
		if !ok {
			next = int32(len(m.states))
			m.states = append(m.states, state{modes[mode], arc, arc, i + 1, at, at})
			m.next[step{at, arc}] = next
		}
		at = next
	}
	for _, arc := range last {
		m.forbidden[step{at, arc}] = true
	}
}

// link sets the failure links, from short states to long ones, and numbers the states that the file stores.
func (m *automaton) link(firstState uint32) {
	for i := range m.states {
		if m.states[i].length > 1 {
			m.stored = append(m.stored, int32(i))
		}
	}
	slices.SortStableFunc(m.stored, func(a, b int32) int { return cmp.Compare(m.states[a].length, m.states[b].length) })
	for _, i := range m.stored {
		s := &m.states[i]
		s.shorter = m.follow(m.states[s.before].shorter, s.arc)
	}
	slices.SortFunc(m.stored, func(a, b int32) int {
		x, y := &m.states[a], &m.states[b]
		return cmp.Or(cmp.Compare(x.mode, y.mode), cmp.Compare(x.arc, y.arc), cmp.Compare(a, b))
	})
	for i, at := range m.stored {
		m.states[at].number = firstState + uint32(i)
	}
}

// follow returns the state after one more arc.
func (m *automaton) follow(at int32, arc uint32) int32 {
	for {
		if next, ok := m.next[step{at, arc}]; ok {
			return next
		}
		if m.states[at].shorter < 0 {
			return at
		}
		at = m.states[at].shorter
	}
}

// step returns the number of the arc or state that follows a state when a route goes on to an arc, and whether it may.
func (m *automaton) step(at int32, arc uint32) (to uint32, allowed bool) {
	for s := at; s >= 0; s = m.states[s].shorter {
		if m.forbidden[step{s, arc}] {
			return 0, false
		}
	}
	if next := &m.states[m.follow(at, arc)]; next.length > 0 {
		return next.number, true
	}
	return arc, true
}

// restrictions makes the automaton of the extract's turn restrictions.
//
// An only_ restriction forbids all other arcs after the arcs of its from and via members. A restriction to a road that
// the mode may not travel is left out.
func (b *builder) restrictions() *automaton {
	m := &automaton{next: map[step]int32{}, forbidden: map[step]bool{}}
	for _, mode := range modes {
		m.states = append(m.states, state{mode: mode, shorter: -1})
	}
	for i, mode := range modes {
		for k := range b.data.Restrictions {
			r := &b.data.Restrictions[k]
			if r.Modes&mode == 0 {
				continue
			}
			starts := []uint32{r.ViaNode}
			if len(r.ViaWays) > 0 {
				nodes := b.data.NodesOf(b.data.FirstOf(r.ViaWays[0]))
				starts = slices.Compact([]uint32{nodes[0], nodes[len(nodes)-1]})
			}
			for _, start := range starts {
				if via, end, ok := b.along(r.ViaWays, start, mode); ok {
					b.restrict(m, i, r, start, via, end)
				}
			}
		}
	}
	m.link(uint32(2 * b.edgeCount))
	return m
}

// restrict adds a restriction: from an arc of its from member to the node start, over the arcs of the via members to
// the node last, and on.
func (b *builder) restrict(m *automaton, mode int, r *Restriction, start uint32, via []uint32, last uint32) {
	wanted := b.endsOf(r.To, last)
	for _, from := range b.endsOf(r.From, start) {
		if b.arriving(from)&modes[mode] == 0 {
			continue
		}
		arcs := append([]uint32{b.arc(from, modes[mode]) ^ 1}, via...)
		back := arcs[len(arcs)-1] ^ 1
		var to, others []uint32
		for _, end := range b.endsAt(last) {
			if b.leaving(end)&modes[mode] == 0 {
				continue
			}
			if arc := b.arc(end, modes[mode]); slices.Contains(wanted, end) {
				to = append(to, arc)
			} else if arc != back {
				others = append(others, arc)
			}
		}
		if !r.Only {
			m.forbid(mode, arcs, to)
		} else if len(to) > 0 {
			m.forbid(mode, arcs, others)
		}
	}
}

// endsAt returns the ends of base edges at a node.
func (b *builder) endsAt(node uint32) []uint32 {
	last := b.lastEnd[node]
	if last == 0 {
		return nil
	}
	return b.meeting(nil, last-1)
}

// endsOf returns the ends of a way's base edges at a node, if the way ends there.
func (b *builder) endsOf(way int64, node uint32) []uint32 {
	return slices.DeleteFunc(b.endsAt(node), func(end uint32) bool {
		road := b.roadOf.Slice()[b.edges[end>>1].Road]
		nodes := b.data.NodesOf(road)
		return b.roads[road].Way != way || nodes[0] != node && nodes[len(nodes)-1] != node
	})
}

// along returns the arcs over consecutive ways from a node, and the node to which they lead. It returns false if the
// ways do not connect, or if the mode may not travel them.
func (b *builder) along(ways []int64, node uint32, mode region.Modes) (arcs []uint32, end uint32, ok bool) {
	for _, way := range ways {
		road := b.data.FirstOf(way)
		nodes := b.data.NodesOf(road)
		c := b.start(2 * road)
		if nodes[0] != node {
			c = b.start(2*road + 1)
		}
		if nodes[c.at] != node {
			return nil, 0, false
		}
		before := len(arcs)
		for range nodes[1:] {
			if end, ok := b.into[c]; ok && b.leaving(end)&mode != 0 {
				arcs = append(arcs, b.arc(end, mode))
			}
			c.at += c.step
		}
		if len(arcs) == before {
			return nil, 0, false
		}
		node = nodes[c.at]
	}
	return arcs, node, true
}
