package credential

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
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

// issuer is an identity provider with a key set that can be changed and broken. It is a RoundTripper as well, so that it
// can be asked in a synctest bubble.
type issuer struct {
	fetches atomic.Int64
	answer  atomic.Pointer[http.HandlerFunc]
}

func newIssuer(keys ...object) *issuer {
	i := new(issuer)
	i.publish(keys...)
	return i
}

func (i *issuer) answerWith(answer http.HandlerFunc) { i.answer.Store(&answer) }

func (i *issuer) publish(keys ...object) {
	body := object{"keys": keys}.String()
	i.answerWith(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.fetches.Add(1)
	(*i.answer.Load())(w, r)
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	i.ServeHTTP(w, r)
	return w.Result(), nil
}

// serve serves on loopback, and returns the URL.
func serve(t testing.TB, h http.Handler) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
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
		point := must(public.Bytes())
		o["kty"], o["crv"], o["x"], o["y"] = "EC", "P-256", encode(point[1:33]), encode(point[33:])
	case ed25519.PublicKey:
		o["kty"], o["crv"], o["x"] = "OKP", "Ed25519", encode(public)
	}
	return o.with(changes)
}

func (s stranger) token(header, claims object) string {
	h := object{"alg": s.method.Alg(), "kid": s.id, "typ": "JWT"}.with(header)
	return signed(&signingKey{method: s.method, private: s.private}, h.String(), claims.String())
}

var strangers = sync.OnceValue(func() (all struct{ rsa, ec, ed, late stranger }) {
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	succeeds(err)
	all.rsa = stranger{"r1", jwt.SigningMethodRS256, must(rsa.GenerateKey(rand.Reader, 2048))}
	all.ec = stranger{"e1", jwt.SigningMethodES256, must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))}
	all.ed = stranger{"d1", jwt.SigningMethodEdDSA, edKey}
	all.late = stranger{"e2", jwt.SigningMethodES256, must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))}
	return all
})

// remoteWorld trusts an issuer for RS256 and ES256, not for EdDSA. It returns the claims of a good token, too.
func remoteWorld(t testing.TB, jwksURL string, change ...func(*UserIssuer)) (*world, object) {
	t.Helper()
	u := UserIssuer{Issuer: "https://id.test", Audience: "maps-management", JWKSURL: jwksURL,
		Algorithms: []string{"RS256", "ES256"}, OrganizationClaim: "tenant"}
	for _, c := range change {
		c(&u)
	}
	w := newWorld(t, func(c *Config) { c.Users = []UserIssuer{u} })
	return w, object{"iss": u.Issuer, "aud": u.Audience, "sub": "u-1", "tenant": "org", "exp": start.Unix() + 600,
		"iat": start.Unix(), "jti": "j"}
}

func TestRemoteUsers(t *testing.T) {
	t.Parallel()
	s := strangers()
	i := newIssuer(s.rsa.jwk(nil), s.ec.jwk(object{"alg": nil, "use": nil}), s.ed.jwk(nil))
	w, claims := remoteWorld(t, serve(t, i))
	body := func(changes object) string { return s.ec.token(nil, claims.with(changes)) }
	head := func(by stranger, changes object) string { return by.token(changes, claims) }
	same(t, "fetches before a token came", 0, i.fetches.Load())
	for name, token := range map[string]string{
		"RS256":             head(s.rsa, nil),
		"ES256":             head(s.ec, nil),
		"no typ":            head(s.ec, object{"typ": nil}),
		"typ at+jwt":        head(s.ec, object{"typ": "at+jwt"}),
		"long typ":          head(s.ec, object{"typ": "application/at+JWT"}),
		"audience list":     body(object{"aud": []string{"maps-management"}}),
		"several audiences": body(object{"aud": []string{"account", "maps-management"}}),
		"other claims":      body(object{"roles": []any{object{"a": 1}, 2}, "nbf": start.Unix()}),
	} {
		same(t, name, User{Subject: "u-1", Organization: "org", Issuer: "https://id.test", ID: "j"},
			must(w.VerifyUser(w.ctx, token)))
	}
	same(t, "fetches", 1, i.fetches.Load())
	for _, test := range []struct {
		name, token string
		want        refusal
	}{
		{"algorithm that is not pinned", head(s.ed, nil), refusedAlgorithm},
		{"HS256", head(s.rsa, object{"alg": "HS256"}), refusedAlgorithm},
		{"algorithm of another kind of key", head(s.rsa, object{"alg": "ES256"}), refusedKey},
		{"kid missing", head(s.rsa, object{"kid": nil}), refusedKey},
		{"kid unknown", head(s.rsa, object{"kid": "none"}), refusedKey},
		{"kid of another key", head(s.ec, object{"kid": "r1"}), refusedKey},
		{"signature of another key", head(s.late, object{"kid": "e1"}), refusedSignature},
		{"typ of local users", head(s.ec, object{"typ": userType}), refusedType},
		{"typ of logout", head(s.ec, object{"typ": "logout+jwt"}), refusedType},
		{"our issuer", body(object{"iss": "https://maps.test"}), refusedType},
		{"our issuer and typ", s.ec.token(object{"typ": userType}, claims.with(object{"iss": "https://maps.test"})), refusedKey},
		{"audiences without ours", body(object{"aud": []string{"other", "third"}}), refusedAudience},
		{"audience ours for local users", body(object{"aud": "maps.test:accounts"}), refusedAudience},
		{"expired", body(object{"exp": start.Unix()}), refusedExpired},
		{"organization absent", body(object{"tenant": nil}), refusedNoOrg},
		{"organization under our name", body(object{"tenant": nil, "org": "org"}), refusedNoOrg},
	} {
		_, err := w.VerifyUser(w.ctx, test.token)
		refused(t, test.name, err, test.want)
	}
	w.refusedAccess(t, "as access token", refusedIssuer, head(s.ec, object{"typ": "at+jwt"}))
}

