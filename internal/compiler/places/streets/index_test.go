package streets

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// TestBoxIndex compares what is near boxes with all boxes that overlap them.
func TestBoxIndex(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 300, 5000} {
		rng := rand.New(rand.NewPCG(8, 1))
		random := func(size int32) geo.Box {
			x, y := rng.Int32N(2_000_000)-1_000_000, rng.Int32N(2_000_000)-1_000_000
			return geo.Box{MinX: x, MinY: y, MaxX: x + rng.Int32N(size), MaxY: y + rng.Int32N(size)}
		}
		boxes := make([]geo.Box, n)
		for i := range boxes {
			boxes[i] = random(1 << (1 + rng.IntN(20)))
		}
		if n > 1 {
			boxes[0] = geo.Box{MinX: -geometry.HalfTurn, MinY: -geometry.HalfTurn / 2, MaxX: geometry.HalfTurn,
				MaxY: geometry.HalfTurn / 2}
		}
		slices.SortFunc(boxes, func(a, b geo.Box) int { return int(a.Order()>>40) - int(b.Order()>>40) })
		x := NewIndex[int64](placestest.Scratch(t), "test")
		for i := range boxes {
			if err := x.Add(int64(i), boxes[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.Seal(); err != nil {
			t.Fatal(err)
		}
		found := 0
		for range 300 {
			q := random(1 << (1 + rng.IntN(18)))
			near := make([]bool, n)
			x.Each(&q, func(i *int64) {
				found++
				if near[*i] {
					t.Errorf("%d boxes: %d is there twice", n, *i)
				}
				near[*i] = true
			})
			for i := range boxes {
				if boxes[i].Overlaps(&q) && !near[i] {
					t.Fatalf("%d boxes: %v is not near %v", n, boxes[i], q)
				}
			}
		}
		if n == 5000 && found/300 > n/3 {
			t.Errorf("%d of %d boxes were yielded on average", found/300, n)
		}
	}
}

// TestAround: what is within some metres of a box is in the box that is widened by as much, up to the poles.
func TestAround(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 3000 {
		at := geometry.Coord{X: rng.Int32N(3_000_000_000/2) - 750_000_000, Y: rng.Int32N(1_790_000_000) - 895_000_000}
		size := []int32{1, 1000, 50_000_000}[rng.IntN(3)]
		b := at.Box()
		b.ExtendTo(at.X+rng.Int32N(size), min(at.Y+rng.Int32N(size), 899_000_000))
		near := geometry.Coord{X: at.X + rng.Int32N(400_000) - 200_000, Y: at.Y + rng.Int32N(20_000) - 10_000}
		if d := geometry.Distance(at, near); near.Y < 900_000_000 && near.Y > -900_000_000 {
			if wide, point := Around(b, d), near.Box(); !wide.Overlaps(&point) {
				t.Fatalf("%v is %g m from %v, and not in %v", near, d, b, wide)
			}
		}
	}
}
