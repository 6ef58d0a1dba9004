package credential

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// issuer is an identity provider with a key set that can be changed and broken.
type issuer struct {
	*httptest.Server
	fetches atomic.Int64
	answer  atomic.Pointer[func(http.ResponseWriter)]
}

func newIssuer(t testing.TB, keys ...object) *issuer {
	t.Helper()
	i := new(issuer)
	i.publish(t, keys...)
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.fetches.Add(1)
		(*i.answer.Load())(w)
	}))
	t.Cleanup(i.Server.Close)
	return i
}

func (i *issuer) answerWith(answer func(http.ResponseWriter)) { i.answer.Store(&answer) }

func (i *issuer) publish(t testing.TB, keys ...object) {
	t.Helper()
	body := must(json.Marshal(object{"keys": keys}))
	i.answerWith(func(w http.ResponseWriter) { _, _ = w.Write(body) })
}

// stranger is a key pair of an issuer.
type stranger struct {
	id      string
	method  jwt.SigningMethod
	private crypto.Signer
}

func (s stranger) jwk(changes object) object {
	encode := base64.RawURLEncoding.EncodeToString
	o := object{"kid": s.id, "use": "sig", "alg": s.method.Alg()}
	switch public := s.private.Public().(type) {
	case *rsa.PublicKey:
		o["kty"], o["n"], o["e"] = "RSA", encode(public.N.Bytes()), encode(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		point, _ := public.Bytes()
		o["kty"], o["crv"], o["x"], o["y"] = "EC", "P-256", encode(point[1:33]), encode(point[33:])
	case ed25519.PublicKey:
		o["kty"], o["crv"], o["x"] = "OKP", "Ed25519", encode(public)
	}
	return o.with(changes)
}

func (s stranger) token(t testing.TB, header, claims object) string {
	t.Helper()
	h := object{"alg": s.method.Alg(), "kid": s.id, "typ": "JWT"}.with(header)
	return signed(t, &signingKey{method: s.method, private: s.private}, h.text(t), claims.text(t))
}

var strangers = sync.OnceValue(func() (all struct{ rsa, ec, ed, late stranger }) {
	rsaKey, err1 := rsa.GenerateKey(rand.Reader, 2048)
	ecKey, err2 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, edKey, err3 := ed25519.GenerateKey(rand.Reader)
	late, err4 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		panic(err)
	}
	all.rsa = stranger{"r1", jwt.SigningMethodRS256, rsaKey}
	all.ec = stranger{"e1", jwt.SigningMethodES256, ecKey}
	all.ed = stranger{"d1", jwt.SigningMethodEdDSA, edKey}
	all.late = stranger{"e2", jwt.SigningMethodES256, late}
	return all
})

// remoteWorld trusts an issuer for RS256 and ES256, not for EdDSA.
func remoteWorld(t testing.TB, i *issuer, change ...func(*UserIssuer)) (*world, object) {
	t.Helper()
	u := UserIssuer{Issuer: "https://id.test", Audience: "maps-management", JWKSURL: i.URL, Algorithms: []string{"RS256", "ES256"}, OrganizationClaim: "tenant"}
	for _, c := range change {
		c(&u)
	}
	w := newWorld(t, func(c *Config) { c.Users = []UserIssuer{u} })
	return w, object{"iss": u.Issuer, "aud": u.Audience, "sub": "u-1", "tenant": "org", "exp": start.Unix() + 600, "iat": start.Unix(), "jti": "j"}
}

