//go:build unix

package regions

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/base/files"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// A named pipe or a device at a region's path is refused without waiting for it, and the file before it is served.
func TestPipeAtThePath(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, odd := range []string{pipe, "/dev/zero", dir} {
		path := filepath.Join(t.TempDir(), "x.region")
		testregion.Write(t, path, firstData, 1, dover)
		s, _ := testWatched(t, path)
		if err := os.Symlink(odd, path+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		for _, force := range []bool{false, true} {
			atOnce(t, "a look", func() {
				if err := s.Look(t.Context(), force); !errors.Is(err, files.ErrNotRegular) {
					t.Errorf("%s: %v", odd, err)
				}
			})
		}
		if status := s.status(); status.Status != Stale {
			t.Errorf("%s: %+v", odd, status)
		}
		serves(t, s)

		odd := NewWatched(Options{Path: path, Logger: zap.NewNop()})
		defer odd.Destruct()
		atOnce(t, "the start", func() {
			if err := odd.Start(); !errors.Is(err, files.ErrNotRegular) {
				t.Errorf("%s: started: %v", path, err)
			}
		})
	}
}
