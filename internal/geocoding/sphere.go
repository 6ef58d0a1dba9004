package geocoding

import (
	"math"

	"github.com/paulmach/orb"
)

const (
	earthRadius = 6_371_008.8 // metres: the mean radius, on which all distances are

	unitsPerDegree = 1e7
	radiansPerUnit = math.Pi / 180 / unitsPerDegree
	halfTurn       = 180 * unitsPerDegree
	fullTurn       = 360 * unitsPerDegree

	// nearAngle, in radians, is how far the series below are exact to the last digits: 637 km.
	nearAngle = 0.1
)

// origin is a position that distances are measured from. Distances are kept as haversines (the square of the sine of half
// the angle), which grow with the distance and need no root and no arc; metres turns one into metres.
type origin struct {
	x, y     float64 // 1e-7 degrees
	sin, cos float64 // of the latitude
}

func newOrigin(p orb.Point) origin {
	sin, cos := math.Sincos(p[1] * (math.Pi / 180))
	return origin{x: p[0] * unitsPerDegree, y: p[1] * unitsPerDegree, sin: sin, cos: max(cos, 0)}
}

func metres(h float64) float64 { return 2 * earthRadius * math.Asin(math.Sqrt(min(h, 1))) }

// haversineOf is the inverse of metres, for distances up to half of the Earth's circumference.
func haversineOf(m float64) float64 {
	s := math.Sin(min(m/(2*earthRadius), math.Pi/2))
	return s * s
}

// halfSineSquared is sin²(a/2).
func halfSineSquared(a float64) float64 {
	if a > nearAngle || a < -nearAngle {
		s := math.Sin(a / 2)
		return s * s
	}
	q := a * a
	return q / 4 * (1 - q/12*(1-q/30*(1-q/56)))
}

// haversine is that of the position which lies dx and dy, in 1e-7 degrees, from the origin.
func (o *origin) haversine(dx, dy float64) float64 {
	a := dy * radiansPerUnit
	var cos float64 // of the other latitude
	if a > nearAngle || a < -nearAngle {
		cos = math.Cos((o.y + dy) * radiansPerUnit)
	} else {
		q := a * a
		cos = o.cos*(1-q/2*(1-q/12*(1-q/30))) - o.sin*a*(1-q/6*(1-q/20*(1-q/42)))
	}
	return halfSineSquared(a) + o.cos*max(cos, 0)*halfSineSquared(dx*radiansPerUnit)
}

// lowerHalfSineSquared is at most sin²(a/2), for 0 ≤ a ≤ π.
func lowerHalfSineSquared(a float64) float64 {
	if a > 1 {
		return halfSineSquared(a) * (1 - 1e-12)
	}
	q := a * a
	return q / 4 * (1 - q/12)
}

// bound is at most the haversine of any position in the box: the difference of latitudes and that of longitudes are each
// taken at their smallest, the cosine of the other latitude too.
func (o *origin) bound(b *box) float64 {
	minY, maxY := float64(b.MinY)-o.y, float64(b.MaxY)-o.y
	var h float64
	if minY > 0 {
		h = lowerHalfSineSquared(minY * radiansPerUnit)
	} else if maxY < 0 {
		h = lowerHalfSineSquared(-maxY * radiansPerUnit)
	}
	dx := 0.0
	if west := float64(b.MinX) - o.x; west > 0 {
		dx = min(west, o.x+fullTurn-float64(b.MaxX))
	} else if east := o.x - float64(b.MaxX); east > 0 {
		dx = min(east, float64(b.MinX)+fullTurn-o.x)
	}
	if dx > 0 {
		// The cosine has no minimum between two latitudes but at one of them.
		cos := min(o.lowerCosine(minY*radiansPerUnit), o.lowerCosine(maxY*radiansPerUnit))
		if cos > 0 {
			h += o.cos * cos * lowerHalfSineSquared(dx*radiansPerUnit)
		}
	}
	return h
}

// lowerCosine is at most the cosine of the latitude that lies a, in radians, north of the origin's.
func (o *origin) lowerCosine(a float64) float64 {
	q := a * a
	return o.cos*(1-q/2) - o.sin*a - math.Abs(a)*q/6
}

// east is the difference of longitudes, in 1e-7 degrees, from the origin to x, the short way round.
func (o *origin) east(x int32) float64 {
	d := float64(x) - o.x
	if d > halfTurn {
		d -= fullTurn
	} else if d < -halfTurn {
		d += fullTurn
	}
	return d
}
