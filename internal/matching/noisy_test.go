package matching_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// long is a street of 2 km with a side street every 100 m on both of its sides.
func long(town *roadgraphtest.Town) {
	var nodes []uint32
	for x := 0.0; x <= 2000; x += 100 {
		nodes = append(nodes, town.Node(x, 0))
	}
	town.Road("long", nodes...)
	for i, node := range nodes {
		x := float64(i) * 100
		town.Road("side", node, town.Node(x, 150))
		town.Road("side", node, town.Node(x, -150))
	}
}

// straightOn asks for a drive along the long street, without leaving it or turning round, of a length.
func straightOn(t *testing.T, g *roadgraph.Graph, list []trace.Point, want float64) *matching.Result {
	t.Helper()
	r, drive := match(t, g, list)
	if names := streets(g, drive); !slices.Equal(names, []string{"long"}) {
		t.Errorf("the drive takes %q", names)
	}
	if n := turnsRound(drive); n > 0 {
		t.Errorf("the drive turns round %d times", n)
	}
	if math.Abs(r.Distance-want) > 85 { // three sigma of the difference of two errors of 20 m
		t.Errorf("the drive is %.1f m long, not %.0f", r.Distance, want)
	}
	return r
}

// TestDense: one position a second at city speed, with errors larger than the way between two positions.
func TestDense(t *testing.T) {
	var town roadgraphtest.Town
	long(&town)
	g := town.Open(t)
	for _, sigma := range []float64{4, 10, 20} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("sigma %v seed %d", sigma, seed), func(t *testing.T) {
				r := straightOn(t, g, newNoise(seed, sigma).along(13, 150, 0, 1850, 0), 1700)
				if n := len(unmatched(r)); n > 1 {
					t.Errorf("%d points are not matched", n)
				}
			})
		}
	}
}

// TestStop: a car waits for two minutes while its positions wander about, next to a crossing.
func TestStop(t *testing.T) {
	var town roadgraphtest.Town
	long(&town)
	g := town.Open(t)
	for _, x := range []float64{1000, 1040} {
		for kind, kept := range map[string]float64{"jitter": 0, "drift": 0.95} {
			for seed := range uint64(5) {
				t.Run(fmt.Sprintf("at %v with %s, seed %d", x, kind, seed), func(t *testing.T) {
					n := newNoise(seed, 8*math.Sqrt(1-kept*kept)) // in the long run 8 m
					if kept == 0 {
						n.sigma = 3
					}
					e := drift{noise: n, kept: kept}
					var list []trace.Point
					for at := 150.0; at < x; at += 20 {
						list = append(list, e.at(at, 0))
					}
					for range 120 {
						list = append(list, e.at(x, 0))
					}
					for at := x; at <= 1850; at += 20 {
						list = append(list, e.at(at, 0))
					}
					straightOn(t, g, list, 1700)
				})
			}
		}
	}
}

// drift is noise of which each position keeps a share of the one before, as receivers that filter make it.
type drift struct {
	noise
	kept, x, y float64
}

func (d *drift) at(x, y float64) trace.Point {
	d.x, d.y = d.kept*d.x+d.NormFloat64()*d.sigma, d.kept*d.y+d.NormFloat64()*d.sigma
	return at(x+d.x, y+d.y)
}

// TestDrift: a drive without a stop, under the same errors.
func TestDrift(t *testing.T) {
	var town roadgraphtest.Town
	long(&town)
	g := town.Open(t)
	for seed := range uint64(4) {
		e := drift{noise: newNoise(seed, 3.5), kept: 0.9} // in the long run 8 m
		var list []trace.Point
		for x := 150.0; x <= 1850; x += 13 {
			list = append(list, e.at(x, 0))
		}
		straightOn(t, g, list, 1700)
	}
}

