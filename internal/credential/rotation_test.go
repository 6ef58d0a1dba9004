package credential

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// tendOnce does what Tend would do at this moment.
func tendOnce(t *testing.T, a *Authority) (done []Tended) {
	t.Helper()
	if err := a.tend(t.Context(), true, func(what Tended, _ string, _ error) { done = append(done, what) }); err != nil {
		t.Fatal(err)
	}
	return done
}

func TestKeyRotation(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		w := newWorld(t, func(c *Config) {
			if sealed {
				c.KeyEncryptionKey = []byte(strings.Repeat("k", 32))
			}
		})
		app := w.holder(t, "org", account.ScopeTile)
		old := w.exchange(t, app, app)
		oldUser, _, _, err := w.MintUser(t.Context(), "org", "alice", MaxUserTTL)
		if err != nil {
			t.Fatal(err)
		}
		before := w.ring()
		w.advance(time.Second)
		if err := w.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
		after := w.ring()
		if before.access.id == after.access.id || before.user.id == after.user.id {
			t.Fatal("a key was not rotated")
		}
		fresh := w.exchange(t, app, app)
		if kid := decoded(t, fresh.Access, 0)["kid"]; kid != after.access.id {
			t.Errorf("a new token is signed with %v, want %v", kid, after.access.id)
		}
		for name, token := range map[string]string{"old": old.Access, "new": fresh.Access} {
			again := newAuthority(t, w.cfg, w.live) // nothing cached
			if _, err := again.VerifyAccess(t.Context(), token); err != nil {
				t.Errorf("the %s access token: %v", name, err)
			}
			if _, err := again.VerifyUser(t.Context(), oldUser); err != nil {
				t.Errorf("the old user token: %v", err)
			}
		}
		for _, id := range []string{before.access.id, after.access.id} {
			if !strings.Contains(string(w.JWKS()), id) {
				t.Errorf("key %s is not published", id)
			}
		}
		// The old keys go when their last tokens have expired, and not before.
		for _, step := range []struct {
			at        time.Duration // from the rotation
			keys      int
			published bool
		}{{0, 4, true}, {15*time.Minute + keyGrace - 1, 4, true}, {15*time.Minute + keyGrace, 3, false},
			{MaxUserTTL + keyGrace - 1, 3, false}, {MaxUserTTL + keyGrace, 2, false}, {100 * MaxUserTTL, 2, false}} {
			w.clock.Store(start.Add(time.Second + step.at).UnixNano())
			tendOnce(t, w.Authority)
			kept, err := w.store.Keys(t.Context())
			if err != nil || len(kept) != step.keys || len(w.Keys()) != step.keys {
				t.Errorf("%v after the rotation there are %d keys in the store and %d in use, error %v; want %d", step.at, len(kept), len(w.Keys()), err, step.keys)
			}
			if published := strings.Contains(string(w.JWKS()), before.access.id); published != step.published {
				t.Errorf("%v after the rotation the old key is published: %v, want %v", step.at, published, step.published)
			}
		}
	}
}

