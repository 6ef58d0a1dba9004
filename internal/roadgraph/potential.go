package roadgraph

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// potential bounds from below the cost to the area that a search goes to. The zero value bounds it by 0, which makes
// A* Dijkstra's algorithm.
type potential struct {
	plane    plane
	radius   float64 // metres
	perMetre float64 // the least cost of a metre
}

const (
	// fastest is a speed in metres per second that no arc exceeds: the compiler caps limits at 200 km/h.
	fastest = 200 / 3.6
	// flatness is the share by which the plane may make distances too long: less than this up to flatReach metres, as far
	// as flatLatitude north or south. Longer distances count as flatReach.
	flatness     = 0.002
	flatReach    = 20_000
	flatLatitude = 70 // degrees
)

// heuristic returns the least cost of a route from an arc's end to the area.
func (p *potential) heuristic(arc *Head) float64 {
	if p.perMetre == 0 {
		return 0
	}
	dx := float64(arc.EndLon) - p.plane.lon
	if math.Abs(dx) > halfTurn {
		dx = 2*halfTurn - math.Abs(dx) // across the antimeridian
	}
	dx *= p.plane.perLon
	dy := (float64(arc.EndLat) - p.plane.lat) * geo.MetresPerUnit
	distance := min(math.Sqrt(dx*dx+dy*dy), flatReach)
	return max(0, distance*(1-flatness)-p.radius) * p.perMetre
}

// SetPotential makes the search an A* search. All routes end within radius metres of a position in degrees: somewhere
// on a target, which may begin farther away. Limit then includes the heuristic. Call it before adding sources.
func (s *Search) SetPotential(lat, lon, radius float64) {
	if math.Abs(lat) < flatLatitude {
		s.potential = potential{newPlane(lat, lon), radius, s.costs.PerMetre + s.costs.PerSecond/fastest}
	}
}
