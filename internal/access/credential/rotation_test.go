package credential

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// maintained does what Maintain would do at this moment, and returns what it reports.
func maintained(t *testing.T, w *world) (done []string) {
	t.Helper()
	err := w.maintain(t.Context(), func(what, kid string, err error) { done = append(done, strings.TrimSpace(what+" "+kid)) })
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// TestKeyRotation: a new key of access tokens is published first, and signs when no cache holds the set without it. The
// old one goes when its last token has expired.
func TestKeyRotation(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	oldUser := w.mint(t)
	old, oldUserKey := w.signing(t, account.KeyAccess).id, w.signing(t, account.KeyUser).id
	w.advance(time.Hour)
	succeeds(t, w.Rotate(t.Context()))
	rotated := w.now()
	keys := must(w.Keys(t.Context()))
	next := keys[slices.IndexFunc(keys, func(k KeyInfo) bool { return k.Use == account.KeyAccess && !k.Signs })]
	signs := rotated.Add(JWKSMaxAge + 10*time.Second)
	if next.ID == old || !next.SignsFrom.Equal(signs) || !next.Until.IsZero() || len(keys) != 4 {
		t.Errorf("of %d keys, the new one is %+v; it must sign from %v", len(keys), next, signs)
	}
	if w.signing(t, account.KeyUser).id == oldUserKey {
		t.Error("user tokens, whose keys are not published, are still signed with the old key")
	}
	var tokens []string
	for _, step := range []struct {
		at        time.Duration // from the rotation
		signer    string
		keys      int
		published []string // newest first
	}{
		{0, old, 4, []string{next.ID, old}},
		{5 * time.Minute, old, 4, []string{next.ID, old}},
		{publishFirst - time.Second, old, 4, []string{next.ID, old}},
		{publishFirst, next.ID, 4, []string{next.ID, old}},
		{publishFirst + 15*time.Minute - time.Second, next.ID, 4, []string{next.ID, old}},
		{publishFirst + 15*time.Minute + keyGrace, next.ID, 3, []string{next.ID}},
		{MaxUserTTL + keyGrace - time.Second, next.ID, 3, []string{next.ID}},
		{MaxUserTTL + keyGrace, next.ID, 2, []string{next.ID}},
		{100 * MaxUserTTL, next.ID, 2, []string{next.ID}},
	} {
		w.clock.Store(rotated.Add(step.at).UnixNano())
		maintained(t, w)
		if stored, listed := must(w.store.Keys(t.Context())), must(w.Keys(t.Context())); len(stored) != step.keys ||
			len(listed) != step.keys {
			t.Errorf("after %v: %d keys in the store, %d in use, want %d", step.at, len(stored), len(listed), step.keys)
		}
		jwks, at := string(must(w.JWKS(t.Context()))), -1
		for _, id := range step.published {
			if i := strings.Index(jwks, id); i <= at {
				t.Errorf("after %v: key %s is not in its place in %s", step.at, id, jwks)
			} else {
				at = i
			}
		}
		if n := strings.Count(jwks, `"kid"`); n != len(step.published) {
			t.Errorf("after %v: %d keys are published, want %d", step.at, n, len(step.published))
		}
		token := w.exchange(t, app, app).Access
		if kid := decoded(t, token, 0)["kid"]; kid != step.signer {
			t.Errorf("after %v: %v signs, want %s", step.at, kid, step.signer)
		}
		tokens = append(tokens, token)
		for _, token := range tokens { // every token is good for its whole life
			if exp := decoded(t, token, 1)["exp"].(float64); float64(w.now().Unix()) < exp {
				w.accepted(t, "a token that has not expired", token)
			}
		}
		if _, err := w.VerifyUser(t.Context(), oldUser); (err == nil) != (step.at < MaxUserTTL-time.Hour) {
			t.Errorf("after %v: the old user token: %v", step.at, err)
		}
	}
}

// TestRotationBySchedule has two servers whose keys come of age at the same time. One of them rotates.
func TestRotationBySchedule(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.KeyRotation = 2 * time.Hour })
	other := w.beside(t, func(*Config) {})
	w.advance(2*time.Hour - time.Millisecond)
	if done := append(maintained(t, w), maintained(t, other)...); len(done) != 0 {
		t.Errorf("before its time: %v", done)
	}
	w.advance(time.Millisecond)
	var all sync.WaitGroup
	for _, v := range []*world{w, other} {
		all.Go(func() {
			for range 3 {
				if err := v.maintain(t.Context(), func(string, string, error) {}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n := len(must(w.store.Keys(t.Context()))); n != 4 {
		t.Errorf("%d keys; want 2 old and 2 new ones", n)
	}
	changes := w.store.KeysRevision().Load()
	if done := maintained(t, other); len(done) != 0 || w.store.KeysRevision().Load() != changes {
		t.Errorf("afterwards there is more to do: %v", done)
	}
}

// TestRotationIsBounded: keys that cannot go yet are not heaped up without end, and can be replaced all the same.
func TestRotationIsBounded(t *testing.T) {
	w := newWorld(t)
	var err error
	for n := 0; err == nil && n <= maxKeys; n++ {
		err = w.Rotate(t.Context())
	}
	if n := len(must(w.Keys(t.Context()))); !errors.Is(err, ErrTooManyKeys) || n != maxKeys {
		t.Errorf("%d keys, error %v", n, err)
	}
	w.advance(MaxUserTTL + keyGrace + time.Minute)
	if err := w.Rotate(t.Context()); err != nil || len(must(w.Keys(t.Context()))) != 4 {
		t.Errorf("after a day: %d keys, error %v", len(must(w.Keys(t.Context()))), err)
	}
	if removed, err := w.ReplaceKeys(t.Context()); err != nil || len(removed) != 4 || len(must(w.Keys(t.Context()))) != 2 {
		t.Errorf("removed %v, error %v", removed, err)
	}
}

// TestKeysOfAClockAhead: keys that were made while the clock was 402 days ahead keep none from signing afterwards, and
// no key that is needed goes.
func TestKeysOfAClockAhead(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.KeyRotation = 30 * 24 * time.Hour })
	app := w.holder(t, "org", account.ScopeTile)
	token := w.exchange(t, app, app).Access
	first := w.signing(t, account.KeyAccess).id
	const ahead = 402 * 24 * time.Hour
	w.advance(ahead)
	if done := maintained(t, w); !slices.Equal(done, []string{"signing keys rotated"}) {
		t.Errorf("ahead: %v", done)
	}
	w.advance(95*time.Second - ahead)
	if done := maintained(t, w); len(done) != 2 {
		t.Errorf("back: %v, want the two keys of the future removed", done)
	}
	w.accepted(t, "a token of before", token)
	if id := w.signing(t, account.KeyAccess).id; id != first {
		t.Errorf("%s signs, want the key of before", id)
	}
	succeeds(t, w.Rotate(t.Context()))
	w.advance(publishFirst)
	if w.signing(t, account.KeyAccess).id == first {
		t.Error("a key that was made afterwards does not sign")
	}
	// By a clock that was set back a little, the newest is still the newest.
	w.advance(-time.Minute)
	last := w.signing(t, account.KeyUser).id
	if err := w.Rotate(t.Context()); err != nil || w.signing(t, account.KeyUser).id == last {
		t.Errorf("a rotation by a clock that was set back: error %v", err)
	}
}

// TestKeyOfAnotherServer presents tokens of keys that another server has made a moment ago.
func TestKeyOfAnotherServer(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	number := w.store.KeysRevision().Load()
	if _, err := w.ReplaceKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	token, user := w.exchange(t, app, app).Access, w.mint(t)
	other := w.beside(t, func(*Config) {})
	w.sql(t, "UPDATE maps_keys SET id = id") // nothing else is told to other
	ring := *other.keys.ring.Load()
	ring.byID, ring.stored, ring.revision = map[string]*signingKey{}, nil, number+1
	other.keys.ring.Store(&ring)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { other.accepted(t, "a token of a new key", token) })
		all.Go(func() {
			if _, err := other.VerifyUser(t.Context(), user); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestUnknownKeys: tokens of made-up keys are refused, cost the store little, and keep no good one from being used.
// While the store is away, it cannot be said whose a key is.
func TestUnknownKeys(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	good := w.exchange(t, app, app).Access
	claims, key := decoded(t, good, 1).text(t), w.signing(t, account.KeyAccess)
	made := func(n int) string {
		kid := base64.RawURLEncoding.EncodeToString(append(make([]byte, 30), byte(n>>8), byte(n)))
		return signed(t, key, object{"alg": algEdDSA, "typ": accessType, "kid": kid}.text(t), claims)
	}
	before, began := w.store.keys.Load(), time.Now()
	var all sync.WaitGroup
	for n := range 300 {
		all.Go(func() {
			w.refusedAccess(t, "a made-up key", refusedKey, made(n))
			w.accepted(t, "a good token", good)
		})
	}
	all.Wait()
	if most := 2 + int64(time.Since(began)/lookupPause); w.store.keys.Load()-before > most {
		t.Errorf("the keys were read %d times, want at most %d", w.store.keys.Load()-before, most)
	}
	w.store.down.Store(true)
	time.Sleep(2 * lookupPause)
	_, err := w.VerifyAccess(t.Context(), made(1000))
	isUnavailable(t, "without the store", err)
}

// TestReplaceKeys ends all tokens of the old keys at once, and nothing else. The new ones sign at once.
func TestReplaceKeys(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	first := w.exchange(t, app, app)
	w.advance(time.Minute)
	if err := w.Rotate(t.Context()); err != nil { // so that there are keys which only their tokens still need
		t.Fatal(err)
	}
	w.advance(publishFirst)
	second, user := w.exchange(t, app, app), w.mint(t)
	beside := w.beside(t, func(c *Config) { c.AccessTTL = time.Minute })
	both := []*world{w, beside}
	for _, v := range both {
		v.cached(t, first.Access)
		v.cached(t, second.Access)
	}
	var old []string
	for _, k := range must(w.Keys(t.Context())) {
		old = append(old, k.ID)
	}
	removed := must(w.ReplaceKeys(t.Context()))
	if !slices.Equal(old, removed) || len(old) != 4 {
		t.Errorf("removed %v, there were %v", removed, old)
	}
	jwks := string(must(w.JWKS(t.Context())))
	for _, k := range must(w.Keys(t.Context())) {
		if !k.Signs || !k.SignsFrom.IsZero() || slices.Contains(old, k.ID) ||
			strings.Contains(jwks, k.ID) != (k.Use == account.KeyAccess) {
			t.Errorf("key %+v, published in %s", k, jwks)
		}
	}
	for _, v := range both {
		v.refusedAccess(t, "access token", refusedKey, first.Access, second.Access)
		_, err := v.VerifyUser(t.Context(), user)
		refused(t, "user token", err, refusedKey)
	}
	for _, v := range both { // what was not signed goes on
		again := must(v.Refresh(t.Context(), first.Refresh, "", RefreshOptions{}))
		fresh := v.mint(t)
		for _, u := range both {
			u.accepted(t, "new access token", again.Access)
			if _, err := u.VerifyUser(t.Context(), fresh); err != nil {
				t.Errorf("new user token: %v", err)
			}
		}
	}
}

// TestStolenKey: a thief of a signing key who can name a grant gets no further than tokens of that grant get, and
// nowhere once the key is gone, even with tokens that were verified before.
func TestStolenKey(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.RefreshTTL = time.Hour })
	app := w.holder(t, "org", account.ScopeTile)
	good := w.exchange(t, app, app).Access
	header, claims, stolen := decoded(t, good, 0), decoded(t, good, 1), w.signing(t, account.KeyAccess)
	forge := func(lives time.Duration) string {
		return signed(t, stolen, header.text(t), claims.with(object{"exp": w.now().Add(lives).Unix(),
			"iat": w.now().Unix()}).text(t))
	}
	w.refusedAccess(t, "it outlives its grant", refusedLife, forge(time.Hour+time.Second))
	token := forge(time.Hour)
	w.cached(t, token)
	w.advance(time.Second)
	succeeds(t, w.Rotate(t.Context()))
	w.advance(publishFirst + 15*time.Minute + keyGrace - time.Second)
	w.accepted(t, "while its key is there", token)
	w.advance(time.Second) // all tokens of the key have expired but those that are forged
	maintained(t, w)
	w.refusedAccess(t, "when its key is gone", refusedKey, token, forge(time.Minute))
}

// TestReplaceKeysUnderLoad replaces the keys again and again, by several authorities, while tokens are given and used:
// when ReplaceKeys has returned, no check that begins later accepts a token of before.
func TestReplaceKeysUnderLoad(t *testing.T) {
	const rounds = 20
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	underLoad(t, rounds, func() string { return w.exchange(t, app, app).Access },
		func(token string) error {
			_, err := w.VerifyAccess(context.Background(), token)
			return err
		},
		func(int, string) {
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() { must(w.ReplaceKeys(context.Background())) })
			}
			all.Wait()
		})
	if keys := must(w.Keys(t.Context())); len(keys) != 2 {
		t.Errorf("%d keys are left", len(keys))
	}
}

