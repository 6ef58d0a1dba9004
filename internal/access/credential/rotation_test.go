package credential

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// maintained does what Maintain would do at this moment, and returns what it reports.
func (w *world) maintained(t *testing.T) (done []string) {
	t.Helper()
	succeeds(w.maintain(w.ctx, func(what, kid string, err error) { done = append(done, strings.TrimSpace(what+" "+kid)) }))
	return done
}

func ids(keys []KeyInfo) (ids []string) {
	for _, k := range keys {
		ids = append(ids, k.ID)
	}
	return ids
}

// TestKeyRotation: a new key of access tokens is published first, and signs when no cache holds the set without it. The
// old one goes when its last token has expired.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	oldUser := w.mint("ann", MaxUserTTL)
	old, oldUserKey := w.signing(account.KeyAccess).id, w.signing(account.KeyUser).id
	w.advance(time.Hour)
	succeeds(w.Rotate(w.ctx))
	rotated, keys := w.now(), must(w.Keys(w.ctx))
	next := keys[slices.IndexFunc(keys, func(k KeyInfo) bool { return k.Use == account.KeyAccess && !k.Signs })]
	if next.ID == old || !next.SignsFrom.Equal(rotated.Add(JWKSMaxAge+10*time.Second)) || !next.Until.IsZero() {
		t.Errorf("the new key is %+v", next)
	}
	if w.signing(account.KeyUser).id == oldUserKey {
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
		{publishFirst - time.Second, old, 4, []string{next.ID, old}},
		{publishFirst, next.ID, 4, []string{next.ID, old}},
		{publishFirst + 15*time.Minute - time.Second, next.ID, 4, []string{next.ID, old}},
		{publishFirst + 15*time.Minute + keyGrace, next.ID, 3, []string{next.ID}},
		{MaxUserTTL + keyGrace - time.Second, next.ID, 3, []string{next.ID}},
		{MaxUserTTL + keyGrace, next.ID, 2, []string{next.ID}},
		{100 * MaxUserTTL, next.ID, 2, []string{next.ID}},
	} {
		w.clock.Store(rotated.Add(step.at).UnixNano())
		w.maintained(t)
		same(t, "keys", step.keys, len(must(w.store.Keys(w.ctx))))
		same(t, "keys in use", step.keys, len(must(w.Keys(w.ctx))))
		jwks := string(must(w.JWKS(w.ctx)))
		published := slices.DeleteFunc([]string{next.ID, old}, func(id string) bool { return !strings.Contains(jwks, id) })
		same(t, "published", step.published, published)
		if n := strings.Count(jwks, `"kid"`); n != len(published) || strings.Index(jwks, old) > 0 != (n == 2) ||
			n == 2 && strings.Index(jwks, old) < strings.Index(jwks, next.ID) {
			t.Errorf("after %v, %s is published", step.at, jwks)
		}
		token := w.exchange(app, app).Access
		header, _ := parsed(token)
		same(t, "signer", any(step.signer), header["kid"])
		tokens = append(tokens, token)
		for _, token := range tokens { // every token is good for its whole life
			if _, claims := parsed(token); float64(w.now().Unix()) < claims["exp"].(float64) {
				w.accepted(t, "a token that has not expired", token)
			}
		}
		if _, err := w.VerifyUser(w.ctx, oldUser); (err == nil) != (step.at < MaxUserTTL-time.Hour) {
			t.Errorf("after %v: the old user token: %v", step.at, err)
		}
	}
}

// TestRotationBySchedule: of two servers whose keys come of age at the same time, one rotates.
func TestRotationBySchedule(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.KeyRotation = 2 * time.Hour })
	other := w.beside(t, func(*Config) {})
	w.advance(2*time.Hour - time.Millisecond)
	same(t, "done before its time", nil, append(w.maintained(t), other.maintained(t)...))
	w.advance(time.Millisecond)
	var all sync.WaitGroup
	for _, v := range []*world{w, other, w, other} {
		all.Go(func() { v.maintained(t) })
	}
	all.Wait()
	same(t, "keys", 4, len(must(w.store.Keys(w.ctx))))
	same(t, "done afterwards", nil, other.maintained(t))
}

