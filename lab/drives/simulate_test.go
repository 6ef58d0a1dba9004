package drives

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/lab/mismatch"
)

func TestSimulateIsReproducible(t *testing.T) {
	g := city(t)
	ctx := context.Background()
	two, err := Recipe{}.Simulate(ctx, g, 2, 7)
	if err != nil {
		t.Fatal(err)
	}
	one, err := Recipe{}.Simulate(ctx, g, 1, 7)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewRouter(g).Drive(Recipe{}, Cells()[0], rand.New(rand.NewPCG(8, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(one[0].Truth, other.Truth) {
		t.Error("another seed makes the same drive")
	}
	for i, cell := range Cells() {
		if two[2*i].Cell != cell || two[2*i+1].Cell != cell {
			t.Errorf("drives %d and %d are of other cells than %v", 2*i, 2*i+1, cell)
		}
		if diff := cmp.Diff(two[2*i], one[i]); diff != "" {
			t.Errorf("the first drive of %v is another one when there are two:\n%s", cell, diff)
		}
		if cmp.Equal(one[i].Truth, two[2*i+1].Truth) {
			t.Errorf("two drives of %v are the same", cell)
		}
	}
	for i := range two {
		checkDrive(t, &two[i])
	}
}

func checkDrive(t *testing.T, d *Drive) {
	t.Helper()
	length := mismatch.Of(d.Truth, nil).Truth
	if length < 0.99*shortest || length > 1.01*longest {
		t.Errorf("a drive of %.0f m", length)
	}
	if len(d.Trace) < least {
		t.Errorf("a trace of %d positions", len(d.Trace))
	}
	// A position is as far from the truth as its noise is: never more than six sigma of two coordinates.
	for _, p := range d.Trace {
		if off := fromLine(p, d.Truth); off > 6*d.Sigma {
			t.Errorf("a position with σ %v m is %.1f m off", d.Sigma, off)
		}
	}
}

// fromLine is the distance of a position from a line in metres.
func fromLine(p orb.Point, line orb.LineString) float64 {
	perLon := degree * math.Cos(p.Lat()*math.Pi/180)
	best := math.Inf(1)
	for i := 1; i < len(line); i++ {
		ax, ay := (line[i-1].Lon()-p.Lon())*perLon, (line[i-1].Lat()-p.Lat())*degree
		dx, dy := (line[i].Lon()-p.Lon())*perLon-ax, (line[i].Lat()-p.Lat())*degree-ay
		s := 0.0
		if n := dx*dx + dy*dy; n > 0 {
			s = min(max(-(ax*dx+ay*dy)/n, 0), 1)
		}
		best = min(best, math.Hypot(ax+s*dx, ay+s*dy))
	}
	return best
}

func TestRecordKeepsTime(t *testing.T) {
	town := &roadgraphtest.Town{}
	town.Street("Long", 0, 0, 1000, 0)
	town.Street("Longer", 1000, 0, 2000, 0)
	town.Data.Roads[1].Nodes[0] = town.Data.Roads[0].Nodes[1]
	g := town.Open(t)
	r := NewRouter(g)
	route, ok := r.Fastest(spot(g, 100, 0), spot(g, 1900, 0))
	if !ok {
		t.Fatal("no route")
	}
	// 1,800 m at 50 km/h less a fifth take 162 s: positions at 0, 15, … 150 and 162 s.
	d := r.Record(route, Cell{Interval: 15}, rand.New(rand.NewPCG(1, 1)))
	if len(d.Trace) != 12 {
		t.Fatalf("%d positions", len(d.Trace))
	}
	for i, p := range d.Trace {
		want := 100 + float64(i)*15*50/3.6/slowness
		if i == len(d.Trace)-1 {
			want = 1900
		}
		if x, y := roadgraphtest.XY(p); math.Hypot(x-want, y) > 0.3 {
			t.Errorf("position %d is at %.1f, %.1f, want %.1f, 0", i, x, y, want)
		}
	}
}

func TestNoisyIsGaussian(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const n, sigma = 20000, 20.0
	var sum, squares [2]float64
	for range n {
		x, y := roadgraphtest.XY(Noisy(roadgraphtest.At(0, 0), sigma, random))
		for k, v := range [2]float64{x, y} {
			sum[k] += v
			squares[k] += v * v
		}
	}
	for k := range sum {
		if mean, dev := sum[k]/n, math.Sqrt(squares[k]/n); math.Abs(mean) > 0.6 || math.Abs(dev-sigma) > 0.6 {
			t.Errorf("the noise has mean %.2f m and deviation %.2f m", mean, dev)
		}
	}
}

func TestSimulateOnTooSmallNetworks(t *testing.T) {
	testkit.Whole(t)
	town := &roadgraphtest.Town{}
	town.Street("Only", 0, 0, 400, 0)
	for _, g := range []*roadgraphtest.Town{town, {}} {
		if _, err := (Recipe{}).Simulate(context.Background(), g.Open(t), 1, 1); !errors.Is(err, errSmall) {
			t.Errorf("the error is %v", err)
		}
	}
}
