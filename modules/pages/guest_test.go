package pages_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const tokenPath = "/playground/token"

// playgroundSite is the page, with options, and something behind each scope.
func playgroundSite(options string) string {
	return `
	handle /api/v1/external/* {
		maps_tokens
	}
	handle /api/v1/service-accounts* {
		maps_accounts
	}
	handle /tile {
		maps_auth TILE
		respond in
	}
	handle /matrix {
		maps_auth MATRIX
		respond in
	}
	handle {
		maps_playground village {
			` + options + `
		}
	}`
}

// startPlayground runs a server with the page for the anonymous visitors of an account with scopes.
func startPlayground(t *testing.T, scopes, options string) (*modulestest.Server, modulestest.Config, modulestest.Account) {
	t.Helper()
	region := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	cfg := modulestest.Config{Maps: "region village " + region, Site: playgroundSite("")}
	s := modulestest.Start(t, cfg)
	acc := s.CreateAccount(s.UserToken("org"), scopes, "")
	cfg.Site = playgroundSite("guest " + acc.ID + "\n" + options)
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	return s, cfg, acc
}

// guest requests a token as the page does, with other headers if they are given.
func guest(s *modulestest.Server, headers ...string) modulestest.Response {
	all := map[string]string{"Host": strings.TrimPrefix(s.URL, "http://"), "Origin": s.URL, "Content-Length": "0"}
	for i := 0; i < len(headers); i += 2 {
		all[headers[i]] = headers[i+1]
	}
	request := "POST " + tokenPath + " HTTP/1.1\r\n"
	for name, value := range all {
		request += name + ": " + value + "\r\n"
	}
	return s.Raw(request + "\r\n")
}

// An anonymous visitor has what the page needs of the account's scopes, and loses it when the account does.
func TestGuest(t *testing.T) {
	s, cfg, acc := startPlayground(t, "TILE MATRIX", "")
	a := guest(s)
	var data struct {
		AccessToken string `json:"accessToken"`
		ExpiresIn   int    `json:"expiresIn"`
	}
	if a.Data(t, &data); a.Status != http.StatusOK || data.ExpiresIn != 15*60 || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s", a.Status, a.Header, a.Body)
	}
	for path, want := range map[string]int{"/tile": 200, "/matrix": 403, modulestest.AccountsPath: 403} {
		if a := s.Do(http.MethodGet, path, data.AccessToken, ""); a.Status != want {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	a = s.Do(http.MethodPatch, modulestest.AccountsPath+"/"+acc.ID, s.UserToken("org"), `{"status":"SUSPENDED"}`)
	if a.Status != 200 {
		t.Fatalf("suspending: %d %s", a.Status, a.Body)
	}
	if a := s.Do(http.MethodGet, "/tile", data.AccessToken, ""); a.Status != 401 {
		t.Errorf("with the token of a suspended account: %d", a.Status)
	}
	if a := guest(s); a.Status != 403 || !strings.Contains(a.Body, "paste a token") {
		t.Errorf("a visitor of a suspended account: %d %s", a.Status, a.Body)
	}
	if log := s.Log(); strings.Contains(log, data.AccessToken) || !strings.Contains(log, acc.ID) ||
		!strings.Contains(log, "TILE, DIRECTION or REVERSEGEOCODING") {
		t.Error("the log has the token, or no word of the account")
	}
	cfg.Site = playgroundSite("")
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	if a := guest(s); a.Status != 404 {
		t.Errorf("without a guest account: %d %s", a.Status, a.Body)
	}
}

// Visitors get tokens on this machine, from the page itself, and from elsewhere only where the configuration says so.
// Of what a trusted proxy says, the page's own origin is known.
func TestGuestRefused(t *testing.T) {
	s, cfg, _ := startPlayground(t, "TILE", "")
	const elsewhere = "https://app.example.com"
	type request struct {
		name                   string
		headers                []string
		local, public, trusted int
	}
	requests := []request{
		{"the page", nil, 200, 200, 200},
		{"a browser", []string{"Sec-Fetch-Site", "same-origin"}, 200, 200, 200},
		{"another page", []string{"Origin", elsewhere}, 403, 403, 403},
		{"another port", []string{"Origin", "http://127.0.0.1:1"}, 403, 403, 403},
		{"two pages", []string{"Origin", s.URL + "\r\nOrigin: " + elsewhere}, 403, 403, 403},
		{"a page without an origin", []string{"Origin", "null"}, 403, 403, 403},
		{"no browser", []string{"Origin", ""}, 403, 403, 403},
		{"a page of the same site", []string{"Sec-Fetch-Site", "same-site"}, 403, 403, 403},
		{"a link", []string{"Sec-Fetch-Site", "none"}, 403, 403, 403},
		{"a proxy", []string{"X-Forwarded-For", "203.0.113.1"}, 403, 200, 200},
		{"a proxy by the standard", []string{"Forwarded", "for=203.0.113.1"}, 403, 200, 200},
		{"another proxy", []string{"Via", "1.1 proxy"}, 403, 200, 200},
		{"a proxy that tells its port", []string{"X-Forwarded-Port", "443"}, 403, 200, 200},
		{"a tunnel", []string{"Cf-Connecting-Ip", "203.0.113.1"}, 403, 200, 200},
		{"the page behind a proxy", []string{"X-Forwarded-Host", "App.example.com, inner", "Origin", elsewhere}, 403, 403, 200},
		{"the backend's name", []string{"X-Forwarded-Host", "app.example.com"}, 403, 200, 403},
	}
	check := func(how string, want func(request) int) {
		t.Helper()
		for _, r := range requests {
			if a := guest(s, r.headers...); a.Status != want(r) {
				t.Errorf("%s, %s: %d %s", how, r.name, a.Status, a.Body)
			}
		}
	}
	check("local", func(r request) int { return r.local })
	cfg.Site = strings.Replace(cfg.Site, "guest ", "public\nguest ", 1)
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	check("public", func(r request) int { return r.public })
	cfg.Global = "servers {\ntrusted_proxies static 127.0.0.0/8\n}"
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	check("trusted", func(r request) int { return r.trusted })
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodOptions} {
		if a := s.Do(method, tokenPath, "", ""); a.Status != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, a.Status)
		}
	}
}

// Thirty tokens a minute for each address.
func TestGuestLimit(t *testing.T) {
	s, cfg, _ := startPlayground(t, "TILE", "public")
	cfg.Global = "servers {\ntrusted_proxies static 127.0.0.0/8\n}"
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	for i := range 31 {
		a := guest(s)
		if want := map[bool]int{true: 200, false: 429}[i < 30]; a.Status != want || (a.Header.Get("Retry-After") != "") != (want == 429) {
			t.Fatalf("request %d: %d %v %s", i, a.Status, a.Header, a.Body)
		}
	}
	if a := guest(s, "X-Forwarded-For", "203.0.113.1"); a.Status != 200 {
		t.Errorf("another address: %d %s", a.Status, a.Body)
	}
}
