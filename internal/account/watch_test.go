package account_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/account/accounttest"
)

// TestLiveHears makes changes behind the back of a Live and tells it.
func TestLiveHears(t *testing.T) {
	store := accounttest.NewMemory()
	l := account.NewLive(store)
	if err := store.CreateAccount(t.Context(), newAccount("sa_1")); err != nil {
		t.Fatal(err)
	}
	held, err := l.Current(t.Context(), "sa_1")
	if err != nil {
		t.Fatal(err)
	}
	_, suspended, err := store.UpdateAccount(t.Context(), "sa_1", become(account.StatusSuspended))
	if err != nil {
		t.Fatal(err)
	}
	if !held.State().Active {
		t.Fatal("the change was known before it was told")
	}
	l.AccountChanged(suspended)
	l.AccountChanged(newAccount("sa_1")) // late, and old
	if s := held.State(); s.Active || s.Version != suspended.Version || s.Generation != 1 {
		t.Errorf("after the change: %+v", s)
	}
	l.AccountDeleted("sa_1", suspended.Version+1)
	if s := held.State(); s.Active || s.Status != account.StatusRevoked || s.Organization != "org" {
		t.Errorf("after the deletion: %+v", s)
	}
	l.GrantEnded("gr_1")
	if !l.Ended(account.GrantRef("gr_1")) || l.Ended(account.GrantRef("gr_2")) {
		t.Error("the ended grant is not the one that was told of")
	}
}

// slow is a store whose reading of an account can be held up after it has been read.
type slow struct {
	account.Store
	read, answer chan struct{}
}

func (s *slow) Account(ctx context.Context, id string) (account.Account, error) {
	a, err := s.Store.Account(ctx, id)
	s.read <- struct{}{}
	<-s.answer
	return a, err
}

// TestLiveHearsBeforeItKnows tells of changes while the account is being read for the first time: what was read is then old.
func TestLiveHearsBeforeItKnows(t *testing.T) {
	for name, tell := range map[string]func(*account.Live, account.Store){
		"changed": func(l *account.Live, s account.Store) {
			_, after, err := s.UpdateAccount(context.Background(), "sa_1", become(account.StatusSuspended))
			if err != nil {
				t.Error(err)
			}
			l.AccountChanged(after)
		},
		"deleted": func(l *account.Live, s account.Store) {
			if _, err := s.DeleteAccount(context.Background(), "sa_1", nil); err != nil {
				t.Error(err)
			}
			l.AccountDeleted("sa_1", 2)
		},
		"missed": func(l *account.Live, s account.Store) {
			if _, _, err := s.UpdateAccount(context.Background(), "sa_1", become(account.StatusSuspended)); err != nil {
				t.Error(err)
			}
			l.ChangesMissed()
		},
	} {
		t.Run(name, func(t *testing.T) {
			memory := accounttest.NewMemory()
			if err := memory.CreateAccount(t.Context(), newAccount("sa_1")); err != nil {
				t.Fatal(err)
			}
			store := &slow{memory, make(chan struct{}), make(chan struct{})}
			l := account.NewLive(store)
			var got *account.Current
			done := make(chan error)
			go func() {
				var err error
				got, err = l.Current(context.Background(), "sa_1")
				done <- err
			}()
			<-store.read
			tell(l, memory)
			go func() { // whoever reads again is not held up
				for range store.read {
					store.answer <- struct{}{}
				}
			}()
			store.answer <- struct{}{}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			close(store.read)
			if s := got.State(); s.Active {
				t.Errorf("an account that was read while it changed: %+v", s)
			}
		})
	}
}

// TestLiveChangesMissed: whatever was handed out before never counts again, and what is asked for afterwards comes from the
// store.
func TestLiveChangesMissed(t *testing.T) {
	memory := accounttest.NewMemory()
	store := &tearing{Store: memory}
	l := account.NewLive(store)
	for _, id := range []string{"sa_1", "sa_2"} {
		if err := l.CreateAccount(t.Context(), newAccount(id)); err != nil {
			t.Fatal(err)
		}
	}
	var told toldOfKeys
	cancel := l.ListenForKeys(&told)
	held, err := l.Current(t.Context(), "sa_1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := memory.DeleteAccount(t.Context(), "sa_2", nil); err != nil {
		t.Fatal(err)
	}
	l.ChangesMissed()
	if told.missed != 1 {
		t.Errorf("keys may have changed, and %+v", told)
	}
	check := func(when string) {
		t.Helper()
		if s := held.State(); s.Active || !s.InDoubt() {
			t.Errorf("%s, what was held before is %+v", when, s)
		}
	}
	check("at once")
	store.down = true
	if _, err := l.Current(t.Context(), "sa_1"); !errors.Is(err, errTorn) {
		t.Errorf("the store being down: error %v", err)
	}
	store.down = false
	if s := current(t, l, "sa_1"); !s.Active || s.InDoubt() {
		t.Errorf("asked for again: %+v", s)
	}
	check("later")
	if _, err := l.Current(t.Context(), "sa_2"); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("an account that was deleted meanwhile: error %v", err)
	}
	if _, _, err := l.UpdateAccount(t.Context(), "sa_1", become(account.StatusSuspended)); err != nil {
		t.Fatal(err)
	}
	if s := current(t, l, "sa_1"); s.Active {
		t.Errorf("after a change: %+v", s)
	}
	check("after a change")
	cancel()
	l.ChangesMissed()
	if told.missed != 1 {
		t.Errorf("told %d times, want 1: cancelled is cancelled", told.missed)
	}
}

