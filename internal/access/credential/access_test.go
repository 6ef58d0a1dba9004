package credential

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestForgedAccessTokens changes one thing at a time in a good token, and signs it again with the service's own key where
// the change is not in the signature, so that each check is needed.
func TestForgedAccessTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, backend, foreign := w.holder("org", tile), w.holder("org", tile), w.holder("other", tile)
	tokens, other := w.exchange(app, backend), w.exchange(app, app)
	good, userKey := tokens.Access, w.signing(account.KeyUser)
	f := w.forger(account.KeyAccess, good)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	succeeds(err)
	stranger := &signingKey{method: jwt.SigningMethodEdDSA, private: private}
	parts, otherParts := strings.Split(good, "."), strings.Split(other.Access, ".")
	encode := base64.RawURLEncoding.EncodeToString
	now := start.Unix()

	// A public key as the secret of an HMAC, the classic confusion of algorithms.
	confused := encode([]byte(f.header.with(object{"alg": "HS256"}).String())) + "." + parts[1]
	mac := hmac.New(sha256.New, must(x509.MarshalPKIXPublicKey(f.key.public)))
	mac.Write([]byte(confused))

	for _, test := range []struct {
		name, token string
		want        refusal
	}{
		{"empty", "", refusedMalformed},
		{"opaque", app.client, refusedMalformed},
		{"long", good + strings.Repeat("A", maxTokenLen), refusedTooLong},
		{"no signature", parts[0] + "." + parts[1] + ".", refusedSignature},
		{"signature cut", good[:len(good)-2], refusedSignature},
		{"another's signature", parts[0] + "." + parts[1] + "." + otherParts[2], refusedSignature},
		{"another's claims", parts[0] + "." + otherParts[1] + "." + parts[2], refusedSignature},
		{"stranger's key under our kid", signed(stranger, f.header.String(), f.claims.String()), refusedSignature},

		{"alg none", encode([]byte(f.header.with(object{"alg": "none"}).String())) + "." + parts[1] + ".", refusedAlgorithm},
		{"alg HS256", confused + "." + encode(mac.Sum(nil)), refusedAlgorithm},
		{"alg ES256", f.head(object{"alg": "ES256"}), refusedAlgorithm},
		{"kid missing", f.head(object{"kid": nil}), refusedKey},
		{"kid unknown", f.head(object{"kid": "x"}), refusedKey},
		{"kid of the user key", f.head(object{"kid": userKey.id}), refusedKey},
		{"user key", signed(userKey, f.header.with(object{"kid": userKey.id}).String(), f.claims.String()), refusedKey},
		{"typ JWT", f.head(object{"typ": "JWT"}), refusedType},
		{"typ in capitals", f.head(object{"typ": "AT+JWT"}), refusedType},
		{"a user token", w.mint("ann", time.Hour), refusedType},
		{"crit", f.head(object{"crit": []string{"exp"}}), refusedMalformed},

		{"issuer missing", f.body(object{"iss": nil}), refusedIssuer},
		{"issuer with a slash", f.body(object{"iss": "https://maps.test/"}), refusedIssuer},
		{"audience missing", f.body(object{"aud": nil}), refusedAudience},
		{"audience of user tokens", f.body(object{"aud": "maps.test:accounts"}), refusedAudience},
		{"audience list", f.body(object{"aud": []string{"maps.test"}}), refusedMalformed},
		{"exp missing", f.body(object{"exp": nil}), refusedExpired},
		{"exp now", f.body(object{"exp": now}), refusedExpired},
		{"nbf in a second", f.body(object{"nbf": now + 1}), refusedNotYet},
		{"iat missing", f.body(object{"iat": nil}), refusedLife},
		{"iat beyond any skew", f.body(object{"iat": now + 301}), refusedNotYet},
		{"iat in the farthest future", f.body(object{"iat": int64(math.MaxInt64), "exp": int64(math.MaxInt64)}), refusedLife},
		{"iat in the farthest past", f.body(object{"iat": int64(math.MinInt64)}), refusedLife},
		{"a life of more than a day", f.body(object{"exp": now + 86401}), refusedLife},
		{"such a life, an hour ago", f.body(object{"iat": now - 3600, "exp": now + 86400 - 3599}), refusedLife},
		{"sub of another", f.body(object{"sub": foreign.ID}), refusedClaims},
		{"sub and client_id of another", f.body(object{"sub": foreign.ID, "client_id": foreign.ID}), refusedClaims},
		{"srv of another", f.body(object{"srv": foreign.ID}), refusedClaims},
		{"srv the same as sub", f.body(object{"srv": app.ID}), refusedClaims},
		{"grant missing", f.body(object{"grant": nil}), refusedClaims},
		{"grant unknown", f.body(object{"grant": "gr_none"}), refusedGrant},
		{"grant of another pair", f.body(object{"grant": other.Grant}), refusedClaims},
		{"org missing", f.body(object{"org": nil}), refusedClaims},
		{"org another", f.body(object{"org": "other"}), refusedClaims},
		{"generation of another time", f.body(object{"gen": []int{1, 0}}), refusedGeneration},
		{"generation missing a part", f.body(object{"gen": []int{7}}), refusedGeneration},
	} {
		for range 2 { // the second may be answered from the cache
			_, err := w.VerifyAccess(w.ctx, test.token)
			refused(t, test.name, err, test.want)
			if err != nil && len(test.token) > 20 && strings.Contains(err.Error(), test.token[:20]) {
				t.Errorf("%s: the error holds a part of the token", test.name)
			}
			w.cache.tokens.Wait()
		}
	}
	w.accepted(t, "the same claims; made five minutes ahead, by another clock; of a day",
		f.body(nil), f.body(object{"iat": now + 300}), f.body(object{"exp": now + 86400}))
}

