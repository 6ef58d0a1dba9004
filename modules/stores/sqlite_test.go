package stores_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/modules/stores"
)

func provisioned(t *testing.T, path string) *stores.SQLite {
	t.Helper()
	m := &stores.SQLite{Path: path}
	if err := m.Provision(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	return m
}

// open opens a store, closes it, and returns what was logged.
func open(t *testing.T, m *stores.SQLite) *observer.ObservedLogs {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	store, err := m.Open(t.Context(), zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	return logs
}

// TestProvisionLeavesNothing: a configuration can be checked beside a live server, and on a machine of CI.
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
	link := filepath.Join(dir, "loop")
	if err := os.Symlink(link, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "is a directory", "{env.CADDY_MAPS_NOT_SET}": "empty", link: "loop"} {
		if err := (&stores.SQLite{Path: path}).Provision(caddy.Context{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

// TestSQLiteKey: a file has one key under any path.
func TestSQLiteKey(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "data", "accounts.db")
	t.Chdir(dir)
	t.Setenv("CADDY_MAPS_DIR", "data")
	for name, target := range map[string]string{
		"elsewhere": "data", "db": "elsewhere/accounts.db", "absolute": filepath.Join(dir, "db"),
	} {
		if err := os.Symlink(target, name); err != nil { // to what is not there yet
			t.Fatal(err)
		}
	}
	for _, made := range []bool{false, true} {
		if made {
			logs := open(t, provisioned(t, "db"))
			if logs.FilterField(zap.String("path", want)).Len() != 1 {
				t.Errorf("the log does not say which file was opened: %v", logs.All())
			}
		}
		for _, path := range []string{want, "data/accounts.db", "./data/../data//accounts.db", "elsewhere/accounts.db", "db",
			"absolute", "{env.CADDY_MAPS_DIR}/accounts.db"} {
			if got := provisioned(t, path).Key(); got != want {
				t.Errorf("file made %v: %q is %s, want %s", made, path, got, want)
			}
		}
	}
	if got := provisioned(t, "data/other.db").Key(); got == want {
		t.Error("two files have one key")
	}
}

// TestDirectoryModes: a directory that others may write to is named in the log and left as it is; one that the store
// makes is only for this user.
func TestDirectoryModes(t *testing.T) {
	for mode, warned := range map[os.FileMode]bool{
		0o700: false, 0o755: false, 0o777: true, 0o775: true, 0o702: true, 0o777 | os.ModeSticky: false,
	} {
		dir := filepath.Join(t.TempDir(), "data")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		logs := open(t, provisioned(t, filepath.Join(dir, "accounts.db")))
		if got := logs.FilterLevelExact(zap.WarnLevel).Len() > 0; got != warned {
			t.Errorf("mode %v: warned is %v, want %v", mode, got, warned)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode()&(os.ModePerm|os.ModeSticky) != mode {
			t.Errorf("mode %v has become %v, error %v", mode, info.Mode(), err)
		}
	}
	dir := filepath.Join(t.TempDir(), "made", "deep")
	open(t, provisioned(t, filepath.Join(dir, "accounts.db")))
	for _, made := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(made); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v, error %v", made, info.Mode(), err)
		}
	}
}
