package console_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
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

func TestFiles(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: loginConfig, Site: site + `
	handle /moved/* {
		maps_console {
			prefix /moved
		}
	}`})
	for _, tc := range []struct {
		path   string
		status int
		has    string
	}{
		{"/console/", 200, "<!doctype html>"},
		{"/moved/", 200, "<!doctype html>"},
		{"/console/console.js", 200, "import"},
		{"/console/signed-in.html?code=x&state=y", 200, "signed-in.js"},
		{"/console/shared/session.js", 200, "export"},
		{"/console/sign-in.json", 200, `{"local":false,"issuer":"https://id.example.com","audience":"console",` +
			`"organizationClaim":"org","login":{"client_id":"console","authorize_url":"https://login.example.com/authorize",` +
			`"token_url":"https://token.example.com/token","scope":"openid"}}`},
		{"/console/none.js", 404, "not found"},
	} {
		a := s.Do("GET", tc.path, "", "")
		if a.Status != tc.status || !strings.Contains(a.Body, tc.has) {
			t.Errorf("%s: %d %s", tc.path, a.Status, a.Body)
		}
		want := "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' " +
			"https://token.example.com; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
			"require-trusted-types-for 'script'; trusted-types 'none'"
		if got := a.Header.Get("Content-Security-Policy"); got != want {
			t.Errorf("%s: policy %q", tc.path, got)
		}
	}
	if err := s.Load(modulestest.Config{Site: site}); err != nil {
		t.Fatal(err)
	}
	a := s.Do("GET", "/console/sign-in.json", "", "")
	if a.Body != `{"local":true}` || strings.Contains(a.Header.Get("Content-Security-Policy"), "example.com") {
		t.Errorf("without a login: %s, %v", a.Body, a.Header)
	}
}

func TestCaddyfileErrors(t *testing.T) {
	for directive, want := range map[string]string{
		"maps_console x y":                  "unexpected argument",
		"maps_console {\nprefix console\n}": "does not begin with a slash",
		"maps_console {\nlogin\n}":          "unknown option of maps_console: login",
	} {
		_, err := modulestest.Adapt("http://127.0.0.1:1 {\n" + directive + "\n}\n")
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%q: got %v, want %q", directive, err, want)
		}
	}
}

// What the pages are made with stays small and readable: no file has a script or a style of its own in it, or markup as
// text.
func TestSources(t *testing.T) {
	const maxBytes = 56 << 10
	size := 0
	err := fs.WalkDir(os.DirFS("web"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile("web/" + name)
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
