package routing

import (
	"context"
	"math"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// appendMatchings answers the service match. Routers on regions are matchers as well.
func (q *osrmQuery) appendMatchings(ctx context.Context, dst []byte, router routing.Router, meter routing.Meter) (
	[]byte, error) {
	matcher, ok := router.(matching.Matcher)
	if !ok || q.answer.Steps {
		return dst, routing.ErrUnsupported
	}
	m, err := matcher.Match(ctx, q.matchRequest(meter))
	if err != nil {
		return dst, err
	}
	route, indexes := routeOf(m)
	if q.ends != nil {
		ends := make([]int, len(q.ends))
		for i, point := range q.ends {
			if ends[i] = indexes[point]; ends[i] < 0 {
				return dst, osrmErrorf("NoMatch", "waypoint %d cannot be matched", i)
			}
		}
		for i := range indexes {
			indexes[i] = -1
		}
		for i, point := range q.ends {
			indexes[point] = i
		}
		route.Legs = joinLegs(route.Legs, ends)
	}
	return q.answer.AppendMatchings(dst, route, m, indexes), nil
}

func (q *osrmQuery) matchRequest(meter routing.Meter) *matching.Request {
	req := &matching.Request{
		Points: make([]trace.Point, len(q.points)), Details: true, Meter: meter,
		Profile: map[routing.Profile]matching.Profile{
			region.Car: matching.Car, region.Bicycle: matching.Bicycle, region.Foot: matching.Foot,
		}[q.Profile],
	}
	const sigmas = 3 // of the distance of points from their roads
	for i := range q.points {
		p := trace.Point{Location: q.points[i].Location, Time: math.NaN(), Accuracy: math.NaN()}
		if q.times != nil {
			p.Time = q.times[i]
		}
		if radius := q.points[i].Radius; radius > 0 {
			p.Accuracy = radius
			req.MaxRadius = min(max(req.MaxRadius, matching.DefaultMaxRadius, sigmas*radius), routing.MaxRadius)
		}
		req.Points[i] = p
	}
	return req
}

// routeOf returns a matched drive as a route with a leg between each two tracepoints, and the number of the waypoint
// that each tracepoint is, -1 for none.
func routeOf(m *matching.Result) (*routing.Route, []int) {
	segments := make([]routing.Segment, len(m.Path)-1)
	for i := range segments {
		s := &segments[i]
		s.Distance = distance(m.Path[i], m.Path[i+1])
		if m.Times != nil {
			s.Duration = m.Times[i+1] - m.Times[i]
		} else if m.Distance > 0 {
			s.Duration = m.Duration * s.Distance / m.Distance
		}
	}
	route := &routing.Route{Distance: m.Distance, Duration: m.Duration, Line: m.Path}
	indexes := make([]int, len(m.Tracepoints))
	before := -1 // index into the path
	for i := range m.Tracepoints {
		t := &m.Tracepoints[i]
		if indexes[i] = -1; !t.Matched {
			continue
		}
		if before >= 0 {
			leg := routing.Leg{First: before, Last: max(before, t.Index)}
			leg.Segments = segments[leg.First:leg.Last:leg.Last]
			for _, s := range leg.Segments {
				leg.Distance, leg.Duration = leg.Distance+s.Distance, leg.Duration+s.Duration
			}
			route.Legs = append(route.Legs, leg)
		}
		before = max(before, t.Index)
		indexes[i] = len(route.Legs)
	}
	return route, indexes
}
