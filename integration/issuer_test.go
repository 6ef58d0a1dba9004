package integration

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// issuer is a small identity provider: its key set is served at URL.
type issuer struct {
	*httptest.Server
	t   *testing.T
	key *rsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	set := fmt.Sprintf(`{"keys":[{"kid":"rsa","alg":"RS256","use":"sig","kty":"RSA","n":%q,"e":%q}]}`,
		encode(key.N.Bytes()), encode(big.NewInt(int64(key.E)).Bytes()))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, set) }))
	t.Cleanup(server.Close)
	return &issuer{server, t, key}
}

// token signs an identity token of a user with a role.
func (i *issuer) token(audience, organization, role string) string {
	i.t.Helper()
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.MapClaims{"iss": "https://id.example.com", "aud": audience,
		"sub": "admin", "org": organization, "role": role, "iat": time.Now().Unix(),
		"exp": time.Now().Add(time.Hour).Unix()})
	token.Header["kid"] = "rsa"
	text, err := token.SignedString(i.key)
	if err != nil {
		i.t.Fatal(err)
	}
	return secret(text)
}
