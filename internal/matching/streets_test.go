package matching_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// TestStreets asks on small networks which streets a drive took, and how long it is. That the path obeys one-ways and
// turn restrictions is part of what every answer is checked for.
func TestStreets(t *testing.T) {
	tests := map[string]struct {
		town   func(town *roadgraphtest.Town)
		points []trace.Point
		want   []string
		metres float64 // to within 10 m and 1%
	}{
		"a straight street": {
			func(town *roadgraphtest.Town) { town.Street("a", 0, 0, 1000, 0) },
			points(100, 5, 300, -4, 500, 6, 900, -5), []string{"a"}, 800,
		},
		"against the direction that it is drawn in": {
			func(town *roadgraphtest.Town) { town.Street("a", 0, 0, 1000, 0) },
			points(900, 5, 500, -4, 300, 6, 100, -5), []string{"a"}, 800,
		},
		"two points": {
			func(town *roadgraphtest.Town) { town.Street("a", 0, 0, 1000, 0) },
			points(420, 5, 480, 5), []string{"a"}, 60,
		},
		"two points backwards": {
			func(town *roadgraphtest.Town) { town.Street("a", 0, 0, 1000, 0) },
			points(480, 5, 420, 5), []string{"a"}, 60,
		},
		"a winding street": { // the points are on the chord, the street is not
			func(town *roadgraphtest.Town) { town.Street("a", 0, 0, 200, 0, 200, 150, 400, 150, 400, 0, 600, 0) },
			points(50, 2, 150, -2, 202, 80, 300, 152, 398, 80, 450, 2, 550, -2), []string{"a"}, 800,
		},
		"a turn": {
			cross, points(-150, 3, -60, -3, 2, 60, -3, 150), []string{"west", "north"}, 300,
		},
		"straight on": {
			cross, points(-150, 3, -60, -3, 60, 2, 150, -3), []string{"west", "east"}, 300,
		},
		"a forbidden turn": { // the drive goes round the block
			func(town *roadgraphtest.Town) { block(town); forbidTurn(town, "in", "left") },
			points(-150, 2, -80, -2, 60, 1, 150, 3, 198, 100, 100, 202, 3, 205, -2, 250, 2, 350), []string{"in", "bottom", "right", "top", "up"}, 900,
		},
		"a forbidden turn, with nothing recorded on the way round": {
			func(town *roadgraphtest.Town) { block(town); forbidTurn(town, "in", "left") },
			points(-150, 2, -80, -2, -2, 250, 2, 350), []string{"in", "bottom", "right", "top", "up"}, 900,
		},
		"the same turn where it is allowed": {
			block, points(-150, 2, -80, -2, 2, 70, -3, 150, -2, 250, 2, 350), []string{"in", "left", "up"}, 500,
		},
		"a one-way street, with one the other way beside it": { // the nearer street is the wrong one
			func(town *roadgraphtest.Town) { pair(town, 30) },
			clean().along(40, 900, 12, 100, 12), []string{"westbound"}, 800,
		},
		"the side of a dual carriageway": {
			func(town *roadgraphtest.Town) { pair(town, 14) },
			newNoise(3, 6).along(30, 100, 0, 900, 0), []string{"eastbound"}, 800,
		},
		"the other side": {
			func(town *roadgraphtest.Town) { pair(town, 14) },
			newNoise(3, 6).along(30, 900, 14, 100, 14), []string{"westbound"}, 800,
		},
		"a one-way street, with positions that go backwards": {
			around,
			points(100, 4, 130, -3, 118, 5, 150, 2, 139, -3, 170, 3, 200, -2, 192, 4, 240, 3), []string{"straight"}, 140,
		},
		"back on a one-way street": { // there is another way round
			around,
			points(250, 2, 400, -2, 450, 30, 498, 30, 400, 62, 250, 58, 50, 62, 0, 30, 50, 2, 150, -3), []string{"straight", "round", "straight"}, 1020,
		},
		"beside another street": {
			func(town *roadgraphtest.Town) { ladder(town, 40) },
			newNoise(5, 5).along(50, 50, 40, 950, 40), []string{"upper"}, 900,
		},
		"beside another street, with a point nearer to it": {
			func(town *roadgraphtest.Town) { ladder(town, 40) },
			points(50, 2, 150, -2, 250, 3, 350, 23, 450, -4, 550, 1), []string{"lower"}, 500,
		},
		"from one to the other": {
			func(town *roadgraphtest.Town) { ladder(town, 40) },
			points(50, 2, 150, -2, 250, 3, 350, 3, 450, 1, 502, 20, 550, 42, 650, 38, 750, 40), []string{"lower", "rung", "upper"}, 740,
		},
		"into a roundabout and out at the third exit": {
			roundabout, points(-150, 3, -100, -3, -50, 2, 0, -21, 22, 0, -2, 60, 3, 100, -3, 150), []string{"west", "ring", "north"}, 345,
		},
		"past a ramp": {
			motorway, newNoise(7, 4).along(28, -400, 0, 1200, 0), []string{"motorway"}, 1600,
		},
		"up a ramp": {
			motorway, newNoise(8, 4).along(14, -400, 0, 0, 0, 200, -10, 500, -16, 600, -60, 700, -150), []string{"motorway", "ramp"}, 1144,
		},
		"over a bridge": { // two points are nearer to the road below
			crossing, points(-200, 2, -100, -2, -12, 16, 12, -15, 100, 2, 200, -1), []string{"bridge"}, 400,
		},
		"under a bridge": {
			crossing, points(1, -200, -2, -100, -14, -8, 13, 9, 2, 100, -1, 200), []string{"below"}, 400,
		},
		"to the end of a dead end and back": {
			cross, points(-150, 0, -50, 0, 0, 50, 0, 120, 0, 196, 0, 130, 0, 60, 50, 0, 150, 0), []string{"west", "north", "east"}, 695,
		},
		"round a ring": {
			func(town *roadgraphtest.Town) {
				first := town.Node(0, 0)
				town.Road("ring", first, town.Node(200, 0), town.Node(200, 200), town.Node(0, 200), first)
			},
			points(100, 0, 200, 50, 200, 150, 100, 200, 0, 150, 0, 50, 80, 0), []string{"ring"}, 780,
		},
		"beside a footpath": { // nobody drives there, though it is nearer
			func(town *roadgraphtest.Town) {
				town.Street("street", 0, 0, 1000, 0)
				path := town.Street("path", 0, 12, 1000, 12)
				path.Forward, path.Backward = region.Foot|region.Bicycle, region.Foot|region.Bicycle
			},
			points(100, 10, 300, 11, 500, 12, 900, 10), []string{"street"}, 800,
		},
		"round the end of a cycleway": { // a shortcut, for bicycles
			func(town *roadgraphtest.Town) {
				a, b := town.Node(0, 0), town.Node(0, 100)
				town.Road("lower", a, town.Node(150, 0), town.Node(150, 100), b)
				way := town.Road("cycleway", a, b)
				way.Forward, way.Backward = region.Bicycle, region.Bicycle
				town.Road("south", town.Node(0, -200), a)
				town.Road("north", b, town.Node(0, 300))
			},
			points(1, -150, -1, -50, 60, -3, 148, 50, 80, 103, 2, 150, -1, 250), []string{"south", "lower", "north"}, 700,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var town roadgraphtest.Town
			test.town(&town)
			g := town.Open(t)
			r, drive := match(t, g, test.points)
			if diff := cmp.Diff(test.want, streets(g, drive)); diff != "" {
				t.Error(diff)
			}
			if math.Abs(r.Distance-test.metres) > 10+0.01*test.metres {
				t.Errorf("the drive is %.1f m long, not %.0f", r.Distance, test.metres)
			}
			if list := unmatched(r); list != nil {
				t.Errorf("the points %v are not matched", list)
			}
		})
	}
}