// TestRotationIsBounded: keys that cannot go yet do not accumulate without end, and can be replaced all the same.
func TestRotationIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var err error
	for n := 0; err == nil && n <= maxKeys; n++ {
		err = w.Rotate(w.ctx)
	}
	if n := len(must(w.Keys(w.ctx))); !errors.Is(err, ErrTooManyKeys) || n != maxKeys {
		t.Errorf("%d keys, error %v", n, err)
	}
	w.advance(MaxUserTTL + keyGrace + time.Minute)
	succeeds(w.Rotate(w.ctx))
	same(t, "keys after a day", 4, len(must(w.Keys(w.ctx))))
	same(t, "keys that were removed", 4, len(must(w.ReplaceKeys(w.ctx))))
}

// TestKeysOfAClockAhead: keys that were made while the clock was 402 days ahead keep none from signing afterwards, and
// no key that is needed goes.
func TestKeysOfAClockAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.KeyRotation = 30 * 24 * time.Hour })
	app := w.holder("org", tile)
	token, first := w.exchange(app, app).Access, w.signing(account.KeyAccess).id
	const ahead = 402 * 24 * time.Hour
	w.advance(ahead)
	same(t, "done ahead", []string{"signing keys rotated"}, w.maintained(t))
	w.advance(95*time.Second - ahead)
	same(t, "keys of the future that were removed", 2, len(w.maintained(t)))
	w.accepted(t, "an earlier token", token)
	same(t, "signer", first, w.signing(account.KeyAccess).id)
	succeeds(w.Rotate(w.ctx))
	w.advance(publishFirst)
	if w.signing(account.KeyAccess).id == first {
		t.Error("a key that was made afterwards does not sign")
	}
	// By a clock that was set back a little, the newest is still the newest.
	w.advance(-time.Minute)
	last := w.signing(account.KeyUser).id
	if succeeds(w.Rotate(w.ctx)); w.signing(account.KeyUser).id == last {
		t.Error("after a rotation by a clock that was set back, the new key does not sign")
	}
}

// TestUnknownKeys: a token of a key that another server made a moment ago is good. Tokens of made-up keys are refused,
// cost the store little, and keep no good one from being used. While the store is down, they are neither accepted nor refused.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	good := w.exchange(app, app).Access
	f := w.forger(account.KeyAccess, good)
	made := func(n int) string {
		return f.head(object{"kid": base64.RawURLEncoding.EncodeToString(append(make([]byte, 30), byte(n>>8), byte(n)))})
	}
	behind := w.beside(t, func(*Config) {}) // does not know any key yet
	ring := *behind.keys.ring.Load()
	ring.byID, ring.stored = map[string]*signingKey{}, nil
	behind.keys.ring.Store(&ring)
	before, began := w.store.keys.Load(), time.Now()
	var all sync.WaitGroup
	for n := range 300 {
		all.Go(func() {
			w.refusedAccess(t, "a made-up key", refusedKey, made(n))
			w.accepted(t, "a good token", good)
		})
		all.Go(func() { behind.accepted(t, "a token of a new key", good) })
	}
	all.Wait()
	if most := 3 + int64(time.Since(began)/lookupPause); w.store.keys.Load()-before > most {
		t.Errorf("the keys were read %d times, want at most %d", w.store.keys.Load()-before, most)
	}
	w.store.down.Store(true)
	w.keys.unknown.SetLimit(rate.Inf) // the pause is over
	_, err := w.VerifyAccess(w.ctx, made(1000))
	isUnavailable(t, "without the store", err)
}

