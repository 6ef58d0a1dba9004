package network

import (
	"cmp"
	"slices"
)

const (
	// maxVia is how many arcs the via ways of a restriction may have. Some have a dozen.
	maxVia = 32
	// maxArms is how many ends of edges may be where a restriction acts: each becomes a forbidden turn of an only_
	// restriction. OpenStreetMap has no more than a dozen at a node.
	maxArms = 256
)

// restricted is what restrictions need to know of edges: where the ends of edges are listed of the nodes at which they
// act, and which edges the ways have over which they lead.
type restricted struct {
	nodes []nodeEnds // by node
	roads bits       // those that restrictions lead over
	edges []viaEdge  // of these, by where they are entered
}

// nodeEnds is where the ends of edges at a node begin in builder.ends, and 1; 0 where no edge ends.
type nodeEnds struct{ node, first uint32 }

// viaEdge is an end of an edge, as edgeEnd.End, by the place where the edge is entered there.
type viaEdge struct {
	at  cursor
	end uint32
}

func (e viaEdge) compare(at cursor) int {
	return cmp.Or(cmp.Compare(e.at.road, at.road), cmp.Compare(e.at.at, at.at), cmp.Compare(e.at.step, at.step))
}

// findRestricted lists the nodes and roads that restrictions are over.
func (b *builder) findRestricted() {
	r := &restricted{roads: newBits(len(b.roads))}
	for i := range b.data.Restrictions {
		if at := b.data.Restrictions[i].ViaNode; at != NoNode {
			r.nodes = append(r.nodes, nodeEnds{node: at})
		}
		for _, way := range b.data.Restrictions[i].ViaWays {
			if road, ok := b.find(way, allModes); ok && !r.roads.has(road) {
				r.roads.add(road)
				for _, node := range b.data.NodesOf(road) {
					r.nodes = append(r.nodes, nodeEnds{node: node})
				}
			}
		}
	}
	slices.SortFunc(r.nodes, func(a, b nodeEnds) int { return cmp.Compare(a.node, b.node) })
	r.nodes = slices.Compact(r.nodes)
	for _, n := range r.nodes {
		b.flags.Slice()[n.node] |= turnsBit
	}
	b.restricted = r
}

// find returns the place of a node in the list.
func (r *restricted) find(node uint32) (i int, ok bool) {
	return slices.BinarySearchFunc(r.nodes, node, func(n nodeEnds, node uint32) int { return cmp.Compare(n.node, node) })
}

// endOf is the end of an edge that is entered at a place of a road that restrictions lead over.
func (r *restricted) endOf(at cursor) (end uint32, ok bool) {
	i, ok := slices.BinarySearchFunc(r.edges, at, viaEdge.compare)
	if !ok {
		return 0, false
	}
	return r.edges[i].end, true
}

// restrictions turns the restrictions of the extract into forbidden sequences of arcs, and builds the automaton that
// knows them.
//
// An only_ restriction forbids every other way to go on once the way from its first member over all its via members has
// been taken. A restriction that leads where the mode may not go is left out.
func (t *turnBuilder) restrictions(firstCopy uint32) *automaton {
	m := &automaton{roots: map[uint32]int32{}, first: firstCopy}
	for i := range t.data.Restrictions {
		r := &t.data.Restrictions[i]
		if r.Modes&t.mode == 0 {
			continue
		}
		for _, begin := range t.beginnings(r) {
			var wanted, others []uint32
			for _, end := range t.at(begin.head) {
				to, open := t.leaving(end.End, t.mode)
				switch road := t.roadOf.Slice()[t.edges.Slice()[end.End>>1].Road]; {
				case !open:
				case t.roads[road].Way == r.To && t.endsAt(road, begin.head):
					wanted = append(wanted, to)
				case to != begin.arcs[len(begin.arcs)-1]^1:
					others = append(others, to)
				}
			}
			switch {
			case !r.Only:
				m.forbid(begin.arcs, wanted)
			case len(wanted) > 0:
				m.forbid(begin.arcs, others)
			}
		}
	}
	m.link()
	return m
}

// at are the ends of edges at a node that restrictions are over; none where they are more than maxArms.
func (t *turnBuilder) at(node uint32) []edgeEnd {
	i, ok := t.restricted.find(node)
	if !ok || t.restricted.nodes[i].first == 0 {
		return nil
	}
	if ends := t.meeting(t.restricted.nodes[i].first - 1); len(ends) <= maxArms {
		return ends
	}
	return nil
}

// beginning is a sequence of arcs on which a restriction is about to act, and the node to which it leads.
type beginning struct {
	arcs []uint32
	head uint32
}

// beginnings are an arc of its from member that ends at the via node, or one that is followed by the via ways from
// end to end.
func (t *turnBuilder) beginnings(r *Restriction) (found []beginning) {
	if r.ViaNode != NoNode {
		for _, arc := range t.entering(r.From, r.ViaNode) {
			found = append(found, beginning{[]uint32{arc}, r.ViaNode})
		}
		return found
	}
	if len(r.ViaWays) == 0 {
		return nil
	}
	first, ok := t.find(r.ViaWays[0], t.mode)
	if !ok {
		return nil
	}
	nodes := t.data.NodesOf(first)
	for _, start := range slices.Compact([]uint32{nodes[0], nodes[len(nodes)-1]}) {
		via, ok := t.along(r.ViaWays, start)
		if !ok {
			continue
		}
		for _, arc := range t.entering(r.From, start) {
			found = append(found, beginning{append([]uint32{arc}, via.arcs...), via.head})
		}
	}
	return found
}

// entering are the open arcs that reach a node on a way that ends there.
func (t *turnBuilder) entering(way int64, node uint32) (found []uint32) {
	for _, end := range t.at(node) {
		road := t.roadOf.Slice()[t.edges.Slice()[end.End>>1].Road]
		if arc, open := t.arriving(end.End, t.mode); open && t.roads[road].Way == way && t.endsAt(road, node) {
			found = append(found, arc)
		}
	}
	return found
}

// along are the arcs that follow ways, each from one end to the other, beginning at a node; false where they do not
// connect or the mode may not travel them, or where they are more than maxVia.
func (t *turnBuilder) along(ways []int64, node uint32) (b beginning, ok bool) {
	flags := t.flags.Slice()
	for _, way := range ways {
		road, ok := t.find(way, t.mode)
		if !ok {
			return b, false
		}
		nodes := t.data.NodesOf(road)
		c, last := cursor{road, 0, 1}, int32(len(nodes)-1)
		if nodes[0] != node {
			c, last = cursor{road, last, -1}, 0
		}
		if nodes[c.at] != node {
			return b, false
		}
		for c.at != last {
			end, known := t.restricted.endOf(c)
			if !known {
				return b, false
			}
			arc, open := t.leaving(end, t.mode)
			if !open || len(b.arcs) == maxVia {
				return b, false
			}
			b.arcs = append(b.arcs, arc)
			for c.at += c.step; c.at != last && flags[nodes[c.at]].junction()&t.mode == 0; {
				c.at += c.step
			}
		}
		node = nodes[last]
	}
	b.head = node
	return b, true
}
