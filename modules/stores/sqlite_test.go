package stores

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestSQLiteCaddyfile(t *testing.T) {
	for _, test := range []struct {
		in, path, fault string
	}{
		{"sqlite", "", ""},
		{"sqlite ./data/accounts.db", "./data/accounts.db", ""},
		{`sqlite "with space.db"`, "with space.db", ""},
		{`sqlite ""`, "", "path is empty"},
		{"sqlite a b", "", "unexpected argument"},
		{"sqlite a {\n timeout 3s\n}", "", "unknown option of store sqlite: timeout; it has none"},
	} {
		var m SQLite
		err := m.UnmarshalCaddyfile(caddyfile.NewTestDispenser(test.in))
		switch {
		case test.fault == "" && err != nil:
			t.Errorf("%q: %v", test.in, err)
		case test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)):
			t.Errorf("%q: error %v, want one with %q", test.in, err, test.fault)
		case test.fault == "" && m.Path != test.path:
			t.Errorf("%q: path %q, want %q", test.in, m.Path, test.path)
		}
	}
}

func provisioned(t *testing.T, path string) *SQLite {
	t.Helper()
	info, err := caddy.GetModule("maps.stores.sqlite")
	if err != nil {
		t.Fatal(err)
	}
	m := info.New().(*SQLite)
	config, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(config, m); err != nil {
		t.Fatal(err)
	}
	if err := m.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestProvisionLeavesNothing is what lets a configuration be checked beside a live server, and on a machine of CI.
func TestProvisionLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	provisioned(t, filepath.Join(dir, "data", "accounts.db"))
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("provisioning made %v (error %v)", entries, err)
	}
	t.Setenv("XDG_DATA_HOME", dir)
	want := filepath.Join(caddy.AppDataDir(), "maps", "accounts.db")
	if m := provisioned(t, ""); m.Key() != want {
		t.Errorf("by default the store is %s, want %s", m.Key(), want)
	}
	if err := (&SQLite{Path: dir}).Provision(caddy.Context{}); err == nil ||
		!strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory as path: error %v", err)
	}
	if err := (&SQLite{Path: "{env.CADDY_MAPS_NOT_SET}"}).Provision(caddy.Context{}); err == nil ||
		!strings.Contains(err.Error(), "empty") {
		t.Errorf("an unset placeholder as path: error %v", err)
	}
}

// TestKey names one file in many ways.
func TestKey(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "data", "accounts.db")
	t.Chdir(dir)
	t.Setenv("CADDY_MAPS_DIR", "data")
	link := func(target, name string) {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	link("data", "elsewhere")           // to a directory that is not there yet
	link("elsewhere/accounts.db", "db") // to a file that is not there yet, through a link
	link(filepath.Join(dir, "db"), "absolute")
	link("loop", "loop")
	same := []string{want, "data/accounts.db", "./data/../data//accounts.db", "elsewhere/accounts.db", "db", "absolute",
		"{env.CADDY_MAPS_DIR}/accounts.db"}
	for round, name := range []string{"before the file is made", "when it is there"} {
		for _, path := range same {
			if got := provisioned(t, path).Key(); got != want {
				t.Errorf("%s: %q is %s, want %s", name, path, got, want)
			}
		}
		if round == 0 {
			openIn(t, filepath.Dir(want))
		}
	}
	if got := provisioned(t, "data/other.db").Key(); got == want {
		t.Error("two files have one key")
	}
	if err := (&SQLite{Path: "loop"}).Provision(caddy.Context{}); err == nil || !strings.Contains(err.Error(), "loop") {
		t.Errorf("a link to itself: error %v", err)
	}
}

func TestModuleOpen(t *testing.T) {
	m := provisioned(t, filepath.Join(t.TempDir(), "accounts.db"))
	core, logs := observer.New(zap.InfoLevel)
	s, err := m.Open(t.Context(), zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if logs.FilterField(zap.String("path", m.Key())).Len() != 1 {
		t.Errorf("logs do not say which file was opened: %v", logs.All())
	}
}

// openIn opens a store and returns how many warnings the log has.
func openIn(t *testing.T, dir string) int {
	t.Helper()
	core, seen := observer.New(zap.WarnLevel)
	m := SQLite{key: filepath.Join(dir, "accounts.db")}
	store, err := m.Open(t.Context(), zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	return seen.Len()
}