// TestSuspendUnderLoad does the same with suspensions, and TestRevokeUnderLoad with revocations.
func TestSuspendUnderLoad(t *testing.T) {
	w := newWorld(t)
	app, backend := w.holder(t, "org", account.ScopeTile), w.holder(t, "org", account.ScopeTile)
	underLoad(t, 30, func() string { return w.exchange(t, app, backend).Access },
		func(token string) error {
			_, err := w.VerifyAccess(context.Background(), token)
			return err
		},
		func(n int, _ string) {
			target := []string{app.ID, backend.ID}[n%2]
			w.become(t, target, account.StatusSuspended)
			w.become(t, target, account.StatusActive)
		})
}

func TestRevokeUnderLoad(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	var refresh string
	underLoad(t, 30, func() string {
		tokens := w.exchange(t, app, app)
		refresh = tokens.Refresh
		return tokens.Access
	}, func(token string) error {
		_, err := w.VerifyAccess(context.Background(), token)
		return err
	}, func(int, string) {
		if err := w.Revoke(context.Background(), refresh); err != nil {
			t.Error(err)
		}
	})
}

// underLoad gives a token, checks it in several goroutines, and ends it meanwhile, over and over.
func underLoad(t *testing.T, rounds int, give func() string, check func(string) error, end func(round int, token string)) {
	t.Helper()
	for n := range rounds {
		token := give()
		ended, accepted := make(chan struct{}), make(chan struct{}, 1000)
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for late := 0; late < 3; {
					over := false
					select {
					case <-ended:
						over = true
						late++
					default:
					}
					switch err := check(token); {
					case err == nil && over:
						t.Errorf("round %d: the token was accepted after its end", n)
						return
					case err == nil:
						select {
						case accepted <- struct{}{}:
						default:
						}
					case !errors.Is(err, ErrInvalid):
						t.Errorf("round %d: %v", n, err)
						return
					}
				}
			})
		}
		<-accepted
		end(n, token)
		close(ended)
		readers.Wait()
	}
}
