package routing

import (
	"context"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/heap"
	"github.com/mapsedge/caddy-maps/internal/routing/isochrone"
)

// Isochrone implements Router.
func (e *Engine) Isochrone(ctx context.Context, req *IsochroneRequest) (areas []orb.MultiPolygon, err error) {
	err = e.work(ctx, &req.Costs, false, req.Meter, func(_ *network, m *metric, w *worker) error {
		p, ok := w.snap(m, &req.Origin, false)
		if !ok {
			return &SegmentError{0, orMaxRadius(req.Origin.Radius)}
		}
		f := flood{w: w, m: m, req: req, cells: map[uint32]*flooded{}}
		for _, limit := range req.Limits {
			f.limit = max(f.limit, limit)
		}
		areas, err = f.run(&p)
		return err
	})
	return areas, err
}

// flood finds what can be reached from a place, with Dijkstra's algorithm over the arcs of leaf cells.
type flood struct {
	w     *worker
	m     *metric
	req   *IsochroneRequest
	limit float64 // seconds or metres
	cells map[uint32]*flooded
	list  []*flooded
	heap  heap.Heap[Cost, flooding]
}

// flooded is a leaf cell that has been reached. costs are to the beginning of each state; in reverse, from its
// beginning.
type flooded struct {
	*leaf
	costs []Cost
}

// flooding is a state of a leaf cell.
type flooding struct {
	cell *flooded
	i    uint32
}

// of returns a cost in the unit of the limits, or false if it is beyond them. The ends of a route may be on roads with
// destination-only access.
func (f *flood) of(c Cost) (float64, bool) {
	v := f.value(c)
	return v, v <= f.limit && c < 2*enterCost
}

func (f *flood) value(c Cost) float64 {
	if f.req.Metres {
		return float64(c%enterCost) / lengthUnit
	}
	return seconds(c)
}

// walking is the speed beside roads, in metres per second.
const walking = 1.4

// lengthUnit is the number of units of cost in a metre when metres are limited.
const lengthUnit = 10.0

// arc returns the cost of a state's arc.
func (f *flood) arc(c *flooded, i uint32) Cost {
	if f.req.Metres && c.leaf.costs[i] != noWay {
		return c.lengths[i] / 100
	}
	return c.leaf.costs[i]
}

// turn returns the cost of a turn.
func (f *flood) turn(t leafTurn) Cost {
	if f.req.Metres {
		return t.cost - t.cost%enterCost
	}
	return t.cost
}

func (f *flood) cell(number uint32) *flooded {
	c := f.cells[number]
	if c == nil {
		c = &flooded{leaf: f.m.leaf(number, &f.w.search.builder)}
		c.costs = make([]Cost, len(c.states))
		for i := range c.costs {
			c.costs[i] = noWay
		}
		f.cells[number] = c
		f.list = append(f.list, c)
	}
	return c
}

func (f *flood) relax(c *flooded, i uint32, cost Cost) {
	if _, ok := f.of(cost); ok && cost < c.costs[i] {
		c.costs[i] = cost
		f.heap.Push(cost, flooding{c, i})
	}
}

// inside says that both the cell and the direction of the search have a state's end.
func (f *flood) inside() uint8 {
	if f.req.Reverse {
		return tailInside
	}
	return headInside
}

// maxFlooded bounds the memory of an isochrone, to about 200 MB.
const maxFlooded = 2_000_000

