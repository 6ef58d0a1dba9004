package matching_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

const cell = 0.01 // degrees

// densest is the middle of the square of about a kilometre that holds the most pieces of road.
func densest(g *roadgraph.Graph) orb.Point {
	counts := map[[2]int]int{}
	var best [2]int
	for i := range g.Edges() {
		for _, p := range g.Shape(i, nil) {
			l := p.Location()
			at := [2]int{int(math.Floor(l.Lon() / cell)), int(math.Floor(l.Lat() / cell))}
			if counts[at]++; counts[at] > counts[best] {
				best = at
			}
		}
	}
	return orb.Point{(float64(best[0]) + 0.5) * cell, (float64(best[1]) + 0.5) * cell}
}

// worst is a request that jumps to and fro at random, as far as so many degrees, where the roads are the densest.
func worst(tb testing.TB, n int, far float64) (*roadgraph.Graph, *matching.Request) {
	tb.Helper()
	g := roadgraphtest.Delaware(tb)
	mid, r := densest(g), rand.New(rand.NewPCG(1, 3))
	req := &matching.Request{MaxRadius: 100, Details: true}
	for range n {
		req.Points = append(req.Points, trace.At(mid.Lat()+(r.Float64()-0.5)*far, mid.Lon()+(r.Float64()-0.5)*far))
	}
	return g, req
}

// cancelling is a meter that ends a context after some work.
type cancelling struct {
	left   int64
	cancel context.CancelFunc
	began  time.Time // when it did
}

func (c *cancelling) Spend(work int64) error {
	if c.left -= work; c.left <= 0 && c.began.IsZero() {
		c.began = time.Now()
		c.cancel()
	}
	return nil
}

// TestCancelled: a request ends soon after its context.
func TestCancelled(t *testing.T) {
	soon := 50 * time.Millisecond
	if testkit.RaceDetector {
		soon *= 10
	}
	g, req := worst(t, 2000, cell)
	m := matching.New(g, matching.Options{MaxWork: math.MaxInt64})
	pace := testkit.Watch(t)
	for _, after := range []int64{0, 1, 10_000, 200_000} {
		ctx, cancel := context.WithCancel(t.Context())
		meter := &cancelling{left: after, cancel: cancel}
		if req.Meter = meter; after == 0 {
			_ = meter.Spend(0)
		}
		_, err := m.Match(ctx, req)
		if took := time.Since(meter.began); !errors.Is(err, context.Canceled) || took > pace.Allow(soon) {
			t.Errorf("cancelled after %d, it ends %v later with %v", after, took, err)
		}
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := m.Match(late, req); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a deadline, the error is %v", err)
	}
}

// TestMaxWork: a request that needs more than it may is refused, and the matcher is as good as before.
func TestMaxWork(t *testing.T) {
	g := roadgraphtest.Delaware(t)
	arcs := routes(t, g, 3, 1)[0]
	req := &matching.Request{Points: newNoise(1, 5).record(g, arcs, 10), Details: true}
	m := matching.New(g, matching.Options{MaxWork: 100_000})
	want, err := m.Match(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	_, more := worst(t, 5000, cell)
	for range 3 {
		if r, err := m.Match(context.Background(), more); r != nil || !errors.Is(err, matching.ErrWork) {
			t.Errorf("the answer is %v, error %v; want ErrWork", r, err)
		}
		if got, err := m.Match(context.Background(), req); err != nil || got.Distance != want.Distance {
			t.Errorf("after it, the answer is %v, error %v", got, err)
		}
	}
	tight := matching.New(g, matching.Options{MaxWork: 10})
	if r, err := tight.Match(context.Background(), req); r != nil || !errors.Is(err, matching.ErrWork) {
		t.Errorf("with hardly any work allowed, the answer is %v, error %v", r, err)
	}
}

// TestWorst: the most expensive requests there are take some seconds at most, and a bounded amount of memory: routes
// through all of the map, through a town, and as many hypotheses as there can be.
func TestWorst(t *testing.T) {
	n, limit, options := 10000, 10*time.Second, matching.Options{}
	if testkit.Little() {
		n, limit, options = 100, 4*time.Second, matching.Options{MaxWork: 200_000}
	}
	for name, far := range map[string]float64{"a state": 0.5, "a town": cell, "a crossing": cell / 10} {
		t.Run(name, func(t *testing.T) {
			g, req := worst(t, n, far)
			m := matching.New(g, options)
			used := testkit.PeakHeap(func() {
				var r *matching.Result
				var err error
				testkit.Work(t, fmt.Sprint(n, " points"), limit, func() { r, err = m.Match(context.Background(), req) })
				switch {
				case err == nil:
					if _, err := check(g, req, r); err != nil {
						t.Error(err)
					}
				case !errors.Is(err, matching.ErrWork) && !errors.Is(err, matching.ErrNoRoute):
					t.Error(err)
				default:
					t.Log(err)
				}
			})
			if used > 300<<20 {
				t.Errorf("%d points use %d MB", n, used>>20)
			}
		})
	}
}

// TestTenThousandPointsInADenseTown: the most points that a request has by default, with the noise of a city, among
// streets 40 m apart, are within the limits of a request.
func TestTenThousandPointsInADenseTown(t *testing.T) {
	testkit.Whole(t)
	const n, block = 60, 40.0
	town := &roadgraphtest.Town{}
	crossed(town, n, block)
	var xy []float64
	for row := range n {
		x, y := (n-1)*block/2, (float64(row)-(n-1)/2.0)*block
		if row%2 == 0 {
			x = -x
		}
		xy = append(xy, x, y, -x, y)
	}
	list := newNoise(1, 10).along(14, xy...)[:matching.DefaultMaxPoints]
	r, _ := matchRequest(t, town.Open(t), &matching.Request{Points: list, Details: true})
	if want := 14.0 * float64(len(list)); math.Abs(r.Distance-want) > want/50 {
		t.Errorf("the drive is %.0f m long, want %.0f", r.Distance, want)
	}
}

// TestAllocations: a matcher that has done its work before allocates hardly more than the answer.
func TestAllocations(t *testing.T) {
	g := roadgraphtest.Delaware(t)
	m := matching.New(g, matching.Options{})
	req := &matching.Request{Points: newNoise(1, 5).record(g, routes(t, g, 3, 1)[0], 2)}
	for _, req.Details = range []bool{false, true} {
		limit := 40.0
		if req.Details {
			limit += float64(len(req.Points)) // a name for each
		}
		allocs := testing.AllocsPerRun(20, func() {
			if _, err := m.Match(context.Background(), req); err != nil {
				t.Error(err)
			}
		})
		if allocs > limit && !testkit.RaceDetector {
			t.Errorf("%.0f allocations for %d points, with details: %v", allocs, len(req.Points), req.Details)
		}
	}
}
