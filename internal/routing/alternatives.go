package routing

import (
	"cmp"
	"slices"
)

// Alternatives are routes over a place that both halves of the search have reached, with the three tests of Abraham,
// Delling, Goldberg, Werneck 2013 ("Alternative Routes in Road Networks"): they are not much longer, they share little
// with the others, and they are locally optimal.
const (
	// stretch is how many times the cost of the fastest route an alternative may cost.
	stretch = 1.25
	// sharing is the greatest share of the fastest route's cost that it may have in common with the other routes.
	sharing = 0.75
	// optimal is the share of the fastest route's cost for which a route has to be the fastest around its place.
	optimal = 0.25
	// tries is how many places are tried.
	tries = 60
)

// via is a place that a route may pass.
type via struct {
	arc  uint32
	cost Cost
}

// addAlternatives adds up to the number of routes that a request wants.
func (w *worker) addAlternatives(m *metric, req *Request, routes []Route, places []place) ([]Route, error) {
	s := &w.search
	s.origin.keep = true
	best, err := s.runPast(places[0].from, places[1].to, stretch)
	s.origin.keep = false
	if err != nil || best.cost == noWay || best.arc == noState {
		return routes, err
	}
	used := map[uint32]bool{}
	s.unpack(best, &w.path)
	for _, state := range w.path.states {
		used[state] = true
	}
	var vias []via
	for _, arc := range s.origin.arcs {
		there := s.target.labels.at(arc).cost
		if there == noWay {
			continue
		}
		cost := s.origin.labels.at(arc).cost + there
		if cost > best.cost && float64(cost) <= stretch*float64(best.cost) && !used[m.boundary.At(int(arc)).State] {
			vias = append(vias, via{arc, cost})
		}
	}
	slices.SortFunc(vias, func(a, b via) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.arc, b.arc)) })
	// Places of the same cost are mostly on the same route.
	vias = slices.CompactFunc(vias, func(a, b via) bool { return a.cost == b.cost })
	for i := 0; i < min(len(vias), tries) && len(routes) <= req.Alternatives; i++ {
		s.unpack(found{cost: vias[i].cost, arc: vias[i].arc}, &w.path)
		if w.shared(used) > sharing*float64(best.cost) {
			continue
		}
		ok, err := w.isOptimal(m, m.boundary.At(int(vias[i].arc)).State, Cost(optimal*float64(best.cost)))
		if err != nil {
			return routes, err
		}
		if ok {
			var route Route
			w.addLeg(m, req, &route, places[0].point, places[1].point)
			routes = append(routes, route)
			for _, state := range w.path.states {
				used[state] = true
			}
		}
	}
	return routes, nil
}

// shared returns the cost of what the path has in common with used states.
func (w *worker) shared(used map[uint32]bool) (sum float64) {
	p := &w.path
	for i, state := range p.states {
		if used[state] {
			end := p.total
			if i+1 < len(p.costs) {
				end = p.costs[i+1]
			}
			sum += float64(end - p.costs[i])
		}
	}
	return sum
}

// isOptimal reports whether the path is the fastest one from a place at least reach before a state to another one at
// least reach behind it (the T-test).
func (w *worker) isOptimal(m *metric, state uint32, reach Cost) (bool, error) {
	p := &w.path
	at := slices.Index(p.states, state)
	if at < 0 || slices.Contains(p.states[at+1:], state) {
		return false, nil
	}
	first, last := at, at
	for first > 1 && p.costs[at]-p.costs[first] < reach {
		first--
	}
	for last < len(p.states)-1 && p.costs[last]-p.costs[at] < reach {
		last++
	}
	if first == 0 || first == last {
		return false, nil
	}
	from, to := w.around(m, p.states[first], p.states[last])
	w.check.m, w.check.meter, w.check.work = m, w.search.meter, 0
	f, err := w.check.run([]end{from}, []end{to})
	return f.cost >= p.costs[last]-p.costs[first], err
}

// around returns the ends of a route from the beginning of a state to that of another one.
func (w *worker) around(m *metric, first, last uint32) (from, to end) {
	edge, forward := m.Graph.EdgeOf(first)
	tail, head := m.ends(edge)
	if !forward {
		head = tail
	}
	c := m.leaf(head, &w.search.builder)
	if i, ok := c.find(first); ok {
		from = end{state: first, leaf: head, cost: c.costs[i]}
	}
	edge, forward = m.Graph.EdgeOf(last)
	if tail, head = m.ends(edge); !forward {
		tail = head
	}
	return from, end{state: last, leaf: tail}
}
