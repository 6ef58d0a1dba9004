package matching_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	_ "github.com/mapsedge/caddy-maps/internal/testkit" // fewer checks under the race detector
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// gridTown is a town of blocks about 100 m wide. Some streets are one-way, some pieces of them are missing, and at some
// crossings a turn is forbidden.
func gridTown(rt *rapid.T) *roadgraphtest.Town {
	var town roadgraphtest.Town
	columns, rows := rapid.IntRange(3, 6).Draw(rt, "columns"), rapid.IntRange(3, 6).Draw(rt, "rows")
	shift := rapid.IntRange(-20, 20)
	node := make([][]uint32, columns)
	for i := range node {
		for k := range rows {
			node[i] = append(node[i], town.Node(float64(100*i+shift.Draw(rt, "east")), float64(100*k+shift.Draw(rt, "north"))))
		}
	}
	piece := func(kind int, name string, a, b uint32) {
		if rapid.IntRange(0, 9).Draw(rt, "missing") == 0 {
			return
		}
		switch kind {
		case 0:
			town.OneWay(name, a, b)
		case 1:
			town.OneWay(name, b, a)
		default:
			town.Road(name, a, b)
		}
	}
	for k := range rows {
		kind := rapid.IntRange(0, 5).Draw(rt, "one-way")
		for i := 1; i < columns; i++ {
			piece(kind, "street", node[i-1][k], node[i][k])
		}
	}
	for i := range columns {
		kind := rapid.IntRange(0, 5).Draw(rt, "one-way")
		for k := 1; k < rows; k++ {
			piece(kind, "avenue", node[i][k-1], node[i][k])
		}
	}
	roads := town.Data.Roads
	for range rapid.IntRange(0, 20).Draw(rt, "restrictions") {
		from, to := &roads[rapid.IntRange(0, len(roads)-1).Draw(rt, "from")],
			&roads[rapid.IntRange(0, len(roads)-1).Draw(rt, "to")]
		via := from.Nodes[rapid.IntRange(0, 1).Draw(rt, "via")]
		if from != to && slices.Contains(to.Nodes, via) {
			town.Data.Restrictions = append(town.Data.Restrictions,
				roadgraphtest.Restriction{From: from.Way, To: to.Way, ViaNode: via, Modes: region.Car,
					Only: rapid.Bool().Draw(rt, "only")})
		}
	}
	return &town
}

// wander drives over a number of arcs at random, never back on the same road. Where it cannot go on it ends sooner.
func wander(g *roadgraph.Graph, r *rand.Rand, n int) (arcs []uint32) {
	edges := roadgraphtest.Edges(g)
	arc := 2*edges[r.IntN(len(edges))] + uint32(r.IntN(2))
	for !isOpen(g, arc) {
		arc ^= 1
	}
	for arcs = append(arcs, arc); len(arcs) < n; arcs = append(arcs, arc) {
		turns := slices.DeleteFunc(g.Turns(arc, nil),
			func(t roadgraph.Turn) bool { return t.Angle == roadgraph.TurningBack })
		if len(turns) == 0 {
			break
		}
		arc = turns[r.IntN(len(turns))].To
	}
	return arcs
}

// TestDrivesAreFound: random drives through random towns, with a position every 30 to 50 m and small errors, are found
// again, up to a few metres at both ends.
func TestDrivesAreFound(t *testing.T) {
	total, wrong := 0.0, 0.0
	rapid.Check(t, func(rt *rapid.T) {
		town := gridTown(rt)
		g := town.Open(t)
		m := matching.New(g, matching.Options{})
		n := newNoise(rapid.Uint64().Draw(rt, "seed"), rapid.Float64Range(0, 4).Draw(rt, "sigma"))
		for range 4 {
			arcs := wander(g, n.Rand, 4+n.IntN(20))
			truth := whole(g, arcs)
			speed := 50 / 3.6
			req := &matching.Request{Points: n.record(g, arcs, (30+20*n.Float64())/speed), Details: true}
			r, err := m.Match(context.Background(), req)
			if err != nil {
				rt.Fatal(err)
			}
			drive, err := check(g, req, r)
			if err != nil {
				rt.Fatal(err)
			}
			missed, added := compare(truth, drive)
			total, wrong = total+metres(truth), wrong+missed+added
			if missed+added > 100+metres(truth) {
				rt.Fatalf("of a drive of %.0f m, %.0f m are missing, and %.0f m are added", metres(truth), missed, added)
			}
		}
	})
	t.Logf("wrong: %.2f%% of %.0f km", 100*wrong/total, total/1000)
	if wrong > 0.01*total {
		t.Errorf("%.2f%% of all drives is wrong", 100*wrong/total)
	}
}

