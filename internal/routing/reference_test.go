package routing

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/base/heap"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// reference is Dijkstra's algorithm on the road graph itself. It knows no cells.
type reference struct {
	o        *Overlay
	model    *Model
	costs    map[uint32]Cost // to the beginning of each state
	before   map[uint32]uint32
	arcs     map[uint32][2]Cost
	governed map[uint32][2]bool
	edges    map[uint32]roadgraph.Edge
	heap     heap.Heap[Cost, uint32]
	turns    []roadgraph.Turn
	closed   map[uint32]bool
	controls []roadgraph.Control
	shape    []roadgraph.Point
}

func newReference(o *Overlay, m *Model) *reference {
	return &reference{o: o, model: m, arcs: map[uint32][2]Cost{}, governed: map[uint32][2]bool{},
		edges: map[uint32]roadgraph.Edge{}}
}

// arc returns the cost of a state's arc.
func (r *reference) arc(state uint32) Cost {
	arc := r.o.Graph.ArcOf(state)
	edge := arc >> 1
	if r.closed[edge] {
		return noWay
	}
	costs, ok := r.arcs[edge]
	if !ok {
		e := r.o.Graph.Edge(edge)
		r.controls = r.o.Graph.Controls(edge, r.controls[:0])
		r.shape = r.o.Graph.Shape(edge, r.shape[:0])
		costs, r.governed[edge] = r.model.Arcs(r.o.Graph, edge, &e, r.controls, len(r.shape))
		r.arcs[edge], r.edges[edge] = costs, e
	}
	return costs[arc&1]
}

func (r *reference) edge(state uint32) *roadgraph.Edge {
	r.arc(state)
	edge := r.o.Graph.ArcOf(state) >> 1
	e, ok := r.edges[edge]
	if !ok {
		e = r.o.Graph.Edge(edge)
		r.edges[edge] = e
	}
	return &e
}

// left reports whether vehicles drive on the left where an arc ends.
func (r *reference) left(state uint32) bool {
	edge, forward := r.o.Graph.EdgeOf(state)
	first, last := r.o.ends(edge)
	if !forward {
		last = first
	}
	return r.o.leaves.At(int(last)).LeftDriving != 0
}

// turnsOf calls f for each turn of a state and its cost.
func (r *reference) turnsOf(state uint32, f func(to uint32, cost Cost)) {
	r.turns = r.o.Graph.Turns(state, r.turns[:0])
	at := Junction{DeadEnd: true, Left: r.left(state), Largest: r.edge(state).Class,
		Governed: r.governed[r.o.Graph.ArcOf(state)>>1][r.o.Graph.ArcOf(state)&1]}
	for _, t := range r.turns {
		at.DeadEnd = at.DeadEnd && t.Angle == roadgraph.TurningBack
		at.Largest = min(at.Largest, r.edge(t.To).Class)
	}
	for _, t := range slices.Clone(r.turns) {
		f(t.To, r.model.Turn(t, r.edge(state), r.edge(t.To), at))
	}
}

// run searches from origins as far as the network goes, or until all targets are settled.
func (r *reference) run(from []end, targets []end) {
	r.costs, r.before, r.heap = map[uint32]Cost{}, map[uint32]uint32{}, r.heap[:0]
	relax := func(state, before uint32, cost Cost) {
		if old, ok := r.costs[state]; !ok || cost < old {
			r.costs[state], r.before[state] = cost, before
			r.heap.Push(cost, state)
		}
	}
	for _, e := range from {
		r.turnsOf(e.state, func(to uint32, cost Cost) { relax(to, noState, e.cost+cost) })
	}
	waiting := map[uint32]bool{}
	for _, t := range targets {
		waiting[t.state] = true
	}
	for len(r.heap) > 0 && (len(waiting) > 0 || targets == nil) {
		e := r.heap.Pop()
		cost := r.costs[e.Value]
		if e.Key > cost {
			continue
		}
		delete(waiting, e.Value)
		arc := r.arc(e.Value)
		if arc == noWay {
			continue
		}
		r.turnsOf(e.Value, func(to uint32, turn Cost) { relax(to, e.Value, cost+arc+turn) })
	}
}

// between returns the cost of the fastest route between two places.
func (r *reference) between(from, to []end) Cost {
	r.run(from, to)
	best := noWay
	for _, t := range to {
		if cost, ok := r.costs[t.state]; ok {
			best = min(best, cost+t.cost)
		}
		for _, f := range from {
			if r.o.Graph.ArcOf(f.state) == r.o.Graph.ArcOf(t.state) && t.at >= f.at {
				best = min(best, max(f.cost+t.cost, r.arc(f.state))-r.arc(f.state))
			}
		}
	}
	return best
}
