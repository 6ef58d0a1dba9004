package clip

import "github.com/mapsedge/caddy-maps/internal/geo"

// Extrude stretches the parts of a valid polygon on the border of a rectangle outwards by a margin, to fill the buffer
// of a tile whose neighbours are unknown. Edges that end on the border continue straight outwards. The order of
// positions stays.
func Extrude(p Polygon, r Rect, margin int32) Polygon {
	out := make(Polygon, len(p))
	outer := r.Grow(margin)
	for i, ring := range p {
		out[i] = make(Ring, 0, len(ring)+4)
		last := r.sides(ring[len(ring)-1])
		for j, at := range ring {
			here, next := r.sides(at), r.sides(ring[(j+1)%len(ring)])
			before, after := last&here, here&next
			switch {
			case before == 0 && after == 0:
				out[i] = append(out[i], at)
			case before == 0:
				out[i] = append(out[i], at, outer.push(at, after))
			case after == 0:
				out[i] = append(out[i], outer.push(at, before), at)
			default:
				out[i] = append(out[i], outer.push(at, before|after))
			}
			last = here
		}
	}
	return out
}

// side is a set of sides of a rectangle.
type side uint8

const (
	west side = 1 << iota
	east
	north
	south
)

// sides returns the sides of the rectangle that a position lies on.
func (r Rect) sides(p geo.Projected) (s side) {
	if p.X == r.Min.X {
		s |= west
	}
	if p.X == r.Max.X {
		s |= east
	}
	if p.Y == r.Min.Y {
		s |= north
	}
	if p.Y == r.Max.Y {
		s |= south
	}
	return s
}

// push returns the position moved to the given sides of the rectangle.
func (r Rect) push(p geo.Projected, to side) geo.Projected {
	if to&west != 0 {
		p.X = r.Min.X
	}
	if to&east != 0 {
		p.X = r.Max.X
	}
	if to&north != 0 {
		p.Y = r.Min.Y
	}
	if to&south != 0 {
		p.Y = r.Max.Y
	}
	return p
}
