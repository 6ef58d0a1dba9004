package roadgraph_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestJunctions: the roads that meet at places in Delaware, and their directions, are those of all edges' shapes.
func TestJunctions(t *testing.T) {
	f := roadgraphtest.DelawareFile(t)
	var j roadgraph.Junctions
	for _, mode := range []region.Modes{region.Car, region.Foot} {
		g := roadgraphtest.Open(t, f, mode)
		want := map[orb.Point][]uint32{}
		for edge := range g.Edges() {
			shape := g.Shape(edge, nil)
			first, last := shape[0].Location(), shape[len(shape)-1].Location()
			want[first] = append(want[first], 2*edge)
			want[last] = append(want[last], 2*edge+1)
		}
		n := 0
		for edge := range g.Edges() {
			if n++; n%13 != 0 {
				continue
			}
			arc := 2*edge + uint32(n)%2
			end := g.Arc(arc).Head
			at := orb.Point{float64(end.EndLon) / 1e7, float64(end.EndLat) / 1e7}
			for range 2 { // the second time it is remembered
				var got []uint32
				for _, l := range j.Meeting(g, end) {
					got = append(got, l.Arc)
					if by := math.Abs(math.Remainder(float64(l.Bearing)-direction(g, l.Arc), 360)); by > 0.5 {
						t.Fatalf("arc %d leaves at %v°, not %v°", l.Arc, l.Bearing, direction(g, l.Arc))
					}
					e := g.Edge(l.Arc >> 1)
					if l.Traits != (roadgraph.Traits{Name: e.Name, Ref: e.Ref, Class: e.Class, Flags: e.Flags}) {
						t.Fatalf("arc %d has traits %v, not those of %v", l.Arc, l.Traits, e)
					}
				}
				slices.Sort(got)
				slices.SortFunc(want[at], cmp.Compare)
				if !slices.Equal(got, want[at]) {
					t.Fatalf("at %v meet %v, want %v", at, got, want[at])
				}
			}
		}
	}
}

// direction is the bearing of the place Ahead metres along an arc, or of its end, from its beginning.
func direction(g *roadgraph.Graph, arc uint32) float64 {
	length := float64(g.Length(arc)) / 1000
	from, to := 0.0, min(roadgraph.Ahead, length)
	if arc&1 == 1 {
		from, to = length, length-to
	}
	a, b := g.At(arc>>1, from), g.At(arc>>1, to)
	return math.Atan2((b[0]-a[0])*math.Cos(a[1]*math.Pi/180), b[1]-a[1]) * 180 / math.Pi
}
