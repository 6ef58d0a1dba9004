package routing

import (
	"context"
	"slices"

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

// flood finds what can be reached from a place. It visits leaf cells in the order in which they are reached, and goes
// through a cell without an order. A cell is visited again when a faster way into it is found. That takes a third of
// the time of Dijkstra's algorithm over arcs, and finds the same.
type flood struct {
	w      *worker
	m      *metric
	req    *IsochroneRequest
	limit  float64 // seconds or metres
	cells  map[uint32]*flooded
	list   []*flooded
	states int
	heap   heap.Heap[Cost, *flooded]
}

// flooded is a leaf cell that has been reached. costs are to the beginning of each state; in reverse, from its
// beginning.
type flooded struct {
	*leaf
	costs []Cost
	// queue has the states whose cost has fallen since they were visited, and waiting says which ones. The cell is in the
	// heap with the cost first if it is not being visited.
	queue   []uint32
	waiting []bool
	first   Cost
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
		c.costs, c.waiting, c.first = make([]Cost, len(c.states)), make([]bool, len(c.states)), noWay
		for i := range c.costs {
			c.costs[i] = noWay
		}
		f.cells[number] = c
		f.list = append(f.list, c)
		f.states += len(c.states)
	}
	return c
}

func (f *flood) relax(c *flooded, i uint32, cost Cost) {
	if cost >= c.costs[i] {
		return
	}
	if _, ok := f.of(cost); !ok {
		return
	}
	c.costs[i] = cost
	if !c.waiting[i] {
		c.waiting[i], c.queue = true, append(c.queue, i)
	}
	if cost < c.first {
		c.first = cost
		f.heap.Push(cost, c)
	}
}

// inside says that both the cell and the direction of the search have a state's end.
func (f *flood) inside() uint8 {
	if f.req.Reverse {
		return tailInside
	}
	return headInside
}

// maxFlooded bounds the states of an isochrone, whose memory is about 200 MB.
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
	for len(f.heap) > 0 {
		if e := f.heap.Pop(); e.Key == e.Value.first {
			if err := f.visit(e.Value); err != nil {
				return nil, err
			}
		}
	}
	offRoad := 1.0
	if !f.req.Metres {
		offRoad = 1 / walking
	}
	return isochrone.Areas(f.all(pieces), p.point, f.req.Limits, offRoad), nil
}

// visit goes on from all states of a cell that wait for it.
func (f *flood) visit(c *flooded) error {
	c.first = 0 // what is reached meanwhile joins the queue
	inside := f.inside()
	for at := 0; at < len(c.queue); at++ {
		i := c.queue[at]
		c.waiting[i] = false
		cost, arc := c.costs[i], f.arc(c, i)
		switch {
		case arc == noWay:
		case c.ends[i]&inside == 0:
			f.cross(c, i, cost)
		case f.req.Reverse:
			for _, t := range c.backward.of(i) {
				if arc := f.arc(c, t.to); arc != noWay {
					f.relax(c, t.to, cost+arc+f.turn(t))
				}
			}
		default:
			for _, t := range c.forward.of(i) {
				f.relax(c, t.to, cost+arc+f.turn(t))
			}
		}
	}
	err := f.w.search.spend(int64(len(c.queue)))
	if f.states > maxFlooded {
		err = ErrWork
	}
	c.queue, c.first = c.queue[:0], noWay
	return err
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
	a, begin := at(0)
	for i := range last {
		b, end := at(i + 1)
		if end-begin < fine && i+1 < last {
			continue
		}
		if lo, hi := max(begin, from), min(end, to); lo < hi {
			cut := func(metres float64) orb.Point {
				share := (metres - begin) / (end - begin)
				return orb.Point{a[0] + share*(b[0]-a[0]), a[1] + share*(b[1]-a[1])}
			}
			p := isochrone.Piece{From: cut(lo), To: cut(hi), FromCost: float32(cost + arc*(lo-from)/(to-from)),
				ToCost: float32(cost + arc*(hi-from)/(to-from))}
			if float64(min(p.FromCost, p.ToCost)) <= f.limit {
				pieces = append(pieces, p)
			}
		}
		a, begin = b, end
	}
	return pieces
}

// fine is the length in metres of the shortest pieces: bends within it do not matter for areas.
const fine = 20.0

// all returns the pieces of all states that have been reached.
func (f *flood) all(pieces []isochrone.Piece) []isochrone.Piece {
	pieces = slices.Grow(pieces, f.states+f.states/2) // what most areas need
	for _, c := range f.list {
		for i, cost := range c.costs {
			arc := f.arc(c, uint32(i))
			if cost == noWay || arc == noWay || c.ends[i]&f.inside() == 0 || f.other(c, i, cost, arc) {
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

// other reports whether all of a state's arc is reached at least as fast in the other direction.
func (f *flood) other(c *flooded, i int, cost, arc Cost) bool {
	state := c.states[i]
	k := i + 1
	if state&1 == 1 {
		k = i - 1
	}
	if int(state) >= 2*f.m.Graph.NumBaseEdges() || k < 0 || k == len(c.states) || c.states[k] != state^1 ||
		c.costs[k] == noWay || f.arc(c, uint32(k)) == noWay {
		return false
	}
	if !f.req.Reverse {
		arc = f.arc(c, uint32(k))
	}
	return arc > 0 && f.value(c.costs[k])+f.value(arc) <= f.value(cost)
}