func TestRequiredClaim(t *testing.T) {
	t.Parallel()
	s := strangers()
	w, claims := remoteWorld(t, serve(t, newIssuer(s.ec.jwk(nil))), func(u *UserIssuer) {
		u.RequireClaim, u.RequireValue = "role", "maps-admin"
	})
	verify := func(role any) error {
		_, err := w.VerifyUser(w.ctx, s.ec.token(nil, claims.with(object{"role": role})))
		return err
	}
	for _, role := range []any{"maps-admin", []string{"x", "maps-admin"}} {
		succeeds(verify(role))
	}
	for _, role := range []any{nil, "", "maps-admins", "x maps-admin", []string{}, []any{object{"maps-admin": true}, 1},
		object{"maps-admin": true}, true, 1} {
		refused(t, fmt.Sprint("role ", role), verify(role), refusedRequired)
	}
}

// TestIssuerDown: until the issuer has answered once, its tokens are neither accepted nor refused, and tokens do not each
// cause a request.
func TestIssuerDown(t *testing.T) {
	t.Parallel()
	s := strangers()
	answer := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
	}
	for name, down := range map[string]http.HandlerFunc{
		"error":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"no JSON":      answer("<html>"),
		"no keys":      answer(`{"keys":[]}`),
		"secrets":      answer(`{"keys":[{"kty":"oct","kid":"e1","k":"c2VjcmV0"}]}`),
		"too large":    answer(`{"keys":[],"x":"` + strings.Repeat("x", keysMaxBytes) + `"}`),
		"leads around": http.RedirectHandler("/again", http.StatusFound).ServeHTTP,
	} {
		i := new(issuer)
		i.answerWith(down)
		w, claims := remoteWorld(t, serve(t, i))
		for range 20 {
			_, err := w.VerifyUser(w.ctx, s.ec.token(nil, claims))
			isUnavailable(t, name, err)
		}
		if n := i.fetches.Load(); n > 4 {
			t.Errorf("%s: twenty tokens made %d requests", name, n)
		}
		must(w.VerifyUser(w.ctx, w.mint("ann", time.Hour))) // of this service
	}
}

// TestIssuerOverTime: keys come and go, and the issuer as well.
func TestIssuerOverTime(t *testing.T) {
	s := strangers()
	synctest.Test(t, func(t *testing.T) {
		i := new(issuer)
		r := newRemoteIssuer(t.Context(), UserIssuer{JWKSURL: "https://id.test/keys", Algorithms: []string{"ES256"}})
		r.sets.issuer = i
		ask := func(kid string) error {
			_, err := r.key(t.Context(), &jwt.Token{Method: jwt.SigningMethodES256,
				Header: map[string]any{"kid": kid, "alg": "ES256"}})
			return err
		}
		down := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
		i.answerWith(down)
		isUnavailable(t, "before the first answer", ask("e1"))
		i.publish(s.ec.jwk(nil))
		isUnavailable(t, "before it is asked again", ask("e1"))
		time.Sleep(keysPause)
		succeeds(ask("e1"))

		// A new key is found when a token names it. Made-up names make one request in each pause, and many tokens share it.
		i.publish(s.ec.jwk(nil), s.late.jwk(nil))
		refused(t, "a new key, in the pause", ask("e2"), refusedKey)
		time.Sleep(keysPause)
		fetches := i.fetches.Load()
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				refused(t, "a made-up key", ask(fmt.Sprint("made up ", n)), refusedKey)
				succeeds(ask("e2"))
			})
		}
		all.Wait()
		same(t, "requests for twenty tokens", 1, i.fetches.Load()-fetches)
		for range 100 { // one per second: the issuer is asked once in ten
			refused(t, "a made-up key", ask("made up"), refusedKey)
			time.Sleep(time.Second)
		}
		if n := i.fetches.Load() - fetches; n > 11 {
			t.Errorf("in 100 seconds, made-up keys made %d requests", n)
		}

		// A key that is withdrawn goes with the next refresh. An issuer that goes down leaves its keys good.
		i.publish(s.late.jwk(nil))
		time.Sleep(keysRefresh)
		synctest.Wait()
		refused(t, "a key that was withdrawn", ask("e1"), refusedKey)
		i.answerWith(down)
		time.Sleep(24 * time.Hour)
		succeeds(ask("e2"))
	})
}

// TestKeySetRedirects: the keys come over https or loopback, also after a redirect, and only for asymmetric algorithms.
func TestKeySetRedirects(t *testing.T) {
	t.Parallel()
	s := strangers()
	keys := serve(t, newIssuer(s.rsa.jwk(nil)))
	for target, want := range map[string]string{
		keys:                            "",
		"http://203.0.113.1/keys":       "away from https",
		"http://127.0.0.1.nip.io/keys":  "away from https",
		"ftp://127.0.0.1/keys":          "away from https",
		"http://[::ffff:203.0.113.1]/k": "away from https",
	} {
		w, claims := remoteWorld(t, serve(t, http.RedirectHandler(target, http.StatusFound)))
		_, err := w.VerifyUser(w.ctx, s.rsa.token(nil, claims))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", target, err, want)
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
	for _, algorithms := range [][]string{{"RS256", "HS256"}, {"none"}} {
		if err := (UserIssuer{Algorithms: algorithms}).CheckAlgorithms(); err == nil {
			t.Errorf("%q were accepted", algorithms)
		}
	}
}
