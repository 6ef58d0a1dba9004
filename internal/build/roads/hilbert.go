package roads

import (
	"math"

	"github.com/paulmach/orb"
)

// curve orders positions along a Hilbert curve, so that what is near on the ground is near in the file.
type curve struct{ minLat, minLon, perLat, perLon float64 }

const curveOrder = 24 // bits for each axis: on a map of all the Earth 2 m

// newCurve returns one over a square that holds the bounds: of a wide country, squares of the curve are squares, too.
func newCurve(b orb.Bound) curve {
	const cells = 1<<curveOrder - 1
	c := curve{minLat: b.Min.Lat(), minLon: b.Min.Lon()}
	height := b.Max.Lat() - b.Min.Lat()
	shrink := math.Cos((b.Min.Lat() + height/2) * math.Pi / 180)
	if side := max(height, (b.Max.Lon()-b.Min.Lon())*shrink); side > 0 {
		c.perLat, c.perLon = cells/side, cells/side*shrink
	}
	return c
}

// at is the place of a position in 1e-7 degrees on the curve.
func (c *curve) at(lat, lon float64) uint64 {
	const last = 1<<curveOrder - 1
	x := uint64(min(max((lon*1e-7-c.minLon)*c.perLon, 0), last))
	y := uint64(min(max((lat*1e-7-c.minLat)*c.perLat, 0), last))
	var d uint64
	for s := uint64(1) << (curveOrder - 1); s > 0; s >>= 1 {
		var rx, ry uint64
		if x&s != 0 {
			rx = 1
		}
		if y&s != 0 {
			ry = 1
		}
		d += s * s * (3*rx ^ ry)
		if ry == 0 { // turn the quadrant so that the curve inside it starts where the last one ended
			if rx == 1 {
				x, y = last-x, last-y
			}
			x, y = y, x
		}
	}
	return d
}
