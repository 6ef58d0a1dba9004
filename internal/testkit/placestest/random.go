package placestest

import (
	"fmt"
	"math"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// Near draws a position not far from another.
func Near(t *rapid.T, label string, p orb.Point, degrees float64) orb.Point {
	q := orb.Point{p[0] + rapid.Float64Range(-degrees, degrees).Draw(t, label+" east"), p[1] + rapid.Float64Range(-degrees,
		degrees).Draw(t, label+" north")}
	return geometry.NewCoord(orb.Point{max(min(q[0], 180), -180), max(min(q[1], 90), -90)}).Point()
}

// RandomGeometry draws points, lines, and polygons that are stars around a middle, some with a hole.
func RandomGeometry(t *rapid.T, label string, middle orb.Point, degrees float64) orb.Geometry {
	star := func(label string, radius float64, n int) orb.Ring {
		var r orb.Ring
		for i := range n {
			a := 2 * math.Pi * float64(i) / float64(n)
			d := radius * rapid.Float64Range(0.5, 1).Draw(t, label)
			r = append(r, geometry.NewCoord(orb.Point{middle[0] + d*math.Cos(a), middle[1] + d*math.Sin(a)}).Point())
		}
		return append(r, r[0])
	}
	switch rapid.SampledFrom([]string{"point", "line", "polygon", "hole", "many"}).Draw(t, label) {
	case "point":
		return middle
	case "line":
		l := orb.LineString{middle}
		for i := range rapid.IntRange(1, 60).Draw(t, label+" segments") {
			l = append(l, Near(t, fmt.Sprint(label, i), l[i], degrees/10))
		}
		return l
	case "hole":
		return orb.Polygon{star(label, degrees, rapid.IntRange(3, 40).Draw(t, label+" corners")), Reversed(star(label+" hole",
			degrees*0.2, 5))}
	case "many":
		return orb.Polygon{star(label, degrees, rapid.IntRange(200, 400).Draw(t, label+" corners"))}
	}
	return orb.Polygon{star(label, degrees, rapid.IntRange(3, 12).Draw(t, label+" corners"))}
}