func TestRemoteUsers(t *testing.T) {
	s := strangers()
	i := newIssuer(t, s.rsa.jwk(nil), s.ec.jwk(object{"alg": nil, "use": nil}), s.ed.jwk(nil))
	w, claims := remoteWorld(t, i)
	if i.fetches.Load() != 0 {
		t.Error("the keys were fetched before a token came")
	}
	want := User{Subject: "u-1", Organization: "org", Issuer: "https://id.test", ID: "j"}
	for name, token := range map[string]string{
		"RS256":             s.rsa.token(t, nil, claims),
		"ES256":             s.ec.token(t, nil, claims),
		"no typ":            s.ec.token(t, object{"typ": nil}, claims),
		"typ at+jwt":        s.ec.token(t, object{"typ": "at+jwt"}, claims),
		"long typ":          s.ec.token(t, object{"typ": "application/at+JWT"}, claims),
		"audience list":     s.ec.token(t, nil, claims.with(object{"aud": []string{"maps-management"}})),
		"several audiences": s.ec.token(t, nil, claims.with(object{"aud": []string{"account", "maps-management"}})),
		"other claims":      s.ec.token(t, nil, claims.with(object{"roles": []any{object{"a": 1}, 2}, "nbf": start.Unix()})),
	} {
		if got, err := w.VerifyUser(t.Context(), token); err != nil || got != want {
			t.Errorf("%s: %+v, error %v", name, got, err)
		}
	}
	if n := i.fetches.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times, want once", n)
	}
	for _, test := range []struct {
		name, token string
		want        refusal
	}{
		{"algorithm that is not pinned", s.ed.token(t, nil, claims), refusedAlgorithm},
		{"HS256", s.rsa.token(t, object{"alg": "HS256"}, claims), refusedAlgorithm},
		{"none", s.rsa.token(t, object{"alg": "none"}, claims), refusedAlgorithm},
		{"algorithm of another kind of key", s.rsa.token(t, object{"alg": "ES256"}, claims), refusedKey},
		{"kid missing", s.rsa.token(t, object{"kid": nil}, claims), refusedKey},
		{"kid unknown", s.rsa.token(t, object{"kid": "none"}, claims), refusedKey},
		{"kid of another key", s.ec.token(t, object{"kid": "r1"}, claims), refusedKey},
		{"signature of another key", s.late.token(t, object{"kid": "e1"}, claims), refusedSignature},
		{"typ of local users", s.ec.token(t, object{"typ": userType}, claims), refusedType},
		{"typ of logout", s.ec.token(t, object{"typ": "logout+jwt"}, claims), refusedType},
		{"typ a number", s.ec.token(t, object{"typ": 1}, claims), refusedType},
		{"our issuer", s.ec.token(t, nil, claims.with(object{"iss": "https://maps.test"})), refusedType},
		{"our issuer and typ", s.ec.token(t, object{"typ": userType}, claims.with(object{"iss": "https://maps.test"})), refusedKey},
		{"another issuer", s.ec.token(t, nil, claims.with(object{"iss": "https://id.test/"})), refusedIssuer},
		{"audiences without ours", s.ec.token(t, nil, claims.with(object{"aud": []string{"other", "third"}})), refusedAudience},
		{"audience ours for local users", s.ec.token(t, nil, claims.with(object{"aud": "maps.test:accounts"})), refusedAudience},
		{"audience empty", s.ec.token(t, nil, claims.with(object{"aud": []string{}})), refusedAudience},
		{"expired", s.ec.token(t, nil, claims.with(object{"exp": start.Unix()})), refusedExpired},
		{"organization absent", s.ec.token(t, nil, claims.with(object{"tenant": nil})), refusedNoOrg},
		{"organization empty", s.ec.token(t, nil, claims.with(object{"tenant": ""})), refusedNoOrg},
		{"organization under our name", s.ec.token(t, nil, claims.with(object{"tenant": nil, "org": "org"})), refusedNoOrg},
		{"organization a number", s.ec.token(t, nil, claims.with(object{"tenant": 7})), refusedNoOrg},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := w.VerifyUser(t.Context(), test.token)
			refused(t, "VerifyUser", err, test.want)
		})
	}
	_, err := w.VerifyAccess(t.Context(), s.ec.token(t, object{"typ": "at+jwt"}, claims))
	refused(t, "another issuer's token as access token", err, refusedIssuer)
}

func TestRequiredClaim(t *testing.T) {
	s := strangers()
	w, claims := remoteWorld(t, newIssuer(t, s.ec.jwk(nil)), func(u *UserIssuer) { u.RequireClaim, u.RequireValue = "role", "maps-admin" })
	for _, test := range []struct {
		role any
		ok   bool
	}{
		{"maps-admin", true}, {[]string{"x", "maps-admin"}, true},
		{nil, false}, {"", false}, {"maps-admins", false}, {"x maps-admin", false}, {[]string{}, false}, {[]any{object{"maps-admin": true}, 1}, false},
		{object{"maps-admin": true}, false}, {true, false}, {1, false},
	} {
		_, err := w.VerifyUser(t.Context(), s.ec.token(t, nil, claims.with(object{"role": test.role})))
		if test.ok && err != nil {
			t.Errorf("role %v: %v", test.role, err)
		}
		if !test.ok {
			refused(t, "role", err, refusedRequired)
		}
	}
}

