package guidance_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/routing/guidance"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// randomPath is the fastest path between two edges of a graph, or nil if there is none.
func randomPath(g *roadgraph.Graph, edges []uint32, s *roadgraph.Search, random *rand.Rand) *guidance.Path {
	from, to := 2*edges[random.IntN(len(edges))], 2*edges[random.IntN(len(edges))]
	s.Reset(g, roadgraph.Costs{PerSecond: 1, TurnBack: 60, DeadEnd: 10})
	s.AddSource(0, from, 0, 0)
	s.AddTarget(0, to)
	at, ok := s.Next(context.Background())
	if !ok {
		return nil
	}
	var states []uint32
	for i := at; i >= 0; i = s.Label(i).Parent {
		states = append(states, s.Label(i).State)
	}
	slices.Reverse(states)
	first, last := random.Float64()*float64(g.Length(from))/1000, (1-random.Float64())*float64(g.Length(to))/1000
	return pathOf(g, states, first, last)

}

// TestDelaware describes random paths of all modes.
func TestDelaware(t *testing.T) {
	if testkit.RaceDetector {
		t.Skip("there is nothing to race here")
	}
	f := roadgraphtest.DelawareFile(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, mode := range []guidance.Mode{guidance.Driving, guidance.Cycling, guidance.Walking} {
		g := roadgraphtest.Open(t, f, modes[mode])
		edges := roadgraphtest.Edges(g)
		var s roadgraph.Search
		paths, kinds := 0, map[string]int{}
		for range 40 {
			p := randomPath(g, edges, &s, random)
			if p == nil {
				continue
			}
			paths++
			if paths%3 == 0 { // a path is a part of a longer line
				p.Line = slices.Concat(orb.LineString{{1, 2}, p.Line[0]}, p.Line[1:], orb.LineString{{3, 4}})
				for i := range p.First {
					p.First[i]++
				}
			}
			steps := guidance.Steps(g, p, guidance.Options{Mode: mode, Language: "de", LeftDriving: paths%2 == 0, Final: true})
			if err := check(p, steps); err != nil {
				t.Fatalf("%s, %d states from %v: %v", mode, len(p.States), p.Line[0], err)
			}
			for i := range steps {
				kinds[steps[i].Maneuver.Type]++
			}
			if guidance.Summary(g, p) == "" && len(p.States) > 100 {
				t.Errorf("%s: no summary of a path from %v", mode, p.Line[0])
			}
		}
		if paths < 20 || kinds["turn"] == 0 {
			t.Errorf("%s: %d paths, %v", mode, paths, kinds)
		}
		t.Logf("%s: %d paths, %v", mode, paths, kinds)
	}
}

// TestEdgesOfTheWorld describes paths across the antimeridian and a pole.
func TestEdgesOfTheWorld(t *testing.T) {
	for name, of := range roadgraphtest.WorldEdges() {
		t.Run(name, func(t *testing.T) {
			g := roadgraphtest.Crossing(of.Middle).Open(t)
			random := rand.New(rand.NewPCG(5, 6))
			var s roadgraph.Search
			for range 20 {
				p := randomPath(g, roadgraphtest.Edges(g), &s, random)
				if p == nil {
					continue
				}
				if err := check(p, guidance.Steps(g, p, guidance.Options{Mode: guidance.Driving})); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// BenchmarkSteps describes paths through half of Delaware: the same one again, and many.
func BenchmarkSteps(b *testing.B) {
	g := roadgraphtest.Delaware(b)
	edges := roadgraphtest.Edges(g)
	random := rand.New(rand.NewPCG(3, 4))
	var s roadgraph.Search
	var paths []*guidance.Path
	for len(paths) < 100 {
		if p := randomPath(g, edges, &s, random); p != nil && len(p.States) > 300 && len(p.States) < 500 {
			paths = append(paths, p)
		}
	}
	for name, some := range map[string][]*guidance.Path{"one": paths[:1], "many": paths} {
		b.Run(name, func(b *testing.B) {
			states, steps := 0, 0
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				p := some[i%len(some)]
				states += len(p.States)
				steps += len(guidance.Steps(g, p, guidance.Options{Mode: guidance.Driving}))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(states), "ns/edge")
			b.ReportMetric(float64(states)/float64(b.N), "edges")
			b.ReportMetric(float64(steps)/float64(b.N), "steps")
		})
	}
}
