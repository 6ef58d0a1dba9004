package regions

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

var dover, newcomer = testregion.Dover(), testregion.Newcomer()

var (
	firstData  = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	secondData = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
)

// testWatched is a source of its own, outside the pool, that has been started.
func testWatched(t testing.TB, path string) (*Watched, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zapcore.InfoLevel)
	s := NewWatched(Options{Path: path, Logger: zap.New(core)})
	t.Cleanup(func() { _ = s.Destruct() })
	s.every = time.Hour // the test looks
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s, logs
}

func pinned(t testing.TB, s *Watched) *Pinned {
	t.Helper()
	p, err := s.pin()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// mappings counts how often a directory's files are mapped into memory; -1 where the system does not tell.
func mappings(dir string) int {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return -1
	}
	return strings.Count(string(text), dir)
}

// nothingMapped fails if a directory's files stay mapped. What a look has opened is closed a moment after the end.
func nothingMapped(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); mappings(dir) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d mappings are left", mappings(dir))
		}
	}
}

func TestSwap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	s, logs := testWatched(t, path)
	old := pinned(t, s)

	if err := s.Look(t.Context(), false); err != nil || pinned(t, s) != old {
		t.Errorf("an unchanged file was opened anew: %v", err)
	}
	old.Release()
	testregion.Write(t, path, secondData, 2, dover, newcomer)
	if err := s.Look(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	p := pinned(t, s)
	defer p.Release()
	if covered, err := p.Covers(newcomer); p == old || !covered || err != nil {
		t.Errorf("the new file is not served: %v, %v", covered, err)
	}
	if covered, err := old.Covers(dover); !covered || err != nil {
		t.Errorf("the old file cannot be read by whoever holds it: %v, %v", covered, err)
	}
	old.Release()
	if old.File.Acquire() {
		t.Error("the old file is still open")
	}
	status := s.status()
	if status.Status != OK || !status.Timestamp.Equal(secondData) || status.Checksum != p.File.Checksum() ||
		status.Problem != nil {
		t.Errorf("status: %+v", status)
	}
	if n := logs.FilterMessage("a new region file is served").Len(); n != 1 {
		t.Errorf("%d lines about the new file", n)
	}

	// It was verified before it was swapped in, and is not read again.
	if err := s.Look(t.Context(), true); err != nil || s.current.Load() != p {
		t.Errorf("a file that was verified was opened again: %v", err)
	}
}

// A link that is pointed at another file is a new file.
func TestSwapByLink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "current.region")
	for i, name := range []string{"a.region", "b.region"} {
		testregion.Write(t, filepath.Join(dir, name), firstData.AddDate(i, 0, 0), 1, dover)
	}
	if err := os.Symlink("a.region", link); err != nil {
		t.Fatal(err)
	}
	s, _ := testWatched(t, link)
	if err := os.Symlink("b.region", link+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+".new", link); err != nil {
		t.Fatal(err)
	}
	if err := s.Look(t.Context(), false); err != nil || !s.status().Timestamp.Equal(secondData) {
		t.Errorf("%v, %+v", err, s.status())
	}
}

// Files are replaced all the time while requests read them: no request fails, and nothing stays mapped.
func TestSwapUnderLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.region")
	testregion.Write(t, path, firstData, 20_000, dover)
	s, _ := testWatched(t, path)
	var stop atomic.Bool
	var served atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for !stop.Load() {
				p, err := s.pin()
				if err != nil {
					t.Error(err)
					return
				}
				if covered, err := p.Covers(dover); !covered || err != nil {
					t.Errorf("covered %v, %v", covered, err)
				}
				if _, err := p.File.Info(); err != nil {
					t.Error(err)
				}
				p.Release()
				served.Add(1)
			}
		})
	}
	for i := range 30 {
		testregion.Write(t, path, firstData.Add(time.Duration(i)*time.Hour), 20_000+i, dover)
		if err := s.Look(t.Context(), i%2 == 0); err != nil {
			t.Error(err)
		}
		for before := served.Load(); served.Load() < before+4 && !t.Failed(); {
			runtime.Gosched()
		}
	}
	stop.Store(true)
	group.Wait()
	if n := mappings(dir); n > 1 {
		t.Errorf("%d mappings are left", n)
	}
	if err := s.Destruct(); err != nil {
		t.Fatal(err)
	}
	if n := mappings(dir); n > 0 {
		t.Errorf("%d mappings are left after the end", n)
	}
}

// A request whose configuration has been replaced is still served, and leaves nothing open.
func TestPinAfterTheEnd(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	s, _ := testWatched(t, path)
	during := pinned(t, s)
	if err := s.Destruct(); err != nil {
		t.Fatal(err)
	}
	if err := s.Look(t.Context(), true); err != nil {
		t.Errorf("a look after the end: %v", err)
	}
	after := pinned(t, s)
	for name, p := range map[string]*Pinned{"before": during, "after": after} {
		if covered, err := p.Covers(dover); !covered || err != nil {
			t.Errorf("pinned %s the end: %v, %v", name, covered, err)
		}
		p.Release()
		if p.File.Acquire() {
			t.Errorf("pinned %s the end: still open", name)
		}
	}
}

func TestPinCostsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	s, _ := testWatched(t, path)
	if n := testing.AllocsPerRun(100, func() { pinned(t, s).Release() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() {
		if covered, err := Ask(s.pin, func(p *Pinned) (bool, error) { return p.Covers(dover) }); !covered || err != nil {
			t.Errorf("%v, %v", covered, err)
		}
	}); n > 0 {
		t.Errorf("%v allocations to ask", n)
	}
}

// What a request pays for a region that may be swapped and damaged: the reference, the guard against faults, and the
// question whether the file was changed in place.
func BenchmarkAsk(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.region")
	testregion.Write(b, path, firstData, 1, dover)
	s, _ := testWatched(b, path)
	b.ReportAllocs()
	for b.Loop() {
		if covered, err := Ask(s.pin, func(p *Pinned) (bool, error) { return p.Covers(dover) }); !covered || err != nil {
			b.Fatal(covered, err)
		}
	}
}

// The watcher finds an awaited file, and a new one, by itself.
func TestWatch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.region")
	s := NewWatched(Options{Path: path, Awaited: true, Logger: zap.NewNop()})
	defer s.Destruct()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	for i, data := range []time.Time{firstData, secondData} {
		testregion.Write(t, path, data, 1+i, dover)
		for deadline := time.Now().Add(3 * lookEvery); !s.status().Timestamp.Equal(data); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("not noticed: %+v", s.status())
			}
		}
	}
}
