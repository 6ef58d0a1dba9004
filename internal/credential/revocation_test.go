package credential

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// neighbour is another process with the same store. It hears of what w does only when it is told.
func (w *world) neighbour(t testing.TB) *world {
	t.Helper()
	return &world{Authority: newAuthority(t, w.cfg, account.NewLive(w.store)), store: w.store}
}

func (w *world) mint(t testing.TB) string {
	t.Helper()
	token, _, _, err := w.MintUser(t.Context(), "org", "alice", MaxUserTTL)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// ended checks that neither token of a key that was removed is accepted.
func (w *world) ended(t testing.TB, where, access, user string) {
	t.Helper()
	_, err := w.VerifyAccess(t.Context(), access)
	refused(t, where+": access token", err, refusedKey)
	_, err = w.VerifyUser(t.Context(), user)
	refused(t, where+": user token", err, refusedKey)
}

// TestReplaceKeys ends all tokens of the old keys at once, wherever they are known, and nothing else.
func TestReplaceKeys(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		w := newWorld(t, func(c *Config) {
			if sealed {
				c.KeyEncryptionKey = []byte(strings.Repeat("k", 32))
			}
		})
		app := w.holder(t, "org", account.ScopeTile)
		first := w.exchange(t, app, app)
		if err := w.Rotate(t.Context()); err != nil { // so that there are keys which only their tokens still need
			t.Fatal(err)
		}
		second, user := w.exchange(t, app, app), w.mint(t)
		// In the same process with another configuration, and in another process.
		cfg := w.cfg
		cfg.AccessTTL = time.Minute
		beside := &world{Authority: newAuthority(t, cfg, w.live), store: w.store}
		other := w.neighbour(t)
		for _, v := range []*world{w, beside, other} {
			v.cached(t, first.Access)
			v.cached(t, second.Access)
		}
		before := w.Keys()
		removed, err := w.ReplaceKeys(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(removed)
		var old []string
		for _, k := range before {
			old = append(old, k.ID)
			if strings.Contains(string(w.JWKS()), k.ID) {
				t.Errorf("key %s is still published", k.ID)
			}
		}
		if slices.Sort(old); !slices.Equal(old, removed) || len(old) != 4 {
			t.Errorf("removed %v, there were %v", removed, old)
		}
		if kept, err := w.store.Keys(t.Context()); err != nil || len(kept) != 2 || len(w.Keys()) != 2 {
			t.Errorf("%d keys in the store and %d in use, error %v; want two new ones", len(kept), len(w.Keys()), err)
		}
		for _, access := range []string{first.Access, second.Access} {
			w.ended(t, "here", access, user)
			beside.ended(t, "beside", access, user)
			if _, err := other.VerifyAccess(t.Context(), access); err != nil {
				t.Errorf("another process, which has not heard of it: %v", err)
			}
		}
		for _, id := range removed {
			other.live.KeyRemoved(id)
			other.live.KeysChanged()
		}
		for _, access := range []string{first.Access, second.Access} {
			other.ended(t, "the other, having heard of it", access, user)
		}
		// What was not signed goes on.
		for name, v := range map[string]*world{"here": w, "the other": other} {
			again, err := v.Refresh(t.Context(), first.Refresh, "", RefreshOptions{})
			if err != nil {
				t.Fatalf("%s: Refresh: %v", name, err)
			}
			fresh := v.mint(t)
			for _, v := range []*world{w, beside, other} {
				if _, err := v.VerifyAccess(t.Context(), again.Access); err != nil {
					t.Errorf("%s: new access token: %v", name, err)
				}
				if _, err := v.VerifyUser(t.Context(), fresh); err != nil {
					t.Errorf("%s: new user token: %v", name, err)
				}
			}
		}
	}
}

// TestReplaceTooManyKeys: the bound on rotations keeps nobody from getting rid of keys.
func TestReplaceTooManyKeys(t *testing.T) {
	w := newWorld(t)
	last := w.ring().access.id
	for n := range maxKeys {
		k, err := freshKey(w.cfg, account.KeyAccess, w.now().Add(time.Duration(n+1)*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.store.AddNextKey(t.Context(), k, last); err != nil {
			t.Fatal(err)
		}
		last = k.ID
	}
	if err := w.Rotate(t.Context()); !errors.Is(err, ErrTooManyKeys) {
		t.Fatal(err)
	}
	if removed, err := w.ReplaceKeys(t.Context()); err != nil || len(removed) < maxKeys || len(w.Keys()) != 2 {
		t.Errorf("removed %d keys, %d are left, error %v", len(removed), len(w.Keys()), err)
	}
}

// TestReplaceKeysTogether has several processes replace, rotate and tend at the same time. In the end all sign with
// the same keys, and those of before are gone.
func TestReplaceKeysTogether(t *testing.T) {
	for range 10 {
		w := newWorld(t)
		nodes := []*world{w, w.neighbour(t), w.neighbour(t), w.neighbour(t)}
		app := w.holder(t, "org", account.ScopeTile)
		stolen, user := w.exchange(t, app, app), w.mint(t)
		var all sync.WaitGroup
		for i, n := range nodes {
			all.Go(func() {
				if i == 3 {
					if err := n.Rotate(t.Context()); err != nil {
						t.Error(err)
					}
					return
				}
				if _, err := n.ReplaceKeys(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i, n := range nodes {
			tendOnce(t, n.Authority)
			n.ended(t, "after all", stolen.Access, user)
			for _, use := range keyUses {
				if a, b := n.ring().signs(use), w.ring().signs(use); a.id != b.id {
					t.Errorf("process %d signs with %s, another with %s", i, a.id, b.id)
				}
			}
		}
	}
}

// tornReplacement is a store whose answer to ReplaceKeys is lost.
type tornReplacement struct {
	account.Store
	took bool
}

func (s *tornReplacement) ReplaceKeys(ctx context.Context, old []string, next []account.Key) ([]string, error) {
	if s.took {
		if _, err := s.Store.ReplaceKeys(ctx, old, next); err != nil {
			return nil, err
		}
	}
	return nil, errDown
}

// TestReplaceKeysInDoubt: where the answer of the store was lost, what it did is found out, and it can be asked for
// again.
func TestReplaceKeysInDoubt(t *testing.T) {
	for _, took := range []bool{true, false} {
		w := newWorld(t)
		app := w.holder(t, "org", account.ScopeTile)
		tokens, user := w.exchange(t, app, app), w.mint(t)
		torn := &world{Authority: newAuthority(t, w.cfg, account.NewLive(&tornReplacement{w.store, took})), store: w.store}
		torn.cached(t, tokens.Access)
		if removed, err := torn.ReplaceKeys(t.Context()); !errors.Is(err, errDown) || len(removed) != 0 {
			t.Errorf("removed %v, error %v", removed, err)
		}
		select {
		case <-torn.keys.changed: // what Tend waits for
		default:
			t.Error("nobody reads the keys again")
		}
		tendOnce(t, torn.Authority)
		if took {
			torn.ended(t, "it took place", tokens.Access, user)
		} else if _, err := torn.VerifyAccess(t.Context(), tokens.Access); err != nil {
			t.Errorf("it did not take place: %v", err)
		}
	}
}

// TestReloadKeepsKnownTokens: reading the keys again costs no token its place in the cache.
func TestReloadKeepsKnownTokens(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	token := w.exchange(t, app, app).Access
	w.cached(t, token)
	for range 3 {
		if err := w.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	asked := w.store.reads.Load()
	if _, err := w.VerifyAccess(t.Context(), token); err != nil {
		t.Error(err)
	}
	if n := w.store.reads.Load() - asked; n != 0 {
		t.Errorf("the store was asked %d times", n)
	}
}

// TestStolenKey: whoever has a signing key, and a grant to name, gets no further than tokens of that grant get, and
// nowhere once the key or the grant is gone, whatever was verified before.
func TestStolenKey(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.RefreshTTL = time.Hour })
	app := w.holder(t, "org", account.ScopeTile)
	good := w.exchange(t, app, app).Access
	header, claims, stolen := decoded(t, good, 0), decoded(t, good, 1), w.ring().access
	forge := func(lives time.Duration) string {
		return signed(t, stolen, header.text(t), claims.with(object{"exp": w.now().Add(lives).Unix(),
			"iat": w.now().Unix()}).text(t))
	}
	_, err := w.VerifyAccess(t.Context(), forge(time.Hour+time.Second))
	refused(t, "it outlives its grant", err, refusedLife)
	token := forge(time.Hour)
	w.cached(t, token)

	w.advance(time.Hour - time.Nanosecond)
	if _, err := w.VerifyAccess(t.Context(), token); err != nil {
		t.Errorf("while its grant lives: %v", err)
	}
	w.advance(time.Nanosecond)
	_, err = w.VerifyAccess(t.Context(), token)
	refused(t, "in the cache, when its grant ends", err, refusedExpired)
	w.clock.Store(start.UnixNano())

	if err := w.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := w.VerifyAccess(t.Context(), token); err != nil {
		t.Errorf("while its key is there: %v", err)
	}
	w.advance(15*time.Minute + keyGrace + time.Second) // all tokens of the key have expired but those that are forged
	tendOnce(t, w.Authority)
	_, err = w.VerifyAccess(t.Context(), token)
	refused(t, "in the cache, when its key is gone", err, refusedKey)
	_, err = w.VerifyAccess(t.Context(), forge(time.Minute))
	refused(t, "forged after the key was gone", err, refusedKey)
}

// TestKeysMissed: after changes that nobody can name, no key is used before all have been read again.
func TestKeysMissed(t *testing.T) {
	w := newWorld(t)
	other := w.neighbour(t)
	app := w.holder(t, "org", account.ScopeTile)
	tokens, uncached, user := w.exchange(t, app, app), w.exchange(t, app, app), w.mint(t)
	other.cached(t, tokens.Access)
	if _, err := w.ReplaceKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	other.store.keysDown.Store(true)
	other.live.ChangesMissed()
	for name, token := range map[string]string{"known": tokens.Access, "unknown": uncached.Access} {
		_, err := other.VerifyAccess(t.Context(), token)
		isUnavailable(t, "a token that was "+name+" before", err)
	}
	_, err := other.VerifyUser(t.Context(), user)
	isUnavailable(t, "a user token", err)
	_, _, _, err = other.MintUser(t.Context(), "org", "alice", time.Hour)
	isUnavailable(t, "minting", err)
	if errors.Is(err, ErrMint) {
		t.Errorf("minting without keys is the caller's fault: %v", err)
	}
	_, err = other.Exchange(t.Context(), app.client, app.server)
	isUnavailable(t, "an exchange", err)
	other.store.keysDown.Store(false)
	other.ended(t, "when the keys can be read", tokens.Access, user)
	fresh := other.exchange(t, app, app)
	if _, err := w.VerifyAccess(t.Context(), fresh.Access); err != nil {
		t.Errorf("a new token: %v", err)
	}
}

// TestKeyBack: a database that went back, to before keys were removed, has them again.
func TestKeyBack(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	token := w.exchange(t, app, app).Access
	w.cached(t, token)
	backup, err := w.store.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.ReplaceKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = w.VerifyAccess(t.Context(), token)
	refused(t, "its key is gone", err, refusedKey)
	if _, err := w.store.ReplaceKeys(t.Context(), []string{w.ring().access.id, w.ring().user.id}, backup); err != nil {
		t.Fatal(err)
	}
	w.live.ChangesMissed()
	if _, err := w.VerifyAccess(t.Context(), token); err != nil {
		t.Errorf("its key is back: %v", err)
	}
}

// slowKeys is a store whose reading of the keys can be held up after they have been read.
type slowKeys struct {
	account.Store
	hold         chan struct{} // nil: not held up
	read, answer chan struct{}
}

func (s *slowKeys) Keys(ctx context.Context) ([]account.Key, error) {
	keys, err := s.Store.Keys(ctx)
	select {
	case <-s.hold:
		s.read <- struct{}{}
		<-s.answer
	default:
	}
	return keys, err
}

// TestKeyRemovedWhileRead: what was read before a key went does not bring it back.
func TestKeyRemovedWhileRead(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	token, user := w.exchange(t, app, app).Access, w.mint(t)
	slow := &slowKeys{w.store, make(chan struct{}, 1), make(chan struct{}), make(chan struct{})}
	live := account.NewLive(slow)
	other := &world{Authority: newAuthority(t, w.cfg, live), store: w.store}
	other.cached(t, token)
	slow.hold <- struct{}{}
	done := make(chan error)
	go func() { done <- other.reload(context.Background()) }()
	<-slow.read
	removed, err := w.ReplaceKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range removed {
		live.KeyRemoved(id)
	}
	close(slow.answer)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	other.ended(t, "read before, and taken after it was removed", token, user)
	if other.ring().access == nil || other.ring().access.id != w.ring().access.id {
		t.Error("the new keys were not read")
	}
}

// TestReplaceKeysUnderLoad replaces the keys again and again while tokens are given and used. The rule: when
// ReplaceKeys has returned, no check that begins later accepts a token of before, and whoever exchanges gets one that
// is good or is told to come again.
func TestReplaceKeysUnderLoad(t *testing.T) {
	const rounds, readers = 20, 4
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	type round struct {
		number int
		token  string
	}
	var mu sync.Mutex
	present, dead := round{1, w.exchange(t, app, app).Access}, 0
	read := func() (round, int) {
		mu.Lock()
		defer mu.Unlock()
		return present, dead
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var checks [readers]int
	for i := range readers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				r, deadBefore := read()
				if _, err := w.VerifyAccess(context.Background(), r.token); err == nil && deadBefore >= r.number {
					t.Errorf("round %d: a token was accepted after its key had been removed", r.number)
					return
				}
				if _, err := w.Exchange(context.Background(), app.client, app.server); err != nil {
					t.Errorf("round %d: Exchange: %v", r.number, err)
					return
				}
				checks[i]++
			}
		})
	}
	for n := 1; n <= rounds; n++ {
		if _, err := w.ReplaceKeys(t.Context()); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		dead = n
		mu.Unlock()
		old, _ := read()
		_, err := w.VerifyAccess(t.Context(), old.token)
		refused(t, "the old token", err, refusedKey)
		next := w.exchange(t, app, app).Access
		mu.Lock()
		present = round{n + 1, next}
		mu.Unlock()
	}
	close(stop)
	wg.Wait()
	for _, n := range checks {
		if n == 0 {
			t.Error("a reader saw nothing")
		}
	}
}
