package routing

import (
	"context"
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/routing/guidance"
)

// Route implements Router.
func (e *Engine) Route(ctx context.Context, req *Request) (result *Result, err error) {
	err = e.work(ctx, &req.Costs, false, req.Meter, func(_ *network, m *metric, w *worker) error {
		result, err = w.route(m, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// route finds the routes of a request. Where waypoints are on isolated roads, it tries these first: they may all be on
// the same island.
func (w *worker) route(m *metric, req *Request) (*Result, error) {
	places, isolated, err := w.places(m, req.Waypoints, true)
	if err != nil {
		return nil, err
	}
	result, err := w.through(m, req, places)
	if err == ErrNoRoute && isolated {
		if places, _, err = w.places(m, req.Waypoints, false); err != nil {
			return nil, ErrNoRoute
		}
		result, err = w.through(m, req, places)
	}
	return result, err
}

// places finds the roads of waypoints, and reports whether some are isolated. Only all may be.
func (w *worker) places(m *metric, waypoints []Waypoint, isolated bool) (places []place, some bool, err error) {
	places = make([]place, len(waypoints))
	all := true
	for i := range waypoints {
		p, ok := w.snap(m, &waypoints[i], isolated)
		if !ok {
			return nil, false, &SegmentError{i, orMaxRadius(waypoints[i].Radius)}
		}
		places[i] = p
		some = some || p.isolated
		all = all && p.isolated
	}
	if isolated && some && !all {
		for i := range places {
			if places[i].isolated {
				if p, ok := w.snap(m, &waypoints[i], false); ok {
					places[i] = p
				}
			}
		}
		some = false
	}
	return places, some, nil
}

func orMaxRadius(radius float64) float64 {
	if radius > 0 {
		return min(radius, MaxRadius)
	}
	return MaxRadius
}

// through finds the fastest route through places.
func (w *worker) through(m *metric, req *Request, places []place) (*Result, error) {
	legs, err := w.choose(req, places)
	if err != nil {
		return nil, err
	}
	result := &Result{Waypoints: make([]Snapped, len(places))}
	for i := range places {
		result.Waypoints[i] = places[i].snapped(m.Graph)
	}
	route := Route{Legs: make([]Leg, 0, len(legs))}
	for i := range legs {
		f, err := w.search.run(legs[i].from, legs[i].to)
		if err != nil {
			return nil, err
		}
		if f.cost == noWay {
			return nil, ErrNoRoute
		}
		w.search.unpack(f, &w.path)
		w.addLeg(m, req, &route, places[i].point, places[i+1].point)
	}
	result.Routes = []Route{route}
	if req.Alternatives > 0 && len(legs) == 1 {
		result.Routes, err = w.addAlternatives(m, req, result.Routes, places)
	}
	return result, err
}

// leg is the ends of a leg of a route.
type leg struct{ from, to []end }

// choose chooses the direction in which each waypoint in between is passed, so that the route is fastest and turns back
// there only if there is no other way.
func (w *worker) choose(req *Request, places []place) ([]leg, error) {
	legs := make([]leg, len(places)-1)
	for i := range legs {
		legs[i] = leg{places[i].from, places[i+1].to}
	}
	if req.UTurns || len(legs) == 1 {
		return legs, nil
	}
	// arrival is how the fastest route arrives at a waypoint on one of its ends.
	type arrival struct {
		cost Cost
		from int // the end of the waypoint before
	}
	arrivals := make([][]arrival, len(places))
	for i := range legs {
		w.from = append(w.from[:0], legs[i].from...)
		if i > 0 {
			for k := range w.from {
				w.from[k].cost = saturated(w.from[k].cost, w.departure(places[i].to, w.from[k].state, func(to int) Cost {
					return arrivals[i][to].cost
				}))
			}
		}
		reached := false
		for _, to := range places[i+1].to {
			f, err := w.search.run(w.usable(), []end{to})
			if err != nil {
				return nil, err
			}
			a := arrival{cost: f.cost}
			if f.cost != noWay {
				w.search.unpack(f, &w.path)
				a.from = slices.IndexFunc(legs[i].from, func(e end) bool { return e.state == w.path.origin.state })
				reached = true
			}
			arrivals[i+1] = append(arrivals[i+1], a)
		}
		if !reached {
			return nil, ErrNoRoute
		}
	}
	to := 0
	for i := len(legs) - 1; i >= 0; i-- {
		if i == len(legs)-1 {
			for k, a := range arrivals[i+1] {
				if a.cost < arrivals[i+1][to].cost {
					to = k
				}
			}
		}
		from := legs[i].from[arrivals[i+1][to].from]
		legs[i] = leg{[]end{from}, []end{places[i+1].to[to]}}
		if i > 0 {
			best := noWay
			for k, t := range places[i].to {
				if c := saturated(arrivals[i][k].cost, turnCost(t.state, from.state)); c < best {
					best, to = c, k
				}
			}
		}
	}
	return legs, nil
}

// usable returns the ends of w.from from which a route may begin.
func (w *worker) usable() []end {
	w.from = slices.DeleteFunc(w.from, func(e end) bool { return e.cost == noWay })
	return w.from
}

// departure returns the least cost with which a route can leave a waypoint on a state.
func (w *worker) departure(to []end, state uint32, cost func(to int) Cost) Cost {
	best := noWay
	for k := range to {
		best = min(best, saturated(cost(k), turnCost(to[k].state, state)))
	}
	return best
}

// turnCost is the cost of leaving a waypoint on another arc than that of the arrival.
func turnCost(arrival, departure uint32) Cost {
	if arrival == departure {
		return 0
	}
	return enterCost
}

// saturated adds costs. noWay stays noWay.
func saturated(a, b Cost) Cost {
	if a > noWay-1-b || b == noWay {
		return noWay
	}
	return a + b
}

// addLeg adds the path of a leg to a route.
func (w *worker) addLeg(m *metric, req *Request, route *Route, from, to orb.Point) {
	g, p := m.Graph, &w.path
	if len(route.Line) == 0 {
		route.Line = append(route.Line, from)
	}
	l := Leg{First: len(route.Line) - 1, Duration: seconds(p.total)}
	w.first, w.seconds = w.first[:0], w.seconds[:0]
	for i, state := range p.states {
		w.first = append(w.first, len(route.Line)-1)
		end := p.total
		if i+1 < len(p.costs) {
			end = p.costs[i+1]
		}
		w.seconds = append(w.seconds, seconds(end-p.costs[i]))
		edge, forward := g.EdgeOf(state)
		begin, stop := 0.0, math.Inf(1)
		if i == 0 {
			begin = p.origin.at
		}
		if i == len(p.states)-1 {
			stop = p.target.at
		}
		w.shape = g.Shape(edge, w.shape[:0])
		l.Distance += w.draw(route, forward, begin, stop)
		if i == len(p.states)-1 {
			route.to(to)
		}
	}
	if len(route.Line) == l.First+1 {
		route.Line = append(route.Line, to) // a leg has two points at least
	}
	w.first = append(w.first, len(route.Line)-1)
	l.Last = len(route.Line) - 1
	if req.Annotations {
		l.Segments = w.segments(route.Line)
	}
	if req.Steps {
		described := guidance.Path{States: p.states, Line: route.Line, First: w.first, Durations: w.seconds}
		edge, _ := g.EdgeOf(p.states[0])
		first, _ := m.ends(edge)
		l.Steps = guidance.Steps(g, &described, guidance.Options{
			Mode: stepModes[index(req.Profile)], Language: req.Language, Final: len(route.Legs)+2 == len(req.Waypoints),
			LeftDriving: m.leaves.At(int(first)).LeftDriving != 0, Destination: req.Waypoints[len(route.Legs)+1].Location,
		})
		l.Summary = guidance.Summary(g, &described)
	}
	route.Distance += l.Distance
	route.Duration += l.Duration
	route.Legs = append(route.Legs, l)
}

// stepModes are the modes of steps by profile.
var stepModes = [...]guidance.Mode{guidance.Driving, guidance.Cycling, guidance.Walking}

// to adds a point to the line, unless it is there.
func (r *Route) to(p orb.Point) {
	if r.Line[len(r.Line)-1] != p {
		r.Line = append(r.Line, p)
	}
}

// draw adds the nodes of a shape between two distances in metres from the beginning of its arc, and returns the length
// between these.
func (w *worker) draw(route *Route, forward bool, begin, stop float64) (metres float64) {
	length := float64(w.shape[len(w.shape)-1].Offset) / 1000
	stop = min(stop, length)
	last := len(w.shape) - 1
	for i := range w.shape {
		p := &w.shape[i]
		at := float64(p.Offset) / 1000
		if !forward {
			p = &w.shape[last-i]
			at = length - float64(p.Offset)/1000
		}
		if at > begin && at < stop || at == length && stop == length {
			route.to(p.Location())
		}
	}
	return max(stop-begin, 0)
}

// segments returns what is known of the segments of a leg.
func (w *worker) segments(line orb.LineString) (all []Segment) {
	for i, seconds := range w.seconds {
		first, last := w.first[i], w.first[i+1]
		sum := 0.0
		for k := first; k < last; k++ {
			all = append(all, Segment{Distance: distance(line[k], line[k+1])})
			sum += all[len(all)-1].Distance
		}
		for k := first; k < last && sum > 0; k++ {
			s := &all[len(all)-(last-k)]
			s.Duration = seconds * s.Distance / sum
		}
	}
	return all
}

// nearest returns places on the nearest roads.
func (w *worker) nearest(m *metric, at *Waypoint, number int) (found []Snapped) {
	radius := orMaxRadius(at.Radius)
	for _, reach := range snapRadii {
		reach = min(reach, radius)
		w.hits = m.Graph.Near(at.Location.Lat(), at.Location.Lon(), reach, w.hits[:0])
		if len(w.hits) >= number || reach == radius {
			break
		}
	}
	slices.SortFunc(w.hits, compareHits)
	for _, hit := range w.hits {
		if p, ok := w.place(m, at, hit); ok && len(found) < number {
			found = append(found, p.snapped(m.Graph))
		}
	}
	return found
}
