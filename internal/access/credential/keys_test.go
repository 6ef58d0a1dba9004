package credential

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
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
	got, err := thumbprint(ed25519.PublicKey(public))
	if want := "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"; err != nil || got != want {
		t.Errorf("thumbprint %s, error %v, want %s", got, err, want)
	}
}

// TestJWKS changes the algorithm, and verifies access tokens as an upstream would, with nothing but the key set.
func TestJWKS(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	tokens := []string{w.exchange(t, app, app).Access}
	changed := w.beside(t, func(c *Config) { c.Algorithm = algES256 })
	w.advance(publishFirst + time.Second)
	tokens = append(tokens, changed.exchange(t, app, app).Access)
	for i, algorithm := range []string{algEdDSA, algES256} {
		if got := decoded(t, tokens[i], 0)["alg"]; got != algorithm {
			t.Errorf("signed with %v, want %s", got, algorithm)
		}
	}
	changed.accepted(t, "after the change", tokens...)
	body := must(changed.JWKS(t.Context()))
	var set jwkset.JWKSMarshal
	succeeds(t, json.Unmarshal(body, &set))
	var algorithms []string
	for _, key := range set.Keys {
		algorithms = append(algorithms, key.ALG.String())
		if key.USE != jwkset.UseSig || key.KID == "" || key.D != "" {
			t.Errorf("key %+v: want an id, use sig and no private half", key)
		}
	}
	if !slices.Equal(algorithms, []string{algES256, algEdDSA}) {
		t.Errorf("the set has keys for %v, want the newest first, and none of user tokens", algorithms)
	}
	keys := must(keyfunc.NewJWKSetJSON(body))
	for _, token := range tokens {
		if _, err := jwt.Parse(token, keys.Keyfunc, jwt.WithIssuer("https://maps.test"), jwt.WithAudience("maps.test"),
			jwt.WithTimeFunc(w.now)); err != nil {
			t.Errorf("an upstream cannot verify: %v", err)
		}
	}
	// The keys of the old algorithm go when their last tokens have expired.
	w.advance(MaxUserTTL + keyGrace)
	maintained(t, changed)
	for _, k := range must(changed.Keys(t.Context())) {
		if k.Algorithm != algES256 || !k.Signs {
			t.Errorf("key %+v is still there", k)
		}
	}
}

// TestFirstStartByMany starts several servers on one new store at once: they end up with the same keys.
func TestFirstStartByMany(t *testing.T) {
	w := newWorld(t)
	w.sql(t, "DELETE FROM maps_keys")
	sets := make([]string, 6)
	var all sync.WaitGroup
	for i := range sets {
		all.Go(func() {
			a, err := New(t.Context(), w.cfg, w.store, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer a.Close()
			for _, k := range must(a.Keys(t.Context())) {
				sets[i] += k.ID + string(k.Use)
			}
		})
	}
	all.Wait()
	if slices.Sort(sets); sets[0] != sets[len(sets)-1] || strings.Count(sets[0], string(account.KeyUser)) != 1 {
		t.Errorf("servers have different keys: %v", slices.Compact(sets))
	}
}

func TestSealedKeys(t *testing.T) {
	secret, other := bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{8}, 32)
	for _, from := range []string{"the first start", "later"} {
		for _, algorithm := range []string{algEdDSA, algES256} {
			w := newWorld(t, func(c *Config) {
				if c.Algorithm = algorithm; from == "the first start" {
					c.KeyEncryptionKey = secret
				}
			})
			app := w.holder(t, "org", account.ScopeTile)
			token := w.exchange(t, app, app).Access
			sealed := w.beside(t, func(c *Config) { c.KeyEncryptionKey = secret })
			sealed.accepted(t, "a token of before", token)
			succeeds(t, sealed.Rotate(t.Context()))
			kept := must(w.store.Keys(t.Context()))
			if len(kept) != 4 {
				t.Errorf("%d keys", len(kept))
			}
			for _, k := range kept {
				clear, err := unsealKey(secret, k)
				if err != nil || !k.Sealed {
					t.Fatalf("%s: key %s: sealed is %v, error %v", from, k.ID, k.Sealed, err)
				}
				if _, err := x509.ParsePKCS8PrivateKey(clear); err != nil || bytes.Contains(k.Private, clear[len(clear)-32:]) {
					t.Errorf("key %s is not in PKCS #8 form, or in clear: %v", k.ID, err)
				}
			}
			for name, wrong := range map[string][]byte{"no key encryption key": nil, "another": other} {
				cfg := w.cfg
				cfg.KeyEncryptionKey = wrong
				if _, err := New(t.Context(), cfg, w.store, nil); err == nil || !strings.Contains(err.Error(), "key encryption key") {
					t.Errorf("%s: error %v", name, err)
				}
			}
		}
	}
}

