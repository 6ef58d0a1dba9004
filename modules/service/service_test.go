package service_test

import (
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/mapsedge/caddy-maps/modules/service"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const (
	search    = "/v2/search/geocode?query=crossing"
	village   = "/v2/search/reverse-geocoding?lat=39.16&lon=-75.52"
	drive     = "/api/route/matching/?path=[{39.16,-75.528},{39.16,-75.524}]"
	tile      = "/tiles/village/0/0/0.mvt"
	exchange  = "/api/v1/external/auth"
	allScopes = "TILE DIRECTION GEOCODING REVERSEGEOCODING"
)

func region(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, path, modulestest.Village)
	return path
}

// TestService: one line serves every part, with JSON errors, and leaves the rest of the site as it is.
func TestService(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: `
		maps_service ` + region(t) + `
		respond /mine "mine"
		handle /gone {
			error 410
		}
		handle_errors {
			respond "my error {err.status_code}" 410
		}`})
	_, token := s.Token("acme", allScopes)
	const client, account = `"client";q=200;w=1`, `"client";q=200;w=1, "account";q=50;w=1`
	for _, tc := range []struct {
		method, path, token, body string
		status                    int
		want                      string // in the body
		policy                    string
	}{
		{"GET", village, token, "", 200, `"results":[{`, account},
		{"GET", village + "&apiKey=" + token, "", "", 200, `"results":[{`, account},
		{"GET", village + "&accessToken=" + token, "", "", 200, `"results":[{`, account},
		{"GET", search, token, "", 200, `"results":[`, account},
		{"GET", "/api/v1/route/geocoding?apiKey=" + token + "&name=crossing", "", "", 200, `{"msg":"ok","data":[`, account},
		{"GET", "/api/v1/route/revgeocoding?lat=39.16&lon=-75.52", token, "", 200, `{"msg":"ok","data":[{"name":"`, account},
		{"GET", drive, token, "", 200, `"coordinates":[[`, account},
		{"GET", drive + "&profile=foot", token, "", 200, `"coordinates":[[`, account},
		{"GET", tile, token, "", 200, "", `"tiles_client";q=1000;w=1, "tiles_account";q=500;w=1`},
		{"GET", "/", "", "", 200, "<bdi>village</bdi>", client},
		{"GET", "/", "", "", 200, `/v2/search/reverse-geocoding?lat=39.1`, client},
		{"GET", "/start/start.js", "", "", 200, "showHeader", client},
		{"GET", "/playground/", "", "", 200, "<html", client},
		{"GET", "/console/", "", "", 200, "<html", client},
		{"GET", "/docs/", "", "", 200, "<html", client},
		{"GET", "/healthz", "", "", 200, `"name":"village"`, client},
		{"GET", "/api/v1/external/jwks.json", "", "", 200, `"keys":[`, `"tokens";q=100;w=10`},
		{"GET", "/mine", "", "", 200, "mine", ""},
		{"GET", "/gone", "", "", 410, "my error 410", ""},

		{"GET", village, "", "", 401, `{"error":"invalid or missing api key"}`, client},
		{"GET", drive, "x", "", 401, `{"error":{"code":"Not Authorized - Invalid Token",`, client},
		{"GET", "/nothing", "", "", 404, `{"error":"not found"}`, ""},
		{"GET", "/api/route/nothing", "", "", 404, `{"error":{"code":"NotFound","message":"not found","status":404}}`, ""},
		{"GET", "/tiles/nothing", token, "", 404, `{"error":"`, ""},
		{"GET", search, "", "", 401, `{"error":"invalid or missing api key"}`, client},
		{"PUT", search, token, "", 405, `{"error":"method not allowed"}`, account},
		{"PUT", village, token, "", 405, `{"error":"method not allowed"}`, account},
		{"PUT", drive, token, "", 405, `{"error":{"code":"MethodNotAllowed",`, account},
		{"POST", exchange, "", `{"client_token":"` + strings.Repeat("x", 17<<10) + `"}`, 413, `{"error":"request body too large"}`, ""},
		{"POST", "/api/route/matching", token, strings.Repeat(" ", 9<<20), 413, `{"error":{"code":"TooLarge",`, account},
	} {
		got := s.Do(tc.method, tc.path, tc.token, tc.body)
		if got.Status != tc.status || !strings.Contains(got.Body, tc.want) {
			t.Errorf("%s %.60s: %d %.200s, want %d %s", tc.method, tc.path, got.Status, got.Body, tc.status, tc.want)
		}
		if policy := strings.Join(got.Header.Values("RateLimit-Policy"), "|"); tc.policy != "" && policy != tc.policy {
			t.Errorf("%s %.60s: RateLimit-Policy %s, want %s", tc.method, tc.path, policy, tc.policy)
		}
	}
}