func (f *flood) run(p *place) ([]orb.MultiPolygon, error) {
	var pieces []isochrone.Piece
	ends := p.from
	if f.req.Reverse {
		ends = p.to
	}
	for i := range ends {
		c := f.cell(ends[i].leaf)
		at, ok := c.find(ends[i].state)
		if !ok {
			continue
		}
		cost := ends[i].cost
		if f.req.Metres {
			cost = ends[i].length / 100
		}
		if f.req.Reverse {
			f.relax(c, at, cost)
			continue
		}
		pieces = f.emit(pieces, ends[i].state, ends[i].at, ends[i].at+float64(ends[i].length)/1000, 0, f.value(cost))
		for _, t := range c.forward.of(at) {
			f.relax(c, t.to, cost+f.turn(t))
		}
	}
	settled := 0
	for len(f.heap) > 0 {
		e := f.heap.Pop()
		c, i := e.Value.cell, e.Value.i
		cost := c.costs[i]
		if e.Key > cost || f.arc(c, i) == noWay {
			continue
		}
		if err := f.w.search.spend(1); err != nil {
			return nil, err
		}
		if settled++; settled > maxFlooded {
			return nil, ErrWork
		}
		switch {
		case c.ends[i]&f.inside() == 0:
			f.cross(c, i, cost)
		case f.req.Reverse:
			for _, t := range c.backward.of(i) {
				if arc := f.arc(c, t.to); arc != noWay {
					f.relax(c, t.to, cost+arc+f.turn(t))
				}
			}
		default:
			for _, t := range c.forward.of(i) {
				f.relax(c, t.to, cost+f.arc(c, i)+f.turn(t))
			}
		}
	}
	offRoad := 1.0
	if !f.req.Metres {
		offRoad = 1 / walking
	}
	return isochrone.Areas(f.all(pieces), p.point, f.req.Limits, offRoad), nil
}

// cross goes on in the leaf cell in which a state ends, or in reverse begins.
func (f *flood) cross(c *flooded, i uint32, cost Cost) {
	state := c.states[i]
	edge, forward := f.m.Graph.EdgeOf(state)
	first, last := f.m.ends(edge)
	number := last
	if forward == f.req.Reverse {
		number = first
	}
	next := f.cell(number)
	if at, ok := next.find(state); ok {
		f.relax(next, at, cost)
	}
}

// emit adds the pieces of a state's arc: costs grow from begin, cost at its beginning, over its length.
func (f *flood) emit(pieces []isochrone.Piece, state uint32, from, to float64, cost, arc float64) []isochrone.Piece {
	g := f.m.Graph
	edge, forward := g.EdgeOf(state)
	f.w.shape = g.Shape(edge, f.w.shape[:0])
	last := len(f.w.shape) - 1
	length := float64(f.w.shape[last].Offset) / 1000
	at := func(i int) (orb.Point, float64) {
		if forward {
			return f.w.shape[i].Location(), float64(f.w.shape[i].Offset) / 1000
		}
		return f.w.shape[last-i].Location(), length - float64(f.w.shape[last-i].Offset)/1000
	}
	for i := range last {
		a, begin := at(i)
		b, end := at(i + 1)
		if end <= from || begin >= to || end <= begin {
			continue
		}
		cut := func(metres float64) orb.Point {
			share := (metres - begin) / (end - begin)
			return orb.Point{a[0] + share*(b[0]-a[0]), a[1] + share*(b[1]-a[1])}
		}
		lo, hi := max(begin, from), min(end, to)
		p := isochrone.Piece{From: cut(lo), To: cut(hi), FromCost: float32(cost + arc*(lo-from)/(to-from)),
			ToCost: float32(cost + arc*(hi-from)/(to-from))}
		if float64(min(p.FromCost, p.ToCost)) <= f.limit {
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// all returns the pieces of all states that have been reached.
func (f *flood) all(pieces []isochrone.Piece) []isochrone.Piece {
	for _, c := range f.list {
		for i, cost := range c.costs {
			arc := f.arc(c, uint32(i))
			if cost == noWay || arc == noWay || c.ends[i]&f.inside() == 0 {
				continue
			}
			length := float64(c.lengths[i]) / 1000
			begin, _ := f.of(cost)
			along := f.value(arc)
			if f.req.Reverse { // from the beginning, and not farther than to the place itself
				stop := length * min(1, begin/max(along, 0.1))
				pieces = f.emit(pieces, c.states[i], 0, stop, begin, -min(along, begin))
			} else {
				pieces = f.emit(pieces, c.states[i], 0, length, begin, along)
			}
		}
	}
	return pieces
}
