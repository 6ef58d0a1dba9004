package roadgraph_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

var byLength = roadgraph.Costs{PerMetre: 1}

// search finds the cheapest route from the end of an arc to the beginning of another, or of a copy of it.
func search(g *roadgraph.Graph, s *roadgraph.Search, costs roadgraph.Costs, from, to uint32) (cost float64,
	arcs []uint32) {
	s.Reset(g, costs)
	return finish(g, s, from, to)
}

// aimed is the same with A*.
func aimed(g *roadgraph.Graph, s *roadgraph.Search, costs roadgraph.Costs, from, to uint32) (cost float64,
	arcs []uint32) {
	s.Reset(g, costs)
	end := g.Arc(to)
	s.Aim(float64(end.EndLat)/1e7, float64(end.EndLon)/1e7, 0)
	return finish(g, s, from, to)
}

func finish(g *roadgraph.Graph, s *roadgraph.Search, from, to uint32) (cost float64, arcs []uint32) {
	s.AddSource(0, from, 0, 0)
	s.AddTarget(0, to)
	if g.Segment(to >> 1).Flags.Has(roadgraph.HasCopies) {
		for c, last := g.Copies(to); c < last; c++ {
			s.AddTarget(0, c)
		}
	}
	label, ok := s.Next(context.Background())
	if !ok {
		return math.Inf(1), nil
	}
	cost = s.Label(label).Cost
	for i := label; i >= 0; i = s.Label(i).Parent {
		arcs = append(arcs, g.Base(s.Label(i).Arc))
	}
	slices.Reverse(arcs)
	return cost, arcs
}

// arcNamed finds the arc of a segment of that name that begins at a node.
func arcNamed(t *testing.T, town *roadgraphtest.Town, g *roadgraph.Graph, name string, node uint32) uint32 {
	t.Helper()
	n := town.Data.Nodes[node]
	for i := range g.Segments() {
		shape := g.Shape(i, nil)
		if g.Name(i) == name {
			if p := shape[0]; p.Lat == n.Lat && p.Lon == n.Lon {
				return 2 * i
			}
			if p := shape[len(shape)-1]; p.Lat == n.Lat && p.Lon == n.Lon {
				return 2*i + 1
			}
		}
	}
	t.Fatalf("no segment %q at node %d", name, node)
	return 0
}

