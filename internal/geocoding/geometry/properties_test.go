package geometry_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	_ "github.com/mapsedge/caddy-maps/internal/testkit" // fewer checks under the race detector
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

func TestHaversineIsThatOfTheTextbook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anywhere(t, "a"), anywhere(t, "b")
		if rapid.Bool().Draw(t, "near") {
			b = placestest.Near(t, "b", a, 0.1)
		}
		o, c := geometry.NewOrigin(a), geometry.NewCoord(b)
		got, want := geometry.Metres(o.Haversine(o.EastTo(c.X), float64(c.Y)-o.Y)), geocodingtest.Haversine(a, b)
		// Near the antipode the haversine is next to 1, where the last digit of a float64 is worth 0.1 m.
		if math.Abs(got-want) > 1e-7+want*1e-9 && math.Abs(got-want) > 0.5*want/2e7 {
			t.Errorf("%v to %v: %.9f m, want %.9f m", a, b, got, want)
		}
	})
}

// TestBoundsAreBounds draws a box and a position in it: no bound may be above the position's haversine, unless the
// position is beyond the distance that the bounds were prepared for.
func TestBoundsAreBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := anywhere(t, "from")
		width := rapid.SampledFrom([]float64{1e-4, 0.01, 1, 60}).Draw(t, "width")
		a, b := placestest.Near(t, "a", from, width), placestest.Near(t, "b", from, width)
		if rapid.Bool().Draw(t, "far") {
			a, b = anywhere(t, "a"), anywhere(t, "b")
		}
		ca, cb := geometry.NewCoord(a), geometry.NewCoord(b)
		bx := geometry.BoxOf([]geometry.Coord{ca, cb})
		in := geometry.Coord{X: rapid.Int32Range(bx.MinX, bx.MaxX).Draw(t, "x"), Y: rapid.Int32Range(bx.MinY, bx.MaxY).Draw(t, "y")}
		o := geometry.NewOrigin(from)
		h := o.Haversine(o.EastTo(in.X), float64(in.Y)-o.Y)
		var bounds [geo.TreeFanout]geometry.Near
		o.Nearest(&bounds, []geo.Box{bx}, math.Inf(1))
		if bounds[0].Haversine > h*(1+1e-12)+1e-30 {
			t.Errorf("on the sphere: %g for something that is at %g", bounds[0].Haversine, h)
		}
		reach := rapid.SampledFrom([]float64{1, 1000, 30_000, 500_000, 2e7}).Draw(t, "reach")
		o.LimitTo(reach)
		limit := geometry.HaversineWithin(reach)
		if h > limit {
			return
		}
		o.Nearest(&bounds, []geo.Box{bx}, math.Inf(1))
		if bounds[0].Haversine > h*(1+1e-12)+1e-30 {
			t.Errorf("within %g m: %g for something that is at %g", reach, bounds[0].Haversine, h)
		}
	})
}

// TestContainsIsThatOfOrb compares the test of chunked polygons with the library's.
func TestContainsIsThatOfOrb(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		middle := orb.Point{rapid.Float64Range(-170, 170).Draw(t, "lon"), rapid.Float64Range(-80, 80).Draw(t, "lat")}
		degrees := rapid.SampledFrom([]float64{1e-3, 0.1, 5}).Draw(t, "degrees")
		g := placestest.RandomGeometry(t, "geometry", middle, degrees)
		built, ok := geometry.New(g)
		if !ok {
			t.Fatal("nothing is left of it")
		}
		for i := range 20 {
			p := placestest.Near(t, fmt.Sprint("from", i), middle, degrees*1.1)
			want := false
			if polygon, isArea := g.(orb.Polygon); isArea {
				want = planar.PolygonContains(polygon, p)
			}
			o := geometry.NewOrigin(p)
			if got := built.Contains(&o); got != want {
				if d := geocodingtest.Distance(boundary(g), p, 1000); d > 0.01 { // on the outline, either is right
					t.Errorf("%v, %g m from the outline: %v, want %v", p, d, got, want)
				}
			}
		}
	})
}

// anywhere draws positions of whole units all over the Earth, with a liking for poles, the equator and the
// antimeridian.
func anywhere(t *rapid.T, label string) orb.Point {
	lon := rapid.OneOf(rapid.Float64Range(-180, 180), rapid.SampledFrom([]float64{-180, 180, 0, 179.99, -179.99})).Draw(t, label+" lon")
	lat := rapid.OneOf(rapid.Float64Range(-90, 90), rapid.SampledFrom([]float64{-90, 90, 0, 89.99, -89.99})).Draw(t, label+" lat")
	return geometry.NewCoord(orb.Point{lon, lat}).Point()
}

// boundary is what the distance to a geometry from outside is measured to.
func boundary(g orb.Geometry) orb.Geometry {
	if polygon, ok := g.(orb.Polygon); ok {
		var m orb.LineString
		for _, ring := range polygon {
			m = append(m, ring...)
		}
		return m
	}
	return g
}