// anyTrace is a trace of points in a town, around it and far away, some with an accuracy, some more than once.
func anyTrace(rt *rapid.T) []trace.Point {
	var list []trace.Point
	for range rapid.IntRange(0, 30).Draw(rt, "points") {
		var p trace.Point
		switch rapid.IntRange(0, 19).Draw(rt, "kind") {
		case 0:
			p = trace.At(rapid.Float64Range(-90, 90).Draw(rt, "lat"), rapid.Float64Range(-180, 180).Draw(rt, "lon"))
		case 1:
			p = at(rapid.Float64Range(-20000, 20000).Draw(rt, "x"), rapid.Float64Range(-20000, 20000).Draw(rt, "y"))
		case 2, 3:
			if len(list) > 0 {
				p = list[len(list)-1]
				break
			}
			fallthrough
		default:
			p = at(rapid.Float64Range(-150, 650).Draw(rt, "x"), rapid.Float64Range(-150, 650).Draw(rt, "y"))
		}
		if rapid.IntRange(0, 3).Draw(rt, "known") == 0 {
			p.Accuracy = rapid.Float64Range(0.1, 200).Draw(rt, "accuracy")
		}
		list = append(list, p)
	}
	return list
}

func anyRequest(rt *rapid.T) *matching.Request {
	return &matching.Request{
		Points:    anyTrace(rt),
		Radius:    rapid.SampledFrom([]float64{0, 1, 30, 200}).Draw(rt, "radius"),
		MaxRadius: rapid.SampledFrom([]float64{0, 5, 60, 300}).Draw(rt, "max radius"),
		Details:   rapid.Bool().Draw(rt, "details"),
	}
}

// TestEveryAnswer: the answer to any request is a drive that the roads allow, or ErrNoRoute.
func TestEveryAnswer(t *testing.T) {
	found, asked := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		g := gridTown(rt).Open(t)
		m := matching.New(g, matching.Options{})
		for range 6 {
			req := anyRequest(rt)
			asked++
			r, err := m.Match(context.Background(), req)
			if err != nil {
				if r != nil || !errors.Is(err, matching.ErrNoRoute) {
					rt.Fatalf("the answer is %+v, error %v", r, err)
				}
				continue
			}
			found++
			if _, err := check(g, req, r); err != nil {
				rt.Fatal(err)
			}
		}
	})
	if found < asked/6 {
		t.Errorf("only %d of %d requests have an answer", found, asked)
	}
}

// TestSameAnswer: a matcher gives the same answer every time, to any number of goroutines at once.
func TestSameAnswer(t *testing.T) {
	type outcome struct {
		Result *matching.Result
		Error  string
	}
	ask := func(m *matching.Local, req *matching.Request) (a outcome) {
		r, err := m.Match(context.Background(), req)
		if a.Result = r; err != nil {
			a.Error = err.Error()
		}
		return a
	}
	rapid.Check(t, func(rt *rapid.T) {
		g := gridTown(rt).Open(t)
		used := matching.New(g, matching.Options{})
		requests := make([]*matching.Request, 6)
		want := make([]outcome, len(requests))
		for i := range requests {
			requests[i] = anyRequest(rt)
			want[i] = ask(matching.New(g, matching.Options{}), requests[i])
		}
		var wg sync.WaitGroup
		others := make(chan string, 8*len(requests))
		for worker := range 4 {
			wg.Go(func() {
				for k := range 2 * len(requests) {
					i := (k + worker) % len(requests)
					if diff := cmp.Diff(want[i], ask(used, requests[i])); diff != "" {
						others <- diff
					}
				}
			})
		}
		wg.Wait()
		close(others)
		if diff, ok := <-others; ok {
			rt.Fatalf("a request has another answer: %s", diff)
		}
	})
}