// toldOfKeys notes what it hears of keys.
type toldOfKeys struct {
	changed, missed int
	removed         []string
}

func (k *toldOfKeys) KeysChanged()         { k.changed++ }
func (k *toldOfKeys) KeyRemoved(id string) { k.removed = append(k.removed, id) }
func (k *toldOfKeys) KeysMissed()          { k.missed++ }

// tornKeys is a store whose changes of keys break off.
type tornKeys struct {
	account.Store
	err error
}

func (s *tornKeys) DeleteKey(ctx context.Context, id string) error {
	if s.err != nil {
		return s.err
	}
	return s.Store.DeleteKey(ctx, id)
}

func (s *tornKeys) ReplaceKeys(ctx context.Context, old []string, next []account.Key) ([]string, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.Store.ReplaceKeys(ctx, old, next)
}

// TestLiveTellsOfKeys: what was removed is told before the call returns, and what may have been removed is told to be
// read again.
func TestLiveTellsOfKeys(t *testing.T) {
	store := &tornKeys{Store: accounttest.NewMemory()}
	l := account.NewLive(store)
	key := func(id string, use account.KeyUse) account.Key {
		return account.Key{ID: id, Use: use, Algorithm: "EdDSA"}
	}
	for _, k := range []account.Key{key("a", account.KeyAccess), key("u", account.KeyUser)} {
		if _, err := l.AddFirstKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	var told toldOfKeys
	defer l.ListenForKeys(&told)()
	for _, step := range []struct {
		name    string
		do      func() error
		fails   error
		changed int
		removed []string
	}{
		{"next key", func() error { _, err := l.AddNextKey(t.Context(), key("b", account.KeyAccess), "a"); return err },
			nil, 1, nil},
		{"deleted", func() error { return l.DeleteKey(t.Context(), "a") }, nil, 1, []string{"a"}},
		{"replaced", func() error {
			_, err := l.ReplaceKeys(t.Context(), []string{"b", "none"}, []account.Key{key("c", account.KeyAccess)})
			return err
		}, nil, 1, []string{"b"}},
		{"deletion in doubt", func() error { return l.DeleteKey(t.Context(), "c") }, errTorn, 1, nil},
		{"replacement in doubt", func() error { _, err := l.ReplaceKeys(t.Context(), []string{"c"}, nil); return err },
			errTorn, 1, nil},
		{"replacement that certainly did nothing", func() error {
			_,
				err := l.ReplaceKeys(t.Context(), []string{"c"}, nil)
			return err
		},
			errors.Join(errTorn, account.ErrUnchanged), 0, nil},
		{"heard of", func() error { l.KeyRemoved("c"); l.KeysChanged(); return nil }, nil, 1, []string{"c"}},
	} {
		told, store.err = toldOfKeys{}, step.fails
		if err := step.do(); !errors.Is(err, step.fails) {
			t.Errorf("%s: error %v", step.name, err)
		}
		if told.changed != step.changed || told.missed != 0 || !slices.Equal(told.removed, step.removed) {
			t.Errorf("%s: told %+v, want %d changes and the removal of %v", step.name, told, step.changed, step.removed)
		}
	}
}

// TestLiveMissedInDoubt: a state in doubt when changes were missed must not come back by a question that was under way.
func TestLiveMissedInDoubt(t *testing.T) {
	memory := accounttest.NewMemory()
	if err := memory.CreateAccount(t.Context(), newAccount("sa_1")); err != nil {
		t.Fatal(err)
	}
	torn := &tearing{Store: memory}
	l := account.NewLive(torn)
	held, err := l.Current(t.Context(), "sa_1")
	if err != nil {
		t.Fatal(err)
	}
	torn.torn = true
	if _, _, err := l.UpdateAccount(t.Context(), "sa_1", become(account.StatusSuspended)); !errors.Is(err, errTorn) {
		t.Fatalf("error %v", err)
	}
	torn.torn = false
	store := &slow{memory, make(chan struct{}), make(chan struct{})}
	l.Store = store
	done := make(chan *account.Current)
	go func() {
		c, err := l.Current(context.Background(), "sa_1")
		if err != nil {
			t.Error(err)
		}
		done <- c
	}()
	<-store.read
	l.ChangesMissed()
	store.answer <- struct{}{}
	<-store.read // it asks again
	store.answer <- struct{}{}
	if c := <-done; c == held || !c.State().Active {
		t.Errorf("the state is %+v", c.State())
	}
	if s := held.State(); s.Active || !s.InDoubt() {
		t.Errorf("what was held before is %+v", s)
	}
}
