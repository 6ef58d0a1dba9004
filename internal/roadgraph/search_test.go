package roadgraph_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

var byLength = roadgraph.Costs{PerMetre: 1}

// search finds the cheapest route from the end of an arc to the beginning of any state of another.
func search(g *roadgraph.Graph, s *roadgraph.Search, costs roadgraph.Costs, from, to uint32) (cost float64,
	arcs []uint32) {
	s.Reset(g, costs)
	return finish(g, s, from, to)
}

// searchAStar is the same with A*.
func searchAStar(g *roadgraph.Graph, s *roadgraph.Search, costs roadgraph.Costs, from, to uint32) (cost float64,
	arcs []uint32) {
	s.Reset(g, costs)
	end := g.Arc(to)
	s.SetPotential(float64(end.EndLat)/1e7, float64(end.EndLon)/1e7, 0)
	return finish(g, s, from, to)
}

func finish(g *roadgraph.Graph, s *roadgraph.Search, from, to uint32) (cost float64, arcs []uint32) {
	s.AddSource(0, from, 0, 0)
	s.AddTarget(0, to)
	for state, last := g.StatesOf(to); state < last; state++ {
		s.AddTarget(0, state)
	}
	label, ok := s.Next(context.Background())
	if !ok {
		return math.Inf(1), nil
	}
	cost = s.Label(label).Cost
	for i := label; i >= 0; i = s.Label(i).Parent {
		arcs = append(arcs, g.ArcOf(s.Label(i).State))
	}
	slices.Reverse(arcs)
	return cost, arcs
}

// TestRoutes: which edges a route takes, and how many metres it costs from the end of one arc to the beginning of
// another. The grid is in steps of 100 m.
func TestRoutes(t *testing.T) {
	const (
		cross = "wm\nme\nmn\nms\nnre\n"
		// Two carriageways with a link be between them and a side street beyond.
		dual = "ab oneway=yes\nbc oneway=yes\nfe oneway=yes\ned oneway=yes\nbe\neg\n"
		// A short cut from w to e that may be for destination traffic, and a way round.
		short = "kw\nel\nwnre name=round\nms\n"
	)
	tests := map[string]struct {
		ways     string
		from, to string // the letters at the ends of arcs
		metres   float64
		want     string // the names of the edges travelled; empty for no route
	}{
		"straight on":                  {cross, "wm", "me", 0, "wm me"},
		"against a one-way":            {"wm\nme oneway=-1", "wm", "me", 0, ""},
		"over a barrier":               {cross + "m barrier=bollard", "wm", "me", 0, ""},
		"a forbidden turn":             {cross + "wm/m/me restriction=no_straight_on", "wm", "me", 200, "wm ms ms me"},
		"one for bicycles":             {cross + "wm/m/me restriction:bicycle=no_straight_on", "wm", "me", 0, "wm me"},
		"from another street":          {cross + "mn/m/me restriction=no_left_turn", "wm", "me", 0, "wm me"},
		"the only turn":                {cross + "wm/m/mn restriction=only_left_turn", "wm", "me", 741.4, "wm mn nre me ms ms me"},
		"the only turn kept":           {cross + "wm/m/me restriction=only_straight_on", "wm", "me", 0, "wm me"},
		"back at the end of a road":    {cross, "ms", "sm", 0, "ms ms"},
		"no U-turn where it goes on":   {cross, "wm", "mw", 200, "wm ms ms wm"},
		"off a link":                   {dual + "ab/be/ed restriction=no_u_turn", "ab", "eg", 100, "ab be eg"},
		"no U-turn over it":            {dual + "ab/be/ed restriction=no_u_turn", "ab", "ed", 300, "ab be eg eg ed"},
		"only one turn over it":        {dual + "ab/be/eg restriction=only_straight_on", "ab", "ed", 300, "ab be eg eg ed"},
		"which begins on the link":     {dual + "ab/be/ed restriction=no_u_turn", "be", "ed", 0, "be ed"},
		"a short cut":                  {short + "wm\nme", "kw", "el", 200, "kw wm me el"},
		"a short cut for destinations": {short + "wm access=destination\nme access=destination", "kw", "el", 400, "kw round el"},
		"of which one part is so":      {short + "wm\nme access=destination", "kw", "el", 400, "kw round el"},
		"for those on bicycles":        {short + "wm bicycle=destination\nme", "kw", "el", 200, "kw wm me el"},
		"into it":                      {short + "wm access=destination\nme", "kw", "wm", 1000, "kw wm"},
		"out of it":                    {short + "wm access=destination\nme", "wm", "el", 100, "wm me el"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			grid := ".n.r\nkwmel\n..s"
			if strings.HasPrefix(test.ways, dual) {
				grid = "abc\nfed\n.g"
			}
			drawn := roadgraphtest.Sketch{Step: 100, Grid: grid, Ways: test.ways}.Draw(t)
			ends := []rune(test.from + test.to)
			var s roadgraph.Search
			metres, arcs := search(drawn.Graph, &s, roadgraph.Costs{PerMetre: 1, DestinationOnly: 1000},
				drawn.Arc(t, ends[0], ends[1]), drawn.Arc(t, ends[2], ends[3]))
			var got []string
			for _, arc := range arcs {
				got = append(got, drawn.Name(arc>>1))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" || test.want != "" && math.Abs(metres-test.metres) > 0.5 {
				t.Errorf("%.1f m, want %.1f m: %s", metres, test.metres, diff)
			}
		})
	}
}

