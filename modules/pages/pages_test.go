package pages_test

import (
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mapsedge/caddy-maps/docs"
	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/pages"
)

const loginConfig = `user_tokens {
	issuer https://id.example.com
	audience console
	jwks_url https://id.example.com/jwks
	any_user
	local off
	login {
		client_id console
		authorize_url https://login.example.com/authorize
		token_url https://token.example.com/token
	}
}`

// Each page consists of files with their types, served from memory, under a policy that lets a browser load nothing
// from elsewhere and run only scripts from files of the page.
func TestFiles(t *testing.T) {
	s, cfg, _ := startPlayground(t, "TILE", "profile car foot")
	playground := cfg.Site
	cfg.Maps += "\n" + loginConfig
	cfg.Site = "handle /console/* {\nmaps_console\n}\nhandle /docs/* {\nmaps_docs\n}\n" +
		"handle /moved/console/* {\nmaps_console {\nprefix /moved/console\n}\n}\n" +
		"handle /moved/docs/* {\nmaps_docs {\nprefix /moved/docs\n}\n}\n" +
		"handle_path /below/console* {\nmaps_console {\nprefix /\n}\n}\n" + playground
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	const html, js, css, none = "text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8", "application/json"
	for _, test := range []struct {
		method, path string
		status       int
		media, has   string
	}{
		{"GET", "/playground/", 200, html, `<script src="main.js" type="module">`},
		{"GET", "/playground/main.js", 200, js, "takeTokenFromAddress"},
		{"GET", "/playground/shared/session.js", 200, js, "export class Session"},
		{"GET", "/playground/lib/javascript/leaflet.js", 200, js, "Leaflet 1.9.4"},
		{"GET", "/playground/lib/javascript/protomaps-leaflet.js", 200, js, "protomapsL"},
		{"GET", "/playground/lib/css/leaflet.css", 200, css, ".leaflet-pane"},
		{"GET", "/playground/lib/javascript/leaflet.js.map", 404, none, "not found"},
		{"GET", "/playground/samples/dover.gpx", 200, "application/gpx+xml", "<trkpt"},
		{"GET", "/playground/settings.json", 200, none, `{"region":"village","guest":true,"tiles":"/tiles",` +
			`"matching":"/api/route/matching","geocoding":"/v2/search/reverse-geocoding","search":"/v2/search/geocode",` +
			`"routing":"/api/v1/route","profiles":["car","foot"],` +
			`"samples":["samples/dover.gpx","samples/wilmington.gpx"]}`},
		{"GET", "/playgrounds/", 404, none, "not found"},
		{"GET", "/playground/shared/", 404, none, "not found"},
		{"GET", "/playground", 308, "", ""},
		{"GET", "/below/console", 308, "", ""},
		{"GET", "/below/console?x=/", 308, "", ""},
		{"GET", "/below/console/", 200, html, "<!doctype html>"},
		{"GET", "/below/console/console.js", 200, js, "import"},
		{"GET", "/below/console/none", 404, none, "not found"},
		{"GET", "/", 404, none, "not found"},
		{"GET", "/console/", 200, html, "<!doctype html>"},
		{"HEAD", "/console/", 200, html, ""},
		{"GET", "/moved/console/", 200, html, "<!doctype html>"},
		{"GET", "/console/console.js", 200, js, "import"},
		{"GET", "/console/signed-in.html?code=x&state=y", 200, html, "signed-in.js"},
		{"GET", "/console/sign-in.json", 200, none, `{"local":false,"issuer":"https://id.example.com","audience":"console",` +
			`"organizationClaim":"org","login":{"client_id":"console","authorize_url":"https://login.example.com/authorize",` +
			`"token_url":"https://token.example.com/token","scope":"openid"}}`},
		{"GET", "/console/none.js", 404, none, "not found"},
		{"GET", "/docs/", 200, html, "swagger-ui-bundle.js"},
		{"GET", "/moved/docs/", 200, html, "swagger-ui-bundle.js"},
		{"GET", "/docs/openapi.yaml", 200, "application/yaml", strings.TrimSpace(string(docs.OpenAPI))},
		{"GET", "/docs/lib/swagger-ui-bundle.js", 200, js, "SwaggerUIBundle"},
		{"GET", "/docs/lib/swagger-ui.css", 200, css, ".swagger-ui"},
		{"GET", "/docs/shared/dom.js", 200, js, "export"},
		{"GET", "/docs/lib/oauth2-redirect.html", 404, none, "not found"},
		{"POST", "/docs/", 405, none, "method not allowed"},
	} {
		a := s.Do(test.method, test.path, "", "")
		h := a.Header
		if a.Status != test.status || h.Get("Content-Type") != test.media || !strings.Contains(a.Body, test.has) {
			t.Errorf("%s %s: %d %s %.300s", test.method, test.path, a.Status, h.Get("Content-Type"), a.Body)
		}
		images, connect, trusted := "'self' data: blob:", "'self'", ""
		switch {
		case strings.Contains(test.path, "/console"):
			images, connect = "'self'", "'self' https://token.example.com"
			trusted = "; require-trusted-types-for 'script'; trusted-types 'none'"
		case strings.Contains(test.path, "/docs/"):
			images = "'self' data:"
		}
		if want := "default-src 'none'; script-src 'self'; style-src 'self'; img-src " + images + "; connect-src " + connect +
			"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" + trusted; h.Get("Content-Security-Policy") != want {
			t.Errorf("%s: policy %q, want %q", test.path, h.Get("Content-Security-Policy"), want)
		}
		if h.Get("Referrer-Policy") != "same-origin" || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Cross-Origin-Opener-Policy") != "same-origin" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: %v", test.path, h)
		}
		cached := map[bool]string{true: "public, max-age=86400", false: "no-cache"}[a.Status == 200 && strings.Contains(test.path, "/lib/")]
		if got := h.Get("Cache-Control"); got != cached {
			t.Errorf("%s: Cache-Control %q", test.path, got)
		}
		if allow := h.Get("Allow"); (allow == "GET, HEAD") != (a.Status == 405) {
			t.Errorf("%s: Allow %q", test.path, allow)
		}
		address, _, _ := strings.Cut(test.path, "?")
		if location := h.Get("Location"); (location == path.Base(address)+"/") != (a.Status == 308) {
			t.Errorf("%s: Location %q", test.path, location)
		}
	}
	for _, path := range []string{"/console/console.js", "/docs/lib/swagger-ui.css"} { // the latter comes compressed
		plain := s.Do("GET", path, "", "", "Accept-Encoding", "identity")
		for accept, zipped := range map[string]bool{
			"identity": false, "gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "gzip;q=0.0": false, "gzipped": false,
		} {
			a := s.Do("GET", path, "", "", "Accept-Encoding", accept, "Range", "bytes=0-")
			if (a.Header.Get("Content-Encoding") == "gzip") != zipped || (a.Body == plain.Body) == zipped ||
				a.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s, %s: %d bytes of %d, %v", path, accept, len(a.Body), len(plain.Body), a.Header)
			}
			again := s.Do("GET", path, "", "", "Accept-Encoding", accept, "If-None-Match", a.Header.Get("ETag"))
			if again.Status != http.StatusNotModified {
				t.Errorf("%s, %s, with its ETag: %d", path, accept, again.Status)
			}
		}
	}
	if err := s.Load(modulestest.Config{Site: consoleSite}); err != nil {
		t.Fatal(err)
	}
	a := s.Do("GET", "/console/sign-in.json", "", "")
	if a.Body != `{"local":true}` || strings.Contains(a.Header.Get("Content-Security-Policy"), "example.com") {
		t.Errorf("without a login: %s, %v", a.Body, a.Header)
	}
}

