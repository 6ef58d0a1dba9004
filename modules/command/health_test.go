package command_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// TestHealth asks a server whose region has not come yet, and again when it has.
func TestHealth(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.region")
	s := modulestest.Start(t, modulestest.Config{
		Maps:  "store sqlite " + filepath.Join(dir, "accounts.db") + "\nregion x " + path + " {\nawaited\n}",
		Level: "INFO",
	})
	out, _, err := run(t, "", "health", "--address", s.Admin)
	if err == nil || out != "service unavailable\nstore ok\nregion x unavailable\n" {
		t.Errorf("without its region: %v, %q", err, out)
	}
	testregion.Write(t, path, time.Unix(1e9, 0), 1, testregion.Dover())
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		out, _, err = run(t, "", "health", "--address", s.Admin)
		if err == nil && out == "service ok\nstore ok\nregion x ok\n" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("with its region: %v, %q", err, out)
		}
	}
	if _, _, err := run(t, "", "health", "--address", "127.0.0.1:1"); err == nil {
		t.Error("a server that is not there is healthy")
	}
}
