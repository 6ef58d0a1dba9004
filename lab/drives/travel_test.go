package drives

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/lab/mismatch"
)

// Rides and walks are reproducible, at their speed, and of their lengths.
func TestSimulateTravel(t *testing.T) {
	g := city(t)
	for name, tt := range map[string]struct {
		travel Travel
		speed  float64 // km/h
	}{"rides": {Riding, 18}, "walks": {Walking, 5}} {
		ctx := context.Background()
		trips, err := Recipe{Travel: &tt.travel}.Simulate(ctx, g, 2, 7)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := Recipe{Travel: &tt.travel}.Simulate(ctx, g, 2, 7)
		if diff := cmp.Diff(trips, again); err != nil || diff != "" {
			t.Errorf("%s: error %v, another time they are different:\n%s", name, err, diff)
		}
		drives, err := Recipe{}.Simulate(ctx, g, 2, 7)
		if err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(trips[0].Truth, drives[0].Truth) {
			t.Errorf("%s are drives", name)
		}
		for i := range trips {
			d := &trips[i]
			length := mismatch.Of(d.Truth, nil).Truth
			if length < 0.99*tt.travel.shortest || length > 1.01*tt.travel.longest {
				t.Errorf("%s: one of %.0f m", name, length)
			}
			// a position at the beginning, one each interval, and one at the end
			if want := math.Ceil(length/(tt.speed/3.6)/d.Interval) + 1; len(d.Trace) < least ||
				math.Abs(float64(len(d.Trace))-want) > 1 {
				t.Errorf("%s: %d positions each %v s on %.0f m, want %v", name, len(d.Trace), d.Interval, length, want)
			}
			for _, p := range d.Trace {
				if off := fromLine(p, d.Truth); off > 6*d.Sigma {
					t.Errorf("%s: a position with σ %v m is %.1f m off", name, d.Sigma, off)
				}
			}
		}
	}
}

// Walkers take the shortest way, however many corners and however slow its streets are; on a bicycle corners cost time.
func TestWhatTravellersTake(t *testing.T) {
	town := &roadgraphtest.Town{}
	a, b := town.Node(0, 0), town.Node(400, 0)
	corner := town.Node(200, 0)
	town.Road("Zigzag", a, corner).SpeedForward = 10
	north := town.Node(200, 60)
	town.Road("Zag", corner, north)
	east := town.Node(400, 60)
	town.Road("Zig", north, east)
	town.Road("Back", east, b)
	for _, n := range []uint32{corner, north, east} { // so that each corner is a junction
		town.Road("Spur", n, town.Node(float64(n)*100, -300))
	}
	town.Road("Arc", a, town.Node(200, -190), b)
	town.Road("West", town.Node(-300, 0), a)
	town.Road("East", b, town.Node(700, 0))
	g := town.Open(t)
	for name, tt := range map[string]struct {
		travel Travel
		zigzag bool
	}{"walking": {Walking, true}, "riding": {Riding, false}, "driving": {Driving, false}} {
		r := NewTravelRouter(g, tt.travel)
		route, ok := r.Fastest(spot(g, -150, 0), spot(g, 550, 0))
		if !ok {
			t.Fatal("no route")
		}
		line, seconds := r.Line(route)
		if passes(line, 200, 60) != tt.zigzag {
			t.Errorf("%s: the route is %v", name, line)
		}
		if speed := mismatch.Of(line, nil).Truth / seconds[len(seconds)-1]; tt.travel.speed > 0 &&
			math.Abs(speed-tt.travel.speed) > 0.01 {
			t.Errorf("%s at %v m/s, want %v", name, speed, tt.travel.speed)
		}
	}
}

// On foot one turns round at a via point, and no second is lost or counted twice there.
func TestWalkersTurnRound(t *testing.T) {
	town := &roadgraphtest.Town{}
	mid := town.Node(2000, 0)
	town.Road("Long", town.Node(0, 0), town.Node(1000, 0), mid)
	town.Road("Longer", mid, town.Node(4000, 0))
	town.Road("Spur", mid, town.Node(2000, 1200))
	g := town.Open(t)
	turned := 0
	for seed := range uint64(30) {
		r := NewTravelRouter(g, Walking)
		line, seconds, ok := r.randomTrip(1, rand.New(rand.NewPCG(seed, 1)))
		if !ok {
			continue
		}
		for i := 1; i < len(line); i++ {
			if took := seconds[i] - seconds[i-1]; math.Abs(took-distance(line[i-1], line[i])/Walking.speed) > 0.1 {
				t.Errorf("%.1f s for %.1f m", took, distance(line[i-1], line[i]))
			}
			if i < 2 {
				continue
			}
			ax, ay := roadgraphtest.XY(line[i-2])
			bx, by := roadgraphtest.XY(line[i-1])
			cx, cy := roadgraphtest.XY(line[i])
			if (bx-ax)*(cx-bx)+(by-ay)*(cy-by) < -1 {
				turned++
			}
		}
	}
	if turned < 5 {
		t.Errorf("only %d of 30 turn round", turned)
	}
}