// TestStoredKeys moves sealed keys about in the store, and spoils keys in clear: none passes for another.
func TestStoredKeys(t *testing.T) {
	secret := bytes.Repeat([]byte{7}, 32)
	k := must(newKey(account.KeyUser, algEdDSA, start))
	sealed := sealKey(secret, k)
	if bytes.Equal(sealed.Private, sealKey(secret, k).Private) {
		t.Error("sealing twice gives the same bytes")
	}
	must(openKey(secret, sealed))
	for name, change := range map[string]func(*account.Key){
		"id":        func(k *account.Key) { k.ID = "other" },
		"use":       func(k *account.Key) { k.Use = account.KeyAccess },
		"algorithm": func(k *account.Key) { k.Algorithm = algES256 },
		"content":   func(k *account.Key) { k.Private = slices.Clone(k.Private); k.Private[20] ^= 1 },
		"cut":       func(k *account.Key) { k.Private = k.Private[:10] },
		"empty":     func(k *account.Key) { k.Private = nil },
	} {
		changed := sealed
		change(&changed)
		if _, err := openKey(secret, changed); err == nil {
			t.Errorf("with another %s it opens", name)
		}
	}
	for want, change := range map[string]func(*account.Key){
		"stored for algorithm": func(k *account.Key) { k.Algorithm = algES256 },
		"unknown use":          func(k *account.Key) { k.Use = "backup" },
		"PKCS #8":              func(k *account.Key) { k.Private = k.Private[:20] },
	} {
		changed := k
		change(&changed)
		if _, err := openKey(nil, changed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a key in clear: error %v, want one with %q", err, want)
		}
	}
}

// TestUnreadableKeys: a store whose keys cannot be read or used is an error, and no reason to refuse tokens or use
// others.
func TestUnreadableKeys(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	token, user := w.exchange(t, app, app).Access, w.mint(t)
	w.cached(t, token)
	if _, err := w.store.UpdateKeys(t.Context(), func(keys []account.Key) ([]account.Key, error) {
		k := must(newKey(account.KeyAccess, algEdDSA, start))
		k.Private = []byte("none")
		return append(keys, k), nil
	}); err != nil {
		t.Fatal(err)
	}
	_, err := w.VerifyAccess(t.Context(), token)
	isUnavailable(t, "an access token", err)
	_, err = w.VerifyUser(t.Context(), user)
	isUnavailable(t, "a user token", err)
	_, err = w.Exchange(t.Context(), app.client, app.server)
	isUnavailable(t, "an exchange", err)
	_, _, _, err = w.MintUser(t.Context(), "org", "alice", time.Hour)
	if isUnavailable(t, "minting", err); errors.Is(err, ErrMint) {
		t.Errorf("minting without keys is the caller's fault: %v", err)
	}
	if _, err := New(t.Context(), w.cfg, w.store, nil); err == nil || !strings.Contains(err.Error(), "PKCS #8") {
		t.Errorf("a start: error %v", err)
	}
}

func TestUserIssuer(t *testing.T) {
	for _, algorithms := range [][]string{{"RS256", "HS256"}, {"none"}} {
		if err := (UserIssuer{Algorithms: algorithms}).CheckAlgorithms(); err == nil {
			t.Errorf("%q were accepted", algorithms)
		}
	}
	for where, want := range map[string]string{
		"file:///etc/passwd": "not an http", "": "not an http", "http://id.example.com/keys": "must be https",
		"http://127.0.0.1.example.com/keys": "must be https",
	} {
		if err := (UserIssuer{JWKSURL: where}).CheckJWKSURL(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", where, err, want)
		}
	}
}
