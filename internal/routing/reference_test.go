package routing

import (
	"github.com/mapsedge/caddy-maps/internal/base/heap"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// reference is Dijkstra's algorithm on the road graph itself. It knows no cells.
type reference struct {
	o        *Overlay
	model    *Model
	costs    []Cost           // to the beginning of each state
	turnsAt  [][]referredTurn // of each state, when it has been reached
	arcs     map[uint32][2]Cost
	governed map[uint32][2]bool
	edges    map[uint32]roadgraph.Edge
	heap     heap.Heap[Cost, uint32]
	turns    []roadgraph.Turn
	closed   map[uint32]bool
	metres   bool // costs are decimetres, not tenths of a second
	controls []roadgraph.Control
	shape    []roadgraph.Point
}

type referredTurn struct {
	to   uint32
	cost Cost
}

func newReference(o *Overlay, m *Model) *reference {
	n := o.Graph.NumStates()
	return &reference{o: o, model: m, costs: make([]Cost, n), turnsAt: make([][]referredTurn, n), arcs: map[uint32][2]Cost{}, governed: map[uint32][2]bool{},
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
		for i := range costs {
			if r.metres && costs[i] != noWay {
				costs[i] = e.Length / 100
			}
		}
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

// turnsOf returns the turns of a state and their costs.
func (r *reference) turnsOf(state uint32) []referredTurn {
	if known := r.turnsAt[state]; known != nil {
		return known
	}
	r.turns = r.o.Graph.Turns(state, r.turns[:0])
	at := Junction{DeadEnd: true, Left: r.left(state), Largest: r.edge(state).Class,
		Governed: r.governed[r.o.Graph.ArcOf(state)>>1][r.o.Graph.ArcOf(state)&1]}
	for _, t := range r.turns {
		at.DeadEnd = at.DeadEnd && t.Angle == roadgraph.TurningBack
		at.Largest = min(at.Largest, r.edge(t.To).Class)
	}
	all := make([]referredTurn, len(r.turns))
	for i, t := range r.turns {
		all[i] = referredTurn{t.To, r.model.Turn(t, r.edge(state), r.edge(t.To), at)}
		if r.metres {
			all[i].cost -= all[i].cost % enterCost
		}
	}
	r.turnsAt[state] = all
	return all
}

// run searches from origins as far as the network goes.
func (r *reference) run(from []end) {
	for i := range r.costs {
		r.costs[i] = noWay
	}
	relax := func(state uint32, cost Cost) {
		if cost < r.costs[state] {
			r.costs[state] = cost
			r.heap.Push(cost, state)
		}
	}
	for _, e := range from {
		for _, t := range r.turnsOf(e.state) {
			relax(t.to, e.cost+t.cost)
		}
	}
	for len(r.heap) > 0 {
		e := r.heap.Pop()
		cost, arc := r.costs[e.Value], r.arc(e.Value)
		if e.Key > cost || arc == noWay {
			continue
		}
		for _, t := range r.turnsOf(e.Value) {
			relax(t.to, cost+arc+t.cost)
		}
	}
}

// to returns the cost of the fastest route from the origins, from which run has searched, to a place.
func (r *reference) to(from, to []end) Cost {
	best := noWay
	for _, t := range to {
		if cost := r.costs[t.state]; cost != noWay {
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
