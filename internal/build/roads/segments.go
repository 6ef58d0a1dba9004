package roads

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// builder compiles the network of one mode from the ways of an extract.
type builder struct {
	data  *extract.Data
	mode  mapdata.Modes
	curve curve

	edges    []edge
	incident [][2]int32 // for each node, the range of its edges in ends
	ends     []int32
	junction []bool
	segments []segment
}

// edge is a piece of a road between two of its nodes.
type edge struct {
	from, to int32 // nodes
	road     int32
	used     bool // by a segment
}

// segment is a chain of edges between two junctions.
type segment struct {
	nodes       []int32
	first, last int32 // roads of its first and last edge
	changes     []change
	properties  properties
}

// change is where a segment goes on on another road.
type change struct {
	node int32 // in segment.nodes
	road int32
}

// properties are what all edges of a segment have in common.
type properties struct {
	name, ref                   string
	class                       mapdata.RoadClass
	flags                       roadgraph.Flags
	layer                       int8
	speedForward, speedBackward uint8
}

func newBuilder(d *extract.Data, mode mapdata.Modes) *builder {
	b := &builder{data: d, mode: mode, curve: newCurve(d.Bounds)}
	for i := range d.Roads {
		r := &d.Roads[i]
		if (r.Forward|r.Backward)&mode == 0 {
			continue
		}
		for k := 1; k < len(r.Nodes); k++ {
			if r.Nodes[k-1] != r.Nodes[k] {
				b.edges = append(b.edges, edge{from: r.Nodes[k-1], to: r.Nodes[k], road: int32(i)})
			}
		}
	}
	counts := make([]int32, len(d.Nodes)+1)
	for i := range b.edges {
		counts[b.edges[i].from]++
		counts[b.edges[i].to]++
	}
	b.incident = make([][2]int32, len(d.Nodes))
	var at int32
	for n := range d.Nodes {
		b.incident[n] = [2]int32{at, at}
		at += counts[n]
	}
	b.ends = make([]int32, at)
	for i := range b.edges {
		for _, n := range [2]int32{b.edges[i].from, b.edges[i].to} {
			b.ends[b.incident[n][1]] = int32(i)
			b.incident[n][1]++
		}
	}
	return b
}

// at returns the edges at a node.
func (b *builder) at(node int32) []int32 { return b.ends[b.incident[node][0]:b.incident[node][1]] }

// markJunctions finds the nodes at which segments end: where not exactly two edges meet, where the mode cannot pass,
// where the two edges differ in anything that a segment has one value of, and where a turn restriction acts.
func (b *builder) markJunctions() {
	b.junction = make([]bool, len(b.data.Nodes))
	for n := range b.junction {
		edges := b.at(int32(n))
		b.junction[n] = len(edges) > 0 && (len(edges) != 2 || b.data.Nodes[n].Barrier&b.mode != 0 ||
			edges[0] == edges[1] || !b.continues(edges[0], edges[1], int32(n)))
	}
	for i := range b.data.Restrictions {
		r := &b.data.Restrictions[i]
		if r.Modes&b.mode == 0 {
			continue
		}
		if r.ViaNode >= 0 {
			b.junction[r.ViaNode] = len(b.at(r.ViaNode)) > 0
			continue
		}
		for _, way := range r.ViaWays {
			if road := b.road(way); road != nil {
				for _, end := range [2]int32{road.Nodes[0], road.Nodes[len(road.Nodes)-1]} {
					b.junction[end] = len(b.at(end)) > 0
				}
			}
		}
	}
}

// road finds a way among the roads that the mode may travel.
func (b *builder) road(way int64) *extract.Road {
	i, ok := slices.BinarySearchFunc(b.data.Roads, way, func(r extract.Road, way int64) int { return cmp.Compare(r.Way, way) })
	if !ok || (b.data.Roads[i].Forward|b.data.Roads[i].Backward)&b.mode == 0 {
		return nil
	}
	return &b.data.Roads[i]
}

// continues reports whether a segment may go on over a node from edge e to edge f.
func (b *builder) continues(e, f, node int32) bool {
	if b.edges[e].road == b.edges[f].road {
		return (b.edges[e].to == node) == (b.edges[f].from == node) // one road laid twice over the same node may turn back there
	}
	return b.properties(e, b.edges[e].to == node) == b.properties(f, b.edges[f].from == node)
}

