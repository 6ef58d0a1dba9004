package integration

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
)

// npmModules returns the folder of npm packages, and skips the test where there are none.
func npmModules(t *testing.T) string {
	t.Helper()
	leaveOut(t, "needs npm packages")
	modules := os.Getenv("MAPS_TEST_NPM")
	if modules == "" {
		t.Skip("MAPS_TEST_NPM names no node_modules, which `make checks` installs")
	}
	return modules
}

// node runs Node, if it is there, and returns what it prints.
func node(t *testing.T, env []string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no Node")
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	return string(out)
}

// An OAuth library of JavaScript gets tokens and uses them.
func TestOpenIDClient(t *testing.T) {
	modules := npmModules(t)
	t.Parallel()
	s := sharedServer(t)
	acc := s.create(t, s.userToken(t, "oauth"), nil)
	library := "file://" + filepath.Join(modules, "openid-client", "build", "index.js")
	got := node(t, nil, filepath.Join("testdata", "oauth", "client.mjs"), library, s.url(""), acc.ClientToken, acc.ServerToken,
		matchPath(dover, ""))
	once := `bearer DIRECTION 200
bearer DIRECTION 200
401 basic invalid_client client_secret: this is a client token; a server token belongs here
400 invalid_grant
`
	if want := once + once; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A page with the origin service's own package shows our map. Its addresses are written into the package, so the browser
// finds this server there.
func TestGebetaTiles(t *testing.T) {
	modules := npmModules(t)
	t.Parallel()
	dir := t.TempDir()
	node(t, []string{"NODE_PATH=" + modules}, filepath.Join(modules, ".bin", "esbuild"),
		filepath.Join("testdata", "gebeta", "page.jsx"), "--bundle", "--format=esm", "--jsx=automatic", "--log-level=warning",
		`--define:process.env.NODE_ENV="production"`, "--outfile="+filepath.Join(dir, "page.js"))
	pages := http.NewServeMux()
	pages.Handle("/page.js", http.FileServer(http.Dir(dir)))
	pages.Handle("/page.css", http.FileServer(http.Dir(dir)))
	pages.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	pages.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!doctype html><title>map</title><link rel="stylesheet" href="/page.css">
			<div id="map" style="width: 600px; height: 400px"></div><script type="module" src="/page.js"></script>`)
	})
	page := httptest.NewServer(pages)
	defer page.Close()

	address, _, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(address)
	s := newServer(t)
	s.env = []string{"PAGE=" + page.URL, "TLS_PORT=" + port}
	if s.config, err = filepath.Abs(filepath.Join("testdata", "gebeta", "Caddyfile")); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	acc := s.create(t, s.userToken(t, "acme"), map[string]any{"platform": "WEB", "scopes": []string{"TILE", "REVERSEGEOCODING"}})
	_, refresh := s.exchange(t, acc.ClientToken, acc.ServerToken)

	hosts := []string{"tiles.gebeta.app", "mapapi.gebeta.app"}
	rules := fmt.Sprintf("MAP %s:443 %s, MAP %s:443 %[2]s", hosts[0], address, hosts[1])
	tab := browsertest.Open(t, 640, 480, chromedp.Flag("host-resolver-rules", rules), chromedp.Flag("disable-gpu", false),
		chromedp.Flag("ignore-certificate-errors", true), chromedp.Flag("use-gl", "angle"),
		chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true))
	tab.Go(page.URL + "/#" + refresh)
	tab.Wait("the map", "window.result")
	result := browsertest.Eval[struct {
		Failed   string
		Features map[string]int
		Places   int
		Wrong    int
		Hint     string
	}](tab, "window.result")
	if result.Failed != "" || result.Features["roads"] < 50 || result.Places != 1 || result.Wrong != 401 ||
		result.Hint != `Bearer error="invalid_token", error_description="this is a refresh token; an access token belongs here"` {
		t.Errorf("%+v", result)
	}
	tab.CheckOrigin(page.URL, "https://"+hosts[0], "https://"+hosts[1])
	if err := s.searchSecrets(); err != nil {
		t.Error(err)
	}
}