// TestIssuerDown: nothing is said about tokens while the issuer has never answered, and it is not asked for each of
// them.
func TestIssuerDown(t *testing.T) {
	s := strangers()
	for name, answer := range map[string]func(http.ResponseWriter){
		"error":   func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
		"no JSON": func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) },
		"no keys": func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"keys":[]}`)) },
		"secrets": func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"keys":[{"kty":"oct","kid":"e1","k":"c2VjcmV0"}]}`))
		},
		"too large": func(w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"keys":[],"x":"` + strings.Repeat("x", keysMaxBytes) + `"}`))
		},
		"leads around": func(w http.ResponseWriter) { w.Header().Set("Location", "/again"); w.WriteHeader(http.StatusFound) },
	} {
		i := newIssuer(t)
		i.answerWith(answer)
		w, claims := remoteWorld(t, i)
		for range 20 {
			_, err := w.VerifyUser(t.Context(), s.ec.token(t, nil, claims))
			isUnavailable(t, name, err)
		}
		if n := i.fetches.Load(); n > 4 {
			t.Errorf("%s: twenty tokens made %d requests", name, n)
		}
		if _, err := w.VerifyUser(t.Context(), w.mint(t)); err != nil {
			t.Errorf("a local user, the other issuer being down: %v", err)
		}
	}
}

// inMemory answers requests without a network, so that they can be made in a synctest bubble.
type inMemory struct{ *issuer }

func (i inMemory) RoundTrip(*http.Request) (*http.Response, error) {
	i.fetches.Add(1)
	w := httptest.NewRecorder()
	(*i.answer.Load())(w)
	return w.Result(), nil
}

// TestIssuerOverTime: keys come and go, and the issuer as well.
func TestIssuerOverTime(t *testing.T) {
	s := strangers()
	synctest.Test(t, func(t *testing.T) {
		i := new(issuer)
		r := newRemoteIssuer(t.Context(), UserIssuer{JWKSURL: "https://id.test/keys", Algorithms: []string{"ES256"}})
		r.sets.issuer = inMemory{i}
		ask := func(kid string) error {
			_, err := r.key(t.Context(), &jwt.Token{Method: jwt.SigningMethodES256,
				Header: map[string]any{"kid": kid, "alg": "ES256"}})
			return err
		}
		down := func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }
		i.answerWith(down)
		isUnavailable(t, "before the first answer", ask("e1"))
		i.publish(t, s.ec.jwk(nil))
		isUnavailable(t, "before it is asked again", ask("e1"))
		time.Sleep(keysPause)
		if err := ask("e1"); err != nil {
			t.Fatalf("when the issuer is back: %v", err)
		}

		// A new key is found when a token names it. Made-up names make one request in each pause, and many tokens share it.
		i.publish(t, s.ec.jwk(nil), s.late.jwk(nil))
		refused(t, "a new key, in the pause", ask("e2"), refusedKey)
		time.Sleep(keysPause)
		fetches := i.fetches.Load()
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				if n%2 == 0 {
					refused(t, "a made-up key", ask(fmt.Sprint("made up ", n)), refusedKey)
				} else if err := ask("e2"); err != nil {
					t.Errorf("a new key: %v", err)
				}
			})
		}
		all.Wait()
		if n := i.fetches.Load() - fetches; n != 1 {
			t.Errorf("twenty tokens made %d requests, want 1", n)
		}
		for range 100 { // one per second: the issuer is asked once in ten
			refused(t, "a made-up key", ask("made up"), refusedKey)
			time.Sleep(time.Second)
		}
		if n := i.fetches.Load() - fetches; n > 11 {
			t.Errorf("in 100 seconds, made-up keys made %d requests", n)
		}

		// A key that is withdrawn goes with the next refresh. An issuer that goes down leaves its keys good.
		i.publish(t, s.late.jwk(nil))
		time.Sleep(keysRefresh)
		synctest.Wait()
		refused(t, "a key that was withdrawn", ask("e1"), refusedKey)
		i.answerWith(down)
		time.Sleep(24 * time.Hour)
		if err := ask("e2"); err != nil {
			t.Errorf("with the issuer down: %v", err)
		}
	})
}

// The keys come over https or loopback, also where their address sends this service on.
func TestKeySetRedirects(t *testing.T) {
	s := strangers()
	i := newIssuer(t, s.rsa.jwk(nil))
	for target, want := range map[string]string{
		i.URL:                           "",
		"http://203.0.113.1/keys":       "away from https",
		"http://127.0.0.1.nip.io/keys":  "away from https",
		"ftp://127.0.0.1/keys":          "away from https",
		"http://[::ffff:203.0.113.1]/k": "away from https",
	} {
		redirect := httptest.NewServer(http.RedirectHandler(target, http.StatusFound))
		defer redirect.Close()
		w, claims := remoteWorld(t, i, func(u *UserIssuer) { u.JWKSURL = redirect.URL })
		_, err := w.VerifyUser(t.Context(), s.rsa.token(t, nil, claims))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", target, err, want)
		}
	}
}
