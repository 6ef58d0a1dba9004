package roadgraph

import (
	"math"

	"github.com/paulmach/orb"
)

// At is the position on a segment at a number of metres from its first point.
func (g *Graph) At(segment uint32, metres float64) orb.Point {
	shape := g.Shape(segment)
	offset := metres * millimetres
	i := 1
	for i < len(shape)-1 && offset > float64(shape[i].Offset) {
		i++
	}
	a, b := &shape[i-1], &shape[i]
	share := 0.0
	if b.Offset > a.Offset {
		share = min(max((offset-float64(a.Offset))/float64(b.Offset-a.Offset), 0), 1)
	}
	p, q := a.Location(), b.Location()
	switch share { // exactly the shape's points, where it is at them
	case 0:
		return p
	case 1:
		return q
	}
	return orb.Point{p[0] + share*(q[0]-p[0]), p[1] + share*(q[1]-p[1])}
}

// NearestOn is the place nearest to a position on the part of a segment between two numbers of metres from its first
// point: its own number of metres, and its distance in metres.
func (g *Graph) NearestOn(segment uint32, from, to float64, at orb.Point) (metres, distance float64) {
	flat := newPlane(at.Lat(), at.Lon())
	shape := g.Shape(segment)
	squared := math.Inf(1)
	ax, ay := flat.xy(&shape[0])
	for i := 1; i < len(shape); i++ {
		bx, by := flat.xy(&shape[i])
		a, b := float64(shape[i-1].Offset)/millimetres, float64(shape[i].Offset)/millimetres
		if b >= from && a <= to {
			first, last := 0.0, 1.0 // the part of this piece that counts
			if b > a {
				first, last = max(0, (from-a)/(b-a)), min(1, (to-a)/(b-a))
			}
			share, d := nearest(ax+first*(bx-ax), ay+first*(by-ay), ax+last*(bx-ax), ay+last*(by-ay))
			if d < squared {
				squared, metres = d, a+(first+share*(last-first))*(b-a)
			}
		}
		ax, ay = bx, by
	}
	return metres, math.Sqrt(squared)
}

// Location is the point's position in degrees.
func (p *Point) Location() orb.Point { return orb.Point{float64(p.Lon) / 1e7, float64(p.Lat) / 1e7} }
