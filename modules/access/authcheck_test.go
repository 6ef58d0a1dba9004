package access_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const checkSite = `
	handle /platform {
		maps_auth DIRECTION TILE {
			api_key_query apiKey
		}
		respond "passed"
	}
	handle /routing {
		maps_auth DIRECTION TILE {
			api_key_query apiKey
			error_style routing
		}
		respond "passed"
	}
	handle /header-only {
		maps_auth DIRECTION
		respond "passed"
	}
` + accountsSite

const (
	noToken           = "no token"
	invalidToken      = "invalid token"
	insufficientScope = "insufficient scope"
	passed            = "passed"
)

// answers are the two families of bodies.
var answers = map[string]map[string]struct {
	status    int
	body      string
	challenge string
}{
	"/platform": {
		passed:       {200, "passed", ""},
		noToken:      {401, `{"error":"invalid or missing api key"}`, `Bearer`},
		invalidToken: {401, `{"error":"invalid or missing api key"}`, `Bearer error="invalid_token"`},
		insufficientScope: {403, `{"error":"insufficient scope","code":"INSUFFICIENT_SCOPE"}`,
			`Bearer error="insufficient_scope", scope="TILE DIRECTION"`},
	},
	"/routing": {
		passed: {200, "passed", ""},
		noToken: {401, `{"error":{"code":"Not Authorized - No Token","message":"no token was sent","status":401}}`,
			`Bearer`},
		invalidToken: {401, `{"error":{"code":"Not Authorized - Invalid Token","message":"the token is invalid or has expired","status":401}}`,
			`Bearer error="invalid_token"`},
		insufficientScope: {403, `{"error":{"code":"InsufficientScope","message":"insufficient scope","status":403}}`,
			`Bearer error="insufficient_scope", scope="TILE DIRECTION"`},
	},
}

func TestCheck(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: checkSite})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "TILE DIRECTION ONM", "")
	good := s.Exchange(acc.ClientToken, acc.ServerToken)
	half := s.CreateAccount(user, "TILE", "")
	lacking := s.Exchange(half.ClientToken, half.ServerToken).AccessToken
	tampered := good.AccessToken[:len(good.AccessToken)-4] + "AAAA"

	for _, tc := range []struct {
		name    string
		headers []string
		query   string
		want    string
		reason  string
	}{
		{"bearer", []string{"Bearer " + good.AccessToken}, "", passed, ""},
		{"scheme in lower case", []string{"bearer " + good.AccessToken}, "", passed, ""},
		{"query", nil, "?apiKey=" + good.AccessToken, passed, ""},
		{"query, encoded", nil, "?a=1&%61piKey=" + strings.ReplaceAll(good.AccessToken, ".", "%2e"), passed, ""},
		{"bearer and empty query", []string{"Bearer " + good.AccessToken}, "?apiKey=", passed, ""},
		{"nothing", nil, "", noToken, "no token"},
		{"bare scheme", []string{"Bearer"}, "", noToken, "no token"},
		{"empty query", nil, "?apiKey=", noToken, "no token"},
		{"another scheme", []string{"Basic dXNlcjpwYXNz"}, "", noToken, "no token"},
		{"query by another name", nil, "?apikey=" + good.AccessToken, noToken, "no token"},
		{"garbage", []string{"Bearer garbage"}, "", invalidToken, "malformed"},
		{"tampered", []string{"Bearer " + tampered}, "", invalidToken, "bad signature"},
		{"very long", []string{"Bearer " + strings.Repeat("a", 5000)}, "", invalidToken, "longer than 4 KiB"},
		{"client token", []string{"Bearer " + acc.ClientToken}, "", invalidToken, "malformed"},
		{"server token", []string{"Bearer " + acc.ServerToken}, "", invalidToken, "malformed"},
		{"refresh token", []string{"Bearer " + good.RefreshToken}, "", invalidToken, "malformed"},
		{"user token", []string{"Bearer " + user}, "", invalidToken, "wrong type of token"},
		{"two credentials", []string{"Bearer " + good.AccessToken}, "?apiKey=" + good.AccessToken, invalidToken, "two credentials"},
		{"two headers", []string{"Bearer " + good.AccessToken, "Bearer " + good.AccessToken}, "", invalidToken, "repeated credential"},
		{"two parameters", nil, "?apiKey=" + good.AccessToken + "&apiKey=" + good.AccessToken, invalidToken, "repeated credential"},
		{"undecodable parameter", nil, "?apiKey=%zz", invalidToken, "malformed credential"},
		{"lacks a scope", []string{"Bearer " + lacking}, "", insufficientScope,
			`needs the scopes "TILE DIRECTION", has "TILE"`},
		{"lacks a scope, query", nil, "?apiKey=" + lacking, insufficientScope,
			`needs the scopes "TILE DIRECTION", has "TILE"`},
	} {
		for path, family := range answers {
			t.Run(tc.name+path, func(t *testing.T) {
				var headers []string
				for _, value := range tc.headers {
					headers = append(headers, "Authorization", value)
				}
				before := len(s.Log())
				got := s.Do(http.MethodGet, path+tc.query, "", "", headers...)
				want := family[tc.want]
				if got.Status != want.status || got.Body != want.body {
					t.Fatalf("got %d %s, want %d %s", got.Status, got.Body, want.status, want.body)
				}
				if challenge := got.Header.Get("WWW-Authenticate"); challenge != want.challenge {
					t.Errorf("WWW-Authenticate %q, want %q", challenge, want.challenge)
				}
				if vary := got.Header.Get("Vary"); vary != "Authorization" {
					t.Errorf("Vary %q", vary)
				}
				if policy := got.Header.Get("Referrer-Policy"); policy != "no-referrer" {
					t.Errorf("Referrer-Policy %q", policy)
				}
				cacheControl := "no-store"
				if tc.want == passed {
					cacheControl = "private"
				} else if ct := got.Header.Get("Content-Type"); ct != "application/json" {
					t.Errorf("Content-Type %q", ct)
				}
				if cc := got.Header.Get("Cache-Control"); cc != cacheControl {
					t.Errorf("Cache-Control %q, want %q", cc, cacheControl)
				}
				if reason := reasonOf(t, s, before, path); reason != tc.reason {
					t.Errorf("the reason is %q, want %q", reason, tc.reason)
				}
			})
		}
	}

	t.Run("query where it is not configured", func(t *testing.T) {
		got := s.Do(http.MethodGet, "/header-only?apiKey="+good.AccessToken, "", "")
		if got.Status != http.StatusUnauthorized || got.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("got %d %v", got.Status, got.Header)
		}
		if policy := got.Header.Get("Referrer-Policy"); policy != "" {
			t.Errorf("Referrer-Policy %q", policy)
		}
	})
}

