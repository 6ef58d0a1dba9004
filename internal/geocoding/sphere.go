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
	flat     bool    // bound may take the sphere for a plane, with the scales below
	scaleX   float64
	scaleY   float64
}

func newOrigin(p orb.Point) origin {
	sin, cos := math.Sincos(p[1] * (math.Pi / 180))
	return origin{x: p[0] * unitsPerDegree, y: p[1] * unitsPerDegree, sin: sin, cos: max(cos, 0)}
}

// within prepares bound for searches up to a haversine. Whatever is that near has no more than some difference of
// longitudes, and a cosine of its latitude of no less than some value; where both are moderate and the antimeridian is out
// of reach, the bound becomes that of a plane, shrunk by as much as these can make it too large.
func (o *origin) within(limit float64) {
	o.flat = false
	angle := 2 * math.Asin(math.Sqrt(min(limit, 1)))
	cos := math.Cos(min(math.Abs(o.y)*radiansPerUnit+angle, math.Pi/2))
	sine := math.Sqrt(limit / max(o.cos*cos, 1e-9))
	if angle > 2*nearAngle || sine > 2*nearAngle {
		return
	}
	width := 2 * math.Asin(sine) // of the longitudes
	if math.Abs(o.x)+width/radiansPerUnit > halfTurn {
		return
	}
	o.flat = true
	const quarter = radiansPerUnit * radiansPerUnit / 4
	shrink := (1 - width*width/12) * (1 - 1e-12) // sin²(a/2) ≥ a²/4·(1 - a²/12)
	o.scaleX, o.scaleY = quarter*shrink*o.cos*cos, quarter*shrink
}

func metres(h float64) float64 { return 2 * earthRadius * math.Asin(math.Sqrt(min(h, 1))) }

// haversineOf is the inverse of metres, for distances up to half of the Earth's circumference.
func haversineOf(m float64) float64 {
	s := math.Sin(min(m/(2*earthRadius), math.Pi/2))
	return s * s
}

// halfSineSquared is sin²(a/2).
func halfSineSquared(a float64) float64 {
	s := math.Sin(a / 2)
	return s * s
}

// haversine is that of the position which lies dx and dy, in 1e-7 degrees, from the origin.
func (o *origin) haversine(dx, dy float64) float64 {
	a, b := dy*radiansPerUnit, dx*radiansPerUnit
	p, q := a*a, b*b
	if p > nearAngle*nearAngle || q > nearAngle*nearAngle {
		return halfSineSquared(a) + o.cos*max(math.Cos((o.y+dy)*radiansPerUnit), 0)*halfSineSquared(b)
	}
	// The Taylor series of sin²(a/2), and of the cosine of the other latitude.
	const half, sixth, twelfth, twentieth, thirtieth, fiftysixth = 1. / 2, 1. / 6, 1. / 12, 1. / 20, 1. / 30, 1. / 56
	cos := o.cos*(1-p*half*(1-p*twelfth*(1-p*thirtieth))) - o.sin*a*(1-p*sixth*(1-p*twentieth*(1-p*(1./42))))
	return p*0.25*(1-p*twelfth*(1-p*thirtieth*(1-p*fiftysixth))) +
		o.cos*max(cos, 0)*q*0.25*(1-q*twelfth*(1-q*thirtieth*(1-q*fiftysixth)))
}

// lowerHalfSineSquared is at most sin²(a/2), for 0 ≤ a ≤ π.
func lowerHalfSineSquared(a float64) float64 {
	if a > 1 {
		return halfSineSquared(a) * (1 - 1e-12)
	}
	q := a * a
	return q / 4 * (1 - q/12)
}

// bound is at most the haversine of any position in the box, or above the limit that within was given when no position in
// the box is within it.
func (o *origin) bound(b *box) float64 {
	if !o.flat {
		return o.boundOnSphere(b)
	}
	var dx, dy float64
	if west := float64(b.MinX) - o.x; west > 0 {
		dx = west
	} else if east := o.x - float64(b.MaxX); east > 0 {
		dx = east
	}
	if south := float64(b.MinY) - o.y; south > 0 {
		dy = south
	} else if north := o.y - float64(b.MaxY); north > 0 {
		dy = north
	}
	return dx*dx*o.scaleX + dy*dy*o.scaleY
}

// boundOnSphere is bound without a limit: the difference of latitudes and that of longitudes are each taken at their
// smallest, the cosine of the other latitude too.
func (o *origin) boundOnSphere(b *box) float64 {
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
