package cases

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

func TestFind(t *testing.T) {
	testkit.Whole(t)
	g := roadgraphtest.Delaware(t)
	found, err := Find(g, 1)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Case{}
	for _, c := range found {
		byName[c.Name] = c
		at := nearestTo(c.Truth, c.Center)
		if d := geo.Distance(c.Truth[at].Lat(), c.Truth[at].Lon(), c.Center.Lat(), c.Center.Lon()); d > 300 {
			t.Errorf("the picture of %q is %.0f m from its drive", c.Name, d)
		}
	}
	if len(byName) != len(kinds) {
		t.Errorf("%d cases of %d kinds", len(byName), len(kinds))
	}
	near := func(c Case, metres float64) (n int) {
		for _, p := range c.Trace {
			if geo.Distance(p.Lat(), p.Lon(), c.Center.Lat(), c.Center.Lon()) < metres {
				n++
			}
		}
		return n
	}
	if n := near(byName["stop"], 50); n < 40 {
		t.Errorf("%d positions at the stop", n)
	}
	f := &finder{graph: g}
	roundabouts := 0
	for _, h := range f.around(byName["roundabout"].Center, 5) {
		if g.Edge(h.Edge).Flags.Has(roadgraph.Roundabout) {
			roundabouts++
		}
	}
	if roundabouts == 0 {
		t.Error("no roundabout in the middle of its picture")
	}
}

func TestFindOnAMapWithoutCases(t *testing.T) {
	testkit.Whole(t)
	town := &roadgraphtest.Town{}
	town.Street("Only", 0, 0, 1000, 0)
	if _, err := Find(town.Open(t), 1); err == nil {
		t.Error("cases on a single street")
	}
}
