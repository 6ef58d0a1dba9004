package pipeline

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestInterrupted: what is given while somebody ends it all may be left in hand, and nobody waits for it.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan error)
	go func() {
		var err error
		for range 200 {
			err = Run(ctx, func(give func(int) bool) {
				for i := 0; i < 100 && give(i); i++ {
				}
			}, func(i int) (int, error) { return i, nil }, func(int) error { return nil })
			if !errors.Is(err, context.Canceled) {
				break
			}
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for what nobody works on")
	}
}

// TestRanges: each number is worked on once, in order.
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
