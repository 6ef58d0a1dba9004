package integration

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// A copy that is taken under writes holds everything that was answered before it, and a server starts on it.
func TestBackup(t *testing.T) {
	t.Parallel()
	s := startRaced(t)
	user := s.userToken(t, "backup")
	acc := s.create(t, user, nil)
	token, refresh := s.exchange(t, acc.ClientToken, acc.ServerToken)
	stop := make(chan struct{})
	var load sync.WaitGroup
	var mu sync.Mutex
	var made []serviceAccount
	for range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				one := s.create(t, user, nil)
				s.exchange(t, one.ClientToken, one.ServerToken)
				mu.Lock()
				made = append(made, one)
				mu.Unlock()
			}
		})
	}
	dir := t.TempDir()
	replaced := filepath.Join(dir, "4.db") // by the last one
	out, err := s.command(t.Context(), "maps", "backup", "--output", replaced, "--address", s.admin).CombinedOutput()
	if err != nil {
		t.Fatalf("backup: %v\n%s", err, out)
	}
	if err := os.Chmod(replaced, 0o644); err != nil {
		t.Fatal(err)
	}
	var last string
	var before []serviceAccount
	for i := range 5 {
		last = filepath.Join(dir, string(rune('0'+i))+".db")
		mu.Lock()
		before = append(before[:0], made...)
		mu.Unlock()
		out, err := s.command(t.Context(), "maps", "backup", "--output", last, "--address", s.admin).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), last+": ") {
			t.Fatalf("backup: %v\n%s", err, out)
		}
		if info, err := os.Stat(last); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, error %v; want mode 0600", info.Mode(), err)
		}
	}
	close(stop)
	load.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 5 {
		t.Errorf("there are %d files, error %v; want 5", len(left), err)
	}
	s.send(t, call{method: "DELETE", path: accounts + "/" + acc.ID, bearer: user}).want(204)

	restored := newServer(t)
	restored.store = last
	restored.run(t)
	restored.send(t, call{path: reverse + place, bearer: token}).want(200)
	restored.send(t, refreshCall(refresh)).want(200)
	if len(before) == 0 {
		t.Error("nothing was written before the last copy was taken")
	}
	for _, one := range before {
		var shown accountBody
		restored.send(t, call{path: accounts + "/" + one.ID, bearer: user}).want(200).into(&shown)
		restored.exchange(t, one.ClientToken, one.ServerToken)
	}
	t.Logf("%d accounts before the last copy, %d at the end", len(before), len(made))
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
		"a device":      {asJSON(t, map[string]string{"output": os.DevNull}), 400, "not a regular file"},
		"a link":        {asJSON(t, map[string]string{"output": filepath.Join(others, "link")}), 400, "not a regular file"},
		"another file":  {asJSON(t, map[string]string{"output": key}), 400, "not a backup"},
		"a region":      {asJSON(t, map[string]string{"output": s.region}), 400, "not a backup"},
		"relative":      {`{"output":"x.db"}`, 400, "absolute path"},
		"missing":       {`{}`, 400, "output: missing"},
		"unknown field": {`{"file":"/tmp/x"}`, 400, "file"},
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

func TestBackupOfPostgres(t *testing.T) {
	leaveOut(t, "starts a cluster")
	t.Parallel()
	c := startCluster(t, pgtest.DSN(t))
	target := filepath.Join(t.TempDir(), "copy.db")
	out, err := c.nodes[0].command(t.Context(), "maps", "backup", "--output", target, "--address",
		c.nodes[0].admin).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "pg_dump") {
		t.Errorf("error %v\n%s", err, out)
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("there is a file")
	}
}