func TestCaddyfileErrors(t *testing.T) {
	for directive, want := range map[string]string{
		"maps_console x y":                                     "unexpected argument",
		"maps_console {\nprefix console\n}":                    "does not begin with a slash",
		"maps_console {\nlogin\n}":                             "unknown option of maps_console: login",
		"maps_docs x y":                                        "unexpected argument",
		"maps_docs {\nprefix\n}":                               "wrong argument count",
		"maps_docs {\ntitle Maps\n}":                           "unknown option of maps_docs: title",
		"maps_docs {\nprefix /docs/{host}\n}":                  "not a plain path",
		"maps_start {\ntokens tokens\n}":                       "tokens: \"tokens\" does not begin with a slash",
		"maps_start {\ntiles /a /b\n}":                         "tiles: wrong argument count; write tiles [PATH]",
		"maps_start {\nmap\n}":                                 "unknown option of maps_start: map",
		"maps_start nowhere":                                   `no region "nowhere"`,
		"maps_playground":                                      "needs the name of a region",
		"maps_playground village town":                         `unexpected argument "town"`,
		"maps_playground a {\npublic\n}":                       "there is no guest account",
		"maps_playground a {\nprofile boat\n}":                 "boat",
		"maps_playground a {\ntiles tiles\n}":                  "does not begin with a slash",
		"maps_playground a {\nguests\n}":                       "unknown option of maps_playground: guests",
		"maps_playground a {\nguest a b\n}":                    "wrong argument count",
		"maps_playground a {\nguest 01yPJmVVXZMTq8bL3KdWx5\n}": "is not the id of an account",
	} {
		_, err := modulestest.Adapt("http://127.0.0.1:1 {\n" + directive + "\n}\n")
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("%q: got %v, want %q", directive, err, want)
		}
	}
}

