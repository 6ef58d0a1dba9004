package access_test

import (
	"crypto/ed25519"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const restOfSite = `
	@accounts path /api/v1/service-accounts /api/v1/service-accounts/*
	handle @accounts {
		maps_accounts
	}
	handle /guarded {
		maps_auth TILE
		respond "passed"
	}
`

func tokensWith(options string) string {
	return "handle /api/v1/external/* {\nmaps_tokens" + options + "\n}\n" + restOfSite
}

const (
	authPath    = "/api/v1/external/auth"
	refreshPath = "/api/v1/external/refresh"
	tokenPath   = "/api/v1/external/token"
	revokePath  = "/api/v1/external/revoke"
	jwksPath    = "/api/v1/external/jwks.json"

	unauthorized = `{"error":"invalid or missing api key"}`
	challenge    = `Bearer error="invalid_token"`
)

func TestExchange(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{
		Maps: "issuer https://maps.example.com\naudience maps.example.com\naccess_token_ttl 10m", Site: tokensWith(""),
	})
	user := s.UserToken("acme")
	client := s.CreateAccount(user, "TILE DIRECTION ONM", "")
	server := s.CreateAccount(user, "ONM TILE MATRIX", "")
	a := s.Do(http.MethodPost, authPath, "",
		modulestest.JSON("client_token", client.ClientToken, "server_token", server.ServerToken))
	if a.Status != http.StatusOK || a.Header.Get("Cache-Control") != "no-store" ||
		a.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v %s", a.Status, a.Header, a.Body)
	}
	var pair modulestest.Pair
	a.Data(t, &pair)
	if pair.ExpiresIn != 600 || !strings.HasPrefix(pair.RefreshToken, "mpr_") {
		t.Errorf("%+v", pair)
	}

	// an upstream can verify the token with what jwks.json says, and with nothing else
	keys := s.Do(http.MethodGet, jwksPath, "", "")
	if keys.Status != http.StatusOK || keys.Header.Get("Content-Type") != "application/json" ||
		!strings.Contains(keys.Header.Get("Cache-Control"), "max-age") {
		t.Errorf("%d %v", keys.Status, keys.Header)
	}
	var set struct {
		Keys []struct{ Kty, Crv, X, Kid, Alg, Use, D string }
	}
	if err := json.Unmarshal([]byte(keys.Body), &set); err != nil || len(set.Keys) != 1 || set.Keys[0].D != "" {
		t.Fatalf("%v: %s", err, keys.Body)
	}
	x, err := base64.RawURLEncoding.DecodeString(set.Keys[0].X)
	if err != nil {
		t.Fatal(err)
	}
	var claims jwt.MapClaims
	parsed, err := jwt.NewParser(
		jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithIssuer("https://maps.example.com"),
		jwt.WithAudience("maps.example.com"),
	).ParseWithClaims(pair.AccessToken, &claims, func(*jwt.Token) (any, error) { return ed25519.PublicKey(x), nil })
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Header["typ"] != "at+jwt" || parsed.Header["kid"] != set.Keys[0].Kid {
		t.Errorf("header %v", parsed.Header)
	}
	for name, want := range map[string]any{
		"sub": client.ID, "client_id": client.ID, "srv": server.ID, "org": "acme", "scope": "TILE ONM",
	} {
		if claims[name] != want {
			t.Errorf("%s is %v, want %v", name, claims[name], want)
		}
	}
	if claims["jti"] == nil || claims["grant"] == nil {
		t.Errorf("claims %v", claims)
	}
}

