package geocoding

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGrid compares what is near boxes with all boxes that touch them.
func TestGrid(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	random := func(size int32) box {
		x, y := rng.Int32N(2_000_000)-1_000_000, rng.Int32N(2_000_000)-1_000_000
		return box{x, y, x + rng.Int32N(size), y + rng.Int32N(size)}
	}
	var g grid
	boxes := []box{{-halfTurn, -halfTurn / 2, halfTurn, halfTurn / 2}, {halfTurn, halfTurn / 2, halfTurn, halfTurn / 2}}
	for range 2000 {
		boxes = append(boxes, random(1<<(1+rng.IntN(20))))
	}
	for i := range boxes {
		g.add(boxes[i], uint32(i))
	}
	g.seal()
	if most := 4 * len(boxes); len(g.entries) > most {
		t.Errorf("%d entries, want at most %d", len(g.entries), most)
	}
	for range 300 {
		q := random(1 << (1 + rng.IntN(18)))
		got, _ := g.near(nil, q)
		if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("%v: not in order, or twice", got)
		}
		for i, b := range boxes {
			touches := b.MinX <= q.MaxX && b.MaxX >= q.MinX && b.MinY <= q.MaxY && b.MaxY >= q.MinY
			if _, has := slices.BinarySearch(got, uint32(i)); touches && !has {
				t.Fatalf("%v is not near %v", b, q)
			}
		}
	}
}