// TestServiceWithout: each part can be left out, and its paths belong to the site then.
func TestServiceWithout(t *testing.T) {
	file := region(t)
	s := modulestest.Start(t, modulestest.Config{Site: "maps_service " + file})
	for part, path := range map[string]string{
		"tokens": exchange, "accounts": "/api/v1/service-accounts", "matching": "/api/route/matching", "reverse_geocoding": village, "geocoding": search,
		"routing": "/api/v1/route",
		"tiles":   tile, "playground": "/playground/", "console": "/console/", "docs": "/docs/", "health": "/healthz",
		"start": "/",
	} {
		if got := s.Do("GET", path, "", ""); got.Status == 404 {
			t.Errorf("%s is not served", path)
		}
		err := s.Load(modulestest.Config{Site: "maps_service " + file + " {\nwithout " + part + " limits\n}\nrespond mine"})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Do("GET", path, "", ""); got.Body != "mine" {
			t.Errorf("without %s: %s: %d %s", part, path, got.Status, got.Body)
		}
		if got := s.Do("GET", "/healthz", "", ""); got.Header.Get("RateLimit") != "" {
			t.Error("a limit without limits")
		}
		// The playground knows what it cannot use.
		settings := s.Do("GET", "/playground/settings.json", "", "").Body
		for name, none := range map[string]string{"geocoding": `"search":""`, "routing": `"routing":""`} {
			if strings.Contains(settings, none) != (part == name) {
				t.Errorf("without %s: %s", part, settings)
			}
		}
		if err := s.Load(modulestest.Config{Site: "maps_service " + file}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServiceLimits: each client network and each account has its own limits, which a refused client can read.
func TestServiceLimits(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{
		Global: "servers {\ntrusted_proxies static 127.0.0.1/32\ntrusted_proxies_strict\n}",
		Site: "maps_service " + region(t) + ` {
			limit client 6 1h
			limit account 3 1h
		}`})
	_, one := s.Token("acme", allScopes)
	_, two := s.Token("acme", allScopes)
	refused := func(path, token, from string) bool {
		t.Helper()
		got := s.Do("GET", path, token, "", "X-Forwarded-For", from, "Origin", "https://app.example.com")
		if got.Status != 429 {
			return false
		}
		retry, _ := strconv.Atoi(got.Header.Get("Retry-After"))
		want := `{"error":"too many requests"}`
		if strings.HasPrefix(path, "/api/route/") {
			want = `{"error":{"code":"TooManyRequests","message":"too many requests","status":429}}`
		}
		if retry < 1 || retry > 3600 || got.Body != want || !strings.Contains(got.Header.Get("RateLimit"), "r=0") ||
			got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v %s", path, got.Header, got.Body)
		}
		if token == "" && got.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("pages cannot read %v", got.Header)
		}
		return true
	}
	for i, tc := range []struct {
		path, token, from string
		passes            int
	}{
		{village, one, "203.0.113.1", 3},   // the account's
		{drive, one, "203.0.113.2", 0},     // shared by both APIs
		{drive, two, "203.0.113.2", 3},     // another account
		{village, "", "203.0.113.2", 1},    // the client's: 1 + 4 before
		{drive, "", "203.0.113.2", 0},      //
		{village, "", "2001:db8::1", 6},    //
		{drive, "", "2001:db8::ffff:2", 0}, // the same /64
		{drive, "", "2001:db8:0:1::1", 6},  //
		{drive, "", "198.51.100.7", 6},     //
		{drive, "", "::ffff:198.51.100.7", 0},
	} {
		for n := range tc.passes {
			if refused(tc.path, tc.token, tc.from) {
				t.Fatalf("%d: request %d is refused", i, n)
			}
		}
		if !refused(tc.path, tc.token, tc.from) {
			t.Errorf("%d: request %d is not refused", i, tc.passes)
		}
	}
	// A reload does not reset the counts.
	if err := s.Load(modulestest.Config{
		Global: "servers {\ntrusted_proxies static 127.0.0.1/32\ntrusted_proxies_strict\n}",
		Site:   "maps_service " + region(t) + " {\nlimit client 6 1h\n}"}); err != nil {
		t.Fatal(err)
	}
	if !refused(village, "", "2001:db8::3") {
		t.Error("a reload has reset the counts")
	}
}

