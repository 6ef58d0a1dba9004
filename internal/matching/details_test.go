package matching_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// TestTracepoints: what becomes of each point of a trace, on streets with a name, a reference number, and neither.
func TestTracepoints(t *testing.T) {
	var town roadgraphtest.Town
	a, b, c, d := town.Node(0, 0), town.Node(200, 0), town.Node(200, 200), town.Node(400, 200)
	town.Road("High Street", a, b).Ref = "A 1"
	town.Road("", b, c).Ref = "B 22"
	town.Road("", c, d)
	g := town.Open(t)
	r, _ := match(t, g, points(20, 3, 150, -4, 203, 50, 195, 150, 240, 350, 260, 202, 390, 195))
	type tracepoint struct {
		Matched        bool
		X, Y, Distance int // metres
		Name           string
	}
	var got []tracepoint
	for _, p := range r.Tracepoints {
		if !p.Matched {
			got = append(got, tracepoint{})
			continue
		}
		x, y := roadgraphtest.XY(p.Location)
		got = append(got, tracepoint{true, int(math.Round(x)), int(math.Round(y)), int(math.Round(p.Distance)), p.Name})
	}
	want := []tracepoint{
		{true, 20, 0, 3, "High Street"},
		{true, 150, 0, 4, "High Street"},
		{true, 200, 50, 3, "B 22"},
		{true, 200, 150, 5, "B 22"},
		{},
		{true, 260, 200, 2, ""},
		{true, 390, 200, 5, ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestDuration: at 50 km/h, on a motorway, and over both.
func TestDuration(t *testing.T) {
	for name, test := range map[string]struct {
		town   func(*roadgraphtest.Town)
		points []trace.Point
		want   float64 // seconds
	}{
		"a street":                  {cross, points(-180, 0, -100, 0, 0, 0, 100, 0, 180, 0), 360 / (50 / 3.6)},
		"a motorway":                {motorway, points(-900, 0, -500, 0, 200, 3, 900, 0), 1800 / (110 / 3.6)},
		"its ramp":                  {motorway, points(-900, 0, -100, 0, 200, -10, 500, -16, 600, -60, 700, -150), 900/(110/3.6) + 744/(60/3.6)},
		"slower the other way: up":  {uphill, points(100, 0, 500, 0, 900, 0), 800 / (20 / 3.6)},
		"slower the other way: off": {uphill, points(900, 0, 500, 0, 100, 0), 800 / (80 / 3.6)},
	} {
		t.Run(name, func(t *testing.T) {
			var town roadgraphtest.Town
			test.town(&town)
			if r, _ := match(t, town.Open(t), test.points); math.Abs(r.Duration-test.want) > 0.02*test.want {
				t.Errorf("%.0f m take %.1f s, not %.1f", r.Distance, r.Duration, test.want)
			}
		})
	}
}

func uphill(town *roadgraphtest.Town) {
	road := town.Street("hill", 0, 0, 1000, 0)
	road.SpeedForward, road.SpeedBackward = 20, 80
}

// TestConfidence: a drive that can be no other is surer than one of which two streets are the same probable.
func TestConfidence(t *testing.T) {
	confidence := func(gap, y float64) float64 {
		var town roadgraphtest.Town
		ladder(&town, gap)
		r, _ := match(t, town.Open(t), newNoise(1, 2).along(100, 100, y, 900, y))
		return r.Confidence
	}
	clear, between := confidence(400, 0), confidence(40, 20)
	if clear < 0.9 {
		t.Errorf("a clear drive has a confidence of %v", clear)
	}
	if between > clear-0.2 {
		t.Errorf("a drive between two streets has a confidence of %v, a clear one %v", between, clear)
	}
}

// TestDetailsChangeNothing: the drive is the same whether details are asked for or not.
func TestDetailsChangeNothing(t *testing.T) {
	var town roadgraphtest.Town
	block(&town)
	m := matching.New(town.Open(t), matching.Options{})
	req := &matching.Request{Points: newNoise(1, 10).along(20, -150, 0, 0, 0, 200, 0, 200, 200, 0, 200, 0, 350)}
	plain, err := m.Match(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	req.Details = true
	detailed, err := m.Match(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	if plain.Distance != detailed.Distance {
		t.Errorf("the distance is %v, with details %v", plain.Distance, detailed.Distance)
	}
	// Coordinates of points come between those that are there without details, all of which are there in their order.
	rest := detailed.Path
	for i, p := range plain.Path {
		k := slices.Index(rest, p)
		if k < 0 {
			t.Fatalf("coordinate %d, %v, is not there with details: %v", i, p, detailed.Path)
		}
		for _, inserted := range rest[:k] {
			if !slices.ContainsFunc(detailed.Tracepoints, func(p matching.Tracepoint) bool { return p.Location == inserted }) {
				t.Errorf("%v is there with details alone, and of no point", inserted)
			}
		}
		rest = rest[k+1:]
	}
	if len(rest) > 0 {
		t.Errorf("with details the path goes on: %v", rest)
	}
}
