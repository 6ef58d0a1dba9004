package regions

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/region"
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

// TestHangingFileSystem: while the file system hangs, at the path or in a new file, nothing waits for it without a bound,
// and requests get ErrUnavailable. When it responds again, everything goes on.
func TestHangingFileSystem(t *testing.T) {
	for _, where := range []string{"stat", "verification"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.timeout = 100 * time.Millisecond
			released := make(chan struct{})
			goOn := sync.OnceFunc(func() { close(released) })
			defer goOn()
			if where == "stat" {
				f.stat = func(path string) (fs.FileInfo, error) {
					<-released
					return os.Stat(path)
				}
			} else {
				f.verify = func(file *region.File, ctx context.Context) error {
					<-released
					return file.VerifyWhole(ctx)
				}
			}
			put(t, f.path, written(t, 1))
			for range 50 {
				if err := f.is(t, false, Unavailable, firstData); !errors.Is(err, errHangs) || !f.status().Unusable {
					t.Fatalf("poll: %v", err)
				}
				atOnce(t, "a request", func() {
					if _, err := f.pin(); !errors.Is(err, ErrUnavailable) {
						t.Errorf("a request: %v", err)
					}
				})
			}
			goOn()
			eventually(t, "a file system that responds", func() bool { return !f.hangs.Load() })
			f.is(t, false, OK, secondData)
			if f.serves(t); f.errors() != 1 {
				t.Errorf("%d errors in the log, want one for the time that it hung", f.errors())
			}
		})
	}
}

// TestSlowVerification: a verification that takes long, and goes on, is no file system that hangs.
func TestSlowVerification(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.timeout = 200 * time.Millisecond
	f.verify = func(file *region.File, ctx context.Context) error {
		coverage, err := region.Section[uint32](file, "coverage")
		if err != nil {
			return err
		}
		for i := range 20 { // a block each time
			coverage.At(i * (coverage.Len() / 20))
			time.Sleep(50 * time.Millisecond)
		}
		return file.VerifyWhole(ctx)
	}
	put(t, f.path, written(t, 2_000_000))
	f.is(t, false, OK, secondData)
}

// TestStartAndEndWhileHanging: a start does not wait for a file system that hangs, nor does the end. A file that is opened
// after all is closed again.
func TestStartAndEndWhileHanging(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_ = f.Destruct()
	f.Watched = NewWatched(Options{Path: f.path, Awaited: true, Logger: zap.NewNop()})
	f.timeout = 100 * time.Millisecond
	released := make(chan struct{})
	f.stat = func(path string) (fs.FileInfo, error) {
		<-released
		return os.Stat(path)
	}
	for range 2 {
		if err := f.Start(); !errors.Is(err, errHangs) {
			t.Errorf("started: %v", err)
		}
	}
	atOnce(t, "the end", func() { _ = f.Destruct() })
	close(released)
	if err := f.poll(false); err != nil || f.current.Load() != nil {
		t.Errorf("a poll that ends after all: %v", err)
	}
	f.unmapped(t)
}
