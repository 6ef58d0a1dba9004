package matching_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
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

// TestDuration: at the free speeds of the roads, in the direction of the drive.
func TestDuration(t *testing.T) {
	d := roadgraphtest.Sketch{Step: 100, Grid: "a.....b.....c", Ways: "ab maxspeed:forward=30 maxspeed:backward=80\nbc maxspeed=110"}.Draw(t)
	for trace, want := range map[string]float64{
		"a b": 600 / (30 / 3.6), "b a": 600 / (80 / 3.6), "a>c/100": 600/(30/3.6) + 600/(110/3.6),
	} {
		r, _ := match(t, d.Graph, parseTrace(t, d, trace, clean()))
		if math.Abs(r.Duration-want) > 0.02*want {
			t.Errorf("%s: %.0f m take %.1f s, not %.1f", trace, r.Distance, r.Duration, want)
		}
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
