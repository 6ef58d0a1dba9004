package places

import (
	"math"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// TestLargeAreas: areas of many rings or many vertices take little more than what it takes to read them.
func TestLargeAreas(t *testing.T) {
	testkit.Whole(t)
	const state = "ISO3166-1=US, admin_level=2, boundary=administrative, name=Union"
	rings := func(n int, step float64) (m orb.MultiPolygon) {
		side := int(math.Sqrt(float64(n)))
		for i := range n {
			m = append(m, orb.Polygon{placestest.Square(float64(i%side)*step, float64(i/side)*step, step/3)})
		}
		return m
	}
	wave := func(n int, radius, depth float64, waves int) orb.MultiPolygon {
		r := make(orb.Ring, 0, n+1)
		for i := range n {
			a := 2 * math.Pi * float64(i) / float64(n)
			d := radius * (1 + depth*math.Sin(a*float64(waves)))
			r = append(r, placestest.At(d*math.Cos(a), d*math.Sin(a)))
		}
		return orb.MultiPolygon{{append(r, r[0])}}
	}
	for name, c := range map[string]struct {
		area   orb.MultiPolygon
		atMost time.Duration
	}{
		"25000 rings beside each other": {rings(25_000, 6), 10 * time.Second},
		"25000 rings in a town":         {rings(25_000, 0.5), 5 * time.Second},
		"a border of 300000 vertices":   {wave(300_000, 2000, 0.02, 1000), 5 * time.Second},
		"a comb of 100000 vertices":     {wave(100_000, 100, 0.9, 10_000), 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			w := new(placestest.World)
			w.Multi(1, state, c.area...)
			d := w.Data(t)
			dir := placestest.Scratch(t)
			testkit.Work(t, "compiling it", c.atMost, func() {
				if _, err := Write(new(region.Writer), d, dir); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
