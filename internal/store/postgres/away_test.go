package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
)

// TestAway takes the database away in two ways: one that says so, and one that says nothing. Calls fail within their
// time, at once when it is known, and work again when it is back.
func TestAway(t *testing.T) {
	t.Parallel()
	pace := testpace.Watch(t)
	for name, test := range map[string]struct {
		leave, back func(*pgtest.Proxy)
		first       time.Duration // what a call may take before it is known
	}{
		"refused": {(*pgtest.Proxy).Refuse, (*pgtest.Proxy).Accept, 500 * time.Millisecond},
		"silent":  {(*pgtest.Proxy).Freeze, (*pgtest.Proxy).Thaw, callTimeout + 300*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := pgtest.NewProxy(t, pgtest.DSN(t))
			s := open(t, proxy.DSN)
			h := watch(t, s)
			addAccount(t, s, "sa_1")
			// calls makes some of each kind, and returns what the slowest took.
			calls := func() time.Duration {
				var all sync.WaitGroup
				var slowest atomic.Int64
				for range 20 { // more than there are connections
					for _, call := range []func() error{
						func() error { _, err := s.Account(context.Background(), "sa_1"); return err },
						func() error { _, _, err := s.UpdateAccount(context.Background(), "sa_1", toggle); return err },
						func() error { return s.EndGrant(context.Background(), "gr_1") },
						func() error { _, err := s.SweepGrants(context.Background(), time.Now()); return err },
					} {
						all.Go(func() {
							began := time.Now()
							if err := call(); !account.IsUnavailable(err) {
								t.Errorf("error %v", err)
							}
							took := int64(time.Since(began))
							for most := slowest.Load(); took > most && !slowest.CompareAndSwap(most, took); most = slowest.Load() {
							}
						})
					}
				}
				all.Wait()
				return time.Duration(slowest.Load())
			}
			test.leave(proxy)
			left := time.Now()
			one := time.Now()
			if _, err := s.Account(t.Context(), "sa_1"); !account.IsUnavailable(err) {
				t.Errorf("error %v", err)
			}
			if took := time.Since(one); took > pace.Allow(test.first) {
				t.Errorf("the first call took %v", took)
			}
			h.until(t, "the failure", pace.Allow(4*time.Second), func() bool { return len(h.errs) > 0 })
			t.Logf("noticed after %v", time.Since(left))
			if h.synced.After(left.Add(pollAtMost)) {
				t.Errorf("up to date as of %v after the database was gone", h.synced.Sub(left))
			}
			testpace.Within(t, "failing once it is known", 100*time.Millisecond, calls)

			test.back(proxy)
			came := time.Now()
			h.until(t, "the next answer", pace.Allow(4*time.Second), func() bool { return h.synced.After(came) })
			if _, err := s.Account(t.Context(), "sa_1"); err != nil {
				t.Errorf("the database is back: %v", err)
			}
			t.Logf("back after %v", time.Since(came))
		})
	}
}

// TestSlowLock: somebody holds a row for good. Who waits for it gives up in time, and others are served.
func TestSlowLock(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	addAccount(t, s, "sa_1")
	addAccount(t, s, "sa_2")
	holding, release, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		_, _, err := s.UpdateAccount(context.Background(), "sa_1", func(*account.Account) (bool, error) {
			close(holding)
			<-release // as a server that was stopped in the middle
			return true, nil
		})
		done <- err
	}()
	<-holding
	other := open(t, dsn)
	began := time.Now()
	if _, _, err := other.UpdateAccount(t.Context(), "sa_1", toggle); !account.IsUnavailable(err) {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took > callTimeout+200*time.Millisecond {
		t.Errorf("gave up after %v", took)
	}
	if _, _, err := other.UpdateAccount(t.Context(), "sa_2", toggle); err != nil {
		t.Errorf("another account: %v", err)
	}
	if err := other.EndGrant(t.Context(), "gr_1"); err != nil {
		t.Errorf("a grant: %v", err)
	}
	time.Sleep(3*time.Second - time.Since(began))
	// The database has ended the transaction of the server that was stopped.
	if _, _, err := other.UpdateAccount(t.Context(), "sa_1", toggle); err != nil {
		t.Errorf("after the lock's time: %v", err)
	}
	close(release)
	if err := <-done; !account.IsUnavailable(err) {
		t.Errorf("the change that was stopped: error %v", err)
	}
	a, err := s.Account(t.Context(), "sa_1")
	if err != nil || a.Version != 2 || a.Status != account.StatusSuspended {
		t.Errorf("the account is %+v, error %v", a, err)
	}
}

// TestGivenUp: a caller that goes away breaks no connection.
func TestGivenUp(t *testing.T) {
	s := open(t, pgtest.With(t, pgtest.DSN(t), "pool_max_conns", "1"))
	addAccount(t, s, "sa_1")
	before := s.pool.Stat().NewConnsCount()
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if _, err := s.Account(ctx, "sa_1"); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cancel()
	}
	if made := s.pool.Stat().NewConnsCount() - before; made > 0 {
		t.Errorf("%d connections were made anew", made)
	}
}
