package streets

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
	x, y := (float64(b.MinX)+float64(b.MaxX))/2, (float64(b.MinY)+float64(b.MaxY))/2
	return plane{x, y, north * max(math.Cos(y*geometry.RadiansPerUnit), 0.01), north} // not 0 at a pole
}

func (p *plane) flat(c geometry.Coord) flat {
	return flat{(float64(c.X) - p.x) * p.east, (float64(c.Y) - p.y) * p.north}
}

// Ruler measures how far positions are from one that is not farther than some kilometres, in metres.
func Ruler(at geometry.Coord) func(geometry.Coord) float64 {
	p := newPlane(at.Box())
	return func(c geometry.Coord) float64 {
		f := p.flat(c)
		return math.Hypot(f.x, f.y)
	}
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

// between is how far two edges are apart.
func between(a, b, c, d flat) float64 {
	side := func(p, q, r flat) float64 { return (q.x-p.x)*(r.y-p.y) - (q.y-p.y)*(r.x-p.x) }
	if side(a, b, c)*side(a, b, d) < 0 && side(c, d, a)*side(c, d, b) < 0 {
		return 0 // they cross
	}
	return min(a.toSegment(c, d), b.toSegment(c, d), c.toSegment(a, b), d.toSegment(a, b))
}

// Outline is what of a feature a street is measured from: its entrances, or all of its geometry.
type Outline struct {
	box   boxtree.Box
	plane plane
	lines [][]flat // a position is a line of one
}

// NewOutline makes an outline of a geometry, or of the entrances that it has.
func NewOutline(g *geometry.Geometry, entrances []geometry.Coord) *Outline {
	o := &Outline{box: g.Box, plane: newPlane(g.Box)}
	flatten := func(line []geometry.Coord) bool {
		out := make([]flat, len(line))
		for i, c := range line {
			out[i] = o.plane.flat(c)
		}
		o.lines = append(o.lines, out)
		return true
	}
	switch {
	case len(entrances) > 0:
		for i := range entrances {
			flatten(entrances[i : i+1])
		}
	case g.Shape == geometry.Point:
		flatten([]geometry.Coord{{X: g.Box.MinX, Y: g.Box.MinY}})
	default:
		g.Lines(flatten)
	}
	return o
}

// to is how far an edge is, in metres.
func (o *Outline) to(a, b geometry.Coord) float64 {
	distance := math.Inf(1)
	p, q := o.plane.flat(a), o.plane.flat(b)
	for _, line := range o.lines {
		if len(line) == 1 {
			distance = min(distance, line[0].toSegment(p, q))
		}
		for i := 1; i < len(line); i++ {
			distance = min(distance, between(line[i-1], line[i], p, q))
		}
	}
	return distance
}
