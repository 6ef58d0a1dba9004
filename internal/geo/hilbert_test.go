package geo

import (
	"testing"

	"pgregory.net/rapid"
)

// TestHilbertCurve: on a grid of squares the curve visits each once, and goes from each to one beside it.
func TestHilbertCurve(t *testing.T) {
	const bits = 5
	const side = 1 << bits
	order := make([][2]int, side*side)
	seen := map[uint64]bool{}
	for x := range side {
		for y := range side {
			d := Hilbert(uint32(x)<<(32-bits), uint32(y)<<(32-bits)) >> (64 - 2*bits)
			if seen[d] {
				t.Fatalf("two squares at %d", d)
			}
			seen[d] = true
			order[d] = [2]int{x, y}
		}
	}
	for i := 1; i < len(order); i++ {
		dx, dy := order[i][0]-order[i-1][0], order[i][1]-order[i-1][1]
		if dx*dx+dy*dy != 1 {
			t.Fatalf("from %v to %v", order[i-1], order[i])
		}
	}
}

// TestHilbertOfPosition: what lies south-west of all others comes first.
func TestHilbertOfPosition(t *testing.T) {
	if got := HilbertOfPosition(-1<<31, -1<<31); got != 0 {
		t.Errorf("%d", got)
	}
	if HilbertOfPosition(-1, -1) == HilbertOfPosition(0, 0) || HilbertOfPosition(-1, -1)>>62 == HilbertOfPosition(0, 0)>>62 {
		t.Error("the equator does not part the curve")
	}
}

func BenchmarkHilbert(b *testing.B) {
	sum := uint64(0)
	for i := 0; b.Loop(); i++ {
		sum += Hilbert(uint32(i)*2654435761, uint32(i)*40503)
	}
	_ = sum
}

// TestHilbertPoint: each place on the curve is that of its point.
func TestHilbertPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Uint64().Draw(t, "place")
		if x, y := HilbertPoint(d); Hilbert(x, y) != d {
			t.Errorf("%d: %d, %d", d, x, y)
		}
	})
}