// TestNoStoreWork: a token that is refused for its form, length or signature costs the store nothing.
func TestNoStoreWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	token := w.exchange(app, app).Access
	before := w.store.reads.Load()
	signature := strings.LastIndex(token, ".") + 1
	forged := token[:signature] + strings.Repeat("A", len(token)-signature)
	key := newOpaque(publishablePrefix)
	for _, bad := range []string{"", "a.b.c", token + "x", forged, strings.Repeat("x", 5000), publishablePrefix,
		key[:len(key)-1] + "!", key + "x", key[:20], strings.Repeat(key, 100), newOpaque(serverPrefix)} {
		if _, err := w.VerifyAccess(w.ctx, bad); err == nil {
			t.Error("a bad token was accepted")
		}
	}
	same(t, "readings of the store", 0, w.store.reads.Load()-before)
}

// TestStateOfTheMoment changes accounts under a cached token.
func TestStateOfTheMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, backend := w.holder("org", tile, onm), w.holder("org", tile, onm)
	token := w.exchange(app, backend).Access
	w.cached(t, token)
	for _, step := range []struct {
		what   string
		change func()
		scopes account.ScopeSet
		admin  bool
	}{
		{"at first", func() {}, tile.Set() | onm.Set(), false},
		{"one admin", func() { w.update(app.ID, func(a *account.Account) { a.IsAdmin = true }) }, tile.Set() | onm.Set(), false},
		{"both admin", func() { w.update(backend.ID, func(a *account.Account) { a.IsAdmin = true }) }, tile.Set() | onm.Set(), true},
		{"client lost a scope", func() { w.setScopes(app.ID, tile, tss) }, tile.Set(), true},
		{"server lost the other", func() { w.setScopes(backend.ID, onm, tss) }, 0, true},
		{"scopes given back", func() { w.setScopes(app.ID, onm, tss) }, onm.Set(), true},
	} {
		step.change()
		hits := w.CacheHits()
		id := must(w.VerifyAccess(w.ctx, token))
		if id.Scopes != step.scopes || id.Admin != step.admin || w.CacheHits() != hits+1 {
			t.Errorf("%s: %+v, or the token was not in the cache", step.what, id)
		}
	}
}

// TestAccountEnds: what becomes of an account ends its tokens of every kind with the next request, cached or not. The
// tokens name the accounts to the log all the same.
func TestAccountEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, test := range []struct {
		what            string
		change          func(id string)
		ended, exchange refusal // of tokens that were made before, and of an exchange; the zero one is for none
	}{
		{"suspended", func(id string) { w.become(id, account.StatusSuspended) }, refusedSuspended, refusedSuspended},
		{"revoked", func(id string) { w.become(id, account.StatusRevoked) }, refusedRevoked, refusedRevoked},
		{"suspended and active again", func(id string) { w.become(id, account.StatusSuspended, account.StatusActive) },
			refusedGeneration, refusal{}},
		{"deleted", func(id string) { must(w.store.DeleteAccount(w.ctx, id, nil)) }, refusedRevoked, refusedUnknown},
	} {
		for _, side := range []string{"client", "server"} {
			what := side + " " + test.what
			app, backend := w.holder("org", tile), w.holder("org", tile)
			tokens, id := w.exchange(app, backend), app.ID
			if side == "server" {
				id = backend.ID
			}
			guest := must(w.guest(id))
			w.cached(t, tokens.Access, guest.Access)
			test.change(id)
			w.refusedAccess(t, what+": cached", test.ended, tokens.Access, guest.Access)
			w.beside(t, func(*Config) {}).refusedAccess(t, what+": not cached", test.ended, tokens.Access, guest.Access)
			got, err := w.refresh(tokens.Refresh, RefreshOptions{Rotate: true})
			refused(t, what+": Refresh", err, test.ended)
			same(t, what, Tokens{Grant: tokens.Grant, Client: app.ID, Server: backend.ID, Organization: "org"}, got)
			got, err = w.Exchange(w.ctx, app.client, backend.server, 0)
			if test.exchange == (refusal{}) {
				succeeds(err)
				w.accepted(t, what, got.Access, must(w.guest(id)).Access)
				continue
			}
			refused(t, what+": Exchange", err, test.exchange)
			_, err = w.guest(id)
			refused(t, what+": Guest", err, test.ended)
		}
	}
}