// reasonOf waits for the access log's line of the first request for a path after an offset, and returns why it says
// that the request was refused, or "" where it says nothing of the kind.
func reasonOf(t *testing.T, s *modulestest.Server, after int, path string) string {
	t.Helper()
	for range 100 {
		for line := range strings.Lines(s.Log()[after:]) {
			var entry struct {
				Logger, Reason string
				Request        struct{ URI string }
			}
			if json.Unmarshal([]byte(line), &entry) == nil && strings.HasPrefix(entry.Logger, "http.log.access") &&
				strings.HasPrefix(entry.Request.URI, path) {
				return entry.Reason
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the access log has no line of %s", path)
	return ""
}

// waitLog waits for a text in what was logged after an offset.
func waitLog(t *testing.T, s *modulestest.Server, after int, text string) {
	t.Helper()
	for range 100 {
		if strings.Contains(s.Log()[after:], text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the log has no %s", text)
}

func TestStatusBitesOnTheNextRequest(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: checkSite})
	user := s.UserToken("acme")
	client := s.CreateAccount(user, "TILE DIRECTION", "")
	server := s.CreateAccount(user, "TILE DIRECTION", "")
	ask := func(token string) int {
		t.Helper()
		return s.Do(http.MethodGet, "/platform", token, "").Status
	}
	patch := func(acc modulestest.Account, body string) {
		t.Helper()
		if a := s.Do(http.MethodPatch, modulestest.AccountsPath+"/"+acc.ID, user, body); a.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", body, a.Status, a.Body)
		}
	}
	for _, acc := range []modulestest.Account{client, server} {
		token := s.Exchange(client.ClientToken, server.ServerToken).AccessToken
		for range 3 { // the later ones from the cache
			if got := ask(token); got != http.StatusOK {
				t.Fatalf("before: %d", got)
			}
		}
		patch(acc, `{"scopes":["TILE"]}`)
		if got := ask(token); got != http.StatusForbidden {
			t.Errorf("after a scope was taken away: %d", got)
		}
		patch(acc, `{"scopes":["TILE","DIRECTION"]}`)
		if got := ask(token); got != http.StatusOK {
			t.Errorf("after it was given back: %d", got)
		}
		patch(acc, `{"status":"SUSPENDED"}`)
		if got := ask(token); got != http.StatusUnauthorized {
			t.Errorf("suspended: %d", got)
		}
		patch(acc, `{"status":"ACTIVE"}`)
		if got := ask(token); got != http.StatusUnauthorized {
			t.Errorf("a token of before came back to life: %d", got)
		}
	}
	pair := s.Exchange(client.ClientToken, server.ServerToken)
	if got := ask(pair.AccessToken); got != http.StatusOK {
		t.Fatalf("new token: %d", got)
	}
	s.Do(http.MethodPost, "/api/v1/external/revoke", "", modulestest.JSON("refresh_token", pair.RefreshToken))
	if got := ask(pair.AccessToken); got != http.StatusUnauthorized {
		t.Errorf("after its grant was ended: %d", got)
	}
	token := s.Exchange(client.ClientToken, server.ServerToken).AccessToken
	if got := ask(token); got != http.StatusOK {
		t.Fatalf("new token: %d", got)
	}
	s.Do(http.MethodDelete, modulestest.AccountsPath+"/"+server.ID, user, "")
	if got := ask(token); got != http.StatusUnauthorized {
		t.Errorf("after an account was deleted: %d", got)
	}
}

func TestExpired(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: "access_token_ttl 1s", Site: checkSite})
	_, token := s.Token("acme", "TILE DIRECTION")
	if got := s.Do(http.MethodGet, "/platform", token, ""); got.Status != http.StatusOK {
		t.Fatalf("new: %d %s", got.Status, got.Body)
	}
	time.Sleep(1100 * time.Millisecond)
	before := len(s.Log())
	if got := s.Do(http.MethodGet, "/platform", token, ""); got.Status != http.StatusUnauthorized {
		t.Errorf("expired: %d %s", got.Status, got.Body)
	}
	waitLog(t, s, before, `"reason":"expired"`)
}

