package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A server starts on a copy that another one made while it runs, and everything confirmed before the copy is there.
func TestBackup(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	user := s.userToken(t, "backup")
	acc := s.create(t, user, nil)
	token, refresh := s.exchange(t, acc.ClientToken, acc.ServerToken)
	copied := filepath.Join(t.TempDir(), "copy.db")
	for range 2 { // the second copy replaces the first
		out, err := s.command(t.Context(), "maps", "backup", copied, "--address", s.admin).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), copied+": ") {
			t.Fatalf("backup: %v\n%s", err, out)
		}
		if info, err := os.Stat(copied); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, error %v; want mode 0600", info.Mode(), err)
		}
		if left, err := os.ReadDir(filepath.Dir(copied)); err != nil || len(left) != 1 {
			t.Errorf("there are %d files, error %v; want 1", len(left), err)
		}
	}
	s.send(t, call{method: "DELETE", path: accounts + "/" + acc.ID, bearer: user}).want(204)
	restored := newServer(t)
	restored.store = copied
	restored.run(t)
	restored.send(t, call{path: reverse + place, bearer: token}).want(200)
	restored.send(t, refreshCall(refresh)).want(200)
	restored.exchange(t, acc.ClientToken, acc.ServerToken)
}

func TestBackupRefused(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	dir, others := t.TempDir(), t.TempDir()
	key := filepath.Join(others, "kek")
	if err := os.WriteFile(key, []byte("a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "new.db"), filepath.Join(others, "link")); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"the store itself": {asJSON(t, map[string]string{"output": s.store}), 400, "it is the store itself"},
		"a directory":      {asJSON(t, map[string]string{"output": dir}), 400, "it is a directory"},
		"no directory": {asJSON(t, map[string]string{"output": filepath.Join(dir, "none", "x.db")}), 400,
			"no such file or directory"},
		"a device":     {asJSON(t, map[string]string{"output": os.DevNull}), 400, "not a regular file"},
		"a link":       {asJSON(t, map[string]string{"output": filepath.Join(others, "link")}), 400, "not a regular file"},
		"another file": {asJSON(t, map[string]string{"output": key}), 400, "not a backup"},
		"missing":      {`{}`, 400, "output: missing"},
	} {
		t.Run(name, func(t *testing.T) {
			var body struct{ Error string }
			s.sendAdmin(t, call{method: "POST", path: "/maps/backup", contentType: jsonType,
				body: test.body}).want(test.status).into(&body)
			if !strings.Contains(body.Error, test.want) {
				t.Errorf("error %q, want one with %q", body.Error, test.want)
			}
		})
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left are %v, error %v", left, err)
	}
}
