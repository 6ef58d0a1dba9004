package regions

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// A file that is awaited is served when it comes. Until then requests are answered 503, which costs neither a look at
// the disk nor a line in the log.
func TestAwaited(t *testing.T) {
	for name, before := range map[string][]byte{"nothing": nil, "no region file": []byte("no region file")} {
		path := filepath.Join(t.TempDir(), "x.region")
		if before != nil {
			if err := os.WriteFile(path, before, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		core, logs := observer.New(zapcore.InfoLevel)
		s := NewWatched(Options{Path: path, Awaited: true, Logger: zap.New(core)})
		s.every = time.Hour // the test looks
		if err := s.Start(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer s.Destruct()
		for range 3 {
			if _, err := s.pin(); !errors.Is(err, ErrUnavailable) {
				t.Errorf("%s: a request: %v", name, err)
			}
			if err := s.Look(t.Context(), false); err == nil {
				t.Errorf("%s: it was found", name)
			}
		}
		if n, want := logs.Len(), min(len(before), 1); n != want {
			t.Errorf("%s: %d lines in the log, want %d", name, n, want)
		}
		if got := s.status(); got.Status != Unavailable || !got.Unusable || got.Problem == nil {
			t.Errorf("%s: %+v", name, got)
		}
		if got := s.Damaged(); got != (before != nil) {
			t.Errorf("%s: another file is needed: %v", name, got)
		}
		testregion.Write(t, path, firstData, 1, dover)
		if err := s.Look(t.Context(), false); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		serves(t, s)
		if got := s.status(); got.Status != OK || got.Unusable || got.Problem != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
