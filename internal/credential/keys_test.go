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

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/account/accounttest"
)

// TestThumbprint uses the example of RFC 8037, appendix A.3.
func TestThumbprint(t *testing.T) {
	public, err := base64.RawURLEncoding.DecodeString("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
	if err != nil {
		t.Fatal(err)
	}
	got, err := thumbprint(ed25519.PublicKey(public))
	if want := "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"; err != nil || got != want {
		t.Errorf("thumbprint %s, error %v, want %s", got, err, want)
	}
}

// TestJWKS verifies access tokens as an upstream would, with nothing but the key set.
func TestJWKS(t *testing.T) {
	store := accounttest.NewMemory()
	var sets [][]byte
	var tokens []string
	for _, algorithm := range []string{algEdDSA, algES256} { // an operator who changes the algorithm
		w := newWorld(t, func(c *Config) { c.Algorithm = algorithm })
		w.Authority = newAuthority(t, w.cfg, account.NewLive(store))
		app := w.holder(t, "org", account.ScopeTile)
		tokens = append(tokens, w.exchange(t, app, app).Access)
		sets = append(sets, w.JWKS())
		for _, token := range tokens { // tokens of before stay good
			if _, err := w.VerifyAccess(t.Context(), token); err != nil {
				t.Errorf("with %s: %v", algorithm, err)
			}
		}
	}
	var set jwkset.JWKSMarshal
	if err := json.Unmarshal(sets[1], &set); err != nil {
		t.Fatal(err)
	}
	var algorithms []string
	for _, key := range set.Keys {
		algorithms = append(algorithms, key.ALG.String())
		if key.USE != jwkset.UseSig || key.KID == "" || key.D != "" {
			t.Errorf("key %+v: want an id, use sig and no private half", key)
		}
	}
	slices.Sort(algorithms)
	if !slices.Equal(algorithms, []string{algES256, algEdDSA}) {
		t.Errorf("the set has keys for %v, want one for each algorithm and none of user tokens", algorithms)
	}
	keys, err := keyfunc.NewJWKSetJSON(sets[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range tokens {
		if _, err := jwt.Parse(token, keys.Keyfunc, jwt.WithIssuer("https://maps.test"), jwt.WithAudience("maps.test"),
			jwt.WithTimeFunc(func() time.Time { return start })); err != nil {
			t.Errorf("an upstream cannot verify: %v", err)
		}
	}
}

func TestKeysAreKept(t *testing.T) {
	w := newWorld(t)
	again := newAuthority(t, w.cfg, account.NewLive(w.store))
	if !bytes.Equal(w.JWKS(), again.JWKS()) || w.ring().user.id != again.ring().user.id ||
		w.ring().access.id == w.ring().user.id {
		t.Error("a second start has other keys, or one key for both uses")
	}
}

// TestFirstStartByMany starts several servers on one new store at once: they must end up with the same keys.
func TestFirstStartByMany(t *testing.T) {
	store := accounttest.NewMemory()
	cfg := newWorld(t).cfg
	sets := make([]string, 6)
	var wg sync.WaitGroup
	for i := range sets {
		wg.Go(func() {
			a, err := New(t.Context(), cfg, account.NewLive(store), nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer a.Close()
			sets[i] = string(a.JWKS()) + a.ring().user.id
		})
	}
	wg.Wait()
	if slices.Sort(sets); sets[0] != sets[len(sets)-1] {
		t.Errorf("servers have different keys: %v", slices.Compact(sets))
	}
}

func TestSealedKeys(t *testing.T) {
	secret, other := bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{8}, 32)
	for _, algorithm := range []string{algEdDSA, algES256} {
		for _, sealedFrom := range []string{"the first start", "later"} {
			t.Run(algorithm+" sealed from "+sealedFrom, func(t *testing.T) {
				w := newWorld(t, func(c *Config) {
					c.Algorithm = algorithm
					if sealedFrom == "the first start" {
						c.KeyEncryptionKey = secret
					}
				})
				app := w.holder(t, "org", account.ScopeTile)
				token := w.exchange(t, app, app).Access
				live := account.NewLive(w.store)
				cfg := w.cfg
				cfg.KeyEncryptionKey = secret
				sealed := newAuthority(t, cfg, live)
				if _, err := sealed.VerifyAccess(t.Context(), token); err != nil {
					t.Errorf("a token of before: %v", err)
				}
				kept, err := w.store.Keys(t.Context())
				if err != nil || len(kept) != 2 {
					t.Fatalf("%d keys, error %v", len(kept), err)
				}
				for _, k := range kept {
					clear, err := unsealKey(secret, k)
					if err != nil || !k.Sealed {
						t.Fatalf("key %s: sealed is %v, error %v", k.ID, k.Sealed, err)
					}
					if _, err := x509.ParsePKCS8PrivateKey(clear); err != nil {
						t.Errorf("key %s is not in PKCS #8 form: %v", k.ID, err)
					}
					if bytes.Contains(k.Private, clear[len(clear)-32:]) {
						t.Error("the store holds the private half in clear")
					}
				}
				for name, wrong := range map[string][]byte{"no key encryption key": nil, "another": other} {
					cfg.KeyEncryptionKey = wrong
					_, err := New(t.Context(), cfg, live, nil)
					if err == nil || !strings.Contains(err.Error(), "key encryption key") {
						t.Errorf("%s: error %v", name, err)
					}
				}
			})
		}
	}
}

// TestSealedKeyIsBound moves sealed keys about in the store: none may pass for another.
func TestSealedKeyIsBound(t *testing.T) {
	secret := bytes.Repeat([]byte{7}, 32)
	k, err := newKey(account.KeyUser, algEdDSA, start)
	if err != nil {
		t.Fatal(err)
	}
	sealed := sealKey(secret, k)
	if bytes.Equal(sealed.Private, sealKey(secret, k).Private) {
		t.Error("sealing twice gives the same bytes")
	}
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
	if _, err := openKey(secret, sealed); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*account.Key){
		"of another algorithm": func(k *account.Key) { k.Algorithm = algES256 },
		"of an unknown use":    func(k *account.Key) { k.Use = "backup" },
		"broken":               func(k *account.Key) { k.Private = k.Private[:20] },
	} {
		changed := k
		change(&changed)
		if _, err := openKey(nil, changed); err == nil {
			t.Errorf("a key in clear %s opens", name)
		}
	}
}

func TestNewWithoutStore(t *testing.T) {
	store := accounttest.NewMemory()
	_ = store.Close()
	_, err := New(t.Context(), newWorld(t).cfg, account.NewLive(store), nil)
	if err == nil || errors.Is(err, ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

func TestConfigValidate(t *testing.T) {
	good := Config{Issuer: "i", Audience: "a", Algorithm: algEdDSA, AccessTTL: time.Minute, RefreshTTL: time.Hour,
		Users: []UserIssuer{{Issuer: "https://id", Audience: "m", JWKSURL: "https://id/keys",
			Algorithms: []string{"RS256", "ES256"}, OrganizationClaim: "org"}}}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	user := func(change func(*UserIssuer)) func(*Config) {
		return func(c *Config) {
			u := c.Users[0]
			change(&u)
			c.Users = []UserIssuer{u}
		}
	}
	for want, change := range map[string]func(*Config){
		"issuer is empty":              func(c *Config) { c.Issuer = "" },
		"audience is empty":            func(c *Config) { c.Audience = "" },
		`algorithm "RS256"`:            func(c *Config) { c.Algorithm = "RS256" },
		"life of access tokens":        func(c *Config) { c.AccessTTL = time.Millisecond },
		"life of refresh tokens":       func(c *Config) { c.RefreshTTL = 0 },
		"key encryption key has 16":    func(c *Config) { c.KeyEncryptionKey = make([]byte, 16) },
		"this service's own":           func(c *Config) { c.Issuer = "https://id" },
		"listed twice":                 func(c *Config) { c.Users = append(c.Users[:1:1], c.Users[0]) },
		`issuer "": issuer is empty`:   user(func(u *UserIssuer) { u.Issuer = "" }),
		`"https://id": audience`:       user(func(u *UserIssuer) { u.Audience = "" }),
		"organization claim":           user(func(u *UserIssuer) { u.OrganizationClaim = "" }),
		"no algorithms":                user(func(u *UserIssuer) { u.Algorithms = nil }),
		`algorithm "HS256" is not`:     user(func(u *UserIssuer) { u.Algorithms = []string{"RS256", "HS256"} }),
		`algorithm "none" is not`:      user(func(u *UserIssuer) { u.Algorithms = []string{"none"} }),
		"not an http":                  user(func(u *UserIssuer) { u.JWKSURL = "file:///etc/passwd" }),
		"must be https":                user(func(u *UserIssuer) { u.JWKSURL = "http://id.example.com/keys" }),
		"https, except on loopback":    user(func(u *UserIssuer) { u.JWKSURL = "http://127.0.0.1.example.com/keys" }),
		"URL of the key set":           user(func(u *UserIssuer) { u.JWKSURL = "" }),
		"needs a name and a value":     user(func(u *UserIssuer) { u.RequireClaim = "role" }),
		"claim needs a name and a val": user(func(u *UserIssuer) { u.RequireValue = "admin" }),
	} {
		c := good
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
