package playground_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/playground"
)

const tokenPath = "/playground/token"

// site is the page, with options, and something behind each scope.
func site(options string) string {
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

// start runs a server with the page for the guests of an account with scopes.
func start(t *testing.T, scopes, options string) (*modulestest.Server, modulestest.Config, modulestest.Account) {
	t.Helper()
	region := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	cfg := modulestest.Config{Maps: "region village " + region, Site: site("")}
	s := modulestest.Start(t, cfg)
	acc := s.CreateAccount(s.UserToken("org"), scopes, "")
	cfg.Site = site("guest " + acc.ID + "\n" + options)
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	return s, cfg, acc
}

// guest asks for a token as the page does, but for headers that are given here.
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

// token is that of a guest.
func token(t *testing.T, s *modulestest.Server, headers ...string) string {
	t.Helper()
	a := guest(s, headers...)
	var data struct {
		AccessToken string `json:"accessToken"`
		ExpiresIn   int    `json:"expiresIn"`
	}
	if a.Data(t, &data); a.Status != http.StatusOK || data.ExpiresIn != 15*60 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control %q", a.Header.Get("Cache-Control"))
	}
	return data.AccessToken
}

func TestPage(t *testing.T) {
	s, _, _ := start(t, "TILE", "profile car foot")
	for _, test := range []struct {
		path   string
		status int
		body   string // a part of it
	}{
		{"/playground/", 200, `<script src="main.js" type="module">`},
		{"/playground/main.js", 200, "takeTokenFromAddress"},
		{"/playground/shared/session.js", 200, "export class Session"},
		{"/playground/lib/javascript/leaflet.js", 200, "Leaflet 1.9.4"},
		{"/playground/lib/javascript/protomaps-leaflet.js", 200, "protomapsL"},
		{"/playground/lib/css/leaflet.css", 200, ".leaflet-pane"},
		{"/playground/lib/javascript/leaflet.js.map", 404, "not found"},
		{"/playground/samples/dover.gpx", 200, "<trkpt"},
		{"/playground/settings.json", 200, `{"region":"village","guest":true,"tiles":"/tiles",` +
			`"matching":"/api/route/matching","geocoding":"/v2/search/reverse-geocoding","profiles":["car","foot"],` +
			`"samples":["samples/dover.gpx","samples/wilmington.gpx"]}`},
		{"/playgrounds/", 404, "not found"},
		{"/", 404, "not found"},
	} {
		a := s.Do(http.MethodGet, test.path, "", "")
		if a.Status != test.status || !strings.Contains(a.Body, test.body) {
			t.Errorf("%s: %d %.300s", test.path, a.Status, a.Body)
		}
		if policy := a.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", test.path, policy)
		}
	}
}

