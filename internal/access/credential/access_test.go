package credential

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

func TestAccessTokenForm(t *testing.T) {
	for _, algorithm := range []string{algEdDSA, algES256} {
		w := newWorld(t, func(c *Config) { c.Algorithm = algorithm })
		app, backend := w.holder(t, "org", account.ScopeTile, account.ScopeDirection), w.holder(t, "org", account.ScopeDirection, account.ScopeTile)
		w.become(t, backend.ID, account.StatusSuspended)
		w.become(t, backend.ID, account.StatusActive)
		tokens := w.exchange(t, app, backend)
		header := decoded(t, tokens.Access, 0)
		if diff := cmp.Diff(object{"alg": algorithm, "typ": "at+jwt", "kid": w.signing(t, account.KeyAccess).id}, header); diff != "" {
			t.Errorf("header (-want +got):\n%s", diff)
		}
		claims := decoded(t, tokens.Access, 1)
		want := object{
			"iss": "https://maps.test", "aud": "maps.test", "sub": app.ID, "client_id": app.ID, "srv": backend.ID, "gen": []any{0.0, 1.0},
			"grant": tokens.Grant, "org": "org", "scope": "TILE DIRECTION", "iat": float64(start.Unix()), "exp": float64(start.Unix() + 900), "jti": claims["jti"],
		}
		if diff := cmp.Diff(want, claims); diff != "" {
			t.Errorf("claims (-want +got):\n%s", diff)
		}
		if jti, _ := claims["jti"].(string); len(jti) < 22 {
			t.Errorf("jti %q is too short to be one of its kind", jti)
		}
		if _, there := decoded(t, w.exchange(t, app, app).Access, 1)["srv"]; there {
			t.Error("srv is there though both tokens are of one account")
		}
	}
}

