package matching_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// islands are three streets of 1 km that no road joins, 400 m apart.
func islands(tb testing.TB) *roadgraph.Graph {
	var town roadgraphtest.Town
	town.Street("first", 0, 0, 1000, 0)
	town.Street("second", 0, 400, 1000, 400)
	town.Street("third", 0, 800, 1000, 800)
	return town.Open(tb)
}

// TestParts: where no route joins two parts of a trace, those with fewer points are left out.
func TestParts(t *testing.T) {
	g := islands(t)
	on := func(y float64, n int, from float64) (list []trace.Point) {
		for i := range n {
			list = append(list, points(from+50*float64(i), y+float64(i%3))...)
		}
		return list
	}
	tests := map[string]struct {
		parts [][]trace.Point
		want  int // the part that remains, -1 for none
	}{
		"the first is larger":      {[][]trace.Point{on(0, 7, 100), on(400, 4, 400)}, 0},
		"the second is larger":     {[][]trace.Point{on(0, 4, 100), on(400, 7, 400)}, 1},
		"just half":                {[][]trace.Point{on(0, 5, 100), on(400, 3, 400), on(800, 2, 400)}, 0},
		"less than half":           {[][]trace.Point{on(0, 4, 100), on(400, 3, 400), on(800, 3, 400)}, -1},
		"one point on each":        {[][]trace.Point{on(0, 1, 100), on(400, 1, 100)}, -1},
		"two points, one far away": {[][]trace.Point{on(0, 1, 100), on(-500, 1, 100)}, -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			list := slices.Concat(test.parts...)
			if test.want < 0 {
				refused(t, g, &matching.Request{Points: list, Details: true})
				return
			}
			r, drive := match(t, g, list)
			if names, want := streets(g, drive),
				[]string{"first", "second", "third"}[test.want:test.want+1]; !slices.Equal(names, want) {
				t.Errorf("the drive takes %q, not %q", names, want)
			}
			var want []int
			for i, n := 0, 0; i < len(test.parts); i++ {
				for range test.parts[i] {
					if i != test.want {
						want = append(want, n)
					}
					n++
				}
			}
			if diff := cmp.Diff(want, unmatched(r)); diff != "" {
				t.Errorf("not matched: %s", diff)
			}
		})
	}
}

// TestJoinedAgain: a part in the middle that cannot be reached is left out, and those around it are joined.
func TestJoinedAgain(t *testing.T) {
	g := islands(t)
	list := points(100, 2, 200, -2, 300, 2, 380, 398, 420, 401, 500, 3, 600, -1, 700, 2)
	r, drive := match(t, g, list)
	if names := streets(g, drive); !slices.Equal(names, []string{"first"}) || math.Abs(r.Distance-600) > 5 {
		t.Errorf("the drive takes %q, %.1f m", names, r.Distance)
	}
	if diff := cmp.Diff([]int{3, 4}, unmatched(r)); diff != "" {
		t.Error(diff)
	}
}

func TestNoRoute(t *testing.T) {
	var none, town roadgraphtest.Town
	none.Street("path", 0, 0, 1000, 0).Forward = 0
	none.Data.Roads[0].Backward = 0
	cross(&town)
	g := town.Open(t)
	for name, test := range map[string]struct {
		graph *roadgraph.Graph
		list  []trace.Point
	}{
		"no points":           {g, nil},
		"one point":           {g, points(50, 0)},
		"no roads":            {none.Open(t), points(100, 0, 200, 0)},
		"too far from roads":  {g, points(-300, 250, -400, 250, -500, 250)},
		"at the poles":        {g, []trace.Point{trace.At(90, 0), trace.At(-90, 0), trace.At(90, 180)}},
		"on the antimeridian": {g, []trace.Point{trace.At(0, 180), trace.At(0, -180)}},
	} {
		t.Run(name, func(t *testing.T) { refused(t, test.graph, &matching.Request{Points: test.list, Details: true}) })
	}
}

// TestRadius: where the search for roads starts is a hint, how far a road may be is a limit.
func TestRadius(t *testing.T) {
	var town roadgraphtest.Town
	town.Street("street", 0, 0, 1000, 0)
	g := town.Open(t)
	line := func(y float64) []trace.Point { return points(100, y, 300, y, 500, y, 700, y) }
	for _, radius := range []float64{0, 1, 5, 30, 100} {
		r, _ := matchRequest(t, g, &matching.Request{Points: line(60), Radius: radius, Details: true})
		if math.Abs(r.Distance-600) > 1 {
			t.Errorf("radius %v: 60 m off the road the drive is %.1f m long", radius, r.Distance)
		}
	}
	for _, test := range []struct {
		off, maxRadius float64
		found          bool
	}{
		{99, 0, true}, {101, 0, false}, {60, 50, false}, {60, 61, true}, {101, 150, true}, {9, 10, true}, {11, 10, false},
		{900, 1000, true},
	} {
		req := &matching.Request{Points: line(test.off), Radius: 1, MaxRadius: test.maxRadius, Details: true}
		if test.found {
			matchRequest(t, g, req)
		} else {
			refused(t, g, req)
		}
	}
	req := &matching.Request{Points: line(5), MaxRadius: 50, Details: true}
	req.Points = append(req.Points, points(800, 60, 900, 5)...)
	if r, _ := matchRequest(t, g, req); !slices.Equal(unmatched(r), []int{4}) {
		t.Errorf("of one point beyond the limit, %v are not matched", unmatched(r))
	}
}

// TestFarRoadThatFits: a point near a road that does not fit the trace is searched farther away for one that does.
func TestFarRoadThatFits(t *testing.T) {
	var town roadgraphtest.Town
	town.Street("street", 0, 0, 2000, 0)
	town.Street("yard", 880, 70, 920, 70) // which no road leads to
	g := town.Open(t)
	r, drive := match(t, g, points(100, 3, 300, -2, 500, 3, 700, 2, 900, 65, 1100, -3, 1300, 2, 1500, 3))
	if names := streets(g, drive); !slices.Equal(names, []string{"street"}) || unmatched(r) != nil {
		t.Errorf("the drive takes %q, without the points %v", names, unmatched(r))
	}
	if p := r.Tracepoints[4]; math.Abs(p.Distance-65) > 1 || p.Name != "street" {
		t.Errorf("the point beside the yard is matched at %+v", p)
	}
}
