package matching_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestPlacePoints: where in a path that another service has found its points are; coordinates are given as x, y in
// metres.
func TestPlacePoints(t *testing.T) {
	line := func(xy ...float64) (line orb.LineString) {
		for i := 0; i < len(xy); i += 2 {
			line = append(line, roadgraphtest.At(xy[i], xy[i+1]))
		}
		return line
	}
	for name, test := range map[string]struct {
		path, locations, want orb.LineString
		indexes               []int
	}{
		"coordinates": {line(0, 0, 100, 0, 200, 0), line(0, 0, 100, 0, 200, 0), line(0, 0, 100, 0, 200, 0), []int{0, 1, 2}},
		"between": {line(0, 0, 100, 0, 200, 0), line(0, 0, 50, 0, 60, 0, 150, 0, 200, 0),
			line(0, 0, 50, 0, 60, 0, 100, 0, 150, 0, 200, 0), []int{0, 1, 2, 4, 5}},
		"rounded": {line(0, 0, 100, 0, 100, 100), line(50, 0.4, 100.3, 50),
			line(0, 0, 50, 0.4, 100, 0, 100.3, 50, 100, 100), []int{1, 3}},
		"behind a corner": {line(0, 0, 100, 0, 100, 100), line(100, 1), line(0, 0, 100, 0, 100, 1, 100, 100), []int{2}},
		"at one place":    {line(0, 0, 100, 0), line(50, 0, 50, 0), line(0, 0, 50, 0, 100, 0), []int{1, 1}},
		"there and back": {line(0, 0, 100, 0, 0, 0), line(50, 0, 100, 0, 50, 0), line(0, 0, 50, 0, 100, 0, 50, 0, 0, 0),
			[]int{1, 2, 3}},
		"nowhere on it": {line(0, 0, 100, 0, 200, 0), line(50, 0, 50, 80, 150, 0),
			line(0, 0, 50, 0, 100, 0, 150, 0, 200, 0), []int{1, 1, 3}},
		"a path of no way": {line(0, 0, 0, 0), line(0, 0, 0, 0), line(0, 0, 0, 0), []int{0, 0}},
	} {
		r := matching.Result{Path: test.path, Ways: []matching.Way{{ID: 1, To: 1}}}
		if len(test.path) > 2 {
			r.Ways = append(r.Ways, matching.Way{ID: 2, From: 1, To: 2})
		}
		for _, at := range test.locations {
			r.Tracepoints = append(r.Tracepoints, matching.Tracepoint{Matched: true, Location: at}, matching.Tracepoint{})
		}
		var begins orb.LineString
		for _, w := range r.Ways {
			begins = append(begins, r.Path[w.From], r.Path[w.To])
		}
		r.PlacePoints()
		var indexes []int
		for i, p := range r.Tracepoints {
			if p.Matched {
				indexes = append(indexes, p.Index)
			} else if p != (matching.Tracepoint{}) {
				t.Errorf("%s: point %d is %+v", name, i, p)
			}
		}
		if !cmp.Equal(test.want, r.Path) || !cmp.Equal(test.indexes, indexes) {
			t.Errorf("%s: %v in %v, want %v in %v", name, indexes, r.Path, test.indexes, test.want)
		}
		if err := checkWays(&r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i, w := range r.Ways {
			if r.Path[w.From] != begins[2*i] || r.Path[w.To] != begins[2*i+1] {
				t.Errorf("%s: way %d has moved: %+v", name, i, w)
			}
		}
	}
}
