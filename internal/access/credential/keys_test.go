package credential

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestThumbprint uses the example of RFC 8037, appendix A.3.
func TestThumbprint(t *testing.T) {
	public := must(base64.RawURLEncoding.DecodeString("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))
	same(t, "thumbprint", "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", must(thumbprint(ed25519.PublicKey(public))))
}

// TestJWKS changes the algorithm, and verifies access tokens as an upstream does, with nothing but the key set.
func TestJWKS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	tokens := []string{w.exchange(app, app).Access}
	changed := w.beside(t, func(c *Config) { c.Algorithm = algES256 })
	w.advance(publishFirst + time.Second)
	tokens = append(tokens, changed.exchange(app, app).Access)
	changed.accepted(t, "after the change", tokens...)
	body := must(changed.JWKS(w.ctx))
	var set jwkset.JWKSMarshal
	succeeds(json.Unmarshal(body, &set))
	var algorithms []string
	for _, key := range set.Keys {
		algorithms = append(algorithms, key.ALG.String())
		if key.USE != jwkset.UseSig || key.KID == "" || key.D != "" {
			t.Errorf("key %+v: want an id, use sig and no private half", key)
		}
	}
	same(t, "algorithms, the newest first, and none of user tokens", []string{algES256, algEdDSA}, algorithms)
	keys := must(keyfunc.NewJWKSetJSON(body))
	for _, token := range tokens {
		must(jwt.Parse(token, keys.Keyfunc, jwt.WithIssuer("https://maps.test"), jwt.WithAudience("maps.test"),
			jwt.WithTimeFunc(w.now)))
	}
	// The keys of the old algorithm go when their last tokens have expired.
	w.advance(MaxUserTTL + keyGrace)
	changed.maintained(t)
	for _, k := range must(changed.Keys(w.ctx)) {
		if k.Algorithm != algES256 || !k.Signs {
			t.Errorf("key %+v is still there", k)
		}
	}
}

// TestSealedKeys: with a key encryption key all keys are sealed, also those that were in clear before, and tokens stay
// good. A key in the store that was changed, or is read with another key encryption key, is an error.
func TestSealedKeys(t *testing.T) {
	t.Parallel()
	secret, other := bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{8}, 32)
	for _, before := range [][]byte{nil, secret} {
		w := newWorld(t, func(c *Config) { c.KeyEncryptionKey = before })
		app := w.holder("org", tile)
		token := w.exchange(app, app).Access
		sealed := w.beside(t, func(c *Config) { c.KeyEncryptionKey = secret })
		sealed.accepted(t, "an earlier token", token)
		succeeds(sealed.Rotate(w.ctx))
		kept := must(w.store.Keys(w.ctx))
		same(t, "keys", 4, len(kept))
		for _, k := range kept {
			clear := must(unsealKey(secret, k))
			must(x509.ParsePKCS8PrivateKey(clear))
			if !k.Sealed || bytes.Contains(k.Private, clear[len(clear)-32:]) {
				t.Errorf("key %s is in clear", k.ID)
			}
		}
		for _, wrong := range [][]byte{nil, other} {
			cfg := w.cfg
			cfg.KeyEncryptionKey = wrong
			if _, err := New(w.ctx, cfg, w.store, nil); err == nil || !strings.Contains(err.Error(), "key encryption key") {
				t.Errorf("error %v", err)
			}
		}
	}
	k := must(newKey(account.KeyUser, algEdDSA, start))
	sealed := sealKey(secret, k)
	if bytes.Equal(sealed.Private, sealKey(secret, k).Private) {
		t.Error("sealing twice gives the same bytes")
	}
	must(openKey(secret, sealed))
	for clear, change := range map[string]func(*account.Key){ // by the error for a key in clear; empty where it is none
		"":                     func(k *account.Key) { k.ID = "other" },
		"unknown use":          func(k *account.Key) { k.Use = "backup" },
		"stored for algorithm": func(k *account.Key) { k.Algorithm = algES256 },
		"PKCS #8":              func(k *account.Key) { k.Private = k.Private[:10] },
	} {
		changed, inClear := sealed, k
		change(&changed)
		change(&inClear)
		if _, err := openKey(secret, changed); err == nil {
			t.Errorf("a sealed key with a change (%s) opens", clear)
		}
		if _, err := openKey(nil, inClear); clear != "" && (err == nil || !strings.Contains(err.Error(), clear)) {
			t.Errorf("a key in clear: error %v, want one with %q", err, clear)
		}
	}
}

// TestUnreadableKeys: a store whose keys cannot be read or used is an error, and no reason to refuse tokens or use
// others.
func TestUnreadableKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	token, user := w.exchange(app, app).Access, w.mint("ann", time.Hour)
	w.cached(t, token)
	must(w.store.UpdateKeys(w.ctx, func(keys []account.Key) ([]account.Key, error) {
		k := must(newKey(account.KeyAccess, algEdDSA, start))
		k.Private = []byte("none")
		return append(keys, k), nil
	}))
	_, err := w.VerifyAccess(w.ctx, token)
	isUnavailable(t, "an access token", err)
	_, err = w.VerifyUser(w.ctx, user)
	isUnavailable(t, "a user token", err)
	_, err = w.Exchange(w.ctx, app.client, app.server, 0)
	isUnavailable(t, "an exchange", err)
	_, _, _, err = w.MintUser(w.ctx, "org", "ann", time.Hour)
	isUnavailable(t, "minting", err)
	if _, err := New(w.ctx, w.cfg, w.store, nil); err == nil || !strings.Contains(err.Error(), "PKCS #8") {
		t.Errorf("a start: error %v", err)
	}
}
