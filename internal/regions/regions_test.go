package regions

import (
	"errors"
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

// fixture is a watched path, which is polled at when the test does.
type fixture struct {
	*Watched
	path string
	logs *observer.ObservedLogs
}

// newFixture has a file at its path, and has been started.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.region")
	testregion.Write(t, path, firstData, 1, dover)
	return watch(t, Options{Path: path})
}

func watch(t testing.TB, o Options) *fixture {
	t.Helper()
	core, logs := observer.New(zapcore.InfoLevel)
	o.Logger = zap.New(core)
	f := &fixture{NewWatched(o), o.Path, logs}
	t.Cleanup(func() { _ = f.Destruct() })
	f.every = time.Hour
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) pinned(t testing.TB) *Pinned {
	t.Helper()
	p, err := f.pin()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// serves fails unless the region covers Dover.
func (f *fixture) serves(t testing.TB) {
	t.Helper()
	p := f.pinned(t)
	defer p.Release()
	covers(t, p)
}

func covers(t testing.TB, p *Pinned) {
	t.Helper()
	if covered, err := p.Covers(dover); !covered || err != nil {
		t.Errorf("covered %v, %v", covered, err)
	}
}

// is polls the path, and checks the status afterwards. The error has to be nil where a problem is not expected.
func (f *fixture) is(t testing.TB, verify bool, status string, data time.Time) error {
	t.Helper()
	err := f.Poll(t.Context(), verify)
	got := f.status()
	if got.Status != status || !got.Timestamp.Equal(data) || (err == nil) != (status == OK) || (got.Problem == nil) != (status == OK) {
		t.Errorf("error %v, status %+v; want %s of %v", err, got, status, data)
	}
	return err
}

func (f *fixture) errors() int { return f.logs.FilterLevelExact(zapcore.ErrorLevel).Len() }

// put renames a file into place.
func put(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path+".new", content, 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

// link replaces a path by a link.
func link(t testing.TB, path, target string) {
	t.Helper()
	if err := errors.Join(os.Symlink(target, path+".new"), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

// written is the content of a newer file, which is longer with more words.
func written(t testing.TB, words int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "y.region")
	testregion.Write(t, path, secondData, words, dover, newcomer)
	return readFile(t, path)
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// mappings counts how often a directory's files are mapped into memory; 0 where the system does not tell.
func mappings(dir string) int {
	text, _ := os.ReadFile("/proc/self/maps")
	return strings.Count(string(text), dir)
}

// eventually waits for a state.
func eventually(t testing.TB, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !reached(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not seen: %s", what)
		}
	}
}

// unmapped waits until no file of the directory is mapped: what a poll has opened is closed a moment after the end.
func (f *fixture) unmapped(t testing.TB) {
	t.Helper()
	eventually(t, "unmapped files", func() bool { return mappings(filepath.Dir(f.path)) == 0 })
}

func TestSwap(t *testing.T) {
	f := newFixture(t)
	old := f.pinned(t)
	f.is(t, false, OK, firstData)
	if again := f.pinned(t); again != old {
		t.Error("an unchanged file was opened anew")
	}
	old.Release()
	put(t, f.path, written(t, 2))
	f.is(t, false, OK, secondData)
	p := f.pinned(t)
	defer p.Release()
	if covered, err := p.Covers(newcomer); p == old || !covered || err != nil || f.status().Checksum != p.File.Checksum() {
		t.Errorf("the new file is not served: %v, %v", covered, err)
	}
	covers(t, old) // for the request that holds it
	if old.Release(); old.File.Acquire() {
		t.Error("the old file is still open")
	}
	if n := f.logs.FilterMessage("a new region file is served").Len(); n != 1 {
		t.Errorf("%d lines about the new file", n)
	}
	// It was verified before it was swapped in, and is not read again.
	if f.is(t, true, OK, secondData); f.current.Load() != p {
		t.Error("a file that was verified was opened again")
	}
	// A link that is pointed at another file is a new file.
	other := filepath.Join(t.TempDir(), "other.region")
	testregion.Write(t, other, firstData, 1, dover)
	link(t, f.path, other)
	f.is(t, false, OK, firstData)
}

// TestSwapUnderLoad: files are replaced all the time while requests read them. No request fails, and nothing stays mapped.
func TestSwapUnderLoad(t *testing.T) {
	f := newFixture(t)
	var stop atomic.Bool
	var served atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for ; !stop.Load(); served.Add(1) {
				f.serves(t)
			}
		})
	}
	for i := range 30 {
		testregion.Write(t, f.path, firstData.Add(time.Duration(i)*time.Hour), 20_000+i, dover)
		f.is(t, i%2 == 0, OK, firstData.Add(time.Duration(i)*time.Hour))
		for before := served.Load(); served.Load() < before+4 && !t.Failed(); {
			runtime.Gosched()
		}
	}
	stop.Store(true)
	group.Wait()
	if n := mappings(filepath.Dir(f.path)); n > 1 {
		t.Errorf("%d mappings are left", n)
	}
	_ = f.Destruct()
	f.unmapped(t)
}

// TestPinAfterTheEnd: a request whose configuration has been replaced is still served, and leaves nothing open.
func TestPinAfterTheEnd(t *testing.T) {
	f := newFixture(t)
	during := f.pinned(t)
	_ = f.Destruct()
	if err := f.Poll(t.Context(), true); err != nil {
		t.Errorf("a poll after the end: %v", err)
	}
	for _, p := range []*Pinned{during, f.pinned(t)} {
		covers(t, p)
		if p.Release(); p.File.Acquire() {
			t.Error("it is still open")
		}
	}
}

func TestPinAllocates(t *testing.T) {
	f := newFixture(t)
	if n := testing.AllocsPerRun(100, func() { f.pinned(t).Release() }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { f.ask(t) }); n > 0 {
		t.Errorf("%v allocations to ask", n)
	}
}

func (f *fixture) ask(t testing.TB) {
	if covered, err := Ask(f.pin, func(p *Pinned) (bool, error) { return p.Covers(dover) }); !covered || err != nil {
		t.Errorf("%v, %v", covered, err)
	}
}

// TestAwaited: a file that is awaited is served when it comes. Until then requests get ErrUnavailable, which costs neither
// an access to the disk nor a line in the log.
func TestAwaited(t *testing.T) {
	for _, before := range []string{"", "no region file"} {
		path := filepath.Join(t.TempDir(), "x.region")
		if before != "" {
			put(t, path, []byte(before))
		}
		f := watch(t, Options{Path: path, Awaited: true})
		for range 3 {
			if _, err := f.pin(); !errors.Is(err, ErrUnavailable) {
				t.Errorf("a request: %v", err)
			}
			f.is(t, false, Unavailable, time.Time{})
		}
		if n := f.logs.Len(); n != min(len(before), 1) || !f.status().Unusable || f.Damaged() != (before != "") {
			t.Errorf("%q: %d lines in the log, %+v", before, n, f.status())
		}
		testregion.Write(t, path, firstData, 1, dover)
		f.is(t, false, OK, firstData)
		f.serves(t)
	}
}

// TestWatch: an awaited file, and a new one, are found without being asked for.
func TestWatch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.region")
	s := NewWatched(Options{Path: path, Awaited: true, Logger: zap.NewNop()})
	defer s.Destruct()
	s.every = 10 * time.Millisecond
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	for i, data := range []time.Time{firstData, secondData} {
		testregion.Write(t, path, data, 1+i, dover)
		eventually(t, "the file", func() bool { return s.status().Timestamp.Equal(data) })
	}
}
