package regions

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// atOnce fails when something that may not wait for the file does.
func atOnce(t *testing.T, what string, f func()) {
	t.Helper()
	begun := time.Now()
	f()
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("%s took %v", what, took)
	}
}

// While the file system hangs, looking at the path or reading a new file, nothing waits for it without a bound, and
// requests get 503. When it responds again, everything goes on.
func TestHangingFileSystem(t *testing.T) {
	for _, where := range []string{"stat", "verification"} {
		t.Run(where, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.region")
			testregion.Write(t, path, firstData, 1, dover)
			s, logs := testWatched(t, path)
			s.patience = 100 * time.Millisecond
			released := make(chan struct{})
			goOn := sync.OnceFunc(func() { close(released) })
			defer goOn()
			if where == "stat" {
				s.stat = func(path string) (fs.FileInfo, error) {
					<-released
					return os.Stat(path)
				}
			} else {
				s.verify = func(f *region.File, ctx context.Context) error {
					<-released
					return f.VerifyWhole(ctx)
				}
			}
			put(t, path, written(t, 1))
			if err := s.Look(t.Context(), false); !errors.Is(err, errHangs) {
				t.Fatalf("look: %v", err)
			}
			for range 50 {
				atOnce(t, "a look, a request and the status", func() {
					if err := s.Look(t.Context(), true); !errors.Is(err, errHangs) {
						t.Errorf("another look: %v", err)
					}
					if _, err := s.pin(); !errors.Is(err, ErrUnavailable) {
						t.Errorf("a request: %v", err)
					}
					status := s.status()
					if status.Status != Unavailable || !status.Unusable || !errors.Is(status.Problem, errHangs) {
						t.Errorf("status: %+v", status)
					}
				})
			}
			goOn()
			for deadline := time.Now().Add(10 * time.Second); s.hangs.Load(); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("it is not noticed that the file system responds")
				}
			}
			if err := s.Look(t.Context(), false); err != nil || s.status().Status != OK {
				t.Errorf("after it: %v, %+v", err, s.status())
			}
			if serves(t, s); !s.status().Timestamp.Equal(secondData) {
				t.Errorf("after it: %+v", s.status())
			}
			if n := logs.FilterLevelExact(zapcore.ErrorLevel).Len(); n != 1 {
				t.Errorf("%d errors in the log, want one for the time that it hung", n)
			}
		})
	}
}

// A verification that takes long, and goes on, is no file system that hangs.
func TestSlowVerification(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	s, _ := testWatched(t, path)
	s.patience = 200 * time.Millisecond
	s.verify = func(f *region.File, ctx context.Context) error {
		coverage, err := region.Section[uint32](f, "coverage")
		if err != nil {
			return err
		}
		for i := range 20 { // a block each time
			coverage.At(i * (coverage.Len() / 20))
			time.Sleep(50 * time.Millisecond)
		}
		return f.VerifyWhole(ctx)
	}
	put(t, path, written(t, 2_000_000))
	if err := s.Look(t.Context(), false); err != nil || s.status().Status != OK {
		t.Errorf("%v, %+v", err, s.status())
	}
}

// A start does not wait for a file system that hangs, nor does the end; what is opened after all is closed again.
func TestStartAndEndWhileHanging(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	released := make(chan struct{})
	s := NewWatched(Options{Path: path, Awaited: true, Logger: zap.NewNop()})
	s.patience = 100 * time.Millisecond
	s.stat = func(path string) (fs.FileInfo, error) {
		<-released
		return os.Stat(path)
	}
	for range 2 {
		atOnce(t, "the start", func() {
			if err := s.Start(); !errors.Is(err, errHangs) {
				t.Errorf("started: %v", err)
			}
		})
	}
	atOnce(t, "the end", func() { _ = s.Destruct() })
	close(released)
	if err := s.look(false); err != nil || s.current.Load() != nil {
		t.Errorf("a look that ends after all: %v", err)
	}
	nothingMapped(t, dir)
}
