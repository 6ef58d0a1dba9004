package roadgraph_test

import (
	"math"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestNearAtTheEdges: distances and offsets are what they are elsewhere.
func TestNearAtTheEdges(t *testing.T) {
	near := func(t *testing.T, middle orb.Point, x, y, radius float64) (found map[string][2]float64) {
		town := roadgraphtest.Crossing(middle)
		g, at := town.Open(t), town.At(x, y)
		found = map[string][2]float64{}
		for _, h := range g.Near(at.Lat(), at.Lon(), radius, nil) {
			found[g.Name(h.Edge)] = [2]float64{h.Distance, float64(h.Offset) / 1000}
			if there := away(g, h, at); math.Abs(there-h.Distance) > 0.01 {
				t.Errorf("the place found on %s is %.3f m away, not %.3f m", g.Name(h.Edge), there, h.Distance)
			}
		}
		return found
	}
	for name, edge := range roadgraphtest.WorldEdges() {
		t.Run(name, func(t *testing.T) {
			for _, at := range [][2]float64{{0, 0}, {30, 10}, {-30, 10}, {-100, -60}, {200, 5}, {-1, 90}} {
				want, got := near(t, roadgraphtest.Plain(), at[0], at[1], 150), near(t, edge.Middle, at[0], at[1], 150)
				if len(got) != len(want) || len(want) < 2 {
					t.Errorf("at %v: %v, want %v", at, got, want)
				}
				for name, w := range want {
					g := got[name]
					// The whole ring is as near to its middle, and it ends where it begins.
					if math.Abs(g[0]-w[0]) > edge.Rounding || name != "ring" && math.Abs(g[1]-w[1]) > edge.Rounding {
						t.Errorf("at %v: %s is at %.3f, want %.3f", at, name, g, w)
					}
				}
			}
		})
	}
}
