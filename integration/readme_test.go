package integration

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// newReadmeServer prepares a server that runs the Caddyfile of README.md, without TLS, with what is given added to its
// site.
func newReadmeServer(t *testing.T, added string) *server {
	t.Helper()
	s := newServer(t)
	text := readBlocks(t, "README.md", "caddyfile")[0].Text
	for old, new := range map[string]string{
		"{\n": "{\n\tadmin " + s.admin + "\n", "./data/accounts.db": s.store, "./delaware.region": s.region,
		"maps.example.com {\n": "http://:" + s.port + " {\n" + added + "\thandle /healthz {\n\t\tmaps_health\n\t}\n",
	} {
		if !strings.Contains(text, old) {
			t.Fatalf("the Caddyfile has no %q", old)
		}
		text = strings.Replace(text, old, new, 1)
	}
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// The Caddyfile of README.md answers a path that it does not know as Caddyfile.example does.
func TestReadmeCaddyfile(t *testing.T) {
	leaveOut(t, "checks documents")
	t.Parallel()
	s := newReadmeServer(t, "")
	s.run(t)
	for _, path := range []string{
		"/", "/nothing", "/api/v1/nothing", "/v2/search/nothing", "/tiles", "/index.html?x={err}",
	} {
		r := s.send(t, call{path: path}).want(404).wantHeader("Content-Type", "application/json")
		if string(r.body) != `{"error":"Not Found"}` {
			t.Errorf("%s: %s", path, r.body)
		}
	}
}

// pasteReadmeCurl runs the request that README.md has for `make demo`, on one that keeps its files in dir.
func pasteReadmeCurl(t *testing.T, dir, port string) {
	t.Helper()
	_, request, found := strings.Cut(readBlocks(t, "README.md", "sh")[0].Text, "\nmake demo\n")
	if !found {
		t.Fatal("README.md shows no request for make demo")
	}
	shown := readBlocks(t, "README.md", "text")[0].Text
	if _, err := exec.LookPath("jq"); err != nil {
		t.Log("README.md's request is not tried: there is no jq")
		return
	}
	script := strings.ReplaceAll(request, "127.0.0.1:8080", "127.0.0.1:"+port)
	script = strings.ReplaceAll(script, ".demo/", dir+"/")
	answer, err := exec.Command("sh", "-c", script).Output()
	if err != nil || string(answer) != shown {
		t.Errorf("%v: README.md shows\n%s\nand the answer is\n%s", err, shown, answer)
	}
}
