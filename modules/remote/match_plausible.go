package remote

import (
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
)

// The largest distances between a drive and its trace, in metres. Correct responses are far below these limits. They
// detect responses to other requests, swapped coordinates, and polylines of another precision.
const (
	farSnap   = 1000.0 // from a point to its place on the road, beyond the request's max_radius
	farPath   = 1000.0 // from that place to the geometry, plus farOnEdge
	farOnEdge = 0.02   // times the edge's length: a ferry's course may differ from the straight line of its edge
	detour    = 10.0   // length of the drive per length of the trace (around a fjord), plus
	baseRoute = 100e3  // for short traces, plus
	topSpeed  = 50.0   // metres per second of the trace's duration
)

// checkPlausible checks that the parts lie near the points in use.
func (d *MatchResponse) checkPlausible(req *matching.Request, used []int) error {
	var length float64
	began, ended := math.NaN(), math.NaN()
	edges := make([]int, len(d.parts)) // the edge of each part on which its last point lies
	for i, n := range used {
		sent := &req.Points[n]
		if i > 0 {
			length += distance(req.Points[used[i-1]].Location, sent.Location)
		}
		if !math.IsNaN(sent.Time) {
			if math.IsNaN(began) {
				began = sent.Time
			}
			ended = sent.Time
		}
		p := &d.points[i]
		if p.part < 0 {
			continue
		}
		if far := distance(sent.Location, p.location); far > req.MaxRadius+farSnap {
			return InvalidResponse("tracepoint %d lies %.0f m from its point", i, far)
		}
		path, edge := d.parts[p.part].path, &edges[p.part]
		for last := len(path) - 1; !passes(path[*edge], path[min(*edge+1, last)], p.location); *edge++ {
			if *edge >= last-1 {
				return InvalidResponse("the geometry of matching %d does not pass tracepoint %d", p.part, i)
			}
		}
	}
	most := baseRoute + detour*length
	if ended > began {
		most += topSpeed * (ended - began)
	}
	for i := range d.parts {
		if long := lengthOf(d.parts[i].path); long > most {
			return InvalidResponse("matching %d is %.0f m long, for a trace of %.0f m", i, long, length)
		}
	}
	return nil
}

// passes reports whether an edge is near a place. The edge is a straight line in degrees, the short way round the
// Earth.
func passes(a, b, place orb.Point) bool {
	const metres = geo.EarthRadius * math.Pi / 180 // of a degree
	across := metres * math.Cos(place[1]*math.Pi/180)
	x, y := across*geo.LongitudeDegrees(a[0]-place[0]), metres*(a[1]-place[1])
	dx, dy := across*geo.LongitudeDegrees(b[0]-a[0]), metres*(b[1]-a[1])
	share := 0.0
	if square := dx*dx + dy*dy; square > 0 {
		share = min(max(-(x*dx+y*dy)/square, 0), 1)
	}
	return math.Hypot(x+share*dx, y+share*dy) <= farPath+farOnEdge*math.Hypot(dx, dy)
}

func lengthOf(path orb.LineString) (length float64) {
	for i := 1; i < len(path); i++ {
		length += distance(path[i-1], path[i])
	}
	return length
}
