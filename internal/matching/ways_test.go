package matching_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// grid is a street from west to east, and one from the middle of it to the north: ways 1 to 3 of 100 m each.
func grid(town *roadgraphtest.Town) {
	a, b, c, d := town.Node(0, 0), town.Node(100, 0), town.Node(200, 0), town.Node(100, 100)
	town.Road("West", a, b)
	town.Road("East", b, c)
	town.Road("", b, d).Ref = "B 3"
}

// pieces is a street of one edge made of three ways, one of which is drawn the other way round and has a bend.
func pieces(town *roadgraphtest.Town) {
	a, b, bend, c, d := town.Node(0, 0), town.Node(100, 0), town.Node(200, 0), town.Node(200, 100), town.Node(200, 200)
	town.Road("Long", a, b)
	town.Road("Long", c, bend, b)
	town.Road("Long", c, d)
}

// TestWays: the ways of a drive and the coordinates of its points.
func TestWays(t *testing.T) {
	way := func(id int64, name string, from, to int) matching.Way {
		return matching.Way{ID: id, Name: name, From: from, To: to}
	}
	type want struct {
		coordinates int
		ways        []matching.Way
		indexes     []int // -1 where unmatched
	}
	for name, test := range map[string]struct {
		town   func(*roadgraphtest.Town)
		points []trace.Point
		want   want
	}{
		"one way": {grid, points(10, 2, 50, -2, 90, 2), want{3, []matching.Way{way(1, "West", 0, 2)}, []int{0, 1, 2}}},
		"two ways": {grid, points(10, 2, 50, -2, 150, 2, 190, 2),
			want{5, []matching.Way{way(1, "West", 0, 2), way(2, "East", 2, 4)}, []int{0, 1, 3, 4}}},
		"a number instead of a name": {grid, points(190, 2, 150, -2, 102, 50, 98, 90),
			want{5, []matching.Way{way(2, "East", 0, 2), way(3, "B 3", 2, 4)}, []int{0, 1, 3, 4}}},
		"a way of which nothing is driven": {grid, points(10, 2, 60, 0, 100, 0),
			want{3, []matching.Way{way(1, "West", 0, 2)}, []int{0, 1, 2}}},
		"it begins where another way ends": {grid, points(100, 0, 140, 0, 190, 0),
			want{3, []matching.Way{way(2, "East", 0, 2)}, []int{0, 1, 2}}},
		"a point at a junction": {grid, points(10, 0, 100, 0, 190, 0),
			want{3, []matching.Way{way(1, "West", 0, 1), way(2, "East", 1, 2)}, []int{0, 1, 2}}},
		"points at one place": {grid, points(10, 0, 50, 1, 50, 0, 90, 0),
			want{3, []matching.Way{way(1, "West", 0, 2)}, []int{0, 1, 1, 2}}},
		"no drive at all": {grid, points(50, 0, 50, 0),
			want{2, []matching.Way{way(1, "West", 0, 1)}, []int{0, 0}}},
		"turning back at the end of the way": {grid, points(150, 0, 190, 0, 200, 0, 190, 0, 150, 0, 110, 0, 60, 0),
			want{8, []matching.Way{way(2, "East", 0, 6), way(1, "West", 6, 7)}, []int{0, 1, 2, 3, 4, 5, 7}}},
		"a point left out": {grid, points(10, 0, 30, 0, 50, 250, 70, 0, 90, 0),
			want{4, []matching.Way{way(1, "West", 0, 3)}, []int{0, 1, -1, 2, 3}}},
		"one edge of three ways": {pieces, points(50, 0, 150, 0, 200, 150),
			want{6, []matching.Way{way(1, "Long", 0, 1), way(2, "Long", 1, 4), way(3, "Long", 4, 5)}, []int{0, 2, 5}}},
		"the same backwards": {pieces, points(200, 150, 150, 0, 50, 0),
			want{6, []matching.Way{way(3, "Long", 0, 1), way(2, "Long", 1, 4), way(1, "Long", 4, 5)}, []int{0, 3, 5}}},
		"it begins within the edge": {pieces, points(150, 0, 200, 50),
			want{3, []matching.Way{way(2, "Long", 0, 2)}, []int{0, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			var town roadgraphtest.Town
			test.town(&town)
			r, _ := match(t, town.Open(t), test.points)
			got := want{len(r.Path), r.Ways, nil}
			for _, p := range r.Tracepoints {
				if !p.Matched {
					p.Index = -1
				}
				got.indexes = append(got.indexes, p.Index)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s\n%v", diff, r.Path)
			}
		})
	}
}

// TestWayIDs: every id that OpenStreetMap and editors give comes through the region file, also for the other modes.
func TestWayIDs(t *testing.T) {
	ids := []int64{1, 1 << 33, 1<<62 + 5, -7}
	var town roadgraphtest.Town
	for i, id := range ids {
		town.Street(strings.Repeat("x", i+1), 0, 300*float64(i), 100, 300*float64(i)).Way = id
	}
	// A road that no car takes does not shift the others.
	path := town.Street("path", 0, 150, 100, 150)
	path.Forward, path.Backward = region.Foot, region.Foot
	g := town.Open(t)
	for i, id := range ids {
		y := 300 * float64(i)
		r, _ := match(t, g, points(10, y, 90, y))
		if len(r.Ways) != 1 || r.Ways[0].ID != id {
			t.Errorf("way %d: %+v", id, r.Ways)
		}
	}
}