// TestServiceMistakes: mistakes are reported with their line.
func TestServiceMistakes(t *testing.T) {
	for site, want := range map[string]string{
		"maps_service":                                                     "maps_service needs at least one region",
		"maps_service delaware":                                            `there is no region "delaware": the maps app has no regions`,
		"maps_service a.osm.pbf":                                           "a.osm.pbf is an OpenStreetMap extract; compile it with `caddy maps build`",
		"maps_service a.region\nmaps_service b.region":                     "maps_service may appear only once in a site; it is already in line 2",
		"maps_service a.region {\nwithout tils\n}":                         `without: "tils" is not known; did you mean tiles?`,
		"maps_service a.region {\ncors example.com\n}":                     `cors: "example.com" is not an origin`,
		"maps_service a.region {\nprofile bike\n}":                         "profile: ",
		"maps_service a.region {\nguest ann\n}":                            `guest: "ann" is not the id of an account`,
		"maps_service a.region {\npublic\n}":                               "public: there is no guest account",
		"maps_service a.region {\nlimit acount 5 1s\n}":                    `limit: "acount" is not known; did you mean account?`,
		"maps_service a.region {\nlimit account 5\n}":                      "limit: wrong argument count; write limit NAME EVENTS WINDOW",
		"maps_service a.region {\nlimit account 5 0s\n}":                   "window: 0s is not between 1s and 1h",
		"maps_service a.region {\nmatcher orsm x\n}":                       `matcher: "orsm" is not known`,
		"maps_service a.region {\nregion b\n}":                             "unknown option of maps_service: region",
		"maps_service a.region\nhandle /tiles/* {\nmaps_tiles b.region\n}": "maps_tiles and maps_service in line 2 both serve /tiles",
		"handle /x/* {\nmaps_console\n}\nmaps_service a.region":            "maps_service and maps_console in line 3 both serve /console",
		"maps_limit 5":        "maps_limit: wrong argument count; write maps_limit EVENTS WINDOW [NAME]",
		"maps_limit 5 1s -\"": `name: "-\"" is not a name`,
		"maps_errors json":    `maps_errors: unexpected argument "json"`,
	} {
		_, err := modulestest.Adapt("http://127.0.0.1:1 {\n" + site + "\n}\n")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Count(err.Error(), "Caddyfile:") == 0 {
			t.Errorf("%s\n got %v\nwant %s", site, err, want)
		}
	}
	for _, site := range []string{
		"maps_service a.region {\nwithout tiles\n}\nhandle /tiles/* {\nmaps_tiles b.region\n}",
		"maps_service a.region\nhandle /other/* {\nmaps_tiles b.region {\nprefix /other\n}\n}",
		"maps_service a.region\n}\nhttp://127.0.0.1:2 {\nmaps_service a.region\n",
		"handle /a {\nmaps_match {\nmatcher local a.region\n}\n}\nhandle /b {\nmaps_match {\nmatcher local a.region\n}\n}",
	} {
		if _, err := modulestest.Adapt("http://127.0.0.1:1 {\n" + site + "\n}\n"); err != nil {
			t.Errorf("%s\n%v", site, err)
		}
	}
}

// TestErrors: by hand, maps_errors answers the errors of any handler in a site.
func TestErrors(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: `
		@coded path_regexp coded /([0-9]+)$
		handle @coded {
			error failed {re.coded.1}
		}
		handle_errors {
			maps_errors
		}`})
	for path, want := range map[string]string{
		"/400": `{"error":"host: missing or malformed","code":"FAILED_VALIDATION"}`, "/404": `{"error":"not found"}`,
		"/418": `{"error":"i'm a teapot"}`, "/502": `{"error":"bad gateway"}`, "/504": `{"error":"timeout"}`,
		"/api/route/x/404": `{"error":{"code":"NotFound","message":"not found","status":404}}`,
		"/api/route/x/502": `{"error":{"code":"BadGateway","message":"bad gateway","status":502}}`,
		"/api/route/x/418": `{"error":{"code":"I'mateapot","message":"i'm a teapot","status":418}}`,
	} {
		got := s.Do(http.MethodGet, path, "", "")
		if strings.TrimSpace(got.Body) != want || !strings.HasSuffix(path, strconv.Itoa(got.Status)) ||
			got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s, want %s", path, got.Status, got.Body, want)
		}
	}
	if got := s.Do(http.MethodGet, "/405", "", ""); got.Header.Get("Allow") != "GET, HEAD, POST, PATCH, DELETE" {
		t.Errorf("Allow: %q", got.Header.Get("Allow"))
	}
}
