package account_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/account/accounttest"
)

func newAccount(id string) account.Account {
	a := account.Account{ID: id, OrganizationID: "org", Scopes: account.Scopes{account.ScopeTile},
		Status: account.StatusActive, Version: 1}
	copy(a.ClientHash[:], "c"+id)
	copy(a.ServerHash[:], "s"+id)
	return a
}

func become(status account.Status) func(*account.Account) (bool, error) {
	return func(a *account.Account) (bool, error) {
		a.Status = status
		return true, nil
	}
}

func current(t *testing.T, l *account.Live, id string) *account.State {
	t.Helper()
	c, err := l.Current(t.Context(), id)
	if err != nil {
		t.Fatalf("Current(%s): %v", id, err)
	}
	return c.State()
}

func TestLiveFollows(t *testing.T) {
	l := account.NewLive(accounttest.NewMemory())
	if _, err := l.Current(t.Context(), "sa_1"); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("no such account: error %v", err)
	}
	if err := l.CreateAccount(t.Context(), newAccount("sa_1")); err != nil {
		t.Fatal(err)
	}
	held, err := l.Current(t.Context(), "sa_1")
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, active bool, generation, version uint64) {
		t.Helper()
		s := held.State()
		if s.Active != active || s.Generation != generation || s.Version != version || s.InDoubt() {
			t.Errorf("%s: %+v; want active %v, generation %d, version %d", what, s, active, generation, version)
		}
	}
	check("created", true, 0, 1)
	for _, step := range []struct {
		status account.Status
		active bool
		gen    uint64
	}{{account.StatusSuspended, false, 1}, {account.StatusActive, true, 1}, {account.StatusRevoked, false, 2}} {
		_, after, err := l.UpdateAccount(t.Context(), "sa_1", become(step.status))
		if err != nil {
			t.Fatal(err)
		}
		check(string(step.status), step.active, step.gen, after.Version)
	}
	if _, err := l.DeleteAccount(t.Context(), "sa_1", nil); err != nil {
		t.Fatal(err)
	}
	check("deleted", false, 3, 5)
	l.Observe(newAccount("sa_1")) // a reader that was slow
	check("deleted, and an old version came", false, 3, 5)
}

// TestLiveOrder shows a Live the versions of an account in any order, as slow readers of a store do. It must end with
// the highest and never go back.
func TestLiveOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := account.NewLive(accounttest.NewMemory())
		var highest uint64
		for _, version := range rapid.SliceOfN(rapid.Uint64Range(1, 9), 1, 20).Draw(t, "versions") {
			a := newAccount("sa_1")
			a.Version, a.Generation = version, version
			highest = max(highest, version)
			if got := l.Observe(a).State(); got.Version != highest || got.Generation != highest {
				t.Fatalf("after version %d, the state is of version %d, want %d", version, got.Version, highest)
			}
		}
	})
}

// tearing is a store whose updates and deletions fail, after they took place or before, and which can be down
// altogether.
type tearing struct {
	account.Store
	torn, took, down bool
}

var errTorn = errors.New("the connection broke")

func (s *tearing) Account(ctx context.Context, id string) (account.Account, error) {
	if s.down {
		return account.Account{}, errTorn
	}
	return s.Store.Account(ctx, id)
}

func (s *tearing) UpdateAccount(ctx context.Context, id string,
	change func(*account.Account) (bool, error)) (before, after account.Account, err error) {
	if !s.torn || s.took {
		before, after, err = s.Store.UpdateAccount(ctx, id, change)
	}
	if s.torn && err == nil {
		return account.Account{}, account.Account{}, errTorn
	}
	return before, after, err
}

func (s *tearing) DeleteAccount(ctx context.Context, id string,
	check func(account.Account) error) (a account.Account, err error) {
	if !s.torn || s.took {
		a, err = s.Store.DeleteAccount(ctx, id, check)
	}
	if s.torn && err == nil {
		return account.Account{}, errTorn
	}
	return a, err
}

