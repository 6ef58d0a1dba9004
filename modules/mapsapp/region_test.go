package mapsapp

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/paulmach/orb"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

var (
	dover    = orb.Point{-75.52, 39.16}
	newcomer = orb.Point{-75.0, 40.0}
)

// writeRegion writes a region without places and roads that covers some positions, padded to the given number of coverage
// tiles, and renames it into place.
func writeRegion(t testing.TB, path string, data time.Time, tiles int, covers ...orb.Point) {
	t.Helper()
	w := new(region.Writer)
	var coverage []uint32
	for _, p := range covers {
		coverage = append(coverage, region.CoverageTile(p))
	}
	if len(coverage) == 2 && coverage[0] > coverage[1] {
		coverage[0], coverage[1] = coverage[1], coverage[0]
	}
	for i := len(coverage); i < tiles; i++ {
		coverage = append(coverage, 1<<24+uint32(i)) // tiles that are nowhere, behind those that are
	}
	region.AddCoverage(w, coverage)
	if err := w.Commit(t.Context(), path, region.Meta{Timestamp: data}); err != nil {
		t.Fatal(err)
	}
}

var (
	firstData  = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	secondData = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
)

// testSource is a source of its own, outside the pool, that has been started.
func testSource(t testing.TB, path string) (*regionSource, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zapcore.InfoLevel)
	s := newRegionSource(path, zap.New(core))
	s.watching = true // by the test alone
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !s.closed {
			_ = s.Destruct()
		}
	})
	return s, logs
}

func pinned(t testing.TB, s *regionSource) *Pinned {
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

func TestSwap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	writeRegion(t, path, firstData, 1, dover)
	s, logs := testSource(t, path)
	old := pinned(t, s)

	if err := s.look(false); err != nil || pinned(t, s) != old {
		t.Errorf("an unchanged file was opened anew: %v", err)
	}
	old.Release()
	writeRegion(t, path, secondData, 2, dover, newcomer)
	if err := s.look(false); err != nil {
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
	if status.Status != ok || !status.Timestamp.Equal(secondData) || status.Checksum != p.File.Checksum() || status.Problem != nil {
		t.Errorf("status: %+v", status)
	}
	if n := logs.FilterMessage("a new region file is served").Len(); n != 1 {
		t.Errorf("%d lines about the new file", n)
	}

	// Asked for expressly, also a file that looks unchanged is opened.
	if err := s.look(true); err != nil || s.current.Load() == p {
		t.Errorf("a forced look opened nothing: %v", err)
	}
}

// A link that is pointed at another file is a new file.
func TestSwapByLink(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "current.region")
	for i, name := range []string{"a.region", "b.region"} {
		writeRegion(t, filepath.Join(dir, name), firstData.AddDate(i, 0, 0), 1, dover)
	}
	if err := os.Symlink("a.region", link); err != nil {
		t.Fatal(err)
	}
	s, _ := testSource(t, link)
	if err := os.Symlink("b.region", link+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+".new", link); err != nil {
		t.Fatal(err)
	}
	if err := s.look(false); err != nil || !s.status().Timestamp.Equal(secondData) {
		t.Errorf("%v, %+v", err, s.status())
	}
}

// A new file that is no good leaves the old one in service, is tried once for each change, and gives one line when it stays.
func TestBadReplacement(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	writeRegion(t, path, firstData, 1, dover)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, logs := testSource(t, path)
	replace := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(path+".new", content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	lines := func() int { return logs.FilterLevelExact(zapcore.ErrorLevel).Len() }
	for name, content := range map[string][]byte{
		"empty": nil, "foreign": []byte("no region at all"), "truncated": whole[:len(whole)-1], "header only": whole[:4096],
	} {
		before := lines()
		replace(content)
		for look := range 4 {
			if err := s.look(false); err == nil {
				t.Fatalf("%s: taken", name)
			}
			if want := min(look, 1); lines()-before != want {
				t.Errorf("%s: %d lines after look %d, want %d", name, lines()-before, look, want)
			}
		}
		p := pinned(t, s)
		if covered, err := p.Covers(dover); !covered || err != nil {
			t.Errorf("%s: the old file does not serve: %v, %v", name, covered, err)
		}
		p.Release()
		if status := s.status(); status.Status != stale || status.Problem == nil {
			t.Errorf("%s: status %+v", name, status)
		}
	}
	before := lines()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.look(false); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("removed: %v", err)
		}
	}
	if lines()-before != 1 || s.status().Status != stale {
		t.Errorf("removed: %d lines, %+v", lines()-before, s.status())
	}
	replace(whole)
	if err := s.look(false); err != nil || s.status().Status != ok || s.status().Problem != nil {
		t.Errorf("repaired: %v, %+v", err, s.status())
	}
}

