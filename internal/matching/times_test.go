package matching_test

import (
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// TestTimes: one position is far off the street, on a crescent beside it. Without times the drive may have gone through the
// crescent; with a position each second it had no time to.
func TestTimes(t *testing.T) {
	var town roadgraphtest.Town
	a, b := town.Node(500, 0), town.Node(540, 0)
	town.Road("street", town.Node(0, 0), a, b, town.Node(1000, 0))
	town.Road("crescent", a, town.Node(500, 70), town.Node(540, 70), b)
	g := town.Open(t)
	list := clean().along(10, 200, 0, 800, 0)
	odd := slices.IndexFunc(list, func(p trace.Point) bool { return p.Location == at(520, 0).Location })
	if odd < 0 {
		t.Fatal("no position between the ends of the crescent")
	}
	list[odd] = at(520, 68)
	_, drive := match(t, g, list)
	if names := streets(g, drive); !slices.Contains(names, "crescent") {
		t.Errorf("without times the drive takes %q, so the test shows nothing", names)
	}
	for i := range list {
		list[i].Time = 1_700_000_000 + float64(i)
	}
	r, drive := match(t, g, list)
	if names := streets(g, drive); !slices.Equal(names, []string{"street"}) {
		t.Errorf("with times the drive takes %q", names)
	}
	if r.Distance > 605 {
		t.Errorf("the drive is %.0f m long, not 600", r.Distance)
	}
	for i := range list { // a position a minute: time enough again
		list[i].Time = 1_700_000_000 + 60*float64(i)
	}
	if _, drive = match(t, g, list); !slices.Contains(streets(g, drive), "crescent") {
		t.Error("with a position a minute there was time for the crescent")
	}
}
