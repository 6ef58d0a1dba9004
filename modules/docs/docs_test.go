package docs_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mapsedge/caddy-maps/docs"
	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/docs"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const site = `
	handle /docs/* {
		maps_docs
	}
	handle /moved/* {
		maps_docs {
			prefix /moved
		}
	}
	handle {
		maps_accounts
	}`

func TestFiles(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
	for _, tc := range []struct {
		method, path string
		status       int
		media, has   string
	}{
		{"GET", "/docs/", 200, "text/html; charset=utf-8", "swagger-ui-bundle.js"},
		{"GET", "/moved/", 200, "text/html; charset=utf-8", "swagger-ui-bundle.js"},
		{"GET", "/docs/openapi.yaml", 200, "application/yaml", strings.TrimSpace(string(docs.OpenAPI))},
		{"GET", "/docs/lib/swagger-ui-bundle.js", 200, "text/javascript; charset=utf-8", "SwaggerUIBundle"},
		{"GET", "/docs/lib/swagger-ui.css", 200, "text/css; charset=utf-8", ".swagger-ui"},
		{"GET", "/docs/shared/dom.js", 200, "text/javascript; charset=utf-8", "export"},
		{"GET", "/docs/lib/oauth2-redirect.html", 404, "application/json", "not found"},
		{"POST", "/docs/", 405, "application/json", "method not allowed"},
	} {
		a := s.Do(tc.method, tc.path, "", "")
		if a.Status != tc.status || a.Header.Get("Content-Type") != tc.media || !strings.Contains(a.Body, tc.has) {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, a.Status, a.Header.Get("Content-Type"))
		}
		if policy := a.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy,
			"default-src 'none'; script-src 'self'; style-src 'self';") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: Content-Security-Policy %q", tc.path, policy)
		}
	}
}

func TestCaddyfileErrors(t *testing.T) {
	for directive, want := range map[string]string{
		"maps_docs x y":                       "unexpected argument",
		"maps_docs {\nprefix docs\n}":         "does not begin with a slash",
		"maps_docs {\nprefix\n}":              "wrong argument count",
		"maps_docs {\ntitle Maps\n}":          "unknown option of maps_docs: title",
		"maps_docs {\nprefix /docs/{host}\n}": "not a plain path",
	} {
		_, err := modulestest.Adapt("http://127.0.0.1:1 {\n" + directive + "\n}\n")
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%q: got %v, want %q", directive, err, want)
		}
	}
}

// The reference shows every operation, and a request that is tried goes to this server with the token that was pasted,
// under the policy, which the browser watches. Nothing of the token is kept.
func TestBrowser(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
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