// A file that is cut short in place cannot be read any more: an error, never a crash, until the path holds a whole file.
func TestOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	writeRegion(t, path, firstData, 100_000, dover)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, logs := testSource(t, path)
	before := pinned(t, s)
	defer before.Release()
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	var damage *region.DamageError
	if _, err := before.Covers(dover); !errors.As(err, &damage) || before.Report(err) != err {
		t.Errorf("a read of a page that is gone: %v", err)
	}
	_ = before.Report(damage)
	reports := logs.FilterMessageSnippet("a region file is damaged")
	if reports.Len() != 1 || reports.All()[0].ContextMap()["path"] != path || reports.All()[0].ContextMap()["stack"] == nil {
		t.Errorf("reports of damage: %+v", reports.All())
	}
	for range 2 {
		if err := s.look(false); err == nil {
			t.Error("the truncated file was taken")
		}
	}
	if _, err := s.pin(); !errors.As(err, &damage) || s.status().Status != damaged {
		t.Errorf("after the look: %v, %+v", err, s.status())
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.look(false); err != nil || s.status().Status != ok {
		t.Errorf("written again: %v, %+v", err, s.status())
	}
	p := pinned(t, s)
	defer p.Release()
	if covered, err := p.Covers(dover); !covered || err != nil {
		t.Errorf("written again: %v, %v", covered, err)
	}
}

// Files are replaced all the time while requests read them: no request fails, and nothing stays mapped.
func TestSwapUnderLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.region")
	writeRegion(t, path, firstData, 20_000, dover)
	s, _ := testSource(t, path)
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
		writeRegion(t, path, firstData.Add(time.Duration(i)*time.Hour), 20_000+i, dover)
		if err := s.look(i%2 == 0); err != nil {
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
	writeRegion(t, path, firstData, 1, dover)
	s, _ := testSource(t, path)
	during := pinned(t, s)
	if err := s.Destruct(); err != nil {
		t.Fatal(err)
	}
	if err := s.look(true); err != nil {
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
	writeRegion(t, path, firstData, 1, dover)
	s, _ := testSource(t, path)
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

// What a request pays for a region that may be swapped and damaged: the reference, the guard against faults, and the question whether
// the file was changed in place.
func BenchmarkAsk(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.region")
	writeRegion(b, path, firstData, 1, dover)
	s, _ := testSource(b, path)
	b.ReportAllocs()
	for b.Loop() {
		if covered, err := Ask(s.pin, func(p *Pinned) (bool, error) { return p.Covers(dover) }); !covered || err != nil {
			b.Fatal(covered, err)
		}
	}
}

// A file that is written over in place while it is read: the answer is taken from the file as it is then, or is an error.
func TestAskWhileOverwritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("left out: Windows lets nobody write over a file that is mapped")
	}
	path := filepath.Join(t.TempDir(), "x.region")
	other := filepath.Join(t.TempDir(), "y.region")
	writeRegion(t, path, firstData, 1, dover)
	writeRegion(t, other, secondData, 1, newcomer)
	s, logs := testSource(t, path)
	content, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	changes := 1
	times := 0
	ask := func(p *Pinned) (bool, error) {
		if times++; times <= changes {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			future := time.Now().Add(time.Duration(times) * time.Hour)
			if err := os.Chtimes(path, future, future); err != nil {
				t.Fatal(err)
			}
		}
		return p.Covers(newcomer)
	}
	if covered, err := Ask(s.pin, ask); !covered || err != nil || times != 2 {
		t.Errorf("after %d attempts: %v, %v", times, covered, err)
	}
	if n := logs.FilterLevelExact(zapcore.ErrorLevel).Len(); n != 0 {
		t.Errorf("%d errors in the log about a file that is whole again", n)
	}
	times, changes = 0, 2
	var damage *region.DamageError
	if _, err := Ask(s.pin, ask); !errors.As(err, &damage) || times != 2 || logs.FilterMessageSnippet("damaged").Len() != 1 {
		t.Errorf("with a file that is never at rest, after %d attempts: %v; %v", times, err, logs.All())
	}

	// A block that does not match its checksum shows in the region's status.
	changes = 0
	content[len(content)/2] ^= 1 // in the coverage or in the description
	s.replaced = time.Time{}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Ask(s.pin, func(p *Pinned) (bool, error) { return p.Covers(newcomer) })
	if status := s.status(); err == nil || status.Status != damaged {
		t.Errorf("a flipped bit: %v, %+v", err, status)
	}
}