// TestRoutes: a cross of four streets around a middle, w (west), e, n, s, each 100 m long, and a longer way r around
// from the end of n to the end of e. The route asked for begins on w and ends on e, n or s.
func TestRoutes(t *testing.T) {
	tests := map[string]struct {
		change func(town *roadgraphtest.Town, mid uint32)
		to     string
		want   []string // the names of the arcs travelled; nil for no route
	}{
		"straight on": {nil, "e", []string{"w", "e"}},
		"a one-way street": {
			func(town *roadgraphtest.Town, _ uint32) { town.Data.Roads[1].Backward = 0 },
			"e", []string{"w", "e"},
		},
		"against a one-way": {func(town *roadgraphtest.Town, _ uint32) { town.Data.Roads[1].Forward = 0 }, "e", nil},
		"over a barrier": {
			func(town *roadgraphtest.Town, mid uint32) { town.Data.Nodes[mid].Barrier = region.Car },
			"e", nil,
		},
		"a barrier for others": {
			func(town *roadgraphtest.Town, mid uint32) { town.Data.Nodes[mid].Barrier = region.Foot },
			"e", []string{"w", "e"},
		},
		"a forbidden turn": {restrict(roadgraphtest.Restriction{From: 1, To: 2}), "e", []string{"w", "s", "s", "e"}},
		"one for bicycles": {
			restrict(roadgraphtest.Restriction{From: 1, To: 2, Modes: region.Bicycle}),
			"e", []string{"w", "e"},
		},
		"from another street": {restrict(roadgraphtest.Restriction{From: 3, To: 2}), "e", []string{"w", "e"}},
		"the only turn": {
			restrict(roadgraphtest.Restriction{From: 1, To: 3, Only: true}),
			"e", []string{"w", "n", "r", "e", "s", "s", "e"},
		},
		"an only turn kept":     {restrict(roadgraphtest.Restriction{From: 1, To: 2, Only: true}), "e", []string{"w", "e"}},
		"an only turn to where": {restrict(roadgraphtest.Restriction{From: 1, To: 99, Only: true}), "e", []string{"w", "e"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var town roadgraphtest.Town
			mid, west, east := town.Node(0, 0), town.Node(-100, 0), town.Node(100, 0)
			north, south := town.Node(0, 100), town.Node(0, -100)
			town.Road("w", west, mid)
			town.Road("e", mid, east)
			town.Road("n", mid, north)
			town.Road("s", mid, south)
			town.Road("r", north, town.Node(300, 300), east)
			if test.change != nil {
				test.change(&town, mid)
			}
			g := town.Open(t)
			var s roadgraph.Search
			_, arcs := search(g, &s, byLength, arcNamed(t, &town, g, "w", west), arcNamed(t, &town, g, test.to, mid))
			var got []string
			for _, arc := range arcs {
				got = append(got, g.Name(arc>>1))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func restrict(r roadgraphtest.Restriction) func(*roadgraphtest.Town, uint32) {
	return func(town *roadgraphtest.Town, mid uint32) {
		r.ViaNode = mid
		if r.Modes == 0 {
			r.Modes = region.Car
		}
		town.Data.Restrictions = append(town.Data.Restrictions, r)
	}
}

// TestRestrictionOverWay: one may not turn round on a dual carriageway by the short link x between its sides, but the
// link may be used to turn off.
func TestRestrictionOverWay(t *testing.T) {
	for name, only := range map[string]bool{"no turn": false, "only turn": true} {
		t.Run(name, func(t *testing.T) {
			var town roadgraphtest.Town
			a, b := town.Node(0, 0), town.Node(0, 20) // the ends of the link
			east0, west0, east1, west1 := town.Node(-200, 0), town.Node(-200, 20), town.Node(200, 0), town.Node(200, 20)
			side := town.Node(0, 200)
			from := town.OneWay("in", east0, a).Way
			town.OneWay("on", a, east1)
			back := town.OneWay("back", b, west0).Way
			town.OneWay("other", west1, b)
			via := town.Road("x", a, b).Way
			off := town.Road("off", b, side).Way
			r := roadgraphtest.Restriction{From: from, To: back, ViaNode: roadgraphtest.NoNode, ViaWays: []int64{via}, Modes: region.Car}
			if only {
				r.To, r.Only = off, true
			}
			town.Data.Restrictions = append(town.Data.Restrictions, r)
			g := town.Open(t)
			var s roadgraph.Search
			in := arcNamed(t, &town, g, "in", east0)
			if cost, _ := search(g, &s, byLength, in, arcNamed(t, &town, g, "off", b)); math.Abs(cost-20) > 0.1 {
				t.Errorf("turning off costs %.1f m, not 20", cost)
			}
			// The way back is by turning round at the end of the side street: 20 m of link and twice 180 m.
			if cost, _ := search(g, &s, byLength, in, arcNamed(t, &town, g, "back", b)); math.Abs(cost-380) > 0.1 {
				t.Errorf("turning round costs %.1f m, not 380", cost)
			}
			if cost, _ := search(g, &s, byLength, arcNamed(t, &town, g, "x", a), arcNamed(t, &town, g, "back", b)); cost > 0.1 {
				t.Errorf("who starts on the link may turn either way, not go %.1f m", cost)
			}
		})
	}
}

// TestDestinationTraffic: from w to e leads a street m that is only for those who have a destination there, 100 m long
// in two pieces, and a way round r of 300 m; a side street s of m is for them, too, and another one, p, is for all.
func TestDestinationTraffic(t *testing.T) {
	both := func(r *roadgraphtest.Road, modes region.Modes) {
		r.DestinationForward, r.DestinationBackward = modes, modes
	}
	tests := map[string]struct {
		enter    float64
		change   func(d *roadgraphtest.Data) // roads: w, m, m2, e, r, s, p
		from, to string
		cost     float64
		want     []string
	}{
		"nothing charged":                        {0, nil, "w", "e", 100, []string{"w", "m", "m2", "e"}},
		"the way round":                          {201, nil, "w", "e", 300, []string{"w", "r", "e"}},
		"through, where the way round is longer": {199, nil, "w", "e", 299, []string{"w", "m", "m2", "e"}},
		"into it":                                {1000, nil, "w", "s", 1050, []string{"w", "m", "s"}},
		"out of it":                              {1000, nil, "s", "e", 50, []string{"s", "m2", "e"}},
		"within it":                              {1000, nil, "s", "m2", 0, []string{"s", "m2"}},
		"in again":                               {1000, nil, "p", "m2", 1000, []string{"p", "m2"}},
		"only there, and not back": {1000,
			func(d *roadgraphtest.Data) { d.Roads[1].DestinationForward = 0; d.Roads[2].DestinationForward = 0 }, "w", "e", 100,
			[]string{"w", "m", "m2", "e"}},
		"for those on bicycles": {1000,
			func(d *roadgraphtest.Data) { both(&d.Roads[1], region.Bicycle); both(&d.Roads[2], region.Bicycle) },
			"w", "e", 100, []string{"w", "m", "m2", "e"}},
		"where the first piece is open": {201, func(d *roadgraphtest.Data) { both(&d.Roads[1], 0) }, "w", "e", 300,
			[]string{"w", "r", "e"}},
		"drawn the other way": {201, func(d *roadgraphtest.Data) { reverse(&d.Roads[1]); reverse(&d.Roads[2]) },
			"w", "e", 300, []string{"w", "r", "e"}},
		"drawn so, and open there": {201, func(d *roadgraphtest.Data) {
			for i := range d.Roads[1:3] {
				reverse(&d.Roads[1+i])
				d.Roads[1+i].DestinationBackward = 0
			}
		}, "w", "e", 100, []string{"w", "m", "m2", "e"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var town roadgraphtest.Town
			west, mid, east := town.Node(0, 0), town.Node(50, 0), town.Node(100, 0)
			town.Road("w", town.Node(-100, 0), west)
			town.Road("m", west, mid)
			town.Road("m2", mid, east)
			town.Road("e", east, town.Node(200, 0))
			town.Road("r", west, town.Node(0, 100), town.Node(100, 100), east)
			town.Road("s", mid, town.Node(50, -100))
			town.Road("p", mid, town.Node(50, 50))
			for _, i := range []int{1, 2, 5} {
				both(&town.Data.Roads[i], region.Car)
			}
			if test.change != nil {
				test.change(&town.Data)
			}
			g := town.Open(t)
			begins := map[string]uint32{"w": 3, "s": 7, "p": 8, "e": east, "m2": mid}
			if test.to == "s" {
				begins["s"] = mid
			}
			var s roadgraph.Search
			cost, arcs := search(g, &s, roadgraph.Costs{PerMetre: 1, Enter: test.enter},
				arcNamed(t, &town, g, test.from, begins[test.from]),
				arcNamed(t, &town, g, test.to, begins[test.to]))
			var got []string
			for _, arc := range arcs {
				got = append(got, g.Name(arc>>1))
			}
			if diff := cmp.Diff(test.want, got); diff != "" || math.Abs(cost-test.cost) > 0.1 {
				t.Errorf("%.1f m, want %.1f m: %s", cost, test.cost, diff)
			}
		})
	}
}

func reverse(r *roadgraphtest.Road) { slices.Reverse(r.Nodes) }

// TestRoundabout: four exits, right-hand traffic; the third exit is reached past the first two, the one behind past
// all.
func TestRoundabout(t *testing.T) {
	var town roadgraphtest.Town
	ring := []uint32{town.Node(-20, 0), town.Node(0, -20), town.Node(20, 0), town.Node(0, 20)}
	circle := town.OneWay("ring", append(slices.Clone(ring), ring[0])...)
	circle.Flags |= roadgraph.Roundabout
	for i, far := range [][2]float64{{-120, 0}, {0, -120}, {120, 0}, {0, 120}} {
		town.Road(fmt.Sprint("exit", i), ring[i], town.Node(far[0], far[1]))
	}
	g := town.Open(t)
	var s roadgraph.Search
	in := arcNamed(t, &town, g, "exit0", 4)
	for i, quarters := range []int{4, 1, 2, 3} {
		cost, arcs := search(g, &s, byLength, in, arcNamed(t, &town, g, fmt.Sprint("exit", i), ring[i]))
		if want := float64(quarters) * 20 * math.Sqrt2; math.Abs(cost-want) > 0.1 || len(arcs) != quarters+2 {
			t.Errorf("exit %d: %.1f m over %d arcs, want %.1f m", i, cost, len(arcs), want)
		}
	}
}

func TestTurnCosts(t *testing.T) {
	var town roadgraphtest.Town
	mid, west, north := town.Node(0, 0), town.Node(-100, 0), town.Node(0, 100)
	town.Road("w", west, mid)
	town.Road("n", mid, north)
	town.Road("e", mid, town.Node(100, 0))
	g := town.Open(t)
	var turns [256]float64
	for a := range turns {
		turns[a] = 128 + float64(int8(a))
	}
	var s roadgraph.Search
	for _, test := range []struct {
		from     string
		at       uint32
		to       string
		min, max float64
	}{{"w", west, "n", 63, 65}, {"n", north, "w", 191, 193}, {"w", west, "e", 127, 129}} {
		s.Reset(g, roadgraph.Costs{Turn: &turns})
		s.AddSource(7, arcNamed(t, &town, g, test.from, test.at), 100, 0)
		s.AddTarget(0, arcNamed(t, &town, g, test.to, mid))
		label, ok := s.Next(context.Background())
		if !ok {
			t.Fatalf("no route from %s to %s", test.from, test.to)
		}
		if l := s.Label(label); l.Cost < 100+test.min || l.Cost > 100+test.max || l.Source != 7 {
			t.Errorf("from %s to %s: %+v", test.from, test.to, l)
		}
	}
}

func TestSearchEnds(t *testing.T) {
	g := roadgraphtest.Delaware(t)
	segments := roadgraphtest.Segments(g)
	start := func(s *roadgraph.Search) {
		s.Reset(g, byLength)
		s.AddSource(0, 2*segments[0], 0, 0)
		for i := 500; i < len(segments); i += 500 {
			s.AddTarget(0, 2*segments[i])
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