// The console's files stay small and readable, without inline scripts and styles, or markup as text.
func TestConsoleSources(t *testing.T) {
	const maxBytes = 60 << 10
	size := 0
	err := fs.WalkDir(os.DirFS("web/console"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile("web/console/" + name)
		size += len(data)
		for _, forbidden := range []string{
			"innerHTML", "insertAdjacentHTML", "localStorage", "sessionStorage", "cookie", "style=", "<style", "onclick=\"",
		} {
			if strings.Contains(string(data), forbidden) {
				t.Errorf("%s has %s", name, forbidden)
			}
		}
		return err
	})
	if err != nil || size > maxBytes {
		t.Errorf("%d bytes, %v", size, err)
	}
}

// The reference shows every operation. A request that is tried goes to this server with the token that was pasted,
// under the policy, which the browser watches. The token is not kept.
func TestDocsBrowser(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: "handle /docs/* {\nmaps_docs\n}\nhandle {\nmaps_accounts\n}"})
	token := s.UserToken("acme")
	tab := browsertest.Open(t, 1280, 900)
	tab.Go(s.URL + "/docs/")
	tab.Wait("the operations", `document.querySelectorAll(".opblock").length > 10`)

	tab.Picture("../../docs/images/docs.png")
	tab.Click(".auth-wrapper .authorize")
	tab.Wait("the dialog", `document.querySelector(".auth-container input")`)
	tab.Run(chromedp.SendKeys(".auth-container input", token, chromedp.ByQuery))
	tab.Click(".auth-container .authorize")
	tab.Click(".btn-done")
	tab.Click("#operations-Service_accounts-listAccounts .opblock-summary-control")
	tab.Wait("the operation", `document.querySelector(".try-out__btn")`)
	tab.Click(".try-out__btn")
	tab.Click(".execute")
	const status = `document.querySelector(".live-responses-table .response .response-col_status")`
	tab.Wait("the answer", status+`?.innerText.startsWith("200")`)
	if url := tab.Text(".request-url pre"); !strings.HasPrefix(url, s.URL+"/api/v1/service-accounts") {
		t.Errorf("tried at %s", url)
	}
	tab.CheckOrigin(s.URL)
	tab.CheckStorage()
	for _, r := range tab.Requests() {
		if strings.Contains(r.URL, "/lib/") && r.Status != http.StatusOK {
			t.Errorf("%s: %d", r.URL, r.Status)
		}
	}
}
