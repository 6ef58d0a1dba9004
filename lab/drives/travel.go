package drives

import (
	"math/rand/v2"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Travel is a way to move through a network, and how far.
type Travel struct {
	// speed is that on all roads, in metres per second; 0 for the roads' free speed.
	speed float64
	// slowness is how many times slower than that people are.
	slowness float64
	// turns says whether turns take time, which then decides about the route; without, the shortest route is taken.
	turns bool
	// anywhere says whether people turn round wherever they like. They do so at via points.
	anywhere bool
	// class is the last of the classes of road on which trips begin and end.
	class region.RoadClass

	shortest, longest float64 // metres travelled
	nearest, farthest float64 // metres as the crow flies between start, via point and end
}

// The ways to travel. Rides and walks are shorter than drives, and at one speed.
var (
	Driving = Travel{slowness: slowness, turns: true, class: region.Service,
		shortest: shortest, longest: longest, nearest: nearest, farthest: farthest}
	Riding = Travel{speed: 18 / 3.6, slowness: 1, turns: true, class: region.Footway,
		shortest: 2000, longest: 10_000, nearest: 500, farthest: 4000}
	Walking = Travel{speed: 5 / 3.6, slowness: 1, anywhere: true, class: region.Footway,
		shortest: 800, longest: 4000, nearest: 250, farthest: 1500}
)

// NewTravelRouter returns a router on a road graph for those who travel like that.
func NewTravelRouter(g *roadgraph.Graph, travel Travel) *Router {
	r := NewRouter(g)
	r.travel = travel
	return r
}

// turnCost is what a turn costs in seconds.
func (r *Router) turnCost(angle int8) float64 {
	if !r.travel.turns {
		return 0
	}
	return turnSeconds(angle)
}

// randomTrip makes one attempt at a trip through some random via points: its line, and for each of its points the
// seconds from its beginning.
func (r *Router) randomTrip(vias int, random *rand.Rand) (line orb.LineString, seconds []float64, ok bool) {
	if !r.travel.anywhere {
		route, ok := r.RandomRoute(vias, random)
		if !ok {
			return nil, nil, false
		}
		line, seconds = r.Line(route)
		return line, seconds, true
	}
	if r.graph.NumBaseEdges() == 0 {
		return nil, nil, false
	}
	from := r.randomSpots(random)
	for range vias + 1 {
		to := r.randomSpotsFrom(from, random)
		if len(to) == 0 {
			return nil, nil, false
		}
		route, ok := r.Fastest(from, to)
		if !ok {
			return nil, nil, false
		}
		more, took := r.Line(route)
		if n := len(seconds); n > 0 {
			for i := range took {
				took[i] += seconds[n-1]
			}
			more, took = more[1:], took[1:] // the via point is there already
		}
		line, seconds = append(line, more...), append(seconds, took...)
		from = to
	}
	return line, seconds, true
}
