package regions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/mapsedge/caddy-maps/internal/apierror"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// lookThatHangs begins a look at a file whose file system hangs until goOn is called.
func lookThatHangs(s *Watched) (looked <-chan error, goOn func()) {
	released := make(chan struct{})
	s.stat = func(path string) (fs.FileInfo, error) {
		<-released
		return os.Stat(path)
	}
	results := make(chan error, 1)
	go func() { results <- s.Look(false) }()
	for len(s.turn) == 0 {
		time.Sleep(time.Millisecond)
	}
	return results, sync.OnceFunc(func() { close(released) })
}

// atOnce fails when something that may not wait for the file does.
func atOnce(t *testing.T, what string, f func()) {
	t.Helper()
	begun := time.Now()
	f()
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("%s took %v", what, took)
	}
}

// While the file system hangs, nobody waits for it without a bound, and the status is told at once. What was being
// done goes on when it answers again.
func TestHangingFileSystem(t *testing.T) {
	if testing.Short() {
		t.Skip("waits ten seconds, until two looks are given up: done without -short")
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	s, logs := testWatched(t, path)
	looked, goOn := lookThatHangs(s)
	defer goOn()

	// Before anybody has noticed, requests and the status go on.
	atOnce(t, "the status", func() {
		if status := s.status(); status.Status != OK {
			t.Errorf("status before it is noticed: %+v", status)
		}
	})
	pinned(t, s).Release()

	if err := <-looked; !errors.Is(err, errHangs) {
		t.Fatalf("look: %v", err)
	}
	atOnce(t, "the status", func() {
		if status := s.status(); status.Status != Unavailable || !status.Unusable || !errors.Is(status.Problem, errHangs) {
			t.Errorf("status: %+v", status)
		}
	})
	atOnce(t, "a request", func() {
		var answer apierror.Error
		if _, err := s.pin(); !errors.As(err, &answer) || answer.Status != 503 {
			t.Errorf("a request: %v", err)
		}
	})
	// However often one looks, it is one goroutine that hangs.
	before := runtime.NumGoroutine()
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() { _ = s.Look(false) })
	}
	group.Wait()
	deadline := time.Now().Add(10 * time.Second) // those that gave up may take a moment to end
	for runtime.NumGoroutine() > before+5 {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines after 50 more looks, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}

	goOn()
	deadline = time.Now().Add(10 * time.Second)
	for s.hangs.Load() {
		if time.Now().After(deadline) {
			t.Fatal("it is not noticed that the file system answers")
		}
		time.Sleep(time.Millisecond)
	}
	if err := s.Look(false); err != nil || s.status().Status != OK {
		t.Errorf("after it: %v, %+v", err, s.status())
	}
	pinned(t, s).Release()
	if n := logs.FilterLevelExact(zapcore.ErrorLevel).Len(); n != 1 {
		t.Errorf("%d errors in the log, want one for the time that it hung", n)
	}
}

// The end does not wait for a file system that hangs, and a file that is opened after all is closed again.
func TestEndWhileHanging(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	s, _ := testWatched(t, path)
	testregion.Write(t, path, secondData, 2, dover, newcomer)
	looked, goOn := lookThatHangs(s)
	defer goOn()
	atOnce(t, "the end", func() {
		if err := s.Destruct(); err != nil {
			t.Error(err)
		}
	})
	goOn()
	if err := <-looked; err != nil {
		t.Error(err)
	}
	if n := mappings(dir); n > 0 {
		t.Errorf("%d mappings are left", n)
	}
}
