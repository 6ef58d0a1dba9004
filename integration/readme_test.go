package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// The Caddyfile to copy from the README is valid as it stands.
func TestReadmeCaddyfile(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```caddyfile\n(.*?)```").FindAllSubmatch(data, -1)
	if len(blocks) != 1 {
		t.Fatalf("the README has %d Caddyfiles", len(blocks))
	}
	s, err := newServer(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.config, blocks[0][1], 0o600); err != nil {
		t.Fatal(err)
	}
	copyFile(t, region, filepath.Join(s.dir, "delaware.region"))
	if out, err := s.command(t.Context(), "validate", "--config", s.config, "--adapter", "caddyfile").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
