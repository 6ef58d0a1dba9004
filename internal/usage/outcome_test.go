package usage_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mapsedge/caddy-maps/internal/usage"
)

// TestOutcome: whatever a store does not do is told, and when it does again.
func TestOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShaky()
		m := usage.NewMeter(s, time.Now, func(usage.Reached) {})
		var mu sync.Mutex
		var last [usage.Tasks]error
		m.OnOutcome(func(task usage.Task, err error) {
			mu.Lock()
			defer mu.Unlock()
			last[task] = err
		})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { m.Run(ctx) })
		c, limits := m.Counter("org", "x"), daily(10)
		admit := func() {
			if _, err := c.Admit(ctx, tile, limits, time.Now().Unix()); err != nil {
				t.Fatal(err)
			}
		}
		s.failMarks.Store(true)
		for range 8 {
			admit()
		}
		time.Sleep(3 * time.Second) // a level is known to be reached when counts were handed over
		for _, want := range []error{errLost, nil} {
			admit()
			s.failMarks.Store(want != nil)
			s.away(want, false)
			time.Sleep(3 * time.Minute)
			mu.Lock()
			for task, err := range last {
				if !errors.Is(err, want) {
					t.Errorf("task %d: %v, want %v", task, err, want)
				}
			}
			mu.Unlock()
		}
		stop()
		running.Wait()
	})
}
