package roadgraph_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
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

// TestTurnsAtTheEdges: the angles of turns are what they are elsewhere, and so are the lengths of routes, with A* as
// without.
func TestTurnsAtTheEdges(t *testing.T) {
	turns := func(t *testing.T, middle orb.Point) (angles []int, metres [2]float64) {
		g := roadgraphtest.Crossing(middle).Open(t)
		var arcs []uint32
		for edge := range g.Edges() {
			if name := g.Name(edge); name == "east" || name == "north" || name == "west" || name == "south" {
				arcs = append(arcs, 2*edge)
			}
		}
		slices.SortFunc(arcs, func(a, b uint32) int { return cmp.Compare(g.Name(a>>1), g.Name(b>>1)) })
		for _, arc := range arcs {
			for _, turn := range g.Turns(arc^1, nil) {
				angles = append(angles, int(turn.Angle))
			}
		}
		slices.Sort(angles)
		var s roadgraph.Search
		for i, aim := range []bool{false, true} {
			s.Reset(g, byLength)
			end := g.At(arcs[3]>>1, 500)
			if aim {
				s.SetPotential(end.Lat(), end.Lon(), 0)
			}
			s.AddSource(0, arcs[0]^1, 0, 0)
			s.AddTarget(0, arcs[3]^1)
			if label, ok := s.Next(context.Background()); ok {
				metres[i] = s.Label(label).Cost
			}
		}
		return angles, metres
	}
	want, metres := turns(t, roadgraphtest.Plain())
	if len(want) != 16 {
		t.Fatalf("%d turns in the middle: %v", len(want), want)
	}
	for name, edge := range roadgraphtest.WorldEdges() {
		t.Run(name, func(t *testing.T) {
			got, there := turns(t, edge.Middle)
			if !slices.EqualFunc(got, want, func(a, b int) bool { return a-b <= 1 && b-a <= 1 }) {
				t.Errorf("angles %v, want %v", got, want)
			}
			for i := range metres {
				if math.Abs(there[i]-metres[i]) > edge.Rounding {
					t.Errorf("the route is %.3f m, want %.3f m", there[i], metres[i])
				}
			}
		})
	}
}