// TestForgedAccessTokens changes one thing at a time in a good token, and signs it again with the service's own key
// where the change is not in the signature, so that each check is seen to stand by itself.
func TestForgedAccessTokens(t *testing.T) {
	w := newWorld(t)
	app, backend := w.holder(t, "org", account.ScopeTile), w.holder(t, "org", account.ScopeTile)
	foreign := w.holder(t, "other", account.ScopeTile)
	tokens := w.exchange(t, app, backend)
	other := w.exchange(t, app, app)
	header, claims := decoded(t, tokens.Access, 0), decoded(t, tokens.Access, 1)
	key := w.signing(t, account.KeyAccess)
	_, stranger, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	user, _, _, err := w.MintUser(t.Context(), "org", "somebody", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	head := func(changes object) string {
		return signed(t, key, header.with(changes).text(t), claims.text(t))
	}
	body := func(changes object) string {
		return signed(t, key, header.text(t), claims.with(changes).text(t))
	}
	raw := func(text string) string { return signed(t, key, header.text(t), text) }
	parts := strings.Split(tokens.Access, ".")
	encode := base64.RawURLEncoding.EncodeToString

	// A public key as the secret of an HMAC, the classic confusion of algorithms.
	public := must(x509.MarshalPKIXPublicKey(key.public))
	confused := encode([]byte(header.with(object{"alg": "HS256"}).text(t))) + "." + parts[1]
	mac := hmac.New(sha256.New, public)
	mac.Write([]byte(confused))

	for _, test := range []struct {
		name, token string
		want        refusal
	}{
		{"empty", "", refusedMalformed},
		{"opaque", app.client, refusedMalformed},
		{"two parts", parts[0] + "." + parts[1], refusedMalformed},
		{"four parts", tokens.Access + "." + parts[2], refusedMalformed},
		{"long", tokens.Access + strings.Repeat("A", maxTokenLen), refusedTooLong},
		{"space before", " " + tokens.Access, refusedMalformed},
		{"no signature", parts[0] + "." + parts[1] + ".", refusedSignature},
		{"signature cut", tokens.Access[:len(tokens.Access)-2], refusedSignature},
		{"another's signature", parts[0] + "." + parts[1] + "." + strings.Split(other.Access, ".")[2], refusedSignature},
		{"another's claims", parts[0] + "." + strings.Split(other.Access, ".")[1] + "." + parts[2], refusedSignature},
		{"padding", tokens.Access + "==", refusedMalformed},
		{"stranger's key under our kid", signed(t, &signingKey{method: jwt.SigningMethodEdDSA, private: stranger}, header.text(t), claims.text(t)), refusedSignature},

		{"alg none", encode([]byte(header.with(object{"alg": "none"}).text(t))) + "." + parts[1] + ".", refusedAlgorithm},
		{"alg HS256", confused + "." + encode(mac.Sum(nil)), refusedAlgorithm},
		{"alg ES256", head(object{"alg": "ES256"}), refusedAlgorithm},
		{"alg unheard of", head(object{"alg": "XX"}), refusedAlgorithm},
		{"alg missing", head(object{"alg": nil}), refusedAlgorithm},
		{"kid missing", head(object{"kid": nil}), refusedKey},
		{"kid unknown", head(object{"kid": "x"}), refusedKey},
		{"kid a number", head(object{"kid": 1}), refusedKey},
		{"kid of the user key", head(object{"kid": w.signing(t, account.KeyUser).id}), refusedKey},
		{"user key", signed(t, w.signing(t, account.KeyUser), header.with(object{"kid": w.signing(t, account.KeyUser).id}).text(t), claims.text(t)), refusedKey},
		{"typ missing", head(object{"typ": nil}), refusedType},
		{"typ JWT", head(object{"typ": "JWT"}), refusedType},
		{"typ in capitals", head(object{"typ": "AT+JWT"}), refusedType},
		{"typ of user tokens", head(object{"typ": userType}), refusedType},
		{"a user token", user, refusedType},
		{"crit", head(object{"crit": []string{"exp"}}), refusedMalformed},
		{"header no object", signed(t, key, `["EdDSA"]`, claims.text(t)), refusedMalformed},

		{"claims no object", raw(`"text"`), refusedMalformed},
		{"claims null", raw(`null`), refusedIssuer},
		{"issuer missing", body(object{"iss": nil}), refusedIssuer},
		{"issuer with a slash", body(object{"iss": "https://maps.test/"}), refusedIssuer},
		{"issuer list", body(object{"iss": []string{"https://maps.test"}}), refusedMalformed},
		{"audience missing", body(object{"aud": nil}), refusedAudience},
		{"audience of user tokens", body(object{"aud": "maps.test:accounts"}), refusedAudience},
		{"audience list", body(object{"aud": []string{"maps.test"}}), refusedMalformed},
		{"audience list of two", body(object{"aud": []string{"maps.test", "other"}}), refusedMalformed},
		{"exp missing", body(object{"exp": nil}), refusedExpired},
		{"exp now", body(object{"exp": start.Unix()}), refusedExpired},
		{"exp text", body(object{"exp": "9999999999"}), refusedMalformed},
		{"nbf in a second", body(object{"nbf": start.Unix() + 1}), refusedNotYet},
		{"iat missing", body(object{"iat": nil}), refusedLife},
		{"iat beyond any skew", body(object{"iat": start.Unix() + 301}), refusedNotYet},
		{"iat in the farthest future", body(object{"iat": int64(math.MaxInt64), "exp": int64(math.MaxInt64)}), refusedLife},
		{"iat in the farthest past", body(object{"iat": int64(math.MinInt64)}), refusedLife},
		{"a life of more than a day", body(object{"exp": start.Unix() + 86401}), refusedLife},
		{"a life of ten years", body(object{"exp": start.AddDate(10, 0, 0).Unix()}), refusedLife},
		{"a life of more than a day, made an hour ago",
			body(object{"iat": start.Unix() - 3600, "exp": start.Unix() + 86400 - 3599}), refusedLife},
		{"nbf text", body(object{"nbf": "0"}), refusedMalformed},
		{"exp huge", raw(strings.Replace(claims.text(t), fmt.Sprintf(`"exp":%d`, start.Unix()+900), `"exp":1e99`, 1)), refusedMalformed},
		{"sub missing", body(object{"sub": nil}), refusedClaims},
		{"sub of another", body(object{"sub": foreign.ID}), refusedClaims},
		{"sub and client_id of another", body(object{"sub": foreign.ID, "client_id": foreign.ID}), refusedClaims},
		{"client_id missing", body(object{"client_id": nil}), refusedClaims},
		{"srv missing", body(object{"srv": nil}), refusedClaims},
		{"srv of another", body(object{"srv": foreign.ID}), refusedClaims},
		{"srv the same as sub", body(object{"srv": app.ID}), refusedClaims},
		{"grant missing", body(object{"grant": nil}), refusedClaims},
		{"grant unknown", body(object{"grant": "gr_none"}), refusedGrant},
		{"grant of another pair", body(object{"grant": other.Grant}), refusedClaims},
		{"org missing", body(object{"org": nil}), refusedClaims},
		{"org another", body(object{"org": "other"}), refusedClaims},
		{"scope unknown", body(object{"scope": "TILE ROOT"}), refusedClaims},
		{"generation of another time", body(object{"gen": []int{1, 0}}), refusedGeneration},
		{"generation missing a part", body(object{"gen": []int{7}}), refusedGeneration},
		{"generation negative", body(object{"gen": []int{-1, 0}}), refusedMalformed},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 { // the second may be answered from the cache
				_, err := w.VerifyAccess(t.Context(), test.token)
				refused(t, "VerifyAccess", err, test.want)
				if err != nil && len(test.token) > 20 && strings.Contains(err.Error(), test.token[:20]) {
					t.Error("the error holds a part of the token")
				}
				w.cache.tokens.Wait()
			}
		})
	}
	for name, token := range map[string]string{
		"the same claims, signed again":             body(nil),
		"made five minutes ahead, by another clock": body(object{"iat": start.Unix() + 300}),
		"of a day": body(object{"exp": start.Unix() + 86400}),
	} {
		if _, err := w.VerifyAccess(t.Context(), token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNoStoreWork shows that what is refused for its form, length or signature costs the store nothing.
func TestNoStoreWork(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	token := w.exchange(t, app, app).Access
	before := w.store.reads.Load()
	signature := strings.LastIndex(token, ".") + 1
	changed := "A" + token[signature+1:]
	if token[signature] == 'A' {
		changed = "B" + token[signature+1:]
	}
	for _, bad := range []string{"", "a.b.c", token + "x", token[:signature] + changed, strings.Repeat("x", 5000)} {
		if _, err := w.VerifyAccess(t.Context(), bad); err == nil {
			t.Error("a bad token was accepted")
		}
	}
	if n := w.store.reads.Load() - before; n != 0 {
		t.Errorf("bad tokens asked the store %d times", n)
	}
}

// TestStateOfTheMoment changes accounts under a cached token.
func TestStateOfTheMoment(t *testing.T) {
	w := newWorld(t)
	app, backend := w.holder(t, "org", account.ScopeTile, account.ScopeONM), w.holder(t, "org", account.ScopeTile, account.ScopeONM)
	token := w.exchange(t, app, backend).Access
	w.cached(t, token)
	check := func(what string, scopes account.ScopeSet, admin bool) {
		t.Helper()
		hits := w.CacheHits()
		id, err := w.VerifyAccess(t.Context(), token)
		if err != nil || id.Scopes != scopes || id.Admin != admin {
			t.Errorf("%s: scopes %q, admin %v, error %v; want %q, %v", what, id.Scopes, id.Admin, err, scopes, admin)
		}
		if w.CacheHits() != hits+1 {
			t.Errorf("%s: the token was not in the cache", what)
		}
	}
	tile, onm := account.ScopeTile.Set(), account.ScopeONM.Set()
	check("at first", tile|onm, false)
	w.update(t, app.ID, func(a *account.Account) { a.IsAdmin = true })
	check("one admin", tile|onm, false)
	w.update(t, backend.ID, func(a *account.Account) { a.IsAdmin = true })
	check("both admin", tile|onm, true)
	w.update(t, app.ID, func(a *account.Account) { a.Scopes = account.Scopes{account.ScopeTile, account.ScopeTSS} })
	check("client lost a scope", tile, true)
	w.update(t, backend.ID, func(a *account.Account) {
		a.IsAdmin, a.Scopes = false, account.Scopes{account.ScopeONM, account.ScopeTSS}
	})
	check("server lost the other", 0, false)
	w.update(t, app.ID, func(a *account.Account) { a.Scopes = account.Scopes{account.ScopeONM, account.ScopeTSS} })
	check("scopes given back", onm, false)
	w.become(t, backend.ID, account.StatusSuspended)
	_, err := w.VerifyAccess(t.Context(), token)
	refused(t, "server suspended", err, refusedSuspended)
	w.become(t, backend.ID, account.StatusActive)
	_, err = w.VerifyAccess(t.Context(), token)
	refused(t, "server active again", err, refusedGeneration)
}

func TestStoreDown(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	known, unknown := w.exchange(t, app, app), w.exchange(t, app, app)
	w.cached(t, known.Access)
	w.store.down.Store(true)
	if _, err := w.VerifyAccess(t.Context(), known.Access); err != nil {
		t.Errorf("a cached token without a store: %v", err)
	}
	_, err := w.VerifyAccess(t.Context(), unknown.Access)
	isUnavailable(t, "a token that is in no cache, without a store", err)
	_, err = w.Refresh(t.Context(), known.Refresh, "", RefreshOptions{})
	isUnavailable(t, "Refresh without a store", err)
	_, err = w.VerifyAccess(t.Context(), unknown.Access[:100])
	refused(t, "a bad token without a store", err, refusedMalformed)
	w.store.down.Store(false)
	if _, err := w.VerifyAccess(t.Context(), unknown.Access); err != nil {
		t.Errorf("when the store is back: %v", err)
	}
}

// TestChangeInDoubt: an update whose answer was lost ends a cached token all the same.
func TestChangeInDoubt(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	token := w.exchange(t, app, app).Access
	w.cached(t, token)
	w.store.torn.Store(true)
	if _, _, err := w.store.UpdateAccount(t.Context(), app.ID, func(a *account.Account) (bool, error) {
		a.Status = account.StatusSuspended
		return true, nil
	}); err == nil {
		t.Fatal("the update did not fail")
	}
	w.store.down.Store(true)
	_, err := w.VerifyAccess(t.Context(), token)
	isUnavailable(t, "while the store is away", err)
	w.store.down.Store(false)
	w.refusedAccess(t, "when the store is back", refusedSuspended, token)
}

func FuzzVerifyAccess(f *testing.F) {
	w := newWorld(f)
	app := w.holder(f, "org", account.ScopeTile)
	token := w.exchange(f, app, app).Access
	user, _, _, err := w.MintUser(f.Context(), "org", "somebody", time.Hour)
	if err != nil {
		f.Fatal(err)
	}
	header, claims := decoded(f, token, 0), decoded(f, token, 1)
	for _, seed := range []string{
		token, user, token[:len(token)-1], token + ".", "..", "a.b.c", strings.Repeat(".", 4096),
		signed(f, w.signing(f, account.KeyAccess), header.with(object{"crit": []string{"b64"}}).text(f), claims.text(f)),
		signed(f, w.signing(f, account.KeyAccess), header.text(f), strings.Repeat("[", 2000)),
		signed(f, w.signing(f, account.KeyAccess), header.text(f), claims.with(object{"exp": nil}).text(f)),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := w.VerifyAccess(t.Context(), text)
		if err == nil && text != token {
			t.Fatalf("%q was accepted as %+v", text, id)
		}
		if err != nil && err != error(refusedReason(err)) {
			t.Fatalf("%q: error %v is no fixed refusal", text, err)
		}
	})
}

// refusedReason returns the refusal that an error is, or none.
func refusedReason(err error) refusal {
	r, _ := errors.AsType[refusal](err)
	return r
}
