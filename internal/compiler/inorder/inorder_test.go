package inorder

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
