package integration

import (
	"bufio"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/store"
)

// object is a JSON object of a token.
type object map[string]any

// with returns a copy with fields changed; nil takes a field away.
func (o object) with(changes object) object {
	changed := make(object, len(o)+len(changes))
	for name, value := range o {
		changed[name] = value
	}
	for name, value := range changes {
		if changed[name] = value; value == nil {
			delete(changed, name)
		}
	}
	return changed
}

var encode = base64.RawURLEncoding.EncodeToString

// tokenPart decodes the header (0) or the claims (1) of a token.
func tokenPart(t testing.TB, token string, part int) (o object) {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[part])
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	// As integers, or they would be written as floating-point numbers of another form.
	for _, name := range []string{"exp", "iat"} {
		if seconds, ok := o[name].(float64); ok {
			o[name] = int64(seconds)
		}
	}
	return o
}

// sign makes a token of two texts with an Ed25519 key.
func sign(key ed25519.PrivateKey, header, claims string) string {
	text := encode([]byte(header)) + "." + encode([]byte(claims))
	return text + "." + encode(ed25519.Sign(key, []byte(text)))
}

// stealKeys reads the private keys out of a server's store, which nobody can do while it runs: with them each check
// is seen to stand by itself, behind a signature that is good.
func (s *server) stealKeys(t *testing.T) map[account.KeyUse]ed25519.PrivateKey {
	t.Helper()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	file, err := store.OpenSQLite(s.store, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := file.Keys(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	stolen := make(map[account.KeyUse]ed25519.PrivateKey)
	for _, key := range keys {
		private, err := x509.ParsePKCS8PrivateKey(key.Private)
		if err != nil {
			t.Fatal(err)
		}
		stolen[key.Use] = private.(ed25519.PrivateKey)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	return stolen
}

// forgeries makes tokens out of a good one, each with one thing wrong that an attacker may try. lure is a URL
// that nobody may ask for keys.
func forgeries(t *testing.T, good string, own, otherUse ed25519.PrivateKey, otherKid, lure string) map[string]string {
	t.Helper()
	header, claims := tokenPart(t, good, 0), tokenPart(t, good, 1)
	text := func(o object) string { return asJSON(t, o) }
	head := func(changes object) string { return sign(own, text(header.with(changes)), text(claims)) }
	body := func(changes object) string { return sign(own, text(header), text(claims.with(changes))) }
	parts := strings.Split(good, ".")
	_, attacker, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	attackers := object{"kty": "OKP", "crv": "Ed25519", "x": encode(attacker.Public().(ed25519.PublicKey)),
		"alg": "EdDSA", "use": "sig"}
	byAttacker := func(changes object) string { return sign(attacker, text(header.with(changes)), text(claims)) }
	now := time.Now().Unix()

	forged := map[string]string{
		"alg none": encode([]byte(text(header.with(object{"alg": "none"})))) + "." + parts[1] + ".",
		"alg nOnE, signature kept": encode([]byte(text(header.with(object{"alg": "nOnE"})))) + "." + parts[1] + "." +
			parts[2],
		"no signature": parts[0] + "." + parts[1] + ".",
		"claims changed": parts[0] + "." + encode([]byte(text(claims.with(object{"org": "victim"})))) + "." +
			parts[2],
		"wrong kid":               head(object{"kid": "unknown"}),
		"no kid":                  head(object{"kid": nil}),
		"kid is a path":           head(object{"kid": "../../../../dev/null"}),
		"kid of the other use":    head(object{"kid": otherKid}),
		"key of the other use":    sign(otherUse, text(header.with(object{"kid": otherKid})), text(claims)),
		"other key under our kid": byAttacker(nil),
		"jwk in the header":       byAttacker(object{"jwk": attackers, "kid": nil}),
		"jwk beside our kid":      byAttacker(object{"jwk": attackers.with(object{"kid": header["kid"]})}),
		"jku":                     byAttacker(object{"jku": lure, "kid": "a"}),
		"jku beside our kid":      byAttacker(object{"jku": lure}),
		"x5u":                     byAttacker(object{"x5u": lure}),
		"x5c": byAttacker(object{"x5c": []string{base64.StdEncoding.EncodeToString(selfSigned(t,
			attacker))}}),
		"extension that must count": head(object{"crit": []string{"exp"}, "exp": now + 9999}),
		"expired":                   body(object{"exp": now - 1}),
		"expires never":             body(object{"exp": nil}),
		"not yet valid":             body(object{"nbf": now + 60}),
		"wrong audience":            body(object{"aud": "another-service"}),
		"no audience":               body(object{"aud": nil}),
		"wrong issuer":              body(object{"iss": "https://attacker.example"}),
		"no issuer":                 body(object{"iss": nil}),
		"no type":                   head(object{"typ": nil}),
		"type of any JWT":           head(object{"typ": "JWT"}),
		"300 KB":                    body(object{"padding": strings.Repeat("x", 300<<10)}),
	}
	public := own.Public().(ed25519.PublicKey)
	der, err := x509.MarshalPKIXPublicKey(crypto.PublicKey(public))
	if err != nil {
		t.Fatal(err)
	}
	for name, secret := range map[string][]byte{
		"raw": public, "base64": []byte(encode(public)), "DER": der, "empty": nil,
		"PEM": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}),
	} {
		signed := encode([]byte(text(header.with(object{"alg": "HS256"})))) + "." + parts[1]
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(signed))
		forged["HS256 with the public key, "+name] = signed + "." + encode(mac.Sum(nil))
	}
	return forged
}

