package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// TestDrill runs examples/restore as it is written, except for the ports: a server is killed and its directory removed,
// and another one takes the same tokens after the store and its key are restored.
func TestDrill(t *testing.T) {
	leaveOut(t, "follows a document")
	t.Parallel()
	for _, program := range []string{"sh", "curl", "jq", "openssl", "cmp"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	readme, err := os.ReadFile(filepath.Join(root, "examples", "restore", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	caddyfile, err := os.ReadFile(filepath.Join(root, "examples", "restore", "Caddyfile"))
	if err != nil {
		t.Fatal(err)
	}
	site, _, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	admin, _, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := testkit.FencedBlocks(strings.ReplaceAll(string(readme), "127.0.0.1:8080", site))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := strings.ReplaceAll(string(caddyfile), "127.0.0.1:8080", site)
	if err := os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(plain, filepath.Join(dir, "bin", "caddy")); err != nil {
		t.Fatal(err)
	}

	const end = "the end of a block"
	script := "set -eu\n"
	var outputs []string // what each block of commands has to print; anything if it is empty
	for _, b := range blocks {
		switch {
		case b.Kind == "sh":
			script += b.Text + "echo '" + end + "'\n"
			outputs = append(outputs, "")
		case b.Kind == "text":
			outputs[len(outputs)-1] = b.Text
		}
	}
	if len(outputs) != 5 {
		t.Fatalf("the drill has %d blocks of commands", len(outputs))
	}

	// A server in the background keeps what it inherits, so the output goes into a file.
	log, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"CADDY_ADMIN="+admin, "XDG_CONFIG_HOME="+filepath.Join(dir, "xdg-config"),
		"XDG_DATA_HOME="+filepath.Join(dir, "xdg-data"))
	t.Cleanup(func() { endDrill(dir) })
	failed := cmd.Run()
	printed, err := os.ReadFile(log.Name())
	if err != nil {
		t.Fatal(err)
	}
	if failed != nil {
		t.Fatalf("%v\n%s", failed, printed)
	}
	got := strings.Split(string(printed), end+"\n")
	for i, want := range outputs {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "…", "(?s:.*)")
		if want != "" && !regexp.MustCompile("^"+pattern+"$").MatchString(got[i]) {
			t.Errorf("block %d prints\n%s\nwant\n%s", i+1, got[i], want)
		}
	}
}

// endDrill ends the servers that a drill has left behind.
func endDrill(dir string) {
	for _, name := range []string{"old", "new"} {
		pid, err := os.ReadFile(filepath.Join(dir, name, "pid"))
		if err != nil {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil {
			if p, err := os.FindProcess(n); err == nil {
				_ = p.Kill()
			}
		}
	}
}
