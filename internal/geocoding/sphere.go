package geocoding

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/region"
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

	// What within prepares for bounds:
	flat                     bool // take the sphere for a plane with these scales
	scaleX, scaleY           float64
	west, east, south, north int64 // x and y rounded to both sides

	left int // steps that may still be spent
}

// spend takes some steps, each of which looks at a box or at an edge. With more than there are, it ends the request.
func (o *origin) spend(steps int) {
	if o.left -= steps; o.left < 0 {
		overloaded()
	}
}

func overloaded() { panic(region.Stop{Err: ErrOverloaded}) }

func newOrigin(p orb.Point) origin {
	sin, cos := math.Sincos(p[1] * (math.Pi / 180))
	return origin{x: p[0] * unitsPerDegree, y: p[1] * unitsPerDegree, sin: sin, cos: max(cos, 0), left: math.MaxInt}
}

// within prepares bounds for a search up to some metres. Whatever is that near has a cosine of its latitude of no less than
// some value, and a difference of longitudes of no more than some other; where both are moderate and the antimeridian is
// out of reach, the bound becomes that of a plane, shrunk by as much as these can make it too large.
func (o *origin) within(m float64) {
	o.flat = false
	angle := m / earthRadius
	if angle > nearAngle {
		return
	}
	cos := min(o.lowerCosine(angle), o.lowerCosine(-angle))
	sine := angle / 2 / math.Sqrt(max(o.cos*cos, 1e-9))
	if sine > nearAngle {
		return
	}
	width := 2 * sine * (1 + sine*sine/4) // at least twice the arc sine: no point within reach differs more in longitude
	if math.Abs(o.x)+width/radiansPerUnit > halfTurn {
		return
	}
	o.flat = true
	const quarter = radiansPerUnit * radiansPerUnit / 4
	shrink := (1 - width*width/12) * (1 - 1e-12) // sin²(a/2) ≥ a²/4·(1 - a²/12)
	o.scaleX, o.scaleY = quarter*shrink*o.cos*cos, quarter*shrink
	o.west, o.east = int64(math.Floor(o.x)), int64(math.Ceil(o.x))
	o.south, o.north = int64(math.Floor(o.y)), int64(math.Ceil(o.y))
}

// nearSine is up to where the series of the arc sine below is exact to the last digits: 127 km.
const nearSine = 0.01

func metres(h float64) float64 {
	s := math.Sqrt(min(h, 1))
	if s > nearSine {
		return 2 * earthRadius * math.Asin(s)
	}
	return 2 * earthRadius * s * (1 + h*(1./6)*(1+h*(9./20)*(1+h*(25./42))))
}

// haversineWithin is at least the haversine of anything within some metres, and for what is near hardly more.
func haversineWithin(m float64) float64 {
	s := m / (2 * earthRadius)
	if s > nearSine {
		s = math.Sin(min(s, math.Pi/2))
	}
	return s * s * (1 + 1e-12)
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

// bounds fills in for each box what is at most the haversine of any position in it; or above that of the distance that
// within was given, where no position in the box is within it.
func (o *origin) bounds(dst *[fanout]float64, boxes []box) {
	if !o.flat {
		for i := range boxes {
			dst[i&(fanout-1)] = o.boundOnSphere(&boxes[i])
		}
		return
	}
	for i := range boxes {
		b := &boxes[i]
		dx := float64(max(int64(b.MinX)-o.east, o.west-int64(b.MaxX), 0))
		dy := float64(max(int64(b.MinY)-o.north, o.south-int64(b.MaxY), 0))
		dst[i&(fanout-1)] = dx*dx*o.scaleX + dy*dy*o.scaleY
	}
}

// boundOnSphere is the bound without a distance: the difference of latitudes and that of longitudes are each taken at their
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

// eastTo is the difference of longitudes, in 1e-7 degrees, from the origin to x, the short way round.
func (o *origin) eastTo(x int32) float64 {
	d := float64(x) - o.x
	if d > halfTurn {
		d -= fullTurn
	} else if d < -halfTurn {
		d += fullTurn
	}
	return d
}