func selfSigned(t *testing.T, key ed25519.PrivateKey) []byte {
	t.Helper()
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// Every forged token is refused by every endpoint that takes tokens of its kind, with the one answer for bad tokens.
func TestForgedTokens(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int64
	lure := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fetched.Add(1) }))
	defer lure.Close()
	s := startServer(t)
	user := s.userToken(t, "forged")
	acc := s.create(t, user, nil)
	admin := s.create(t, user, map[string]any{"isAdmin": true})
	keys := s.stealKeys(t)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	adminAccess, _ := s.exchange(t, admin.ClientToken, admin.ServerToken)
	accessKid, userKid := tokenPart(t, access, 0)["kid"].(string), tokenPart(t, user, 0)["kid"].(string)

	geocode := func(token string) call { return call{path: reverse + "?lat=39.15&lon=-75.52", bearer: token} }
	matching := func(token string) call { return call{path: matchPath(dover, ""), bearer: token} }
	manage := func(token string) call { return call{path: accounts, bearer: token} }
	challenge := map[string]string{"WWW-Authenticate": `Bearer error="invalid_token"…`, "Cache-Control": "no-store"}
	platform := func(t *testing.T, c call) {
		refusal{call: c, status: 401, says: badKey, header: challenge}.checkPlatform(t, s)
	}
	routing := func(t *testing.T, c call) {
		refusal{call: c, status: 401, code: "Not Authorized - Invalid Token", header: challenge}.checkRouting(t, s)
	}
	resigned := func(token string, key ed25519.PrivateKey, header, claims object) string {
		return sign(key, asJSON(t, tokenPart(t, token, 0).with(header)), asJSON(t, tokenPart(t, token, 1).with(claims)))
	}

	// What is signed again and not changed passes: it is the changes that are refused.
	s.send(t, geocode(resigned(access, keys[account.KeyAccess], nil, nil))).want(200)
	s.send(t, matching(resigned(access, keys[account.KeyAccess], nil, object{"nbf": time.Now().Unix() - 1}))).want(200)
	s.send(t, manage(resigned(user, keys[account.KeyUser], nil, nil))).want(200)
	s.send(t, manage(adminAccess)).want(200)

	for name, token := range forgeries(t, access, keys[account.KeyAccess], keys[account.KeyUser], userKid, lure.URL) {
		t.Run("access token/"+name, func(t *testing.T) {
			platform(t, geocode(token))
			routing(t, matching(token))
		})
	}
	for name, token := range forgeries(t, adminAccess, keys[account.KeyAccess], keys[account.KeyUser], userKid, lure.URL) {
		t.Run("administrator's access token/"+name, func(t *testing.T) { platform(t, manage(token)) })
	}
	for name, token := range forgeries(t, user, keys[account.KeyUser], keys[account.KeyAccess], accessKid, lure.URL) {
		t.Run("user token/"+name, func(t *testing.T) { platform(t, manage(token)) })
	}
	for name, token := range map[string]string{
		"user token":                   user,
		"user token of an access type": resigned(user, keys[account.KeyUser], object{"typ": "at+jwt"}, nil),
		"user token for access": resigned(user, keys[account.KeyUser], object{"typ": "at+jwt"},
			object{"aud": "caddy-maps"}),
		"client token": acc.ClientToken,
		"server token": acc.ServerToken,
		"access token of an unknown pair": resigned(access, keys[account.KeyAccess], nil,
			object{"sub": admin.ID, "client_id": admin.ID}),
	} {
		t.Run("as access token/"+name, func(t *testing.T) {
			platform(t, geocode(token))
			routing(t, matching(token))
		})
	}
	t.Run("as user token/access token of no administrator", func(t *testing.T) {
		for _, c := range []call{manage(access), {method: "DELETE", path: accounts + "/" + admin.ID, bearer: access},
			{method: "POST", path: accounts, bearer: access, contentType: jsonType,
				body: `{"platform":"WEB","scopes":["TILE"]}`}} {
			refusal{call: c, status: 403, code: "INSUFFICIENT_SCOPE", says: "insufficient scope"}.checkPlatform(t, s)
		}
	})
	t.Run("as user token/access token of a user type", func(t *testing.T) {
		platform(t, manage(resigned(access, keys[account.KeyAccess], object{"typ": "maps-user+jwt"},
			object{"aud": "caddy-maps:accounts"})))
	})
	if n := fetched.Load(); n != 0 {
		t.Errorf("keys were asked for %d times at a URL that a token named", n)
	}
	s.send(t, geocode(access)).want(200)
}

// A token of 10 MB does not get past the head, and one in a body not past the first 16 KiB.
func TestEnormousTokens(t *testing.T) {
	s := sharedServer(t)
	enormous := strings.Repeat("e", 10<<20)
	for _, head := range []string{
		"GET " + reverse + "?lat=1&lon=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + enormous + "\r\n\r\n",
		"GET " + reverse + "?lat=1&lon=1&apiKey=" + enormous + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET " + accounts + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + enormous + "\r\n\r\n",
	} {
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+s.port, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		go func() { _, _ = io.WriteString(conn, head) }()
		line, err := bufio.NewReader(conn).ReadString('\n')
		conn.Close()
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 431") {
			t.Errorf("%.60s…: %q, %v", head, line, err)
		}
	}
	long := enormous[:200<<10] // more, and the server may close the connection before the client has read its answer
	for _, c := range []call{exchangeCall("mpc_"+long, "mps_x"), refreshCall("mpr_" + long)} {
		refusal{call: c, status: 413}.checkPlatform(t, s)
	}
	s.send(t, call{path: "/healthz"}).want(200)
}
