package matching_test

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestBesideARoad: whoever moves across a road and not along it stands on it.
func TestBesideARoad(t *testing.T) {
	d := roadgraphtest.Sketch{Step: 10, Grid: "     4\n     3\n\na....1....b\n\n     2", Ways: "ab"}.Draw(t)
	for _, places := range []string{"1 2", "1 3", "3 2", "1 1 4 4 4"} {
		list := parseTrace(t, d, places, clean())
		for i := range list {
			list[i].Accuracy = 4
		}
		if r, _ := matchRequest(t, d.Graph, &matching.Request{Points: list}); r.Distance > 1 {
			t.Errorf("%s: %v m", places, r.Distance)
		}
	}
}
