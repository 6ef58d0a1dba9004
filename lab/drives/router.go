package drives

import (
	"container/heap"
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Router finds the fastest routes. It is a plain Dijkstra over the graph's arcs and shares nothing with the searches of
// the matcher: what is measured must not also say what is right. Not for use by several goroutines at once.
type Router struct {
	graph   *roadgraph.Graph
	travel  Travel
	cost    []float64 // seconds from the start to the beginning of each arc; +Inf where it is not known
	parent  []int64   // the arc before; ^arc for the one that the route starts on
	touched []uint32  // the arcs that have a cost
	queue   queue
	turns   []roadgraph.Turn
	wander  float64 // see Recipe
	mood    uint64  // of the driver: what makes each road so much slower
}

// NewRouter returns a router on a road graph for cars.
func NewRouter(g *roadgraph.Graph) *Router {
	r := &Router{graph: g, travel: Driving, cost: make([]float64, g.NumStates()), parent: make([]int64, g.NumStates())}
	for i := range r.cost {
		r.cost[i] = math.Inf(1)
	}
	return r
}

// Spot is a place on an arc.
type Spot struct {
	Arc    uint32
	Offset float64 // metres from the arc's beginning
}

// Route is a way from one spot to another.
type Route struct {
	Arcs     []uint32 // at least one; the first and the last are travelled in part
	From, To float64  // metres: where on the first arc it begins, and where on the last one it ends
}

// Seconds that turns cost: an S-shaped curve of the angle, as OSRM's car profile has it, up to sharpTurn; right back
// costs more.
const (
	sharpTurn = 7.5
	turnBack  = 20.0
	steepness = 13.0
)

// turnSeconds is what a turn costs, by its angle in units of 180/128 degrees. Going on where no other road meets is
// free.
func turnSeconds(angle int8) float64 {
	switch angle {
	case 0:
		return 0
	case roadgraph.TurningBack:
		return turnBack
	}
	share := math.Abs(float64(angle)) / 128
	return sharpTurn / (1 + math.Exp(steepness*(0.5-share)))
}

// seconds is the time along an arc between two distances from its beginning, at the speed of the travel.
func (r *Router) seconds(arc uint32, from, to float64) float64 {
	if r.travel.speed > 0 {
		return (to - from) / r.travel.speed
	}
	a := r.graph.Arc(arc)
	if a.Length == 0 {
		return 0
	}
	return float64(a.Duration) * (to - from) / float64(a.Length)
}

// worth is the factor by which the driver takes a road for slower than it is.
func (r *Router) worth(arc uint32) float64 {
	if r.wander == 0 {
		return 1
	}
	mixed := (uint64(r.graph.ArcOf(arc)>>1) ^ r.mood) * 0x9E3779B97F4A7C15
	mixed = (mixed ^ mixed>>29) * 0xBF58476D1CE4E5B9
	return 1 + r.wander*float64(mixed>>40)/(1<<24)
}

// length of an arc in metres.
func (r *Router) length(arc uint32) float64 { return float64(r.graph.Length(arc)) / 1000 }

// Fastest returns the fastest route from any of some spots to any of others. A route has at least one turn: it does not
// find the way from a spot to another one ahead on the same arc. ok is false where there is no route.
func (r *Router) Fastest(from, to []Spot) (route Route, ok bool) {
	defer r.forget()
	starts := map[uint32]float64{}
	for _, s := range from {
		starts[s.Arc] = s.Offset
		r.turn(s.Arc, r.worth(s.Arc)*r.seconds(s.Arc, s.Offset, r.length(s.Arc)), true)
	}
	// Arcs that are copies, and differ only in what one may do at their end, lead to a spot as well.
	targets := map[uint32]float64{}
	for _, s := range to {
		targets[r.graph.ArcOf(s.Arc)] = s.Offset
	}
	best, last := math.Inf(1), uint32(0)
	for len(r.queue) > 0 && r.queue[0].seconds < best {
		at := heap.Pop(&r.queue).(entry)
		if at.seconds > r.cost[at.arc] {
			continue // it was reached faster since
		}
		length := r.length(at.arc)
		if offset, found := targets[r.graph.ArcOf(at.arc)]; found {
			if seconds := at.seconds + r.worth(at.arc)*r.seconds(at.arc, 0, offset); seconds < best {
				best, last = seconds, at.arc
			}
		}
		r.turn(at.arc, at.seconds+r.worth(at.arc)*r.seconds(at.arc, 0, length), false)
	}
	if math.IsInf(best, 1) {
		return Route{}, false
	}
	route.To = targets[r.graph.ArcOf(last)]
	route.Arcs = r.back(last)
	route.From = starts[route.Arcs[0]]
	return route, true
}

// turn goes on from an arc's end, that is so many seconds from the start. A start has no arc before.
func (r *Router) turn(arc uint32, seconds float64, start bool) {
	r.turns = r.graph.Turns(arc, r.turns[:0])
	turns := r.turns
	for _, t := range turns {
		if t.Angle == roadgraph.TurningBack && len(turns) > 1 {
			continue // no U-turns where the road goes on
		}
		cost := seconds + r.turnCost(t.Angle)
		if cost >= r.cost[t.To] {
			continue
		}
		if math.IsInf(r.cost[t.To], 1) {
			r.touched = append(r.touched, t.To)
		}
		r.cost[t.To], r.parent[t.To] = cost, int64(arc)
		if start { // a route may come back over the arc it started on, and is not to be followed back for ever
			r.parent[t.To] = ^int64(arc)
		}
		heap.Push(&r.queue, entry{cost, t.To})
	}
}

// back is the way from the start to an arc.
func (r *Router) back(arc uint32) []uint32 {
	arcs := []uint32{arc}
	before := r.parent[arc]
	for ; before >= 0; before = r.parent[before] {
		arcs = append(arcs, uint32(before))
	}
	arcs = append(arcs, uint32(^before))
	slices.Reverse(arcs)
	return arcs
}

// forget makes the router ready for the next search.
func (r *Router) forget() {
	for _, arc := range r.touched {
		r.cost[arc] = math.Inf(1)
	}
	r.touched, r.queue = r.touched[:0], r.queue[:0]
}

// after appends a route to another one, on whose last arc it begins, where that one ends. Nothing may have come before.
func (r Route) after(before Route) Route {
	if len(before.Arcs) == 0 {
		return r
	}
	return Route{Arcs: append(before.Arcs[:len(before.Arcs):len(before.Arcs)], r.Arcs[1:]...), From: before.From, To: r.To}
}

// entry is an arc in the queue, and the seconds to its beginning.
type entry struct {
	seconds float64
	arc     uint32
}

// queue is a heap of entries, the least seconds first.
type queue []entry

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].seconds < q[j].seconds }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(entry)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}

