package mapsapp

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
)

// hangingStat is os.Stat on a file system that can be made to hang.
type hangingStat struct {
	mu      sync.Mutex
	hanging chan struct{} // closed when it goes on; nil while it does
}

func (h *hangingStat) stat(path string) (fs.FileInfo, error) {
	h.mu.Lock()
	hanging := h.hanging
	h.mu.Unlock()
	if hanging != nil {
		<-hanging
	}
	return os.Stat(path)
}

// hang makes it hang until the function that is returned is called.
func (h *hangingStat) hang() (goOn func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hanging = make(chan struct{})
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		close(h.hanging)
		h.hanging = nil
	})
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
	path := filepath.Join(t.TempDir(), "x.region")
	writeRegion(t, path, firstData, 1, dover)
	s, logs := testSource(t, path)
	var h hangingStat
	s.stat = h.stat
	goOn := h.hang()
	defer goOn()

	// Before anybody has noticed, requests and the status go on.
	looked := make(chan error, 1)
	go func() { looked <- s.look(false) }()
	for len(s.turn) == 0 {
		time.Sleep(time.Millisecond)
	}
	atOnce(t, "the status", func() {
		if status := s.status(); status.Status != ok {
			t.Errorf("status before it is noticed: %+v", status)
		}
	})
	pinned(t, s).Release()

	if err := <-looked; !errors.Is(err, errHangs) {
		t.Fatalf("look: %v", err)
	}
	atOnce(t, "the status", func() {
		if status := s.status(); status.Status != unavailable || !status.unusable || !errors.Is(status.Problem, errHangs) {
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
		group.Go(func() { _ = s.look(false) })
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
	if err := s.look(false); err != nil || s.status().Status != ok {
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
	writeRegion(t, path, firstData, 1, dover)
	s, _ := testSource(t, path)
	writeRegion(t, path, secondData, 2, dover, newcomer)
	var h hangingStat
	s.stat = h.stat
	goOn := h.hang()
	defer goOn()
	looked := make(chan error, 1)
	go func() { looked <- s.look(false) }()
	for len(s.turn) == 0 {
		time.Sleep(time.Millisecond)
	}
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
