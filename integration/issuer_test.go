package integration

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// issuer is a small identity provider: a key set over HTTP, and the private keys to it. It can be away.
type issuer struct {
	t       *testing.T
	address string
	keys    []issuerKey

	mu        sync.Mutex
	published int // so many of the keys
	asked     int
	server    *http.Server
}

type issuerKey struct {
	id      string
	method  jwt.SigningMethod
	private crypto.Signer
}

// newIssuer makes an issuer that is away, with a key of each algorithm and one to change to.
func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t, published: 3}
	address, release, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	i.address = address
	first, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curve := make([]*ecdsa.PrivateKey, 2)
	for n := range curve {
		if curve[n], err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	i.keys = []issuerKey{
		{"rsa", jwt.SigningMethodRS256, first}, {"ec", jwt.SigningMethodES256, curve[0]},
		{"ed", jwt.SigningMethodEdDSA, edwards}, {"next", jwt.SigningMethodES256, curve[1]},
	}
	t.Cleanup(i.leave)
	return i
}

// come starts to serve the key set.
func (i *issuer) come() {
	i.t.Helper()
	l, err := net.Listen("tcp", i.address)
	if err != nil {
		i.t.Fatal(err)
	}
	server := &http.Server{Handler: i}
	i.server = server
	go func() { _ = server.Serve(l) }() // ends with leave
}

// leave ends all connections; new ones are refused.
func (i *issuer) leave() {
	if i.server != nil {
		_ = i.server.Close()
	}
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked++
	var set []object
	for _, key := range i.keys[:i.published] {
		jwk := object{"kid": key.id, "alg": key.method.Alg(), "use": "sig"}
		switch public := key.private.Public().(type) {
		case *rsa.PublicKey:
			jwk["kty"], jwk["n"], jwk["e"] = "RSA", encode(public.N.Bytes()), encode(big.NewInt(int64(public.E)).Bytes())
		case *ecdsa.PublicKey:
			point, err := public.Bytes()
			if err != nil {
				i.t.Error(err)
			}
			jwk["kty"], jwk["crv"], jwk["x"], jwk["y"] = "EC", "P-256", encode(point[1:33]), encode(point[33:])
		case ed25519.PublicKey:
			jwk["kty"], jwk["crv"], jwk["x"] = "OKP", "Ed25519", encode(public)
		}
		set = append(set, jwk)
	}
	_, _ = w.Write([]byte(asJSON(i.t, object{"keys": set})))
}

func (i *issuer) publish(n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.published = n
}

func (i *issuer) times() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked
}