// properties of an edge, travelled along its road or against it.
func (b *builder) properties(e int32, along bool) properties {
	r := &b.data.Roads[b.edges[e].road]
	p := properties{name: r.Name, ref: r.Ref, class: r.Class, layer: r.Layer, speedForward: r.SpeedForward, speedBackward: r.SpeedBackward}
	switch b.mode {
	case mapdata.Bicycle:
		p.speedForward, p.speedBackward = r.BicycleSpeed, r.BicycleSpeed
	case mapdata.Foot:
		p.speedForward, p.speedBackward = r.FootSpeed, r.FootSpeed
	}
	forward, backward := r.Forward&b.mode != 0, r.Backward&b.mode != 0
	destinationForward, destinationBackward := r.DestinationForward&b.mode != 0, r.DestinationBackward&b.mode != 0
	if !along {
		p.speedForward, p.speedBackward = p.speedBackward, p.speedForward
		forward, backward = backward, forward
		destinationForward, destinationBackward = destinationBackward, destinationForward
	}
	for _, f := range []struct {
		set  bool
		flag roadgraph.Flags
	}{
		{forward, roadgraph.Forward}, {backward, roadgraph.Backward}, {r.Roundabout, roadgraph.Roundabout}, {r.Link, roadgraph.Link}, {r.Tunnel, roadgraph.Tunnel},
		{r.Bridge, roadgraph.Bridge}, {r.Toll, roadgraph.Toll}, {r.Ferry, roadgraph.Ferry},
		{destinationForward, roadgraph.DestinationForward}, {destinationBackward, roadgraph.DestinationBackward},
	} {
		if f.set {
			p.flags |= f.flag
		}
	}
	return p
}

// traceSegments joins edges into segments.
func (b *builder) traceSegments() {
	for n := range b.junction {
		if b.junction[n] {
			for _, e := range b.at(int32(n)) {
				if !b.edges[e].used {
					b.trace(int32(n), e)
				}
			}
		}
	}
	for e := range b.edges { // what is left are rings without a junction
		if !b.edges[e].used {
			b.junction[b.edges[e].from] = true
			b.trace(b.edges[e].from, int32(e))
		}
	}
}

// trace follows edges from a junction to the next.
func (b *builder) trace(node, e int32) {
	along := b.edges[e].from == node
	s := segment{nodes: []int32{node}, first: b.edges[e].road, last: b.edges[e].road,
		properties: b.properties(e, true)}
	for {
		ed := &b.edges[e]
		ed.used = true
		if ed.road != s.last {
			s.changes = append(s.changes, change{int32(len(s.nodes) - 1), ed.road})
			s.last = ed.road
		}
		next := ed.to
		if next == node {
			next = ed.from
		}
		s.nodes = append(s.nodes, next)
		if len(s.nodes) == roadgraph.MaxShape {
			b.junction[next] = true
		}
		if b.junction[next] {
			break
		}
		pair := b.at(next)
		node = next
		if pair[0] == e {
			e = pair[1]
		} else {
			e = pair[0]
		}
	}
	if !along { // a segment's direction is that of the way it was first met on
		s.reverse()
	}
	b.segments = append(b.segments, s)
}

// reverse turns a segment round.
func (s *segment) reverse() {
	slices.Reverse(s.nodes)
	edges := int32(len(s.nodes) - 1)
	before := s.first
	for i := range s.changes {
		c := &s.changes[i]
		before, c.road, c.node = c.road, before, edges-c.node
	}
	slices.Reverse(s.changes)
	s.first, s.last = s.last, s.first
}

// sortSegments orders the segments along the curve by where they begin.
func (b *builder) sortSegments() {
	type place struct {
		at    uint64
		index int32
	}
	places := make([]place, len(b.segments))
	for i := range b.segments {
		n := &b.data.Nodes[b.segments[i].nodes[0]]
		places[i] = place{b.curve.at(float64(n.Lat), float64(n.Lon)), int32(i)}
	}
	slices.SortFunc(places, func(p, q place) int {
		return cmp.Or(cmp.Compare(p.at, q.at), cmp.Compare(p.index, q.index))
	})
	sorted := make([]segment, len(places))
	for i, p := range places {
		sorted[i] = b.segments[p.index]
	}
	b.segments = sorted
}
