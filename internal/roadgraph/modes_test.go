package roadgraph_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

func TestModes(t *testing.T) {
	var town roadgraphtest.Town
	town.OneWay("street", town.Node(0, 0), town.Node(100, 0)).Backward = region.Bicycle | region.Foot
	path := town.Street("path", 0, 50, 100, 50)
	path.Forward, path.Backward = region.Foot, region.Foot
	motorway := town.OneWay("motorway", town.Node(0, 90), town.Node(100, 90))
	motorway.Forward, motorway.Backward = region.Car, 0
	f := roadgraphtest.Compile(t, &town.Data)
	for mode, want := range map[region.Modes][]string{
		region.Car: {"motorway", "street"}, region.Bicycle: {"street"}, region.Foot: {"path", "street"},
	} {
		g, err := roadgraph.OpenMode(f, mode)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, names(g)); diff != "" {
			t.Errorf("mode %d: %s", mode, diff)
		}
		for i := range g.Segments() {
			both := g.Segment(i).Flags.Has(roadgraph.Forward | roadgraph.Backward)
			if both == (mode == region.Car) {
				t.Errorf("mode %d: %s has flags %b", mode, g.Name(i), g.Segment(i).Flags)
			}
		}
	}
}

// TestModesPart: where a street for all goes on as one for cars and as a path of the same name, it goes on with the one
// for cars, who have the first say; those on foot have two segments.
func TestModesPart(t *testing.T) {
	var town roadgraphtest.Town
	mid := town.Node(0, 0)
	town.Road("a", town.Node(-100, 0), mid)
	cars := town.Road("a", mid, town.Node(100, 0))
	cars.Forward, cars.Backward = region.Car, region.Car
	path := town.Road("a", mid, town.Node(0, 100))
	path.Forward, path.Backward = region.Foot, region.Foot
	f := roadgraphtest.Compile(t, &town.Data)
	for mode, want := range map[region.Modes]int{region.Car: 1, region.Bicycle: 1, region.Foot: 2} {
		g, err := roadgraph.OpenMode(f, mode)
		if err != nil {
			t.Fatal(err)
		}
		segments := roadgraphtest.Segments(g)
		if len(segments) != want {
			t.Fatalf("mode %d has %d segments, want %d", mode, len(segments), want)
		}
		for _, segment := range segments {
			if length := g.Segment(segment).Length; mode == region.Car && (length < 199_900 || length > 200_100) {
				t.Errorf("the street is %d mm long for cars", length)
			}
			checkTurns(t, g, 2*segment, []uint32{2 * segment})
		}
	}
}

// TestModesOfTheirOwn: what is different for bicycles and walkers on the same street, 1 km long.
func TestModesOfTheirOwn(t *testing.T) {
	var town roadgraphtest.Town
	r := town.Street("street", 0, 0, 1000, 0)
	r.BicycleSpeed, r.FootSpeed, r.DestinationForward = 10, 4, region.Bicycle
	f := roadgraphtest.Compile(t, &town.Data)
	for mode, want := range map[region.Modes]struct {
		seconds float64
		flags   roadgraph.Flags
	}{region.Car: {72, 0}, region.Bicycle: {360, roadgraph.DestinationForward}, region.Foot: {900, 0}} {
		g, err := roadgraph.OpenMode(f, mode)
		if err != nil {
			t.Fatal(err)
		}
		for arc := range uint32(2) {
			if got := float64(g.Arc(arc).Duration) / 1000; math.Abs(got-want.seconds) > 0.1 {
				t.Errorf("mode %d takes %.1f s, not %.1f", mode, got, want.seconds)
			}
		}
		if got := g.Segment(0).Flags; got != want.flags|roadgraph.Forward|roadgraph.Backward {
			t.Errorf("mode %d: flags %b", mode, got)
		}
	}
}
