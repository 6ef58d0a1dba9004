package matching_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestTurningBackWhereRecorded: a dense trace that turns back did so where it did, not at a dead end or round a block
// farther on.
func TestTurningBackWhereRecorded(t *testing.T) {
	for _, beyond := range []int{9, 16, 30} {
		for _, spacing := range []int{10, 30} {
			s := sketch{grid: "a..............b" + strings.Repeat(".", beyond-1) + "c", ways: "ac", noise: 3,
				trace: fmt.Sprintf("a>b/%d b>a/%[1]d", spacing), want: "ac", metres: 300}
			t.Run(fmt.Sprintf("%d m before a dead end, points %d m apart", 10*beyond, spacing), s.run)
		}
	}
	s := sketch{name: "before a block", noise: 2, ways: "ac\ncd\nce\nef\nfd",
		trace: "a>b/10 b>a/10", want: "ac", metres: 300, grid: `
a..............b...c........d
                   .        .
                   .        .
                   .        .
                   e........f`}
	t.Run(s.name, s.run)
}

// TestTimesInMinutes: where times are rounded, none between two points says nothing.
func TestTimesInMinutes(t *testing.T) {
	d := roadgraphtest.Sketch{Step: 100, Grid: "a.............................b", Ways: "ab"}.Draw(t)
	for _, spacing := range []float64{100, 200, 300} {
		list := parseTrace(t, d, fmt.Sprintf("a>b/%v", spacing), clean())
		for i := range list {
			list[i].Time = 60 * math.Floor(float64(i)*spacing/13/60)
		}
		r, _ := matchRequest(t, d.Graph, &matching.Request{Points: list, Details: true})
		if math.Abs(r.Distance-3000) > 1 || len(unmatched(r)) > 0 {
			t.Errorf("points %v m apart: %.0f m without %v, want 3000", spacing, r.Distance, unmatched(r))
		}
	}
}