// token signs a good user token of an organization, with claims and header changed; nil takes one away.
func (i *issuer) token(key int, organization string, claims, header object) string {
	i.t.Helper()
	k := i.keys[key]
	all := object{"iss": "https://id.example.com", "aud": "maps-management", "sub": "somebody", "tenant": organization,
		"role": "maps-admin", "iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}.with(claims)
	token := jwt.NewWithClaims(k.method, jwt.MapClaims(all))
	token.Header = object{"alg": k.method.Alg(), "typ": "JWT", "kid": k.id}.with(header)
	text, err := token.SignedString(k.private)
	if err != nil {
		i.t.Fatal(err)
	}
	return secret(text)
}

// User tokens of an OpenID Connect issuer: it may be away when the server starts, its tokens are checked in all that
// was configured, it may change its keys, and be away again.
func TestIssuer(t *testing.T) {
	leaveOut(t, "it waits until keys may be asked for again")
	t.Parallel()
	i := newIssuer(t)
	s := startRaced(t, `# user_tokens {`, `user_tokens {
			issuer https://id.example.com
			audience maps-management
			jwks_url http://`+i.address+`/jwks
			algorithms RS256 ES256
			organization_claim tenant
			require_claim role maps-admin
		}
		# {`)
	manage := func(token string) call { return call{path: accounts, bearer: token} }
	await := func(token string, what string) { // longer than the pause between two requests for keys
		t.Helper()
		deadline := time.Now().Add(30 * time.Second)
		for ; s.send(t, manage(token)).status != 200; time.Sleep(200 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d", what, s.send(t, manage(token)).status)
			}
		}
	}
	rsaToken, ecToken := i.token(0, "tenant-a", nil, nil), i.token(1, "tenant-b", nil, nil)

	// Away: nobody can say whether its tokens are good. Start and reload went on without it, and so do local user tokens.
	begun := time.Now()
	refusal{call: manage(rsaToken), status: 503}.checkPlatform(t, s)
	if took := time.Since(begun); took > 8*time.Second {
		t.Errorf("the refusal took %v", took)
	}
	local := s.userToken(t, "tenant-a")
	s.send(t, manage(local)).want(200)

	i.come()
	await(rsaToken, "the issuer is back")
	s.send(t, manage(ecToken)).want(200)
	acc := s.create(t, rsaToken, nil)
	if acc.OrganizationID != "tenant-a" || acc.CreatedBy != "user:somebody" {
		t.Errorf("the account is of %q, by %q", acc.OrganizationID, acc.CreatedBy)
	}
	s.send(t, call{path: accounts + "/" + acc.ID, bearer: rsaToken}).want(200)
	s.send(t, call{path: accounts + "/" + acc.ID, bearer: ecToken}).want(404)
	s.exchange(t, acc.ClientToken, acc.ServerToken)

	public, err := x509.MarshalPKIXPublicKey(i.keys[0].private.Public())
	if err != nil {
		t.Fatal(err)
	}
	hmacOf := func(key []byte) string {
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims(tokenPart(t, rsaToken, 1)))
		token.Header["kid"] = "rsa"
		text, err := token.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	parts := strings.Split(rsaToken, ".")
	now := time.Now().Unix()
	for name, token := range map[string]string{
		"another issuer":            i.token(0, "tenant-a", object{"iss": "https://id.example.com/"}, nil),
		"our issuer":                i.token(0, "tenant-a", object{"iss": "caddy-maps"}, object{"typ": "maps-user+jwt"}),
		"another audience":          i.token(0, "tenant-a", object{"aud": "another"}, nil),
		"our audience":              i.token(0, "tenant-a", object{"aud": "caddy-maps:accounts"}, nil),
		"an algorithm not pinned":   i.token(2, "tenant-a", nil, nil),
		"alg none":                  encode([]byte(`{"alg":"none","kid":"rsa"}`)) + "." + parts[1] + ".",
		"HS256 with the public key": hmacOf(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})),
		"HS256 with the DER key":    hmacOf(public),
		"the key of another kid":    i.token(1, "tenant-a", nil, object{"kid": "rsa"}),
		"a kid that is not there":   i.token(0, "tenant-a", nil, object{"kid": "none"}),
		"no kid":                    i.token(0, "tenant-a", nil, object{"kid": nil}),
		"a key that is not known":   i.token(3, "tenant-a", nil, nil),
		"no organization":           i.token(0, "tenant-a", object{"tenant": nil}, nil),
		"an empty organization":     i.token(0, "", nil, nil),
		"two organizations":         i.token(0, "tenant-a", object{"tenant": []string{"tenant-a", "tenant-b"}}, nil),
		"organization by our name":  i.token(0, "tenant-a", object{"tenant": nil, "org": "tenant-a"}, nil),
		"without the role":          i.token(0, "tenant-a", object{"role": "viewer"}, nil),
		"expired":                   i.token(0, "tenant-a", object{"exp": now - 1}, nil),
		"expires never":             i.token(0, "tenant-a", object{"exp": nil}, nil),
		"not yet valid":             i.token(0, "tenant-a", object{"nbf": now + 60}, nil),
		"claims changed":            parts[0] + "." + strings.Split(ecToken, ".")[1] + "." + parts[2],
		"a token for another use":   i.token(0, "tenant-a", nil, object{"typ": "logout+jwt"}),
		"key in the header": i.token(3, "tenant-a", nil,
			object{"kid": "rsa", "jku": "http://" + i.address + "/jwks"}),
		"extension that must count": i.token(0, "tenant-a", nil, object{"crit": []string{"exp"}}),
		"longer than 4 KiB":         i.token(0, "tenant-a", object{"more": strings.Repeat("x", 5000)}, nil),
		"a name twice":              "eyJhbGciOiJSUzI1NiIsImFsZyI6Im5vbmUifQ." + parts[1] + "." + parts[2],
	} {
		t.Run(name, func(t *testing.T) {
			refusal{call: manage(token), status: 401, says: badKey,
				header: map[string]string{"WWW-Authenticate": `Bearer error="invalid_token"…`,
					"Cache-Control": "no-store"}}.checkPlatform(t, s)
		})
	}

	// They manage accounts and call no maps.
	refusal{call: call{path: reverse + "?lat=1&lon=1", bearer: rsaToken}, status: 401, says: badKey}.checkPlatform(t, s)

	// The issuer changes its key: the new one is found when a token names it. Tokens with made-up keys do not make more
	// of it.
	next := i.token(3, "tenant-a", nil, nil)
	i.publish(4)
	before, since := i.times(), time.Now()
	await(next, "a new key")
	for range 50 {
		s.send(t, manage(i.token(0, "tenant-a", nil, object{"kid": "none"}))).want(401)
	}
	if asked, most := i.times()-before, int(time.Since(since)/(10*time.Second))+2; asked > most {
		t.Errorf("the issuer was asked %d times in %v, want %d at most", asked, time.Since(since), most)
	}
	s.send(t, manage(rsaToken)).want(200)

	// Away again: the keys that are known stay good.
	i.leave()
	s.send(t, manage(next)).want(200)
	s.send(t, manage(rsaToken)).want(200)
	config, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	if status, text := s.reload(t,
		strings.Replace(string(config), "max_points 10000", "max_points 9999", 1)); status != 200 {
		t.Errorf("reload with the issuer away: %d %s", status, text)
	}
	s.send(t, manage(local)).want(200)
}