// The watcher finds a new file by itself.
func TestWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	writeRegion(t, path, firstData, 1, dover)
	s := acquireRegion(path)
	defer func() { _, _ = regionPool.Delete(path) }()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	writeRegion(t, path, secondData, 2, dover)
	for deadline := time.Now().Add(3 * lookEvery); !s.status().Timestamp.Equal(secondData); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not noticed: %+v", s.status())
		}
	}
}

func testApp(t testing.TB, regions map[string]*RegionConfig) *App {
	t.Helper()
	core, logs := observer.New(zapcore.WarnLevel)
	a := &App{Regions: regions, logger: zap.New(core)}
	if err := a.provisionRegions(caddy.Context{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.cleanupRegions)
	for _, name := range a.regions.names {
		path := a.regions.byName[name].source.path
		_, err := os.Stat(path)
		warned := logs.FilterField(zap.String("path",
			path)).FilterMessageSnippet("the server will not start without it").Len()
		if err != nil && warned != 1 {
			t.Errorf("%d warnings of %s, which is missing", warned, path)
		}
	}
	return a
}

func TestRegionsOfAnApp(t *testing.T) {
	dir := t.TempDir()
	paths := map[string]*RegionConfig{"a": {Path: filepath.Join(dir, "a.region")}, "b": {Path: "{env.MAPS_TEST_DIR}/b.region"}}
	t.Setenv("MAPS_TEST_DIR", dir)
	first := testApp(t, paths)
	if err := first.startRegions(); err == nil || !strings.Contains(err.Error(), "region a: ") ||
		!strings.Contains(err.Error(), "caddy maps build") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a missing file: %v", err)
	}
	writeRegion(t, filepath.Join(dir, "a.region"), firstData, 1, dover)
	writeRegion(t, filepath.Join(dir, "b.region"), firstData, 1, newcomer)
	if err := first.startRegions(); err != nil {
		t.Fatal(err)
	}
	region, err := first.Region("b")
	if err != nil || region.Name() != "b" || !region.Covers(newcomer) || region.Covers(dover) {
		t.Errorf("region b: %v, %v", region, err)
	}
	if _, err := first.Region("c"); err == nil || !strings.Contains(err.Error(), `"c"`) || !strings.Contains(err.Error(), `"a" "b"`) {
		t.Errorf("a region that is not there: %v", err)
	}

	// A second configuration shares what is open, also where the file has become unreadable since, and notices new files.
	before := pinned(t, region.source)
	defer before.Release()
	if err := os.Remove(filepath.Join(dir, "b.region")); err != nil {
		t.Fatal(err)
	}
	writeRegion(t, filepath.Join(dir, "a.region"), secondData, 1, dover)
	second := testApp(t, paths)
	if err := second.startRegions(); err != nil {
		t.Fatal(err)
	}
	first.cleanupRegions()
	first.cleanupRegions()
	shared, err := second.Region("b")
	if err != nil || shared.source != region.source || shared.source.current.Load() != before {
		t.Errorf("the mapping was not kept: %v", err)
	}
	list := second.RegionStatus()
	if len(list) != 2 || list[0].Name != "a" || list[1].Name != "b" || list[0].Status != ok || !list[0].Timestamp.Equal(secondData) || list[1].Status != stale {
		t.Errorf("status: %+v", list)
	}
	if err := second.ReloadRegions(); err == nil || !strings.Contains(err.Error(), "region b: ") || strings.Contains(err.Error(), "region a: ") {
		t.Errorf("reloading with a missing file: %v", err)
	}

	for name, regions := range map[string]map[string]*RegionConfig{
		"no path": {"a": {}}, "null": {"a": nil}, "no name": {"": {Path: "x"}}, "unknown placeholder": {"a": {Path: "{no.such.thing}"}},
	} {
		broken := &App{Regions: regions, logger: zap.NewNop()}
		if err := broken.provisionRegions(caddy.Context{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
		broken.cleanupRegions()
	}
}

// A region that comes before the others and covers a position answers for it; where none covers a trace whole, the one that
// covers most.
func TestPinCovering(t *testing.T) {
	dir := t.TempDir()
	configs := map[string]*RegionConfig{}
	for name, covers := range map[string][]orb.Point{"a": {dover}, "b": {dover, newcomer}, "c": {newcomer}} {
		path := filepath.Join(dir, name+".region")
		writeRegion(t, path, firstData, len(covers), covers...)
		configs[name] = &RegionConfig{Path: path}
	}
	a := testApp(t, configs)
	if err := a.startRegions(); err != nil {
		t.Fatal(err)
	}
	at := func(p orb.Point) trace.Point { return trace.At(p[1], p[0]) }
	nowhere := orb.Point{10, 10}
	for _, tc := range []struct {
		regions string
		points  []orb.Point
		want    string
	}{
		{"abc", []orb.Point{dover}, "a"},
		{"abc", []orb.Point{newcomer}, "b"},
		{"cba", []orb.Point{newcomer}, "c"},
		{"ca", []orb.Point{nowhere}, "c"},
		{"a", []orb.Point{nowhere}, "a"},
		{"acb", []orb.Point{dover, newcomer}, "b"},
		{"ac", []orb.Point{dover, newcomer, newcomer}, "c"},
		{"ac", []orb.Point{dover, dover, newcomer, newcomer}, "a"},
	} {
		var regions []*Region
		for _, name := range strings.Split(tc.regions, "") {
			r, err := a.Region(name)
			if err != nil {
				t.Fatal(err)
			}
			regions = append(regions, r)
		}
		var points []trace.Point
		for _, p := range tc.points {
			points = append(points, at(p))
		}
		got, err := PinCoveringTrace(regions, points)
		if err == nil && len(points) == 1 {
			got.Release()
			got, err = PinCovering(regions, tc.points[0])
		}
		if err != nil {
			t.Fatal(err)
		}
		if name := strings.TrimSuffix(filepath.Base(got.File.Path()), ".region"); name != tc.want {
			t.Errorf("%v of %s: %s, want %s", tc.points, tc.regions, name, tc.want)
		}
		got.Release()
	}

	// One that cannot be read matters only where no other covers anything.
	if err := os.Truncate(configs["a"].Path, 100); err != nil {
		t.Fatal(err)
	}
	_ = a.ReloadRegions()
	regions := []*Region{a.regions.byName["a"], a.regions.byName["c"]}
	if p, err := PinCovering(regions, newcomer); err != nil {
		t.Errorf("another region covers it: %v", err)
	} else {
		p.Release()
	}
	var damage *region.DamageError
	if _, err := PinCovering(regions, dover); !errors.As(err, &damage) {
		t.Errorf("the damaged region may be the one: %v", err)
	}
}