// Line is the geometry of a route, and for each of its points the seconds from the route's beginning at the speed of
// the travel, turns not counted.
func (r *Router) Line(route Route) (line orb.LineString, seconds []float64) {
	now := 0.0
	for i, arc := range route.Arcs {
		from, to := 0.0, r.length(arc)
		if i == 0 {
			from = route.From
		}
		if i == len(route.Arcs)-1 {
			to = route.To
		}
		if to < from {
			continue
		}
		for _, offset := range r.offsets(arc, from, to) {
			p, t := r.at(Spot{arc, offset}), now+r.seconds(arc, from, offset)
			if n := len(line); n > 0 && line[n-1] == p {
				seconds[n-1] = t
				continue
			}
			line, seconds = append(line, p), append(seconds, t)
		}
		now += r.seconds(arc, from, to)
	}
	return line, seconds
}

// offsets are the metres from an arc's beginning to the points of its shape between from and to, and those two.
func (r *Router) offsets(arc uint32, from, to float64) []float64 {
	edge, forward := r.graph.EdgeOf(arc)
	shape, length := r.graph.Shape(edge, nil), r.length(arc)
	offsets := []float64{from}
	for i := range shape {
		offset := float64(shape[i].Offset) / 1000
		if !forward {
			offset = length - float64(shape[len(shape)-1-i].Offset)/1000
		}
		if offset > from && offset < to {
			offsets = append(offsets, offset)
		}
	}
	return append(offsets, to)
}

// at is the position of a spot.
func (r *Router) at(s Spot) orb.Point {
	edge, forward := r.graph.EdgeOf(s.Arc)
	if !forward {
		s.Offset = r.length(s.Arc) - s.Offset
	}
	return r.graph.At(edge, s.Offset)
}
