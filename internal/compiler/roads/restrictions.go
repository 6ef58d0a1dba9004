package roads

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
)

// What restrictions cost while they are made.
const (
	// forbidSteps is what it takes to remember that an arc may not follow.
	forbidSteps = 8
	// costState is that of a state of the automaton, in bytes, with the copy of an arc that it becomes.
	costState = 512
)

// maxVia is how many arcs the via ways of a restriction may have. Some have a dozen.
const maxVia = 32

// restrictedRoads is what restrictions need to know of edges: where the ends of edges are listed of the nodes at which
// they act, and which edges the ways have over which they lead.
type restrictedRoads struct {
	nodes map[uint32]uint32 // to the first in builder.ends
	roads map[uint32]bool
	edges map[cursor]uint32 // by where an edge is entered, its end there as edgeEnd.End
}

// findRestricted lists the nodes and roads that restrictions are over.
func (b *builder) findRestricted() {
	r := &restrictedRoads{map[uint32]uint32{}, map[uint32]bool{}, map[cursor]uint32{}}
	for i := range b.restrictions {
		if at := b.restrictions[i].ViaNode; at != extract.NoNode {
			r.nodes[at] = noEnds
		}
		for _, way := range b.restrictions[i].ViaWays {
			if road, ok := b.find(way, allModes); ok && !r.roads[road] {
				r.roads[road] = true
				for _, node := range b.nodesOf(road) {
					r.nodes[node] = noEnds
				}
			}
		}
	}
	b.restricted = r
}

// noEnds stands for a node at which no edge ends.
const noEnds = 1<<32 - 1

// edge notes an edge of a number of nodes that begins at a place.
func (r *restrictedRoads) edge(number uint32, at cursor, nodes int) {
	if r.roads[at.road] {
		r.edges[at] = 2 * number
		r.edges[cursor{at.road, at.at + at.step*int32(nodes-1), -at.step}] = 2*number + 1
	}
}

// meeting notes where the ends of edges at a node are listed.
func (r *restrictedRoads) meeting(node, first uint32) {
	if _, ok := r.nodes[node]; ok {
		r.nodes[node] = first
	}
}

// restrictions turns the restrictions of the extract into forbidden sequences of arcs, and builds the automaton that
// knows them.
//
// An only_ restriction forbids every other way to go on once the way from its first member over all its via members has
// been taken. A restriction whose members do not meet end to end, or that leads where the mode may not go, is left out:
// it cannot be told what was meant.
func (t *turnBuilder) restrictions(firstCopy uint32) (*automaton, error) {
	m := &automaton{roots: map[uint32]int32{}, first: firstCopy}
	for i := range t.network.restrictions {
		r := &t.network.restrictions[i]
		if r.Modes&t.mode == 0 {
			continue
		}
		beginnings, err := t.beginnings(r)
		if err != nil {
			return nil, err
		}
		for _, begin := range beginnings {
			ends := t.at(begin.head)
			err := cmp.Or(t.cost.Work(forbidSteps*int64(len(ends))), t.cost.TakeMemory(costState*int64(len(begin.arcs))))
			if err != nil {
				return nil, err
			}
			var wanted, others []uint32
			for _, end := range ends {
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
	return m, nil
}

// at are the ends of edges at a node that restrictions are over.
func (t *turnBuilder) at(node uint32) []edgeEnd {
	if first, ok := t.restricted.nodes[node]; ok && first != noEnds {
		return t.meeting(first)
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
func (t *turnBuilder) beginnings(r *extract.Restriction) ([]beginning, error) {
	var found []beginning
	if r.ViaNode != extract.NoNode {
		node := r.ViaNode
		for _, arc := range t.entering(r.From, node) {
			found = append(found, beginning{[]uint32{arc}, node})
		}
		return found, t.cost.Work(int64(len(t.at(node))))
	}
	if len(r.ViaWays) == 0 {
		return nil, nil
	}
	first, ok := t.find(r.ViaWays[0], t.mode)
	if !ok {
		return nil, nil
	}
	nodes := t.nodesOf(first)
	for _, start := range slices.Compact([]uint32{nodes[0], nodes[len(nodes)-1]}) {
		via, err := t.along(r.ViaWays, start)
		if err != nil {
			return nil, err
		}
		if via.arcs == nil {
			continue
		}
		for _, arc := range t.entering(r.From, start) {
			found = append(found, beginning{append([]uint32{arc}, via.arcs...), via.head})
		}
	}
	return found, nil
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

// along are the arcs that follow ways, each from one end to the other, beginning at a node; none where they do not
// connect or the mode may not travel them, or where they are more than maxVia.
func (t *turnBuilder) along(ways []int64, node uint32) (b beginning, err error) {
	flags := t.flags.Slice()
	for _, way := range ways {
		road, ok := t.find(way, t.mode)
		if !ok {
			return beginning{}, nil
		}
		nodes := t.nodesOf(road)
		if err := t.cost.Work(4 * int64(len(nodes))); err != nil {
			return beginning{}, err
		}
		c, last := cursor{road, 0, 1}, int32(len(nodes)-1)
		if nodes[0] != node {
			c, last = cursor{road, last, -1}, 0
		}
		if nodes[c.at] != node {
			return beginning{}, nil
		}
		for c.at != last {
			end, known := t.restricted.edges[c]
			if !known {
				return beginning{}, nil
			}
			arc, open := t.leaving(end, t.mode)
			if !open || len(b.arcs) == maxVia {
				return beginning{}, nil
			}
			b.arcs = append(b.arcs, arc)
			for c.at += c.step; c.at != last && flags[nodes[c.at]].junction()&t.mode == 0; {
				c.at += c.step
			}
		}
		node = nodes[last]
	}
	b.head = node
	return b, nil
}
