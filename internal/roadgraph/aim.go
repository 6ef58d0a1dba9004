package roadgraph

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// aim is where a search is going. The zero value is nowhere in particular.
type aim struct {
	plane    plane
	radius   float64 // metres
	perMetre float64 // what a metre costs at least
}

const (
	// fastest is the speed in metres per second that no arc exceeds: extract takes no limit over 200 km/h.
	fastest = 200 / 3.6
	// flatness is a little more than the share by which the plane makes distances too long. It grows with the distance;
	// up to flatReach metres it is less than this as far as flatLatitude north or south; nothing is said to be farther
	// away than flatReach.
	flatness     = 0.002
	flatReach    = 20_000
	flatLatitude = 70 // degrees
)

// rest is what a route costs at least from an arc's end to where the search is going.
func (m *aim) rest(arc *Head) float64 {
	if m.perMetre == 0 {
		return 0
	}
	dx := float64(arc.EndLon) - m.plane.lon
	if math.Abs(dx) > halfTurn {
		dx = 2*halfTurn - math.Abs(dx) // across the antimeridian
	}
	dx *= m.plane.perLon
	dy := (float64(arc.EndLat) - m.plane.lat) * geo.MetresPerUnit
	distance := min(math.Sqrt(dx*dx+dy*dy), flatReach)
	return max(0, distance*(1-flatness)-m.radius) * m.perMetre
}

// Aim says, before any source is added, that all routes end within radius metres of a position: on a target, which
// may begin farther away. The search then looks in that direction first, and Limit counts what is at least to come,
// too.
func (s *Search) Aim(lat, lon, radius float64) {
	if math.Abs(lat) < flatLatitude {
		s.aim = aim{newPlane(lat, lon), radius, s.costs.PerMetre + s.costs.PerSecond/fastest}
	}
}
