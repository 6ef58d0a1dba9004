package credential

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// tornStore fails every update, before or after it took place.
type tornStore struct {
	account.Store
	took bool
}

func (s *tornStore) UpdateAccount(ctx context.Context, id string, change func(*account.Account) (bool, error)) (before, after account.Account, err error) {
	if s.took {
		if _, _, err := s.Store.UpdateAccount(ctx, id, change); err != nil {
			return before, after, err
		}
	}
	return before, after, errDown
}

// TestSuspendUnderLoad verifies tokens in many goroutines while the account behind them is suspended and made active again,
// over and over. The rule: when UpdateAccount has returned, no check that begins later may accept a token of before.
func TestSuspendUnderLoad(t *testing.T) {
	const rounds, readers = 40, 4
	w := newWorld(t)
	app, backend := w.holder(t, "org", account.ScopeTile), w.holder(t, "org", account.ScopeTile)

	// The token of the present round, and the round whose tokens are known to be dead.
	type round struct {
		number int64
		token  string
	}
	var present atomic.Pointer[round]
	var dead atomic.Int64
	present.Store(&round{1, w.exchange(t, app, backend).Access})
	stop := make(chan struct{})
	var accepted, rejected atomic.Int64
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r := present.Load()
				deadBefore := dead.Load() // read before the check begins
				_, err := w.VerifyAccess(context.Background(), r.token)
				switch {
				case err == nil && deadBefore >= r.number:
					t.Errorf("round %d: a token was accepted after its account had left ACTIVE", r.number)
					return
				case err == nil:
					accepted.Add(1)
				case errors.Is(err, ErrInvalid):
					rejected.Add(1)
				default:
					t.Errorf("round %d: %v", r.number, err)
					return
				}
			}
		})
	}
	for n := int64(1); n <= rounds; n++ {
		target := app.ID
		if n%2 == 0 {
			target = backend.ID
		}
		before := accepted.Load()
		for deadline := time.Now().Add(5 * time.Second); accepted.Load() == before && time.Now().Before(deadline); {
			time.Sleep(10 * time.Microsecond)
		}
		w.become(t, target, account.StatusSuspended)
		dead.Store(n)
		if n%3 == 0 {
			time.Sleep(50 * time.Microsecond)
		}
		w.become(t, target, account.StatusActive)
		old := present.Load().token
		present.Store(&round{n + 1, w.exchange(t, app, backend).Access})
		if _, err := w.VerifyAccess(t.Context(), old); !errors.Is(err, refusedGeneration) {
			t.Fatalf("round %d: the old token, the account being active again: %v", n, err)
		}
	}
	close(stop)
	wg.Wait()
	if accepted.Load() < rounds || rejected.Load() == 0 {
		t.Errorf("%d checks passed and %d were refused; the test saw too little", accepted.Load(), rejected.Load())
	}
}

// TestRevokeUnderLoad is the same for grants.
func TestRevokeUnderLoad(t *testing.T) {
	const rounds, readers = 25, 4
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	for range rounds {
		tokens := w.exchange(t, app, app)
		var ended atomic.Bool
		var checks atomic.Int64
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range readers {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					over := ended.Load()
					if _, err := w.VerifyAccess(context.Background(), tokens.Access); err == nil && over {
						t.Error("a token was accepted after its grant had been ended")
						return
					}
					checks.Add(1)
				}
			})
		}
		for checks.Load() < 2*readers {
			time.Sleep(10 * time.Microsecond)
		}
		if err := w.Revoke(t.Context(), tokens.Refresh); err != nil {
			t.Fatal(err)
		}
		ended.Store(true)
		time.Sleep(50 * time.Microsecond)
		close(stop)
		wg.Wait()
	}
}
