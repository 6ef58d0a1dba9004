//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A named pipe, or a device, that takes a region file's place keeps nobody waiting: not health and status, not a
// reload, not the end.
func TestPipeInPlaceOfARegion(t *testing.T) {
	s := newServer(t)
	t.Cleanup(func() { s.end(t) })
	s.region = filepath.Join(s.dir, "delaware.region")
	copyFile(t, region, s.region)
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	acc := s.create(t, s.userToken(t, "pipe"), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	pipe := filepath.Join(s.dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	original, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	const limit = 5 * time.Second // all of them are much faster
	timed := func(what string, f func()) {
		t.Helper()
		begun := time.Now()
		f()
		if took := time.Since(begun); took > limit {
			t.Errorf("%s took %v", what, took)
		}
	}
	for _, odd := range []string{pipe, "/dev/zero"} {
		if err := os.Symlink(odd, s.region+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(s.region+".new", s.region); err != nil {
			t.Fatal(err)
		}
		timed("POST /maps/regions/reload", func() {
			s.sendAdmin(t, call{method: "POST", path: "/maps/regions/reload"}).want(500)
		})
		timed("health", func() {
			if a := s.send(t, call{path: "/healthz"}).want(200); !strings.Contains(string(a.body), `"status":"stale"`) {
				t.Errorf("health: %s", a.body)
			}
		})
		timed("the status", func() { s.sendAdmin(t, call{path: "/maps/status"}).want(200) })
		timed("the regions", func() { s.sendAdmin(t, call{path: "/maps/regions"}).want(200) })
		timed("a request", func() { s.send(t, call{path: reverse + "?lat=39.15&lon=-75.52", bearer: access}).want(200) })
		timed("a reload", func() {
			text := strings.Replace(string(original), "max_points 10000", "max_points 9999", 1) + "\n# " + odd + "\n"
			if status, body := s.reload(t, text); status != 200 {
				t.Errorf("a reload: %d %s", status, body)
			}
		})
		timed("a reload that is refused", func() {
			text := strings.Replace(string(original), "{$MAPS_REGION:./data/delaware.region}", odd, 1)
			if status, body := s.reload(t, text); status != 400 || !strings.Contains(body, "not a regular file") {
				t.Errorf("a configuration with %s as region: %d %s", odd, status, body)
			}
		})
	}
	timed("the end", func() {
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-s.exited
	})

	// And as the first thing that a server finds there.
	begun := time.Now()
	out, err := s.command(t.Context(), "run", "--config", s.config, "--adapter", "caddyfile").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "not a regular file") || time.Since(begun) > 30*time.Second {
		t.Errorf("a start: %v after %v\n%s", err, time.Since(begun), out)
	}
}
