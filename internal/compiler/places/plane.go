package places

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// plane is a plane that touches the Earth at a position. Within some kilometres of it, distances on it are right to a
// hundredth of a percent, which is enough to compare streets.
type plane struct{ x, y, east, north float64 }

// flat is a position on a plane, in metres from where it touches.
type flat struct{ x, y float64 }

func newPlane(b boxtree.Box) plane {
	north := geometry.EarthRadius * geometry.RadiansPerUnit
	return plane{(float64(b.MinX) + float64(b.MaxX)) / 2, (float64(b.MinY) + float64(b.MaxY)) / 2, north * cosineAt(b),
		north}
}

// cosineAt is the cosine of the latitude of a box's middle, or what is nearly that at a pole, where it would be 0.
func cosineAt(b boxtree.Box) float64 {
	return max(math.Cos((float64(b.MinY)+float64(b.MaxY))/2*geometry.RadiansPerUnit), 0.01)
}

func clamp(v, limit float64) int32 { return int32(min(max(v, -limit), limit)) }

func (p *plane) flat(c geometry.Coord) flat {
	return flat{(float64(c.X) - p.x) * p.east, (float64(c.Y) - p.y) * p.north}
}

// toSegment is how far a position is from an edge.
func (p flat) toSegment(a, b flat) float64 {
	dx, dy := b.x-a.x, b.y-a.y
	t := 0.0
	if length := dx*dx + dy*dy; length > 0 {
		t = min(max(((p.x-a.x)*dx+(p.y-a.y)*dy)/length, 0), 1)
	}
	return math.Hypot(a.x+t*dx-p.x, a.y+t*dy-p.y)
}

// crosses tells whether two edges have a point in common that is no end of either.
func crosses(a, b, c, d flat) bool {
	side := func(p, q, r flat) float64 { return (q.x-p.x)*(r.y-p.y) - (q.y-p.y)*(r.x-p.x) }
	return side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0
}

// between is how far two edges are apart.
func between(a, b, c, d flat) float64 {
	if crosses(a, b, c, d) {
		return 0
	}
	return min(a.toSegment(c, d), b.toSegment(c, d), c.toSegment(a, b), d.toSegment(a, b))
}
