package routing

import "slices"

// path is a route as states.
type path struct {
	states []uint32
	// costs is the cost to the beginning of each state; 0 for the first one, on which the route begins.
	costs []Cost
	total Cost
	// origin and target are the ends, on the first state and the last one.
	origin, target end
}

func (p *path) add(state uint32, cost Cost) {
	p.states, p.costs = append(p.states, state), append(p.costs, cost)
}

// unpack returns the states of a route that run has found. The path replaces p.
func (s *Search) unpack(f found, p *path) {
	p.states, p.costs, p.total = p.states[:0], p.costs[:0], f.cost
	if f.arc == noState {
		p.origin, p.target = s.origin.ends[f.origin], s.target.ends[f.target]
		p.add(p.origin.state, 0)
		if !f.direct {
			s.unpackOrigin(p, f.origin, p.target.state)
		}
		return
	}
	arcs := s.hops[0][:0]
	for arc := f.arc; arc != noState; arc = s.origin.labels.at(arc).before {
		arcs = append(arcs, arc)
	}
	slices.Reverse(arcs)
	half := len(arcs)
	for arc := s.target.labels.at(f.arc).before; arc != noState; arc = s.target.labels.at(arc).before {
		arcs = append(arcs, arc)
	}
	s.hops[0] = arcs

	first := s.m.boundary.At(int(arcs[0]))
	cost := s.origin.labels.at(arcs[0]).cost
	i := s.endOf(&s.origin, first.From, first.State, cost)
	p.origin = s.origin.ends[i]
	p.add(p.origin.state, 0)
	s.unpackOrigin(p, i, first.State)
	for k := 1; k < len(arcs); k++ {
		if k < half {
			cost = s.origin.labels.at(arcs[k-1]).cost
		} else {
			cost = f.cost - s.target.labels.at(arcs[k-1]).cost
		}
		leaf := s.m.boundary.At(int(arcs[k-1])).To
		level := s.passed(leaf, &s.origin, &s.target)
		s.unpackCell(p, level, s.m.cellOf(level, leaf), arcs[k-1], arcs[k], cost)
	}

	last := s.m.boundary.At(int(arcs[len(arcs)-1]))
	cost = s.target.labels.at(arcs[len(arcs)-1]).cost
	i = s.endOf(&s.target, last.To, last.State, cost)
	p.target = s.target.ends[i]
	c, l := s.target.leaves[i], &s.target.local[i]
	if at, ok := c.find(last.State); ok {
		for at = l.before[at]; at != noState; at = l.before[at] {
			p.add(c.states[at], f.cost-l.costs[at])
		}
	}
}

// endOf returns the end of a half from which a border arc of a leaf cell has its cost.
func (s *Search) endOf(h *half, leaf, state uint32, cost Cost) int {
	for i := range h.ends {
		if at, ok := h.leaves[i].find(state); ok && h.local[i].costs[at] == cost &&
			(h.ends[i].leaf == leaf || h.ends[i].state == state) {
			return i
		}
	}
	return 0
}

// unpackOrigin adds the states from an origin, without its own, to a state of its leaf cell.
func (s *Search) unpackOrigin(p *path, origin int, to uint32) {
	c, l := s.origin.leaves[origin], &s.origin.local[origin]
	from := len(p.states)
	for at, ok := c.find(to); ok && at != noState; at = l.before[at] {
		p.add(c.states[at], l.costs[at])
	}
	slices.Reverse(p.states[from:])
	slices.Reverse(p.costs[from:])
}

// unpackCell adds the states from an entry of a cell, without the entry's own, to an exit. cost is that of the entry.
func (s *Search) unpackCell(p *path, level, cell int, entry, exit uint32, cost Cost) {
	if level > 0 {
		in := &s.inners[level]
		in.run(s.m.Overlay, s.m.matrices, level, cell, entry, exit)
		hops := s.hops[level][:0]
		for arc := exit; arc != noState; arc = in.labels.at(arc).before {
			hops = append(hops, arc)
		}
		s.hops[level] = hops
		for i := len(hops) - 1; i > 0; i-- {
			below := s.m.cellOf(level-1, s.m.boundary.At(int(hops[i])).To)
			s.unpackCell(p, level-1, below, hops[i], hops[i-1], cost+in.labels.at(hops[i]).cost)
		}
		return
	}
	c := s.m.leaf(uint32(cell), &s.builder)
	b := s.m.borderOf(cell)
	t := c.treeFrom(indexOf(b.entries, entry), &s.local)
	from := len(p.states)
	start := c.entries[indexOf(b.entries, entry)]
	for at := c.exits[indexOf(b.exits, exit)]; at != start && at != noState; at = t.before[at] {
		p.add(c.states[at], cost+t.costs[at])
	}
	slices.Reverse(p.states[from:])
	slices.Reverse(p.costs[from:])
}