// TestStoreDown: without the store, a cached token stays good, and others are neither accepted nor refused. An update whose answer
// was lost ends a cached token all the same.
func TestStoreDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	known, unknown := w.exchange(app, app), w.exchange(app, app)
	w.cached(t, known.Access)
	w.store.down.Store(true)
	w.accepted(t, "a cached token", known.Access)
	_, err := w.VerifyAccess(w.ctx, unknown.Access)
	isUnavailable(t, "another token", err)
	_, err = w.refresh(known.Refresh, RefreshOptions{})
	isUnavailable(t, "Refresh", err)
	for _, tokens := range [][2]string{{app.client, app.server}, {newOpaque(clientPrefix), newOpaque(serverPrefix)}} {
		_, err = w.Exchange(w.ctx, tokens[0], tokens[1], 0)
		isUnavailable(t, "Exchange", err)
	}
	_, err = w.guest(app.ID)
	isUnavailable(t, "Guest", err)
	isUnavailable(t, "Revoke", w.Revoke(w.ctx, known.Refresh))
	w.refusedAccess(t, "a bad token", refusedMalformed, unknown.Access[:100])
	w.store.down.Store(false)
	w.accepted(t, "when the store is back", unknown.Access)

	w.store.torn.Store(true)
	_, _, err = w.store.UpdateAccount(w.ctx, app.ID, func(a *account.Account) (bool, error) {
		a.Status = account.StatusSuspended
		return true, nil
	})
	isUnavailable(t, "an update whose answer was lost", err)
	w.store.down.Store(true)
	_, err = w.VerifyAccess(w.ctx, known.Access)
	isUnavailable(t, "after it, without the store", err)
	w.store.down.Store(false)
	w.refusedAccess(t, "when the store is back", refusedSuspended, known.Access)
}

// FuzzVerify: of all texts only the good tokens are accepted, each as what it is, and errors are fixed texts.
func FuzzVerify(f *testing.F) {
	w := newWorld(f)
	app := w.holder("org", tile)
	tokens, user := w.exchange(app, app), w.mint("ann", time.Hour)
	published := w.publish(app.ID, account.Scopes{tile}, "https://app.test").Key
	access, users := w.forger(account.KeyAccess, tokens.Access), w.forger(account.KeyUser, user)
	for _, seed := range []string{
		tokens.Access, tokens.Refresh, user, published, published + "x", newOpaque(publishablePrefix), app.client, app.server, strings.ToLower(app.client), user[:len(user)-1], user + ".",
		"..", "a.b.c", "e30.e30.", strings.Repeat("e30.", 100), clientPrefix + strings.Repeat("0", 49),
		access.head(object{"crit": []string{"b64"}}), access.raw(strings.Repeat("[", 2000)), access.body(object{"exp": nil}),
		users.body(object{"aud": []any{}}), users.body(object{"exp": 1e300}), users.head(object{"typ": 1}),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err1 := w.VerifyAccess(w.ctx, text)
		_, err2 := w.VerifyUser(w.ctx, text)
		_, err3 := w.refresh(text, RefreshOptions{})
		_, err4 := w.Exchange(w.ctx, text, app.server, 0)
		_, err5 := w.Exchange(w.ctx, app.client, text, 0)
		for i, err := range []error{err1, err2, err3, err4, err5} {
			good := []string{tokens.Access, user, tokens.Refresh, app.client, app.server}[i]
			if i == 0 && text == published {
				good = published
			}
			if why, ok := errors.AsType[refusal](err); (err == nil) != (text == good) || err != nil && (!ok || err != error(why)) {
				t.Errorf("%q as token %d: %v", text, i, err)
			}
		}
	})
}

// TestOwnScopes: tokens have a declared scope as long as it is declared. Accounts and grants keep it.
func TestOwnScopes(t *testing.T) {
	t.Parallel()
	const orders account.Scope = "ORDERS"
	set := must(account.DeclareScopes(orders))
	w := newWorld(t, func(c *Config) { c.OwnScopes = set })
	app := w.holder("org", tile, orders, "GONE")
	tokens := w.exchange(app, app)
	both := tile.Set() | set
	same(t, "of the exchange", both, tokens.Scopes)
	without := w.beside(t, func(c *Config) { c.OwnScopes = 0 })
	for _, step := range []struct {
		at   *world
		want account.ScopeSet
	}{{w, both}, {without, tile.Set()}, {w, both}} {
		same(t, "of the token", step.want, must(step.at.VerifyAccess(w.ctx, tokens.Access)).Scopes)
		same(t, "of a refresh", step.want, must(step.at.refresh(tokens.Refresh, RefreshOptions{})).Scopes)
	}
	same(t, "of an exchange", tile.Set(), without.exchange(app, app).Scopes)
	w.setScopes(app.ID, orders)
	if _, err := without.refresh(tokens.Refresh, RefreshOptions{}); !errors.Is(err, ErrNoScope) {
		t.Errorf("no declared scope is left: error %v", err)
	}
}
