package access_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const verifySite = `
	handle /verify/platform {
		maps_verify {
			api_key_query apiKey
		}
	}
	handle /verify/routing {
		maps_verify {
			api_key_query apiKey
			error_style routing
		}
	}
	handle /verify/header-only {
		maps_verify
	}
` + checkSite

const trusting = "servers {\ntrusted_proxies static 127.0.0.1\n}"

// A refusal is that of maps_auth, and who may pass is named.
func TestVerify(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Global: trusting, Site: verifySite})
	acc, good := s.Token("acme", "TILE DIRECTION ONM")
	_, lacking := s.Token("acme", "TILE")
	for _, tc := range []struct {
		name   string
		header []string
		want   string
	}{
		{"bearer", []string{"Authorization", "Bearer " + good}, passed},
		{"nothing", nil, noToken},
		{"garbage", []string{"Authorization", "Bearer garbage"}, invalidToken},
		{"lacks a scope", []string{"Authorization", "Bearer " + lacking}, insufficientScope},
		{"original URL of Caddy and Traefik", []string{"X-Forwarded-Uri", "/a?b&%61piKey=" + good + "&c"}, passed},
		{"original URI of nginx", []string{"X-Original-URI", "/a?apiKey=" + good}, passed},
		{"original URL of nginx", []string{"X-Original-URL", "https://maps.example.com/a?apiKey=" + good, "X-Forwarded-Uri",
			"/a?b"}, passed},
		{"original URL without a query", []string{"X-Forwarded-Uri", "/apiKey=" + good}, noToken},
		{"in two of them", []string{"X-Forwarded-Uri", "/?apiKey=" + good, "X-Original-URI", "/?apiKey=" + good},
			invalidToken},
		{"in two lines", []string{"X-Forwarded-Uri", "/?apiKey=" + good, "X-Forwarded-Uri", "/?apiKey=" + good},
			invalidToken},
		{"two credentials", []string{"X-Forwarded-Uri", "/?apiKey=" + good, "Authorization", "Bearer " + good},
			invalidToken},
	} {
		for style, family := range answers {
			for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "OPTIONS"} {
				got := s.Do(method, "/verify"+style+"?scope=DIRECTION&scope=TILE", "", "", tc.header...)
				want := family[tc.want]
				if tc.want == passed {
					want.status, want.body = 204, ""
				} else if method == "HEAD" {
					want.body = ""
				}
				challenge, _, _ := strings.Cut(got.Header.Get("WWW-Authenticate"), ", error_description=")
				if got.Status != want.status || got.Body != want.body || challenge != want.challenge || got.Header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s: %s %s: %d %v %s, want %+v", tc.name, method, style, got.Status, got.Header, got.Body, want)
				}
				who := strings.Join([]string{got.Header.Get("X-Maps-Account"), got.Header.Get("X-Maps-Organization"),
					got.Header.Get("X-Maps-Scopes")}, ",")
				if tc.want == passed && who != acc.ID+",acme,TILE ONM DIRECTION" || tc.want != passed && who != ",," {
					t.Errorf("%s: %s %s: it is %s", tc.name, method, style, who)
				}
			}
		}
	}
	if log := s.Log(); strings.Contains(log, good) || !strings.Contains(log, "apiKey=REDACTED") {
		t.Error("the log has a token, or no header with one")
	}
	for query, says := range map[string]string{
		"scope=DIRECTIONS": `scope: unknown scope \"DIRECTIONS\": did you mean DIRECTION?`,
		"scope=":           `scope: unknown scope \"\"`, "scope": `scope: unknown scope \"\"`,
		"scope=TILE&scope=%54ILE": `scope: unknown scope \"%54ILE\"`, "scope=TILE,DIRECTION": "unknown scope",
		"scopes=TILE": `\"scopes\": unknown parameter`, "scope=TILE&": "unknown parameter", "scope=TILE;x": "unknown scope",
		"scope=TILE&apiKey=" + good: `\"apiKey\": unknown parameter`,
	} {
		got := s.Do("GET", "/verify/platform?"+query, good, "")
		if got.Status != 400 || !strings.Contains(got.Body, says) || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %s", query, got.Status, got.Header, got.Body)
		}
	}
	for path, want := range map[string]int{"/verify/platform": 204, "/verify/platform?": 204, "/verify/header-only": 401} {
		if got := s.Do("GET", path, "", "", "X-Forwarded-Uri", "/?apiKey="+good); got.Status != want {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
}

// What a proxy says about a request counts if the proxy is trusted. Requests count as with maps_auth.
func TestVerifyTrustsProxies(t *testing.T) {
	const own = "scope ORDERS orders"
	s := modulestest.Start(t, modulestest.Config{Maps: own, Site: verifySite})
	user := s.UserToken("acme")
	token := func(more string) (modulestest.Account, string) {
		acc := s.CreateAccount(user, "ORDERS TILE", more)
		return acc, s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	}
	const verify, there = "/verify/platform?scope=ORDERS", "203.0.113.9"
	acc, plain := token(`"quotas":[{"scope":"ORDERS","unit":"requests","window":"day","limit":2}]`)
	_, near := token(`"restrictions":{"networks":["203.0.113.0/24"]}`)
	_, page := token(`"restrictions":{"origins":["https://app.example.com"]}`)
	ask := func(token, uri string, want int, header ...string) modulestest.Response {
		t.Helper()
		got := s.Do(http.MethodGet, verify, token, "", append(header, "X-Forwarded-Uri", uri)...)
		if got.Status != want {
			t.Errorf("%d %s, want %d", got.Status, got.Body, want)
		}
		return got
	}
	ask("", "/?apiKey="+plain, 401)
	ask(near, "/", 403, "X-Forwarded-For", there)
	if err := s.Load(modulestest.Config{Maps: own, Global: trusting, Site: verifySite}); err != nil {
		t.Fatal(err)
	}
	ask("", "/?apiKey="+plain, 204)
	ask(near, "/", 204, "X-Forwarded-For", there)
	ask(near, "/", 403, "X-Forwarded-For", "198.51.100.1")
	ask(page, "/", 204, "Origin", "https://app.example.com")
	ask(page, "/", 403)
	ask(plain, "/", 204)
	if over := ask(plain, "/", 429); over.Header.Get("Retry-After") == "" || over.Header.Get("RateLimit") == "" ||
		!strings.Contains(over.Body, "QUOTA_EXCEEDED") {
		t.Errorf("%v %s", over.Header, over.Body)
	}
	if got := s.Do(http.MethodGet, "/verify/platform", plain, ""); got.Status != 204 {
		t.Errorf("any scope: %d %s", got.Status, got.Body)
	}
	want := map[string]account.Usage{"ORDERS": {Requests: 2, Refused: 1, Units: 2}, "*": {Requests: 1, Units: 1}}
	if diff := cmp.Diff(want, s.Usage(user, acc.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.Do(http.MethodPatch, modulestest.AccountsPath+"/"+acc.ID, user, `{"status":"SUSPENDED"}`)
	ask(plain, "/", 401)
}

func TestVerifyCaddyfile(t *testing.T) {
	for directive, want := range map[string]string{
		"maps_verify": `{"handler":"maps_verify"}`,
		"maps_verify {\napi_key_query a b\nerror_style routing\nlimit 5 1s\n}": `{"api_key_query":["a","b"],` +
			`"error_style":"routing","handler":"maps_verify","limit":{"events":5,"name":"account","window":1000000000}}`,
		"maps_verify /x TILE":               "error: unexpected argument",
		"maps_verify {\napi_key_query &\n}": "error: api_key_query",
		"maps_verify {\nerror_style x\n}":   "error: error_style",
		"maps_verify {\nforward_token\n}":   "error: unknown option of maps_verify: forward_token",
		"maps_verify {\nlimit 0 1s\n}":      "error: limit",
	} {
		adapted, err := modulestest.Adapt(":1 {\n" + directive + "\n}\n")
		if says, bad := strings.CutPrefix(want, "error: "); bad {
			if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "Caddyfile:") {
				t.Errorf("%q: %v, want %q with file and line", directive, err, says)
			}
		} else if err != nil || !strings.Contains(string(adapted), want) {
			t.Errorf("%q: %s, %v", directive, adapted, err)
		}
	}
}