// TestRotationBySchedule has two servers whose keys come of age at the same time. One of them rotates.
func TestRotationBySchedule(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.KeyRotation = 30 * time.Minute * 4 })
	other := newAuthority(t, w.cfg, account.NewLive(w.store))
	first := w.ring().access.id
	w.advance(2*time.Hour - 1)
	if done := append(tendOnce(t, w.Authority), tendOnce(t, other)...); len(done) != 0 {
		t.Errorf("before its time: %v", done)
	}
	w.advance(1)
	var all sync.WaitGroup
	for _, a := range []*Authority{w.Authority, other} {
		all.Go(func() {
			for range 3 {
				if err := a.tend(t.Context(), false, func(Tended, string, error) {}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	tendOnce(t, w.Authority)
	tendOnce(t, other)
	if a, b := w.ring().access.id, other.ring().access.id; a != b || a == first {
		t.Errorf("after the rotation one server signs with %s and the other with %s, before it was %s", a, b, first)
	}
	if kept, err := w.store.Keys(t.Context()); err != nil || len(kept) != 4 {
		t.Errorf("%d keys, error %v; want 2 old and 2 new ones", len(kept), err)
	}
}

// TestKeyOfAnotherServer presents a token of a key that another server has made a moment ago.
func TestKeyOfAnotherServer(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	other := &world{Authority: newAuthority(t, w.cfg, account.NewLive(w.store)), store: w.store}
	if err := other.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	token := other.exchange(t, app, app).Access
	user, _, _, err := other.MintUser(t.Context(), "org", "alice", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := w.VerifyAccess(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := w.VerifyUser(t.Context(), user); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if w.ring().access.id != other.ring().access.id {
		t.Error("it still signs with the key of before")
	}
}

// keyCounter counts how often the keys are read.
type keyCounter struct {
	account.Store
	reads int
}

func (s *keyCounter) Keys(ctx context.Context) ([]account.Key, error) {
	s.reads++ // loadKeys is never at work twice at once
	return s.Store.Keys(ctx)
}

// TestUnknownKeys: tokens of made-up keys are refused, cost the store little, and keep nobody from using good ones.
func TestUnknownKeys(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	good := w.exchange(t, app, app).Access
	counter := &keyCounter{Store: w.store}
	a := newAuthority(t, w.cfg, account.NewLive(counter))
	before := counter.reads
	claims := decoded(t, good, 1)
	began := time.Now()
	var all sync.WaitGroup
	for i := range 300 {
		all.Go(func() {
			kid := base64.RawURLEncoding.EncodeToString(append(make([]byte, 30), byte(i>>8), byte(i)))
			token := signed(t, w.ring().access, object{"alg": algEdDSA, "typ": accessType, "kid": kid}.text(t), claims.text(t))
			if _, err := a.VerifyAccess(t.Context(), token); !errors.Is(err, refusedKey) {
				t.Errorf("error %v", err)
			}
			if _, err := a.VerifyAccess(t.Context(), good); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	// loadKeys asks three times in all.
	if most := 3 * (2 + int(time.Since(began)/lookupPause)); counter.reads-before > most {
		t.Errorf("the keys were read %d times, want at most %d", counter.reads-before, most)
	}
}

// TestUnknownKeyWithoutStore: whether a key is another server's cannot be said while the store is away.
func TestUnknownKeyWithoutStore(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	other := &world{Authority: newAuthority(t, w.cfg, account.NewLive(w.store)), store: w.store}
	if err := other.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	token := other.exchange(t, app, app).Access
	w.store.keysDown.Store(true)
	if _, err := w.VerifyAccess(t.Context(), token); !errors.Is(err, errDown) || errors.Is(err, ErrInvalid) {
		t.Errorf("error %v", err)
	}
	w.store.keysDown.Store(false)
	if _, err := w.VerifyAccess(t.Context(), token); err != nil {
		t.Error(err)
	}
}

// TestRotationIsBounded: keys that cannot go yet are not heaped up without end.
func TestRotationIsBounded(t *testing.T) {
	w := newWorld(t)
	var err error
	for n := 0; err == nil && n <= maxKeys; n++ {
		err = w.Rotate(t.Context())
	}
	if !errors.Is(err, ErrTooManyKeys) || len(w.Keys()) > maxKeys {
		t.Errorf("%d keys, error %v", len(w.Keys()), err)
	}
	w.advance(MaxUserTTL + keyGrace + time.Minute)
	tendOnce(t, w.Authority)
	if err := w.Rotate(t.Context()); err != nil || len(w.Keys()) != 4 {
		t.Errorf("after a day: %d keys, error %v", len(w.Keys()), err)
	}
}

// TestRotationWithClocksApart: the newest key signs even if the clock that made the one before went ahead.
func TestRotationWithClocksApart(t *testing.T) {
	w := newWorld(t)
	w.advance(time.Hour)
	if err := w.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := w.ring().access.id
	w.advance(-time.Hour)
	if err := w.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.ring().access.id == last {
		t.Error("the key of the clock that is ahead still signs")
	}
}

// TestTend hears of another authority's rotation on the same store in this process.
func TestTend(t *testing.T) {
	w := newWorld(t)
	other := newAuthority(t, w.cfg, w.live)
	ctx, cancel := context.WithCancel(t.Context())
	var tending sync.WaitGroup
	tending.Go(func() { other.Tend(ctx, func(Tended, string, error) {}) })
	defer tending.Wait()
	defer cancel()
	for deadline := time.Now().Add(5 * time.Second); ; {
		if err := w.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		if other.ring().access.id == w.ring().access.id {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it did not hear of the new keys")
		}
	}
}
