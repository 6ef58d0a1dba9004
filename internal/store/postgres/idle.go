package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// waitForIdle is how often it is looked for a connection that a call has given back.
const waitForIdle = 2 * time.Millisecond

// firstIdle acquires a connection of the pool that is free, for the watcher, which needs it for a moment. It makes
// none. Where all are in use it waits for the first that a call gives back, and new calls wait until it has it: what
// the watcher hears is what revokes. It returns nil if ctx ends before, or if there are none.
func (s *Store) firstIdle(ctx context.Context) *pgxpool.Conn {
	had := make(chan struct{})
	defer close(had)
	for mine := false; ctx.Err() == nil; sleep(ctx, waitForIdle) {
		if idle := s.pool.AcquireAllIdle(ctx); len(idle) > 0 {
			for _, conn := range idle[1:] {
				conn.Release()
			}
			return idle[0]
		}
		if s.pool.Stat().AcquiredConns() == 0 {
			return nil
		}
		if !mine && s.turn.CompareAndSwap(nil, &had) {
			mine = true
			defer s.turn.Store(nil)
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