func TestTurnCosts(t *testing.T) {
	d := roadgraphtest.Sketch{Step: 100, Grid: ".n.\nwme", Ways: "wm\nmn\nme"}.Draw(t)
	var turns [256]float64
	for a := range turns {
		turns[a] = 128 + float64(int8(a))
	}
	var s roadgraph.Search
	for way, want := range map[string]float64{"wmn": 64, "nmw": 192, "wme": 128} {
		ends := []rune(way)
		s.Reset(d.Graph, roadgraph.Costs{Turn: &turns})
		s.AddSource(7, d.Arc(t, ends[0], ends[1]), 100, 0)
		s.AddTarget(0, d.Arc(t, ends[1], ends[2]))
		label, ok := s.Next(context.Background())
		if !ok {
			t.Fatalf("no route by %s", way)
		}
		if l := s.Label(label); math.Abs(l.Cost-100-want) > 1 || l.Source != 7 {
			t.Errorf("%s: %+v, want %v", way, l, want)
		}
	}
}

func TestSearchEnds(t *testing.T) {
	g := roadgraphtest.Delaware(t)
	edges := roadgraphtest.Edges(g)
	start := func(s *roadgraph.Search) {
		s.Reset(g, byLength)
		s.AddSource(0, 2*edges[0], 0, 0)
		for i := 500; i < len(edges); i += 500 {
			s.AddTarget(0, 2*edges[i])
		}
	}
	drain := func(ctx context.Context, s *roadgraph.Search) (n int, farthest float64) {
		for {
			label, ok := s.Next(ctx)
			if !ok {
				return n, farthest
			}
			if cost := s.Label(label).Cost; cost < farthest {
				t.Fatalf("a target at %.1f m came after one at %.1f m", cost, farthest)
			} else {
				farthest = cost
			}
			n++
		}
	}
	var s roadgraph.Search
	start(&s)
	all, far := drain(context.Background(), &s)
	if all < 100 || s.Err() != nil {
		t.Fatalf("%d targets found, error %v", all, s.Err())
	}
	start(&s)
	s.Limit = far / 2
	if n, f := drain(context.Background(), &s); n == 0 || n >= all || f > far/2 || s.Err() != nil {
		t.Errorf("within half the distance: %d of %d targets up to %.0f m, error %v", n, all, f, s.Err())
	}
	start(&s)
	s.Begin(5000, nil)
	if drain(context.Background(), &s); !errors.Is(s.Err(), roadgraph.ErrWork) || s.Work > 5001 {
		t.Errorf("after %d arcs of 5000: %v", s.Work, s.Err())
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	start(&s)
	s.Begin(0, nil)
	if drain(cancelled, &s); !errors.Is(s.Err(), context.Canceled) || s.Work > 1024 {
		t.Errorf("after %d arcs: %v", s.Work, s.Err())
	}
	start(&s)
	if n, _ := drain(context.Background(), &s); n != all {
		t.Errorf("a search used again finds %d targets, not %d", n, all)
	}
}
