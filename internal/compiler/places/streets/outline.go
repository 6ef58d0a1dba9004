package streets

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// plane is a plane that touches the Earth at a position. Distances on it, within some kilometres, are correct to a
// hundredth of a percent.
type plane struct{ x, y, east, north float64 }

func newPlane(b geo.Box) plane {
	north := geometry.EarthRadius * geometry.RadiansPerUnit
	x, y := (float64(b.MinX)+float64(b.MaxX))/2, (float64(b.MinY)+float64(b.MaxY))/2
	return plane{x, y, north * max(math.Cos(y*geometry.RadiansPerUnit), 0.01), north} // not 0 at a pole
}

// flat returns a position on the plane, in metres from the point of contact.
func (p *plane) flat(c geometry.Coord) orb.Point {
	return orb.Point{(float64(c.X) - p.x) * p.east, (float64(c.Y) - p.y) * p.north}
}

// Ruler returns a function for the distance to a position, in metres, which is exact within some kilometres.
func Ruler(at geometry.Coord) func(geometry.Coord) float64 {
	p := newPlane(at.Box())
	return func(c geometry.Coord) float64 { return planar.Distance(p.flat(c), orb.Point{}) }
}

// between returns the distance of two segments.
func between(a, b, c, d orb.Point) float64 {
	side := func(p, q, r orb.Point) float64 { return (q[0]-p[0])*(r[1]-p[1]) - (q[1]-p[1])*(r[0]-p[0]) }
	if side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0 {
		return 0 // they cross
	}
	return min(planar.DistanceFromSegment(c, d, a), planar.DistanceFromSegment(c, d, b),
		planar.DistanceFromSegment(a, b, c), planar.DistanceFromSegment(a, b, d))
}

// Outline is the part of a feature from which distances to streets are measured: its entrances, or its geometry.
type Outline struct {
	box   geo.Box
	plane plane
	lines []orb.LineString // a position is a line of one point
}

// NewOutline makes an outline of entrances, or of a geometry if there are none.
func NewOutline(g *geometry.Geometry, entrances []geometry.Coord) *Outline {
	o := &Outline{box: g.Box, plane: newPlane(g.Box)}
	if g.Shape == geometry.Point {
		entrances = []geometry.Coord{{X: g.Box.MinX, Y: g.Box.MinY}}
	}
	for i := range entrances {
		o.add(entrances[i : i+1])
	}
	if len(entrances) == 0 {
		g.Lines(o.add)
	}
	return o
}

// add adds a line. It returns true, to continue the iteration.
func (o *Outline) add(line []geometry.Coord) bool {
	out := make(orb.LineString, len(line))
	for i, c := range line {
		out[i] = o.plane.flat(c)
	}
	o.lines = append(o.lines, out)
	return true
}

// to returns the distance to a segment in metres.
func (o *Outline) to(a, b geometry.Coord) float64 {
	distance := math.Inf(1)
	p, q := o.plane.flat(a), o.plane.flat(b)
	for _, line := range o.lines {
		if len(line) == 1 {
			distance = min(distance, planar.DistanceFromSegment(p, q, line[0]))
		}
		for i := 1; i < len(line); i++ {
			distance = min(distance, between(line[i-1], line[i], p, q))
		}
	}
	return distance
}
