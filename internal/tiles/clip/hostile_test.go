package clip_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
)

// TestHostileRingsEndSoon: rings made to cost much take a bounded time, less than comparing all edges with each other.
func TestHostileRingsEndSoon(t *testing.T) {
	n := 100_000
	if testkit.RaceDetector {
		n /= 4 // there is nothing to race here
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, at := range map[string]func(i int32) (x, y int32){
		"crossing everywhere on the grid": func(int32) (x, y int32) { return rnd.Int32N(4096), rnd.Int32N(4096) },
		"comb to the east":                func(i int32) (x, y int32) { return i % 2 * 4096, i },
		"fan":                             func(i int32) (x, y int32) { return i % 2 << 28, i % 2 * i },
	} {
		t.Run(name, func(t *testing.T) {
			ring := make(clip.Ring, n)
			for i := range ring {
				ring[i].X, ring[i].Y = at(int32(i))
			}
			r := clip.Rect{Min: geo.Projected{X: 1000, Y: 1000}, Max: geo.Projected{X: 3000, Y: 3000}}
			for what, do := range map[string]func(){
				"Simple":       func() { clip.Simple([]clip.Ring{ring}) },
				"ClipRings":    func() { clip.Simple(clip.ClipRings(nil, []clip.Ring{ring}, r)) },
				"SimplifyRing": func() { clip.SimplifyRing(ring, 1) },
			} {
				testkit.Work(t, what, 5*time.Second, do)
			}
		})
	}
}

// TestSimpleMakesCoarserWhatCrossesTooOften: rings that cross too often lose detail, but stay valid and in place.
func TestSimpleMakesCoarserWhatCrossesTooOften(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	in := clip.Rect{Min: geo.Projected{X: -3, Y: 5}, Max: geo.Projected{X: 157, Y: 161}}
	ring := make(clip.Ring, 3000)
	for i := range ring {
		ring[i].X, ring[i].Y = in.Min.X+rnd.Int32N(161), in.Min.Y+rnd.Int32N(157)
	}
	got := clip.Simple([]clip.Ring{ring})
	if err := tilestest.CheckRings(got); err != nil {
		t.Error(err)
	}
	if len(got) == 0 {
		t.Error("nothing is left")
	}
	for _, r := range tilestest.Rings(got) {
		if b := clip.Bounds(r); !in.Covers(b) {
			t.Errorf("%v leaves %v", b, in)
		}
	}
}
