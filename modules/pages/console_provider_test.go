package pages_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"
)

// provider is an OpenID Connect provider that knows the console as a public client, and everybody who asks as ann.
type provider struct {
	*mockoidc.MockOIDC
	t testing.TB

	mu        sync.Mutex
	authorize url.Values // of the last request to the authorization endpoint
	exchanged int        // requests to the token endpoint
}

func startProvider(t testing.TB) *provider {
	t.Helper()
	m, err := mockoidc.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{MockOIDC: m, t: t}
	if err := m.AddMiddleware(p.public); err != nil {
		t.Fatal(err)
	}
	if err := m.Start(listen(t), nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Server.Close() })
	return p
}

// public makes mockoidc, which only has confidential clients, accept one without a secret as providers do: with PKCE,
// at the address that asked for the code, from its own origin.
func (p *provider) public(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if err := r.ParseForm(); err != nil {
			p.t.Error(err)
		}
		switch r.URL.Path {
		case mockoidc.AuthorizationEndpoint:
			p.authorize = maps.Clone(r.Form)
			if r.Form.Get("code_challenge_method") != "S256" || len(r.Form.Get("code_challenge")) != 43 {
				http.Error(w, "PKCE is required", http.StatusBadRequest)
				return
			}
		case mockoidc.TokenEndpoint:
			p.exchanged++
			if r.Form.Has("client_secret") || r.Form.Get("redirect_uri") != p.authorize.Get("redirect_uri") {
				http.Error(w, "not the public client that asked", http.StatusUnauthorized)
				return
			}
			r.Form.Set("client_secret", p.ClientSecret)
			redirect, _ := url.Parse(p.authorize.Get("redirect_uri"))
			w.Header().Set("Access-Control-Allow-Origin", redirect.Scheme+"://"+redirect.Host)
		}
		next.ServeHTTP(w, r)
	})
}

// origin is where the provider's endpoints are.
func (p *provider) origin() string { return "http://" + p.Addr()[strings.LastIndex(p.Addr(), "/")+1:] }

// userTokens is the configuration by which its users sign in.
func (p *provider) userTokens() string {
	return `user_tokens {
		issuer ` + p.Issuer() + `
		audience ` + p.ClientID + `
		jwks_url ` + p.JWKSEndpoint() + `
		organization_claim tenant
		require_claim groups maps-admin
		login {
			client_id ` + p.ClientID + `
			authorize_url ` + p.AuthorizationEndpoint() + `
			token_url ` + p.TokenEndpoint() + `
			scope openid email groups
		}
	}`
}

// ann is the user whom the provider knows next.
type ann struct {
	mockoidc.MockUser
	change func(claims jwt.MapClaims)
}

func (p *provider) queue(change func(claims jwt.MapClaims)) {
	p.QueueUser(&ann{MockUser: mockoidc.MockUser{Subject: "ann"}, change: change})
}

func (a *ann) Claims(_ []string, base *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	claims := jwt.MapClaims{
		"iss": base.Issuer, "aud": slices.Clone(base.Audience), "sub": base.Subject, "exp": base.ExpiresAt.Unix(),
		"iat": base.IssuedAt.Unix(), "nonce": base.Nonce,
		"email": "ann@example.com", "tenant": "acme", "groups": []string{"maps-admin"},
	}
	if a.change != nil {
		a.change(claims)
	}
	return claims, nil
}
