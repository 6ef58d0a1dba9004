package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
)

// documentedSite is the address that docs/build/clients.md asks.
const documentedSite = "https://maps.example.com"

// clientBlocks returns the blocks of code of docs/build/clients.md in a language, in a section of it or in all.
func clientBlocks(t *testing.T, section, language string) (blocks []string) {
	t.Helper()
	for _, b := range readBlocks(t, "docs/build/clients.md", language) {
		if section == "" || section == b.Heading {
			blocks = append(blocks, b.Text)
		}
	}
	if len(blocks) == 0 {
		t.Fatalf("docs/build/clients.md shows no %s under %s", language, section)
	}
	return blocks
}

// scripted runs a script in an empty directory, and returns what it prints.
func scripted(t *testing.T, env []string, script, name string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdin, cmd.Env = t.TempDir(), strings.NewReader(script), append(os.Environ(), env...)
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", name, err, out, problems.Bytes())
	}
	return string(out)
}

// The requests by curl as documented, and once more with an access token that is refused.
func TestClientDocsCurl(t *testing.T) {
	leaveOut(t, "needs curl and jq")
	t.Parallel()
	for _, program := range []string{"curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	s := sharedServer(t)
	script := strings.ReplaceAll(strings.Join(clientBlocks(t, "curl", "sh"), ""), documentedSite, s.url(""))
	// The server's admin endpoint is not where the command looks for it.
	out := scripted(t, []string{"SERVER=" + plain, "ADMIN=" + s.admin},
		"set -eu\ncaddy() { \"$SERVER\" \"$@\" --address \"$ADMIN\"; }\n"+script+
			"\necho; ACCESS_TOKEN=a.b.c; ask \"$MAPS/v2/search/coverage\"\n", "sh", "-s")
	for _, want := range []string{
		`"display_name":"Delaware State Capitol`, `"distance":`, `{"data":{"regions":[{"name":"delaware"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("it printed\n%s\nwithout %s", out, want)
		}
	}
}

// A page of another origin asks as documented, with a first token that has ended.
func TestClientDocsBrowser(t *testing.T) {
	leaveOut(t, "needs a browser")
	t.Parallel()
	mux := http.NewServeMux()
	own := httptest.NewServer(mux) // of the page
	defer own.Close()
	cors := clientBlocks(t, "A page in a browser", "caddyfile")[0]
	setting := regexp.MustCompile(`cors \S+`).FindString(cors)
	s := startServer(t, "# "+setting, strings.ReplaceAll(setting, "https://app.example.com", own.URL))
	acc := s.create(t, s.userToken(t, "clients-browser"),
		map[string]any{"restrictions": map[string]any{"origins": []string{own.URL}}})
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	var asked atomic.Int32
	mux.HandleFunc("POST /maps-token", func(w http.ResponseWriter, _ *http.Request) {
		token := access
		if asked.Add(1) == 1 {
			token = "a.b.c"
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"accessToken": token})
	})
	script := strings.ReplaceAll(clientBlocks(t, "A page in a browser", "js")[0], documentedSite, s.url(""))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><link rel=icon href=data:,><title>page</title><script>%s</script>", script)
	})
	tab := browsertest.Open(t, 400, 300)
	tab.Go(own.URL)
	name := browsertest.Eval[string](tab,
		`ask("/v2/search/reverse-geocoding?lat=39.1573&lon=-75.5197").then((a) => a.data.results[0].name)`)
	if name != "Delaware State Capitol" || asked.Load() != 2 {
		t.Errorf("%q, after %d tokens", name, asked.Load())
	}
	problem := browsertest.Eval[string](tab, `ask("/v2/search/reverse-geocoding?lat=91&lon=0").catch((e) => e.message)`)
	if !strings.HasPrefix(problem, "lat:") {
		t.Errorf("a latitude of 91: %q", problem)
	}
	tab.CheckOrigin(own.URL, s.url(""))
}