// TestLiveInDoubt fails changes half-way: until the store has been read again, the account must not count as active.
func TestLiveInDoubt(t *testing.T) {
	for _, took := range []bool{false, true} {
		for name, change := range map[string]func(*account.Live) error{
			"update": func(l *account.Live) error {
				_, _, err := l.UpdateAccount(context.Background(), "sa_1", become(account.StatusSuspended))
				return err
			},
			"delete": func(l *account.Live) error {
				_, err := l.DeleteAccount(context.Background(), "sa_1", nil)
				return err
			},
		} {
			t.Run(fmt.Sprintf("%s, took place: %v", name, took), func(t *testing.T) {
				store := &tearing{Store: accounttest.NewMemory(), took: took}
				l := account.NewLive(store)
				if err := l.CreateAccount(t.Context(), newAccount("sa_1")); err != nil {
					t.Fatal(err)
				}
				held := current(t, l, "sa_1")
				store.torn, store.down = true, true
				if err := change(l); !errors.Is(err, errTorn) {
					t.Fatalf("error %v", err)
				}
				c := l.Observe(newAccount("sa_1"))
				if s := c.State(); s.Active || !s.InDoubt() {
					t.Errorf("in doubt, the state is %+v", s)
				}
				if _, err := l.Current(t.Context(), "sa_1"); !errors.Is(err, errTorn) {
					t.Errorf("Current, the store being down: error %v", err)
				}
				store.torn, store.down = false, false
				if s := current(t, l, "sa_1"); s.Active == took || s.InDoubt() {
					t.Errorf("when the store is back: %+v", s)
				}
				if !held.Active {
					t.Error("a state that was handed out before has changed")
				}
			})
		}
	}
}

// TestLiveRefusedChange: a change that its caller refuses leaves nothing in doubt.
func TestLiveRefusedChange(t *testing.T) {
	l := account.NewLive(accounttest.NewMemory())
	if err := l.CreateAccount(t.Context(), newAccount("sa_1")); err != nil {
		t.Fatal(err)
	}
	mine := errors.New("mine")
	_, _, err := l.UpdateAccount(t.Context(), "sa_1", func(*account.Account) (bool, error) { return true, mine })
	_, err2 := l.DeleteAccount(t.Context(), "sa_1", func(account.Account) error { return mine })
	if err != mine || err2 != mine {
		t.Errorf("errors %v and %v", err, err2)
	}
	if s := current(t, l, "sa_1"); !s.Active || s.InDoubt() || s.Version != 1 {
		t.Errorf("state %+v", s)
	}
}

// unasked is a store that could not be asked at all.
type unasked struct{ account.Store }

func (unasked) UpdateAccount(context.Context, string,
	func(*account.Account) (bool, error)) (before, after account.Account, err error) {
	return before, after, errors.Join(errTorn, account.ErrUnchanged)
}

func (unasked) DeleteAccount(context.Context, string, func(account.Account) error) (a account.Account, err error) {
	return a, errors.Join(errTorn, account.ErrUnchanged)
}

// TestLiveUnchanged: what certainly did not change is not in doubt.
func TestLiveUnchanged(t *testing.T) {
	l := account.NewLive(unasked{accounttest.NewMemory()})
	if err := l.CreateAccount(t.Context(), newAccount("sa_1")); err != nil {
		t.Fatal(err)
	}
	_, _, err := l.UpdateAccount(t.Context(), "sa_1", become(account.StatusSuspended))
	_, err2 := l.DeleteAccount(t.Context(), "sa_1", nil)
	if !errors.Is(err, errTorn) || !errors.Is(err2, errTorn) {
		t.Errorf("errors %v and %v", err, err2)
	}
	if s := current(t, l, "sa_1"); !s.Active || s.InDoubt() {
		t.Errorf("state %+v", s)
	}
}

