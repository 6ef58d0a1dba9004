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
			api_key_query apiKey accessToken
		}
		respond "passed"
	}
	handle /routing {
		maps_auth DIRECTION TILE {
			api_key_query apiKey accessToken
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
		reason  string // in the log; what follows a colon is in the response too
	}{
		{"bearer", []string{"Bearer " + good.AccessToken}, "", passed, ""},
		{"query", nil, "?apiKey=" + good.AccessToken, passed, ""},
		{"another parameter", nil, "?accessToken=" + good.AccessToken + "&apiKey=", passed, ""},
		{"two parameters", nil, "?accessToken=" + good.AccessToken + "&apiKey=" + good.AccessToken, invalidToken,
			"two credentials"},
		{"query, encoded", nil, "?a=1&%61piKey=" + strings.ReplaceAll(good.AccessToken, ".", "%2e"), passed, ""},
		{"bearer and empty query", []string{"Bearer " + good.AccessToken}, "?apiKey=", passed, ""},
		{"nothing", nil, "", noToken, "no token"},
		{"empty query", nil, "?apiKey=", noToken, "no token"},
		{"another scheme", []string{"Basic dXNlcjpwYXNz"}, "", noToken, "no token"},
		{"garbage", []string{"Bearer garbage"}, "", invalidToken, "malformed: this is not a token; an access token belongs here"},
		{"tampered", []string{"Bearer " + tampered}, "", invalidToken, "bad signature"},
		{"very long", []string{"Bearer " + strings.Repeat("a", 5000)}, "", invalidToken, "longer than 4 KiB"},
		{"client token", []string{"Bearer " + acc.ClientToken}, "", invalidToken,
			"malformed: this is a client token; an access token belongs here"},
		{"server token in the query", nil, "?apiKey=" + acc.ServerToken, invalidToken,
			"malformed: this is a server token; an access token belongs here"},
		{"truncated", []string{"Bearer " + good.AccessToken[:99]}, "", invalidToken,
			"malformed: the token is truncated or mistyped"},
		{"refresh token", []string{"Bearer " + good.RefreshToken}, "", invalidToken,
			"malformed: this is a refresh token; an access token belongs here"},
		{"user token", []string{"Bearer " + user}, "", invalidToken,
			"wrong type of token: this is a user token; an access token belongs here"},
		{"two credentials", []string{"Bearer " + good.AccessToken}, "?apiKey=" + good.AccessToken, invalidToken, "two credentials"},
		{"two headers", []string{"Bearer " + good.AccessToken, "Bearer " + good.AccessToken}, "", invalidToken, "repeated credential"},
		{"undecodable parameter", nil, "?apiKey=%zz", invalidToken, "malformed credential"},
		{"lacks a scope", []string{"Bearer " + lacking}, "", insufficientScope,
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
				if _, hint, found := strings.Cut(tc.reason, ": "); found {
					want.challenge += `, error_description="` + hint + `"`
				} else if tc.want == invalidToken && tc.name != "tampered" {
					want.challenge += `, error_description="` + tc.reason + `"` // of the request's form
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
	for range 1000 {
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
	for range 1000 {
		if strings.Contains(s.Log()[after:], text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the log has no %s", text)
}

// A change of an account or the end of a grant holds from the next request on, also for tokens in the cache.
func TestStatusBitesOnTheNextRequest(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: checkSite})
	user := s.UserToken("acme")
	client := s.CreateAccount(user, "TILE DIRECTION", "")
	server := s.CreateAccount(user, "TILE DIRECTION", "")
	var pair modulestest.Pair
	change := func(acc modulestest.Account, body string) func() {
		return func() { s.Do(http.MethodPatch, modulestest.AccountsPath+"/"+acc.ID, user, body) }
	}
	exchange := func() { pair = s.Exchange(client.ClientToken, server.ServerToken) }
	type step struct {
		name   string
		change func()
		want   int
	}
	var steps []step
	for _, acc := range []modulestest.Account{client, server} {
		steps = append(steps, step{"new", exchange, 200}, step{"cached", func() {}, 200},
			step{"a scope less", change(acc, `{"scopes":["TILE"]}`), 403},
			step{"the scope again", change(acc, `{"scopes":["TILE","DIRECTION"]}`), 200},
			step{"suspended", change(acc, `{"status":"SUSPENDED"}`), 401},
			step{"active again, with a token from before", change(acc, `{"status":"ACTIVE"}`), 401})
	}
	steps = append(steps, step{"new", exchange, 200},
		step{"the grant revoked", func() {
			s.Do(http.MethodPost, "/api/v1/external/revoke", "", modulestest.JSON("refresh_token", pair.RefreshToken))
		}, 401},
		step{"new", exchange, 200},
		step{"an account deleted", func() { s.Do(http.MethodDelete, modulestest.AccountsPath+"/"+server.ID, user, "") }, 401})
	for i, step := range steps {
		step.change()
		if a := s.Do(http.MethodGet, "/platform", pair.AccessToken, ""); a.Status != step.want {
			t.Errorf("step %d, %s: %d %s, want %d", i, step.name, a.Status, a.Body, step.want)
		}
	}
}

func TestExpired(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: "access_token_ttl 1s", Site: checkSite})
	_, token := s.Token("acme", "TILE DIRECTION")
	for began := time.Now(); s.Do(http.MethodGet, "/platform", token, "").Status != http.StatusUnauthorized; {
		if time.Since(began) > 10*time.Second {
			t.Fatal("a token of one second is still valid")
		}
		time.Sleep(50 * time.Millisecond)
	}
	waitLog(t, s, 0, `"reason":"expired"`)
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
