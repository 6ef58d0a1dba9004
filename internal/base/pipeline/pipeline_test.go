package pipeline

import (
	"context"
	"errors"
	"testing"
)

// TestInterrupted: Run returns when its context has ended, even if values are still in progress.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 200 {
		err := Ranges(ctx, 100, 1, func(from, _ int) (int, error) { return from, nil }, func(int) error { return nil })
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

// TestRanges: work is called for each number once, and its results come in order.
func TestRanges(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 95} {
		next := 0
		err := Ranges(t.Context(), n, 10, func(from, to int) ([2]int, error) { return [2]int{from, to}, nil },
			func(r [2]int) error {
				if r[0] != next || r[1] <= r[0] || r[1]-r[0] > 10 {
					t.Errorf("of %d: %v after %d", n, r, next)
				}
				next = r[1]
				return nil
			})
		if err != nil || next != n {
			t.Errorf("%d of %d, %v", next, n, err)
		}
	}
}