func TestRefusals(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: tokensWith("")})
	user, stranger := s.UserToken("acme"), s.UserToken("globex")
	acc := s.CreateAccount(user, "TILE", "")
	foreign := s.CreateAccount(stranger, "TILE", "")
	disjoint := s.CreateAccount(user, "ONM", "")
	suspended := s.CreateAccount(user, "TILE", `"status":"SUSPENDED"`)
	revoked := s.CreateAccount(user, "TILE", "")
	if a := s.Do(http.MethodPatch, modulestest.AccountsPath+"/"+revoked.ID, user,
		`{"status":"REVOKED"}`); a.Status != http.StatusOK {
		t.Fatal(a)
	}
	pair, ended := s.Exchange(acc.ClientToken, acc.ServerToken), s.Exchange(acc.ClientToken, acc.ServerToken)
	s.Do(http.MethodPost, revokePath, "", modulestest.JSON("refresh_token", ended.RefreshToken))
	exchange := func(client, server string) string {
		return modulestest.JSON("client_token", client, "server_token", server)
	}
	hints := map[string]string{ // what the form reveals; nothing of what is in the store
		"swapped server":    "client_token: this is a server token; a client token belongs here",
		"swapped client":    "server_token: this is a client token; a server token belongs here",
		"refresh: mistyped": "refresh_token: the token is truncated or mistyped",
		"refresh: access":   "refresh_token: this is an access token; a refresh token belongs here",
	}
	large := `{"client_token":"` + strings.Repeat("x", 17<<10) + `","server_token":"y"}`

	for _, tc := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		answer                   string
	}{
		{"swapped server", "POST", authPath, exchange(acc.ServerToken, acc.ServerToken), nil, 401, unauthorized},
		{"swapped client", "POST", authPath, exchange(acc.ClientToken, acc.ClientToken), nil, 401, unauthorized},
		{"two organizations", "POST", authPath, exchange(acc.ClientToken, foreign.ServerToken), nil, 401, unauthorized},
		{"suspended", "POST", authPath, exchange(acc.ClientToken, suspended.ServerToken), nil, 401, unauthorized},
		{"revoked", "POST", authPath, exchange(revoked.ClientToken, acc.ServerToken), nil, 401, unauthorized},
		{"no scope in common", "POST", authPath, exchange(acc.ClientToken, disjoint.ServerToken), nil, 403,
			`{"error":"insufficient scope","code":"INSUFFICIENT_SCOPE"}`},
		{"no server token", "POST", authPath, modulestest.JSON("client_token", "x"), nil, 400,
			`{"error":"server_token: missing","code":"FAILED_VALIDATION"}`},
		{"server token is null", "POST", authPath, `{"client_token":"x","server_token":null}`, nil, 400,
			`{"error":"server_token: must be a string","code":"FAILED_VALIDATION"}`},
		{"twice", "POST", authPath, `{"client_token":"x","client_token":"x","server_token":"x"}`, nil, 400,
			`{"error":"client_token: appears more than once","code":"FAILED_VALIDATION"}`},
		{"no body", "POST", authPath, "", nil, 400, `{"error":"body: must be a JSON object","code":"FAILED_VALIDATION"}`},
		{"large", "POST", authPath, large, nil, 413, `{"error":"request body too large"}`},
		{"form", "POST", authPath, "client_token=x",
			[]string{"Content-Type", "", "Content-Type", "application/x-www-form-urlencoded"}, 415,
			`{"error":"Content-Type: application/x-www-form-urlencoded is not accepted; send application/json"}`},
		{"GET", "GET", authPath, "", nil, 405, `{"error":"method not allowed"}`},
		{"OPTIONS", "OPTIONS", refreshPath, "", []string{"Origin", "https://x.example"}, 405,
			`{"error":"method not allowed"}`},
		{"refresh: ended", "POST", refreshPath, modulestest.JSON("refresh_token", ended.RefreshToken), nil, 401, unauthorized},
		{"refresh: access", "POST", refreshPath, modulestest.JSON("refresh_token", pair.AccessToken), nil, 401, unauthorized},
		{"refresh: mistyped", "POST", refreshPath,
			modulestest.JSON("refresh_token", pair.RefreshToken[:len(pair.RefreshToken)-1]), nil, 401, unauthorized},
		{"refresh: missing", "POST", refreshPath, `{}`, nil, 400,
			`{"error":"refresh_token: missing","code":"FAILED_VALIDATION"}`},
		{"revoke: unknown", "POST", revokePath, modulestest.JSON("refresh_token", "mpr_x"), nil, 204, ""},
		{"jwks: POST", "POST", jwksPath, "{}", nil, 405, `{"error":"method not allowed"}`},
		{"unknown path", "GET", "/api/v1/external/nothing", "", nil, 404, `{"error":"not found"}`},
		{"one slash more", "POST", authPath + "/", "{}", nil, 404, `{"error":"not found"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := s.Do(tc.method, tc.path, "", tc.body, tc.header...)
			if a.Status != tc.status || tc.answer != "" && a.Body != tc.answer {
				t.Fatalf("got %d %s, want %d %s", a.Status, a.Body, tc.status, tc.answer)
			}
			if a.Status != http.StatusNoContent && a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("Content-Type %q", a.Header.Get("Content-Type"))
			}
			if a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("Cache-Control %q", a.Header.Get("Cache-Control"))
			}
			for name := range a.Header {
				if strings.HasPrefix(name, "Access-Control") {
					t.Errorf("%s: server tokens do not belong into web pages", name)
				}
			}
			switch a.Status {
			case http.StatusUnauthorized:
				want := challenge
				if hint := hints[tc.name]; hint != "" {
					want += `, error_description="` + hint + `"`
				}
				if got := a.Header.Get("WWW-Authenticate"); got != want {
					t.Errorf("WWW-Authenticate %q, want %q", got, want)
				}
			case http.StatusForbidden:
				if got := a.Header.Get("WWW-Authenticate"); got != `Bearer error="insufficient_scope"` {
					t.Errorf("WWW-Authenticate %q", got)
				}
			case http.StatusMethodNotAllowed:
				want := "POST"
				if tc.path == jwksPath {
					want = "GET, HEAD"
				}
				if got := a.Header.Get("Allow"); got != want {
					t.Errorf("Allow %q", got)
				}
			}
		})
	}
}

func refresh(t *testing.T, s *modulestest.Server, pairs ...string) (modulestest.Response, modulestest.Pair) {
	t.Helper()
	var pair modulestest.Pair
	a := s.Do(http.MethodPost, refreshPath, "", modulestest.JSON(pairs...))
	if a.Status == http.StatusOK {
		a.Data(t, &pair)
	}
	return a, pair
}

func guarded(s *modulestest.Server, token string) int {
	return s.Do(http.MethodGet, "/guarded", token, "").Status
}

func TestRefresh(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: tokensWith("")})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "TILE", "")
	pair := s.Exchange(acc.ClientToken, acc.ServerToken)
	a, next := refresh(t, s, "refresh_token", pair.RefreshToken)
	if a.Status != http.StatusOK || next.RefreshToken != pair.RefreshToken || next.ExpiresIn != 900 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	a = s.Do(http.MethodPost, authPath+"/refresh", "", modulestest.JSON("refresh_token", pair.RefreshToken))
	var same modulestest.Pair
	if a.Data(t, &same); a.Status != http.StatusOK || same.RefreshToken != pair.RefreshToken ||
		guarded(s, same.AccessToken) != http.StatusOK {
		t.Errorf("auth/refresh: %d %s", a.Status, a.Body)
	}
	if got := guarded(s, next.AccessToken); got != http.StatusOK {
		t.Errorf("the new token: %d", got)
	}
	// a scope that the account gains later is not the grant's
	s.Do(http.MethodPatch, modulestest.AccountsPath+"/"+acc.ID, user, `{"scopes":["ONM","TILE"]}`)
	_, next = refresh(t, s, "refresh_token", pair.RefreshToken)
	var claims jwt.MapClaims
	if _, _, err := jwt.NewParser().ParseUnverified(next.AccessToken, &claims); err != nil || claims["scope"] != "TILE" {
		t.Errorf("%v: scope %v", err, claims["scope"])
	}
	// revoking ends the grant and all its access tokens
	if a := s.Do(http.MethodPost, revokePath, "",
		modulestest.JSON("refresh_token", pair.RefreshToken)); a.Status != http.StatusNoContent || a.Body != "" {
		t.Errorf("revoke: %d %s", a.Status, a.Body)
	}
	for _, token := range []string{pair.AccessToken, next.AccessToken} {
		if got := guarded(s, token); got != http.StatusUnauthorized {
			t.Errorf("an access token of the grant that ended: %d", got)
		}
	}
	if a, _ := refresh(t, s, "refresh_token", pair.RefreshToken); a.Status != http.StatusUnauthorized ||
		a.Body != unauthorized {
		t.Errorf("refresh after revoke: %d %s", a.Status, a.Body)
	}
	// a refresh token dies with its account's activity
	pair = s.Exchange(acc.ClientToken, acc.ServerToken)
	s.Do(http.MethodPatch, modulestest.AccountsPath+"/"+acc.ID, user, `{"status":"SUSPENDED"}`)
	if a, _ := refresh(t, s, "refresh_token", pair.RefreshToken); a.Status != http.StatusUnauthorized {
		t.Errorf("refresh of a suspended account: %d", a.Status)
	}
}

func TestRefreshRequiresServerToken(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: tokensWith(" {\nrefresh_requires_server_token\n}")})
	user := s.UserToken("acme")
	acc, other := s.CreateAccount(user, "TILE", ""), s.CreateAccount(user, "TILE", "")
	pair := s.Exchange(acc.ClientToken, acc.ServerToken)
	if a, _ := refresh(t, s, "refresh_token", pair.RefreshToken); a.Status != 400 {
		t.Errorf("without a server token: %d %s", a.Status, a.Body)
	}
	for token, status := range map[string]int{"nonsense": 401, other.ServerToken: 401, acc.ServerToken: 200} {
		if a, _ := refresh(t, s, "refresh_token", pair.RefreshToken, "server_token", token); a.Status != status {
			t.Errorf("got %d %s, want %d", a.Status, a.Body, status)
		}
	}
}

func TestRefreshRotation(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: tokensWith(" {\nrefresh_rotation\n}")})
	acc := s.CreateAccount(s.UserToken("acme"), "TILE", "")
	first := s.Exchange(acc.ClientToken, acc.ServerToken)
	a, second := refresh(t, s, "refresh_token", first.RefreshToken)
	if a.Status != http.StatusOK || second.RefreshToken == "" || second.RefreshToken == first.RefreshToken {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	// A client that lost the response tries again: it gets another successor, and the first one is still good.
	a, retried := refresh(t, s, "refresh_token", first.RefreshToken)
	if a.Status != http.StatusOK || retried.RefreshToken == second.RefreshToken ||
		retried.RefreshToken == first.RefreshToken {
		t.Errorf("a retry: %d %s", a.Status, a.Body)
	}
	if got := guarded(s, second.AccessToken); got != http.StatusOK {
		t.Errorf("the access token of the first try: %d", got)
	}
	// Some seconds later the same is theft: one of the two who hold the token stole it, so the whole grant ends.
	db, err := sql.Open("sqlite3", "file:"+s.Store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE maps_refresh_tokens SET used_at = used_at - 11000000 WHERE used_at > 0"); err != nil {
		t.Fatal(err)
	}
	if a, _ := refresh(t, s, "refresh_token", first.RefreshToken); a.Status != http.StatusUnauthorized ||
		a.Body != unauthorized {
		t.Errorf("a rotated token: %d %s", a.Status, a.Body)
	}
	if a, _ := refresh(t, s, "refresh_token", second.RefreshToken); a.Status != http.StatusUnauthorized {
		t.Errorf("the token of the grant that ended: %d", a.Status)
	}
	if got := guarded(s, second.AccessToken); got != http.StatusUnauthorized {
		t.Errorf("its access token: %d", got)
	}
	deadline := time.Now().Add(10 * time.Second)
	for !strings.Contains(s.Log(), `"name":"maps.token.reused"`) {
		if time.Now().After(deadline) {
			t.Fatal("no event maps.token.reused")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Pages of the named origins may refresh and revoke, and nothing else.
func TestTokensCORS(t *testing.T) {
	const page, foreign = "https://app.example.com", "https://evil.test"
	s := modulestest.Start(t, modulestest.Config{Site: tokensWith(" {\ncors " + page + "\n}")})
	acc := s.CreateAccount(s.UserToken("acme"), "TILE", "")
	pair := s.Exchange(acc.ClientToken, acc.ServerToken)
	refresh := modulestest.JSON("refresh_token", pair.RefreshToken)
	for _, tc := range []struct {
		path, body, origin string
		status             int
		allow              string
	}{
		{refreshPath, refresh, page, 200, page},
		{refreshPath, refresh, foreign, 200, ""},
		{authPath + "/refresh", refresh, page, 200, page},
		{tokenPath, "grant_type=x", page, 400, ""}, // server tokens do not belong into pages
		{refreshPath, "{}", page, 400, page},
		{authPath, modulestest.JSON("client_token", acc.ClientToken, "server_token", acc.ServerToken), page, 200, ""},
		{"/api/v1/external/revoke", refresh, page, 204, page},
		{refreshPath, refresh, page, 401, page},
	} {
		got := s.Do(http.MethodPost, tc.path, "", tc.body, "Origin", tc.origin)
		if allow := got.Header.Get("Access-Control-Allow-Origin"); got.Status != tc.status || allow != tc.allow {
			t.Errorf("%s of %s: %d, Access-Control-Allow-Origin %q, want %d %q", tc.path, tc.origin, got.Status, allow,
				tc.status, tc.allow)
		}
		got = s.Do(http.MethodOptions, tc.path, "", "", "Origin", tc.origin, "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "content-type,x-device-id")
		open := tc.path != authPath && tc.path != tokenPath
		if allow := got.Header.Get("Access-Control-Allow-Origin"); allow != tc.allow || (got.Status == 204) != open ||
			(got.Header.Get("Access-Control-Allow-Headers") == "content-type,x-device-id") != (allow != "") {
			t.Errorf("preflight of %s of %s: %d, Access-Control-Allow-Origin %q, want %q", tc.path, tc.origin, got.Status, allow,
				tc.allow)
		}
	}
}