// A guest has what the page needs of the account's scopes, and loses it when the account does.
func TestGuest(t *testing.T) {
	s, _, acc := start(t, "TILE MATRIX", "")
	access := token(t, s)
	for path, want := range map[string]int{"/tile": 200, "/matrix": 403, modulestest.AccountsPath: 403} {
		if a := s.Do(http.MethodGet, path, access, ""); a.Status != want {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	account := modulestest.AccountsPath + "/" + acc.ID
	user := s.UserToken("org")
	if a := s.Do(http.MethodPatch, account, user, `{"status":"SUSPENDED"}`); a.Status != 200 {
		t.Fatalf("suspending: %d %s", a.Status, a.Body)
	}
	if a := s.Do(http.MethodGet, "/tile", access, ""); a.Status != 401 {
		t.Errorf("with the token of a suspended account: %d", a.Status)
	}
	if a := guest(s); a.Status != 403 || !strings.Contains(a.Body, "paste a token") {
		t.Errorf("a guest of a suspended account: %d %s", a.Status, a.Body)
	}
	if log := s.Log(); strings.Contains(log, access) || !strings.Contains(log, "the account gives no tokens to guests") {
		t.Error("the log has the token, or no word of the account")
	}
}

// Guests are given tokens on this machine, by the page itself, and for everybody only where the configuration says so.
func TestGuestRefused(t *testing.T) {
	s, cfg, _ := start(t, "TILE", "")
	elsewhere := "https://app.example.com"
	tests := []struct {
		name          string
		headers       []string
		local, public int
	}{
		{"the page", nil, 200, 200},
		{"a browser", []string{"Sec-Fetch-Site", "same-origin"}, 200, 200},
		{"another page", []string{"Origin", elsewhere}, 403, 403},
		{"another port", []string{"Origin", "http://127.0.0.1:1"}, 403, 403},
		{"two pages", []string{"Origin", s.URL + "\r\nOrigin: " + elsewhere}, 403, 403},
		{"a page without an origin", []string{"Origin", "null"}, 403, 403},
		{"no browser", []string{"Origin", ""}, 403, 403},
		{"a page of the same site", []string{"Sec-Fetch-Site", "same-site"}, 403, 403},
		{"a link", []string{"Sec-Fetch-Site", "none"}, 403, 403},
		{"a proxy", []string{"X-Forwarded-For", "203.0.113.1"}, 403, 200},
		{"a proxy by the standard", []string{"Forwarded", "for=203.0.113.1"}, 403, 200},
		{"another proxy", []string{"Via", "1.1 proxy"}, 403, 200},
		{"a proxy that tells its port", []string{"X-Forwarded-Port", "443"}, 403, 200},
		{"a tunnel", []string{"Cf-Connecting-Ip", "203.0.113.1"}, 403, 200},
	}
	check := func(t *testing.T, want func(i int) int) {
		for i, test := range tests {
			if a := guest(s, test.headers...); a.Status != want(i) {
				t.Errorf("%s: %d %s", test.name, a.Status, a.Body)
			}
		}
	}
	t.Run("local", func(t *testing.T) { check(t, func(i int) int { return tests[i].local }) })
	cfg.Site = strings.Replace(cfg.Site, "guest ", "public\nguest ", 1)
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	t.Run("public", func(t *testing.T) { check(t, func(i int) int { return tests[i].public }) })
	for method, want := range map[string]int{http.MethodGet: 405, http.MethodPut: 405, http.MethodOptions: 405} {
		if a := s.Do(method, tokenPath, "", ""); a.Status != want {
			t.Errorf("%s: %d", method, a.Status)
		}
	}
}

func TestGuestLimit(t *testing.T) {
	s, _, _ := start(t, "TILE", "")
	for i := range 31 {
		a := guest(s)
		if want := map[bool]int{true: 200, false: 429}[i < 30]; a.Status != want {
			t.Fatalf("request %d: %d %s", i, a.Status, a.Body)
		}
		if a.Status == 429 && a.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
}

func TestNoGuests(t *testing.T) {
	s, cfg, _ := start(t, "TILE", "")
	cfg.Site = site("")
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	if a := guest(s); a.Status != 404 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestConfiguration(t *testing.T) {
	s, cfg, acc := start(t, "TILE", "")
	for name, test := range map[string]struct{ from, to, want string }{
		"region":         {"maps_playground village", "maps_playground nowhere", "nowhere"},
		"no region":      {"maps_playground village", "maps_playground", "needs the name of a region"},
		"two regions":    {"maps_playground village", "maps_playground village town", `unexpected argument "town"`},
		"public":         {"guest " + acc.ID, "public", "there is no guest account"},
		"profile":        {"guest " + acc.ID, "profile boat", "boat"},
		"path":           {"guest " + acc.ID, "tiles tiles", "does not begin with a slash"},
		"unknown option": {"guest " + acc.ID, "guests", "unknown option of maps_playground: guests"},
		"excess":         {"guest " + acc.ID, "guest a b", "wrong argument count"},
		"bad guest":      {"guest " + acc.ID, "guest " + acc.ID[3:], "is not the id of an account"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := cfg
			changed.Site = strings.Replace(cfg.Site, test.from, test.to, 1)
			if err := s.Load(changed); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}
