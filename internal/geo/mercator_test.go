package geo_test

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

const world = geo.World

func TestProject(t *testing.T) {
	for name, c := range map[string]struct {
		point orb.Point
		want  geo.Projected
	}{
		"the middle":            {orb.Point{0, 0}, geo.Projected{X: world / 2, Y: world / 2}},
		"the north-west corner": {orb.Point{-180, geo.MaxLat}, geo.Projected{}},
		"the south-east corner": {orb.Point{180, -geo.MaxLat}, geo.Projected{X: world, Y: world}},
		"the poles":             {orb.Point{-90, 90}, geo.Projected{X: world / 4}},
		"beyond all borders":    {orb.Point{181, -91}, geo.Projected{X: world, Y: world}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := geo.Project(c.point); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestProjectBringsDegreesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.OneOf(rapid.Int32Range(0, world), rapid.Int32Range(0, 9), rapid.Int32Range(world-9, world))
		p := geo.Projected{X: c.Draw(t, "x"), Y: c.Draw(t, "y")}
		if got := geo.Project(p.Degrees()); got != p {
			t.Fatalf("%v, want %v", got, p)
		}
	})
}

// Points a ten-millionth of a degree apart, as OpenStreetMap has them, keep their order, and lie in the tile that a
// library says.
func TestProjectKeepsTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lon := float64(rapid.Int32Range(-180e7, 180e7-1).Draw(t, "lon")) / 1e7
		lat := float64(rapid.Int32Range(-85e7, 85e7).Draw(t, "lat")) / 1e7
		a, b := geo.Project(orb.Point{lon, lat}), geo.Project(orb.Point{lon + 1e-7, lat - 1e-7})
		if a.X > b.X || a.Y > b.Y {
			t.Fatalf("%v comes after %v", a, b)
		}
		const zoom = 16
		in := maptile.Fraction(orb.Point{lon, lat}, zoom)
		x, y := float64(a.X)/(world>>zoom), float64(a.Y)/(world>>zoom)
		if off := math.Hypot(x-in[0], y-in[1]); off > 1.0/(world>>zoom) {
			t.Fatalf("%v is off by %v of a tile", a, off)
		}
	})
}

// TestProjectE7 compares ProjectE7 with Project from pole to pole.
func TestProjectE7(t *testing.T) {
	for lat := int32(-900_000_000); lat <= 900_000_000; lat += 997 {
		want := geo.Project(orb.Point{0, float64(lat) / 1e7})
		if got := geo.ProjectE7(lat, 0); got != want {
			t.Fatalf("%d: %v, want %v", lat, got, want)
		}
	}
}

func BenchmarkProjectE7(b *testing.B) {
	for i := int32(0); b.Loop(); i++ {
		geo.ProjectE7(390_000_000+i%1000*1000, -755_000_000)
	}
}

func BenchmarkProject(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		geo.Project(orb.Point{-75.5, 39 + float64(i%1000)/1000})
	}
}
