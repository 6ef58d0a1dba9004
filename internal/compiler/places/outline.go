package places

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// outline is what of a feature a street is measured from: its entrances, or all of its geometry.
type outline struct {
	box   boxtree.Box
	plane plane
	lines [][]flat // a position is a line of one
}

// newOutline makes an outline of a geometry, or of the entrances that it has.
func newOutline(g *geometry.Geometry, entrances []geometry.Coord) *outline {
	o := &outline{box: g.Box, plane: newPlane(g.Box)}
	flatten := func(line []geometry.Coord) {
		out := make([]flat, len(line))
		for i, c := range line {
			out[i] = o.plane.flat(c)
		}
		o.lines = append(o.lines, out)
	}
	switch {
	case len(entrances) > 0:
		for i := range entrances {
			flatten(entrances[i : i+1])
		}
	case g.Shape == geometry.Point:
		flatten([]geometry.Coord{{X: g.Box.MinX, Y: g.Box.MinY}})
	default:
		g.Lines(func(line []geometry.Coord) bool { flatten(line); return true })
	}
	return o
}

// edgeSteps is what it takes to compare two edges.
const edgeSteps = 8

// to is how far an edge is, in metres, and how many steps it took to tell.
func (o *outline) to(a, b geometry.Coord) (distance float64, steps int64) {
	distance = math.Inf(1)
	p, q := o.plane.flat(a), o.plane.flat(b)
	for _, line := range o.lines {
		steps += edgeSteps * int64(len(line))
		if len(line) == 1 {
			distance = min(distance, line[0].toSegment(p, q))
		}
		for i := 1; i < len(line); i++ {
			distance = min(distance, between(line[i-1], line[i], p, q))
		}
	}
	return distance, steps
}