// TestReplaceKeys ends all tokens of the old keys at once, and nothing else. The new ones sign at once.
func TestReplaceKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	first := w.exchange(app, app)
	w.advance(time.Minute)
	succeeds(w.Rotate(w.ctx)) // so that there are keys which only their tokens still need
	w.advance(publishFirst)
	second, user := w.exchange(app, app), w.mint("ann", time.Hour)
	both := []*world{w, w.beside(t, func(c *Config) { c.AccessTTL = time.Minute })}
	for _, v := range both {
		v.cached(t, first.Access, second.Access)
	}
	old := ids(must(w.Keys(w.ctx)))
	same(t, "removed", old, must(w.ReplaceKeys(w.ctx)))
	jwks := string(must(w.JWKS(w.ctx)))
	for _, k := range must(w.Keys(w.ctx)) {
		if !k.Signs || !k.SignsFrom.IsZero() || slices.Contains(old, k.ID) ||
			strings.Contains(jwks, k.ID) != (k.Use == account.KeyAccess) {
			t.Errorf("key %+v, published in %s", k, jwks)
		}
	}
	for _, v := range both {
		v.refusedAccess(t, "access token", refusedKey, first.Access, second.Access)
		_, err := v.VerifyUser(w.ctx, user)
		refused(t, "user token", err, refusedKey)
		again, fresh := must(v.refresh(first.Refresh, RefreshOptions{})), v.mint("ann", time.Hour) // go on
		for _, u := range both {
			u.accepted(t, "new access token", again.Access)
			must(u.VerifyUser(w.ctx, fresh))
		}
	}
}

// TestStolenKey: a thief of a signing key who can name a grant gets no further than tokens of that grant get, and nowhere
// once the key is gone, even with tokens that were verified before.
func TestStolenKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.RefreshTTL = time.Hour })
	app := w.holder("org", tile)
	f := w.forger(account.KeyAccess, w.exchange(app, app).Access)
	forge := func(lives time.Duration) string {
		return f.body(object{"exp": w.now().Add(lives).Unix(), "iat": w.now().Unix()})
	}
	w.refusedAccess(t, "it outlives its grant", refusedLife, forge(time.Hour+time.Second))
	token := forge(time.Hour)
	w.cached(t, token)
	w.advance(time.Second)
	succeeds(w.Rotate(w.ctx))
	w.advance(publishFirst + 15*time.Minute + keyGrace - time.Second)
	w.accepted(t, "while its key is there", token)
	w.advance(time.Second) // all tokens of the key have expired but those that are forged
	w.maintained(t)
	w.refusedAccess(t, "when its key is gone", refusedKey, token, forge(time.Minute))
}

// TestEndUnderLoad ends tokens in each way while they are used, over and over: no check that begins after the call has
// returned accepts one.
func TestEndUnderLoad(t *testing.T) {
	for what, end := range map[string]func(w *world, app holder, tokens Tokens, round int){
		"suspension": func(w *world, app holder, _ Tokens, _ int) {
			w.become(app.ID, account.StatusSuspended, account.StatusActive)
		},
		"revocation": func(w *world, _ holder, tokens Tokens, _ int) { succeeds(w.Revoke(w.ctx, tokens.Refresh)) },
		"replaced keys": func(w *world, _ holder, _ Tokens, _ int) {
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() { must(w.ReplaceKeys(w.ctx)) })
			}
			all.Wait()
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			app := w.holder("org", tile)
			for round := range 30 {
				tokens := w.exchange(app, app)
				ended, accepted := make(chan struct{}), make(chan struct{}, 4)
				var readers sync.WaitGroup
				for range 4 {
					readers.Go(func() {
						for late := 0; late < 3; {
							select {
							case <-ended:
								late++
							default:
							}
							_, err := w.VerifyAccess(w.ctx, tokens.Access)
							if err != nil && !errors.Is(err, ErrInvalid) || err == nil && late > 0 {
								t.Errorf("round %d: checked %d times after the end: %v", round, late, err)
							}
							if err == nil {
								select {
								case accepted <- struct{}{}:
								default:
								}
							}
						}
					})
				}
				<-accepted
				end(w, app, tokens, round)
				close(ended)
				readers.Wait()
			}
			if what == "replaced keys" {
				same(t, "keys", 2, len(must(w.Keys(w.ctx))))
			}
		})
	}
}
