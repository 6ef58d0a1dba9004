package geometry

import (
	"errors"
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// ErrWork: the request needs more work than one request may cost, because too much lies at one place.
var ErrWork = errors.New("too much lies around this position to search it: " +
	"ask for a smaller size, or for fewer or other categories")

// Holds reports whether the origin lies in a box, its edges included.
func Holds(b *geo.Box, o *Origin) bool {
	return o.X >= float64(b.MinX) && o.X <= float64(b.MaxX) && o.Y >= float64(b.MinY) && o.Y <= float64(b.MaxY)
}

// Location returns the position at an offset from the origin.
func (o *Origin) Location(at Offset) orb.Point {
	lon, lat := (o.X+at.Dx)/UnitsPerDegree, (o.Y+at.Dy)/UnitsPerDegree
	if lon > 180 {
		lon -= 360
	} else if lon < -180 {
		lon += 360
	}
	return orb.Point{lon, lat}
}

const (
	EarthRadius = 6_371_008.8 // metres: the mean radius, on which all distances are

	UnitsPerDegree = 1e7
	RadiansPerUnit = math.Pi / 180 / UnitsPerDegree
	HalfTurn       = 180 * UnitsPerDegree
	FullTurn       = 360 * UnitsPerDegree

	// nearAngle, in radians, is up to where the series below are exact to the last digits: 637 km.
	nearAngle = 0.1
)

// Origin is a position that distances are measured from. Distances are kept as haversines (the square of the sine of
// half the angle), which grow with the distance and need no root and no arc; metres turns one into metres.
type Origin struct {
	X, Y     float64 // 1e-7 degrees
	sin, Cos float64 // of the latitude

	// What within prepares for bounds:
	flat                     bool // take the sphere for a plane with these scales
	scaleX, scaleY           float64
	west, east, south, north int64 // x and y rounded to both sides

	Left int // steps that may still be spent
}

// Spend takes some steps, each of which looks at a box or at an edge. With more than there are, it ends the request.
func (o *Origin) Spend(steps int) {
	if o.Left -= steps; o.Left < 0 {
		panic(region.Stop{Err: ErrWork})
	}
}

// NewOrigin makes an origin of a position in degrees.
func NewOrigin(p orb.Point) Origin {
	sin, cos := math.Sincos(p[1] * (math.Pi / 180))
	return Origin{X: p[0] * UnitsPerDegree, Y: p[1] * UnitsPerDegree, sin: sin, Cos: max(cos, 0), Left: math.MaxInt}
}

// LimitTo prepares bounds for a search within some metres. Within them, the cosine of the latitude has a minimum and
// the difference of longitudes a maximum. If both are moderate and the antimeridian is out of reach, bounds are
// computed on a plane, shrunk by its greatest error.
func (o *Origin) LimitTo(m float64) {
	o.flat = false
	angle := m / EarthRadius
	if angle > nearAngle {
		return
	}
	cos := min(o.lowerCosine(angle), o.lowerCosine(-angle))
	sine := angle / 2 / math.Sqrt(max(o.Cos*cos, 1e-9))
	if sine > nearAngle {
		return
	}
	width := 2 * sine * (1 + sine*sine/4) // at least twice the arc sine: no point within reach differs more in longitude
	if math.Abs(o.X)+width/RadiansPerUnit > HalfTurn {
		return
	}
	o.flat = true
	const quarter = RadiansPerUnit * RadiansPerUnit / 4
	shrink := (1 - width*width/12) * (1 - 1e-12) // sin²(a/2) ≥ a²/4·(1 - a²/12)
	o.scaleX, o.scaleY = quarter*shrink*o.Cos*cos, quarter*shrink
	o.west, o.east = int64(math.Floor(o.X)), int64(math.Ceil(o.X))
	o.south, o.north = int64(math.Floor(o.Y)), int64(math.Ceil(o.Y))
}

// nearSine is up to where the series of the arc sine below is exact to the last digits: 127 km.
const nearSine = 0.01

// Metres returns the distance on the sphere of a haversine.
func Metres(h float64) float64 {
	s := math.Sqrt(min(h, 1))
	if s > nearSine {
		return 2 * EarthRadius * math.Asin(s)
	}
	return 2 * EarthRadius * s * (1 + h*(1./6)*(1+h*(9./20)*(1+h*(25./42))))
}

// HaversineWithin returns an upper bound of the haversines within some metres, which is tight for short distances.
func HaversineWithin(m float64) float64 {
	s := m / (2 * EarthRadius)
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

// Haversine is that of the position which lies dx and dy, in 1e-7 degrees, from the origin.
func (o *Origin) Haversine(dx, dy float64) float64 {
	a, b := dy*RadiansPerUnit, dx*RadiansPerUnit
	p, q := a*a, b*b
	if p > nearAngle*nearAngle || q > nearAngle*nearAngle {
		return halfSineSquared(a) + o.Cos*max(math.Cos((o.Y+dy)*RadiansPerUnit), 0)*halfSineSquared(b)
	}
	// The Taylor series of sin²(a/2), and of the cosine of the other latitude.
	const half, sixth, twelfth, twentieth, thirtieth, fiftysixth = 1. / 2, 1. / 6, 1. / 12, 1. / 20, 1. / 30, 1. / 56
	cos := o.Cos*(1-p*half*(1-p*twelfth*(1-p*thirtieth))) - o.sin*a*(1-p*sixth*(1-p*twentieth*(1-p*(1./42))))
	return p*0.25*(1-p*twelfth*(1-p*thirtieth*(1-p*fiftysixth))) +
		o.Cos*max(cos, 0)*q*0.25*(1-q*twelfth*(1-q*thirtieth*(1-q*fiftysixth)))
}

// lowerHalfSineSquared is at most sin²(a/2), for 0 ≤ a ≤ π.
func lowerHalfSineSquared(a float64) float64 {
	if a > 1 {
		return halfSineSquared(a) * (1 - 1e-12)
	}
	q := a * a
	return q / 4 * (1 - q/12)
}

// Near is a box that may be near enough: its index, and a lower bound of the haversines of its positions. The bound may
// be any value above the limit of LimitTo if the whole box is beyond it.
type Near struct {
	Haversine float64
	Index     uint32
}

// Nearest sets dst to the boxes within a limit, the nearest first, and returns their number.
func (o *Origin) Nearest(dst *[geo.TreeFanout]Near, boxes []geo.Box, limit float64) (n int) {
	if !o.flat {
		for i := range boxes {
			if h := o.boundOnSphere(&boxes[i]); h <= limit {
				n = insert(dst, n, Near{h, uint32(i)})
			}
		}
		return n
	}
	east, west, north, south, scaleX, scaleY := o.east, o.west, o.north, o.south, o.scaleX, o.scaleY
	for i := range boxes {
		b := &boxes[i]
		dx := float64(max(int64(b.MinX)-east, west-int64(b.MaxX), 0))
		dy := float64(max(int64(b.MinY)-north, south-int64(b.MaxY), 0))
		if h := dx*dx*scaleX + dy*dy*scaleY; h <= limit {
			n = insert(dst, n, Near{h, uint32(i)})
		}
	}
	return n
}

// insert inserts a box after those that are nearer.
func insert(dst *[geo.TreeFanout]Near, n int, b Near) int {
	k := n
	for ; k > 0 && dst[k-1].Haversine > b.Haversine; k-- {
		dst[k] = dst[k-1]
	}
	dst[k] = b
	return n + 1
}

// boundOnSphere is the bound without a limit: from the smallest differences of latitude and longitude, and the smallest
// cosine of the other latitude.
func (o *Origin) boundOnSphere(b *geo.Box) float64 {
	minY, maxY := float64(b.MinY)-o.Y, float64(b.MaxY)-o.Y
	var h float64
	if minY > 0 {
		h = lowerHalfSineSquared(minY * RadiansPerUnit)
	} else if maxY < 0 {
		h = lowerHalfSineSquared(-maxY * RadiansPerUnit)
	}
	dx := 0.0
	if west := float64(b.MinX) - o.X; west > 0 {
		dx = min(west, o.X+FullTurn-float64(b.MaxX))
	} else if east := o.X - float64(b.MaxX); east > 0 {
		dx = min(east, float64(b.MinX)+FullTurn-o.X)
	}
	if dx > 0 {
		// The cosine has no minimum between two latitudes but at one of them.
		cos := min(o.lowerCosine(minY*RadiansPerUnit), o.lowerCosine(maxY*RadiansPerUnit))
		if cos > 0 {
			h += o.Cos * cos * lowerHalfSineSquared(dx*RadiansPerUnit)
		}
	}
	return h
}

// lowerCosine is at most the cosine of the latitude that lies a, in radians, north of the origin's.
func (o *Origin) lowerCosine(a float64) float64 {
	q := a * a
	return o.Cos*(1-q/2) - o.sin*a - math.Abs(a)*q/6
}

// EastTo is the difference of longitudes, in 1e-7 degrees, from the origin to x, the short way round.
func (o *Origin) EastTo(x int32) float64 {
	d := float64(x) - o.X
	if d > HalfTurn {
		d -= FullTurn
	} else if d < -HalfTurn {
		d += FullTurn
	}
	return d
}
