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

// TestNoise: one position a second at city speed, with independent errors larger than the way between two positions, or
// with those of a receiver that filters; without a stop, and with one of two minutes at and beside a junction.
func TestNoise(t *testing.T) {
	var town roadgraphtest.Town
	long(&town)
	g := town.Open(t)
	for _, test := range []struct {
		sigma, kept float64 // see drift; in the long run the error is sigma/sqrt(1-kept²)
		stops       []float64
	}{
		{4, 0, []float64{0}}, {10, 0, []float64{0}}, {20, 0, []float64{0}}, {3.5, 0.9, []float64{0}},
		{3, 0, []float64{1000, 1040}}, {2.5, 0.95, []float64{1000, 1040}},
	} {
		for _, stop := range test.stops {
			for seed := range uint64(4) {
				t.Run(fmt.Sprintf("sigma %v kept %v stop at %v seed %d", test.sigma, test.kept, stop, seed), func(t *testing.T) {
					t.Parallel()
					e := drift{noise: newNoise(seed, test.sigma), kept: test.kept}
					var list []trace.Point
					for x := 150.0; x <= 1850; x += 13 {
						list = append(list, e.at(x, 0))
						if x < stop && x+13 >= stop {
							for range 120 {
								list = append(list, e.at(stop, 0))
							}
						}
					}
					if r := straightOn(t, g, list, 1700); stop == 0 && len(unmatched(r)) > 1 {
						t.Errorf("the points %v are not matched", unmatched(r))
					}
				})
			}
		}
	}
}

// drift is noise of which each position keeps a share of the one before, like that of receivers that filter.
type drift struct {
	noise
	kept, x, y float64
}

func (d *drift) at(x, y float64) trace.Point {
	d.x, d.y = d.kept*d.x+d.NormFloat64()*d.sigma, d.kept*d.y+d.NormFloat64()*d.sigma
	return at(x+d.x, y+d.y)
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

// TestOnePlace: the path of a trace that never moves is the snapped place, twice.
func TestOnePlace(t *testing.T) {
	var town roadgraphtest.Town
	long(&town)
	g := town.Open(t)
	for _, n := range []int{2, 50} {
		r, _ := match(t, g, slices.Repeat(points(321, 17), n))
		x, y := roadgraphtest.XY(r.Path[0])
		if len(r.Path) != 2 || r.Path[0] != r.Path[1] || r.Distance != 0 || r.Duration != 0 || unmatched(r) != nil ||
			math.Abs(x-321) > 0.1 || math.Abs(y) > 0.1 {
			t.Errorf("%d points: the path is %v, %v m in %v s, without %v", n, r.Path, r.Distance, r.Duration, unmatched(r))
		}
	}
}

// TestAccuracy: points between two streets are nearer to one or the other by what they claim to be exact, and what
// no receiver means counts as absent.
func TestAccuracy(t *testing.T) {
	var town roadgraphtest.Town
	town.Street("lower", 0, 0, 1000, 0)
	town.Street("upper", 0, 60, 1000, 60)
	g := town.Open(t)
	for _, test := range []struct {
		most, others float64 // accuracies
		want         string
	}{{40, 4, "upper"}, {4, 40, "lower"}, {0, -3, "lower"}, {math.Inf(-1), math.Inf(1), "lower"}} {
		list := points(100, 10, 200, 10, 300, 52, 400, 10, 500, 10, 600, 52, 700, 10)
		for i := range list {
			list[i].Accuracy = test.most
			if i == 2 || i == 5 {
				list[i].Accuracy = test.others
			}
		}
		if _, drive := match(t, g, list); !slices.Equal(streets(g, drive), []string{test.want}) {
			t.Errorf("accuracies %v and %v: the drive takes %q, not the %s street", test.most, test.others, streets(g, drive), test.want)
		}
	}
}