// TestLiveForgetsDeleted: the state of a deleted account is not active, and takes no memory for ever.
func TestLiveForgetsDeleted(t *testing.T) {
	l := account.NewLive(accounttest.NewMemory())
	if err := l.CreateAccount(t.Context(), newAccount("sa_1")); err != nil {
		t.Fatal(err)
	}
	held, err := l.Current(t.Context(), "sa_1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.DeleteAccount(t.Context(), "sa_1", nil); err != nil {
		t.Fatal(err)
	}
	l.AccountDeleted("sa_2", 5) // of another process
	for sweep, forgotten := range []bool{false, false, false, true, true} {
		if _, err := l.SweepGrants(t.Context(), time.Now().Add(24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"sa_1", "sa_2"} {
			c, err := l.Current(t.Context(), id)
			switch {
			case forgotten && !errors.Is(err, account.ErrNotFound):
				t.Errorf("sweep %d, %s: %v, %v", sweep, id, c, err)
			case !forgotten && (err != nil || c.State().Active):
				t.Errorf("sweep %d, %s: %v, %v", sweep, id, c, err)
			}
		}
		if held.State().Active {
			t.Errorf("sweep %d: whoever holds the state finds it active", sweep)
		}
	}
}

func TestLiveEndedGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := account.NewLive(accounttest.NewMemory())
		l.RememberEnded(time.Minute)
		if l.Ended(account.GrantRef("gr_1")) {
			t.Error("a grant that nobody ended has ended")
		}
		if err := l.EndGrant(t.Context(), "gr_1"); err != nil {
			t.Fatal(err)
		}
		// Tokens with more and with less of their lives before them: the longest counts.
		l.RememberEnded(time.Hour)
		l.RememberEnded(time.Second)
		for _, id := range []string{"gr_2", "gr_2", "gr_3"} {
			if err := l.EndGrant(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		const slack = 10 * time.Second // for a check that is under way
		began := time.Now()
		for _, step := range []struct {
			after        time.Duration
			first, later bool
		}{{0, true, true}, {slack + 59*time.Second, true, true}, {slack + 61*time.Second, false, true},
			{slack + 59*time.Minute, false, true}, {slack + 61*time.Minute, false, false}} {
			time.Sleep(step.after - time.Since(began))
			// Whatever the clock says that the store goes by.
			for _, now := range []time.Time{time.Now(), time.Now().Add(48 * time.Hour), time.Now().Add(-48 * time.Hour)} {
				if _, err := l.SweepGrants(t.Context(), now); err != nil {
					t.Fatal(err)
				}
			}
			for id, want := range map[string]bool{"gr_1": step.first, "gr_2": step.later, "gr_3": step.later, "gr_4": false} {
				if l.Ended(account.GrantRef(id)) != want {
					t.Errorf("after %v, %s: ended is %v, want %v", step.after, id, l.Ended(account.GrantRef(id)), want)
				}
			}
		}
	})
}

// clockStore is a store with a clock of its own.
type clockStore struct {
	account.Store
	now time.Time
}

func (s *clockStore) Now() time.Time { return s.now }

func TestLiveClock(t *testing.T) {
	store := &clockStore{accounttest.NewMemory(), time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)}
	if now := account.NewLive(store).Now(); now != store.now {
		t.Errorf("it is %v, the store says %v", now, store.now)
	}
	if off := time.Since(account.NewLive(store.Store).Now()).Abs(); off > time.Minute {
		t.Errorf("without a clock of the store, it is %v from this machine's", off)
	}
}

// TestLiveEndsAtOnce ends grants from many goroutines while others sweep: whoever has returned from EndGrant must
// find the grant ended.
func TestLiveEndsAtOnce(t *testing.T) {
	l := account.NewLive(accounttest.NewMemory())
	l.RememberEnded(time.Hour)
	stop := make(chan struct{})
	var sweeper, enders sync.WaitGroup
	sweeper.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := l.SweepGrants(context.Background(), time.Now()); err != nil {
					t.Error(err)
				}
			}
		}
	})
	for i := range 8 {
		enders.Go(func() {
			for n := range 500 {
				id := fmt.Sprint(n + i%2) // often the same as another's
				if err := l.EndGrant(context.Background(), id); err != nil || !l.Ended(account.GrantRef(id)) {
					t.Errorf("grant %s: error %v, ended %v", id, err, l.Ended(account.GrantRef(id)))
				}
			}
		})
	}
	enders.Wait()
	close(stop)
	sweeper.Wait()
}
