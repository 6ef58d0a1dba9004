package matching_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// routes are the quickest routes between random places of a map, 3 to 8 km apart.
func routes(tb testing.TB, g *roadgraph.Graph, seed uint64, n int) (all [][]uint32) {
	tb.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	var s roadgraph.Search
	edges := roadgraphtest.Edges(g)
	random := func() uint32 { return 2*edges[r.IntN(len(edges))] + uint32(r.IntN(2)) }
	for tries := 0; len(all) < n; tries++ {
		if tries > 1000*n {
			tb.Fatalf("only %d routes are found", len(all))
		}
		from, to := random(), random()
		spacing := distance(g.At(from>>1, 0), g.At(to>>1, 0))
		if spacing < 3000 || spacing > 8000 || !isOpen(g, from) || !isOpen(g, to) {
			continue
		}
		s.Reset(g, roadgraph.Costs{PerSecond: 1})
		s.Limit = 1800
		s.AddSource(0, from, 0, 0)
		s.AddTarget(0, to)
		label, ok := s.Next(context.Background())
		if !ok {
			continue
		}
		var arcs []uint32
		for at := label; at >= 0; at = s.Label(at).Parent {
			arcs = append(arcs, s.Label(at).State)
		}
		slices.Reverse(arcs)
		all = append(all, arcs)
	}
	return all
}

func isOpen(g *roadgraph.Graph, arc uint32) bool {
	return g.Edge(arc >> 1).Flags.Has([]roadgraph.Flags{roadgraph.Forward, roadgraph.Backward}[arc&1])
}

// TestDelawareDrives matches drives on real roads. The bars are a little above what the matcher achieves: of all metres
// driven and answered, the share that is missing or too much.
func TestDelawareDrives(t *testing.T) {
	testkit.Whole(t)
	g := roadgraphtest.Delaware(t)
	m := matching.New(g, matching.Options{})
	drives := routes(t, g, 1, 40)
	for _, test := range []struct {
		every, sigma float64 // seconds, metres
		bar          float64
	}{{1, 4, 0.005}, {5, 4, 0.008}, {5, 10, 0.015}, {15, 4, 0.013}, {15, 10, 0.02}, {60, 10, 0.08}} {
		t.Run(fmt.Sprintf("every %v s sigma %v", test.every, test.sigma), func(t *testing.T) {
			n := newNoise(7, test.sigma)
			total, missed, added := 0.0, 0.0, 0.0
			for i, arcs := range drives {
				req := &matching.Request{Points: n.record(g, arcs, test.every), Details: true}
				r, err := m.Match(context.Background(), req)
				if err != nil {
					t.Errorf("drive %d is lost: %v", i, err)
					continue
				}
				drive, err := check(g, req, r)
				if err != nil {
					t.Errorf("drive %d: %v", i, err)
				}
				truth := whole(g, arcs)
				less, more := compare(truth, drive)
				total, missed, added = total+metres(truth), missed+less, added+more
				// in a minute one may have gone another way
				if wrong := (less + more) / metres(truth); wrong > 0.5 && test.every < 60 {
					t.Errorf("drive %d: of %.0f m, %.0f m are missing and %.0f m are added", i, metres(truth), less, more)
				}
			}
			t.Logf("of %.0f km, %.2f%% are missing and %.2f%% are added", total/1000, 100*missed/total, 100*added/total)
			if wrong := (missed + added) / total; wrong > test.bar {
				t.Errorf("%.2f%% of all drives is wrong, more than %.1f%%", 100*wrong, 100*test.bar)
			}
		})
	}
}
