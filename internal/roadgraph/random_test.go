package roadgraph_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	_ "github.com/mapsedge/caddy-maps/internal/testkit" // fewer checks under the race detector
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestSearchAgainstBruteForce compares routes on random networks with one-ways, barriers, restrictions and
// destination-only roads with a search over the segments of the ways that remembers every segment it came by.
func TestSearchAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		town := randomTown(rt)
		g := town.Open(t)
		edges := roadgraphtest.Edges(g)
		if len(edges) == 0 {
			return
		}
		costs := roadgraph.Costs{PerMetre: 1, DestinationOnly: rapid.SampledFrom([]float64{0, 90, 500}).Draw(rt, "enter")}
		naive := newWalker(&town.Data)
		naive.enter = costs.DestinationOnly
		var s roadgraph.Search
		arc := rapid.Custom(func(rt *rapid.T) uint32 {
			return 2*rapid.SampledFrom(edges).Draw(rt, "edge") + uint32(rapid.IntRange(0, 1).Draw(rt, "direction"))
		})
		for range 8 {
			from, to := arc.Draw(rt, "from"), arc.Draw(rt, "to")
			if !isOpen(g, from) || !isOpen(g, to) {
				continue
			}
			want := naive.route(naive.segments(g, from), naive.segments(g, to)[0])
			for name, find := range map[string]func(*roadgraph.Graph, *roadgraph.Search, roadgraph.Costs, uint32, uint32) (
				float64, []uint32){"Dijkstra": search, "A*": searchAStar} {
				got, arcs := find(g, &s, costs, from, to)
				if math.IsInf(want, 1) != math.IsInf(got, 1) || math.Abs(got-want) > 0.01*float64(len(arcs)+1) {
					rt.Fatalf("%s from arc %d to arc %d: %.3f m by %v, want %.3f m", name, from, to, got, arcs, want)
				}
			}
		}
	})
}

func randomTown(rt *rapid.T) *roadgraphtest.Town {
	var town roadgraphtest.Town
	n := rapid.IntRange(3, 9).Draw(rt, "nodes")
	for i := range n {
		town.Node(float64(i%3)*100+float64(i*i%7), float64(i/3)*100+float64(i*i%11))
		if rapid.IntRange(0, 9).Draw(rt, "barrier") == 0 {
			town.Data.Nodes[i].Barrier = region.Car
		}
	}
	joined := map[[2]uint32]bool{} // no two segments between the same nodes, so that each is known by its ends
	for range rapid.IntRange(1, 12).Draw(rt, "ways") {
		nodes := []uint32{uint32(rapid.IntRange(0, n-1).Draw(rt, "node"))}
		for range rapid.IntRange(1, 2).Draw(rt, "pieces") {
			last, next := nodes[len(nodes)-1], uint32(rapid.IntRange(0, n-1).Draw(rt, "node"))
			if pair := [2]uint32{min(last, next), max(last, next)}; last != next && !joined[pair] {
				joined[pair] = true
				nodes = append(nodes, next)
			}
		}
		if len(nodes) < 2 {
			continue
		}
		r := town.Road(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "name"), nodes...)
		switch rapid.IntRange(0, 4).Draw(rt, "direction") {
		case 0:
			r.Backward = 0
		case 1:
			r.Forward = 0
		}
		if rapid.IntRange(0, 2).Draw(rt, "destination") == 0 {
			r.DestinationForward = r.Forward & region.Car
			r.DestinationBackward = r.Backward & rapid.SampledFrom([]region.Modes{0, region.Car}).Draw(rt, "back")
		}
	}
	ways := len(town.Data.Roads)
	if ways == 0 {
		return &town
	}
	way := rapid.Int64Range(1, int64(ways))
	for range rapid.IntRange(0, 6).Draw(rt, "restrictions") {
		r := roadgraphtest.Restriction{From: way.Draw(rt, "from"), To: way.Draw(rt, "to"), ViaNode: roadgraphtest.NoNode,
			Modes: region.Car, Only: rapid.Bool().Draw(rt, "only")}
		if rapid.Bool().Draw(rt, "over ways") {
			for range rapid.IntRange(1, 2).Draw(rt, "via ways") {
				r.ViaWays = append(r.ViaWays, way.Draw(rt, "via"))
			}
		} else {
			r.ViaNode = uint32(rapid.IntRange(0, n-1).Draw(rt, "via"))
		}
		town.Data.Restrictions = append(town.Data.Restrictions, r)
	}
	return &town
}