// TestOutliers: single positions that have nothing to do with the drive make no spikes in it.
func TestOutliers(t *testing.T) {
	var town roadgraphtest.Town
	long(&town)
	g := town.Open(t)
	before, after := points(310, 3, 425, -4, 540, 2, 655, -3), points(880, 4, 960, -3, 1075, 2, 1120, -2)
	tests := map[string]struct {
		points  []trace.Point
		outlier int // -1: the odd point is only inexact
	}{
		"far from any road":    {slices.Concat(before, points(750, 600), after), 4},
		"several in a row":     {slices.Concat(before, points(700, 600, 750, 900, 800, 500), after), 4},
		"on another continent": {slices.Concat(before, points(1e7, 0), after), 4},
		"at the beginning":     {slices.Concat(points(0, 900), before, after), 0},
		"at the end":           {slices.Concat(before, after, points(0, 900)), 8},
		"only inexact":         {slices.Concat(before, points(750, 40), after), -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := straightOn(t, g, test.points, 810)
			var want []int
			for i := range len(test.points) - len(before) - len(after) {
				if test.outlier >= 0 {
					want = append(want, test.outlier+i)
				}
			}
			if diff := cmp.Diff(want, unmatched(r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDuplicates: every position is recorded three times.
func TestDuplicates(t *testing.T) {
	var town roadgraphtest.Town
	long(&town)
	g := town.Open(t)
	once := newNoise(1, 5).along(50, 150, 0, 1850, 0)
	var list []trace.Point
	for _, p := range once {
		list = append(list, p, p, p)
	}
	r := straightOn(t, g, list, 1700)
	if list := unmatched(r); list != nil {
		t.Errorf("the points %v are not matched", list)
	}
}

// TestOnePlace: the path of a trace that never moves is the snapped place, twice.
func TestOnePlace(t *testing.T) {
	for name, town := range map[string]func(*roadgraphtest.Town){"street": long, "one-way streets": around} {
		for _, n := range []int{2, 3, 50} {
			t.Run(fmt.Sprintf("%s, %d points", name, n), func(t *testing.T) {
				var tn roadgraphtest.Town
				town(&tn)
				g := tn.Open(t)
				var list []trace.Point
				for range n {
					list = append(list, points(321, 17)...)
				}
				r, _ := match(t, g, list)
				if len(r.Path) != 2 || r.Path[0] != r.Path[1] || r.Distance != 0 || r.Duration != 0 {
					t.Errorf("the path is %v, %v m in %v s", r.Path, r.Distance, r.Duration)
				}
				if x, y := roadgraphtest.XY(r.Path[0]); math.Abs(x-321) > 0.1 || math.Abs(y) > 0.1 {
					t.Errorf("the place is %v, %v", x, y)
				}
				if list := unmatched(r); list != nil {
					t.Errorf("the points %v are not matched", list)
				}
			})
		}
	}
}

// TestAccuracy: two points that claim to be exact lie on the upper street, all others, that claim to be vague, midway
// to the lower street. Without what they claim, they are all the same.
func TestAccuracy(t *testing.T) {
	tests := map[string]struct {
		vague, exact float64
		want         string
	}{
		"upper points exact": {40, 4, "upper"},
		"lower points exact": {4, 40, "lower"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var town roadgraphtest.Town
			town.Street("lower", 0, 0, 1000, 0)
			town.Street("upper", 0, 60, 1000, 60)
			g := town.Open(t)
			list := points(100, 10, 200, 10, 300, 52, 400, 10, 500, 10, 600, 52, 700, 10)
			for i := range list {
				list[i].Accuracy = test.vague
				if i == 2 || i == 5 {
					list[i].Accuracy = test.exact
				}
			}
			_, drive := match(t, g, list)
			if names := streets(g, drive); !slices.Equal(names, []string{test.want}) {
				t.Errorf("the drive takes %q, not the %s street", names, test.want)
			}
		})
	}
}

// TestSenselessAccuracy: what a receiver cannot mean counts as absent.
func TestSenselessAccuracy(t *testing.T) {
	var town roadgraphtest.Town
	long(&town)
	g := town.Open(t)
	list := newNoise(1, 5).along(50, 150, 0, 1850, 0)
	want := straightOn(t, g, list, 1700)
	for _, accuracy := range []float64{0, -3, math.Inf(1), math.Inf(-1)} {
		for i := range list {
			list[i].Accuracy = accuracy
		}
		if diff := cmp.Diff(want, straightOn(t, g, list, 1700)); diff != "" {
			t.Errorf("an accuracy of %v: %s", accuracy, diff)
		}
	}
}
