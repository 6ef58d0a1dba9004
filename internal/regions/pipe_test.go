//go:build unix

package regions

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/base/files"
)

// TestPipeAtThePath: a named pipe or a device at a region's path is refused without waiting for it, and the file before
// it is served.
func TestPipeAtThePath(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, odd := range []string{pipe, "/dev/zero", dir} {
		f := newFixture(t)
		link(t, f.path, odd)
		started := NewWatched(Options{Path: f.path, Logger: zap.NewNop()})
		defer started.Destruct()
		for what, try := range map[string]func() error{
			"a poll":           func() error { return f.is(t, false, Stale, firstData) },
			"a verifying poll": func() error { return f.is(t, true, Stale, firstData) },
			"a start":          started.Start,
		} {
			atOnce(t, what, func() {
				if err := try(); !errors.Is(err, files.ErrNotRegular) {
					t.Errorf("%s of %s: %v", what, odd, err)
				}
			})
		}
		f.serves(t)
	}
}