func TestPlaceholders(t *testing.T) {
	const identity = `"{http.auth.user.id} {http.auth.user.organization} [{http.auth.user.scopes}] {http.auth.user.admin}"`
	s := modulestest.Start(t, modulestest.Config{Site: `
	log_append candidate {http.auth.candidate.id}
	log_append candidate_organization {http.auth.candidate.organization}
	handle /one {
		maps_auth DIRECTION
		respond ` + identity + `
	}
	handle /two {
		maps_auth DIRECTION {
			forward_token
		}
		route {
			maps_auth TILE
			respond ` + identity + `
		}
	}
	handle /three {
		maps_auth ONM
		respond "no"
	}
` + accountsSite})
	acc := s.CreateAccount(s.UserToken("acme"), "DIRECTION TILE", `"isAdmin":true`)
	token := s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	for _, path := range []string{"/one", "/two"} {
		got := s.Do(http.MethodGet, path, token, "")
		if want := acc.ID + " acme [TILE DIRECTION] true"; got.Body != want {
			t.Errorf("%s: got %d %q, want %q", path, got.Status, got.Body, want)
		}
	}
	waitLog(t, s, 0, `"user_id":"`+acc.ID+`"`)
	before := len(s.Log())
	if got := s.Do(http.MethodGet, "/three", token, ""); got.Status != http.StatusForbidden {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	waitLog(t, s, before, `"candidate":"`+acc.ID+`"`)
	waitLog(t, s, before, `"candidate_organization":"acme"`)
}

func TestMetrics(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: checkSite})
	_, token := s.Token("acme", "TILE DIRECTION")
	_, lacking := s.Token("acme", "TILE")
	for range 4 {
		s.Do(http.MethodGet, "/platform", token, "")
	}
	s.Do(http.MethodGet, "/platform", lacking, "")
	s.Do(http.MethodGet, "/platform", "", "")
	s.Do(http.MethodGet, "/platform", "nonsense", "")
	s.Do(http.MethodPost, "/api/v1/external/auth", "", modulestest.JSON("client_token", "a", "server_token", "b"))
	check := func() {
		t.Helper()
		metrics := s.AdminDo(http.MethodGet, "/metrics", "").Body
		for _, line := range []string{
			`caddy_maps_auth_total{result="ok"} 4`,
			`caddy_maps_auth_total{result="insufficient_scope"} 1`,
			`caddy_maps_auth_total{result="no_token"} 1`,
			`caddy_maps_auth_total{result="invalid"} 1`,
			`caddy_maps_exchanges_total{result="ok"} 2`,
			`caddy_maps_exchanges_total{result="invalid"} 1`,
			`caddy_maps_store_staleness_seconds 0`,
			`caddy_maps_lookup_seconds_count 0`,
			`caddy_maps_match_seconds_count 0`,
		} {
			if !strings.Contains(metrics, line+"\n") {
				t.Errorf("the metrics lack %s", line)
			}
		}
		if !strings.Contains(metrics, "\ncaddy_maps_cache_hits_total ") {
			t.Error("the metrics lack the cache hits")
		}
	}
	check()
	if err := s.Load(modulestest.Config{Site: checkSite + "\nheader X-Changed yes"}); err != nil {
		t.Fatal(err)
	}
	check() // counting goes on across a reload
}
