package compiler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/tiles"
)

// village is a small extract: a road, a house and a shop.
const village = `<osm version="0.6" timestamp="2024-05-06T07:08:09Z">
	<node id="1" lat="50.0000" lon="8.0000"/><node id="2" lat="50.0000" lon="8.0100"/>
	<node id="3" lat="50.0010" lon="8.0050"><tag k="shop" v="bakery"/><tag k="name" v="Bakery"/></node>
	<node id="4" lat="50.0012" lon="8.0060"><tag k="addr:housenumber" v="7"/><tag k="addr:street" v="Main Street"/></node>
	<way id="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/><tag k="name" v="Main Street"/></way>
</osm>`

// shop is a map without roads.
const shop = `<osm><node id="1" lat="1" lon="1"><tag k="shop" v="bakery"/><tag k="name" v="Bakery"/></node></osm>`

func writeFile(t testing.TB, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestDelaware builds Delaware twice: the bytes are the same, and the file says what it was made of.
func TestDelaware(t *testing.T) {
	testkit.Whole(t)
	dir := t.TempDir()
	out, again := filepath.Join(dir, "delaware.region"), filepath.Join(dir, "again.region")
	inputs := []string{testkit.Extract(t, testkit.Delaware)}
	report, err := Build(t.Context(), Options{Inputs: inputs, Output: out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Build(t.Context(), Options{Inputs: inputs, Output: again}); err != nil {
		t.Fatal(err)
	}
	checkSame(t, out, again)
	f, err := region.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	if err := f.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	info, err := f.Info()
	if err != nil {
		t.Fatal(err)
	}
	if info.License != "ODbL-1.0" || info.Attribution != "© OpenStreetMap contributors" ||
		!slices.Equal(info.Sources, []string{testkit.Delaware}) {
		t.Errorf("meta: %+v", info.Meta)
	}
	if want := time.Date(
		2016,
		8,
		10,
		19,
		28,
		3,
		0,
		time.UTC,
	); !info.Timestamp.Equal(want) ||
		!report.Timestamp.Equal(want) {
		t.Errorf("timestamp %v", info.Timestamp)
	}
	if info.Size != report.Size || info.Counts["roads"] != report.Counts.Roads || info.Counts["nodes"] != 723870 {
		t.Errorf("info: %+v, report: %+v", info, report)
	}
	if b := info.Bounds; b.MinLat < 38 || b.MaxLat > 40 || b.MinLon < -76.2 || b.MaxLon > -74.4 ||
		b.MinLat >= b.MaxLat {
		t.Errorf("bounds: %+v", b)
	}
	for name, test := range map[string]struct {
		at   orb.Point
		want bool
	}{
		"Dover":        {orb.Point{-75.52, 39.16}, true},
		"the Atlantic": {orb.Point{-70, 38.5}, false},
		"Paris":        {orb.Point{2.35, 48.86}, false},
	} {
		if got := f.Covers(test.at); got != test.want {
			t.Errorf("covers %s: %v", name, got)
		}
	}
}

func checkSame(t *testing.T, a, b string) {
	t.Helper()
	first, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Errorf("%d and %d bytes that differ", len(first), len(second))
	}
}

// TestElsewhere: where the extracts lie does not matter.
func TestElsewhere(t *testing.T) {
	var files [2]string
	for i := range files {
		dir := t.TempDir()
		files[i] = filepath.Join(dir, "out.region")
		inputs := []string{
			writeFile(t, filepath.Join(dir, "village.osm"), village),
			writeFile(t, filepath.Join(dir, "shop.osm"), shop),
		}
		if _, err := Build(t.Context(), Options{Inputs: inputs, Output: files[i]}); err != nil {
			t.Fatal(err)
		}
	}
	checkSame(t, files[0], files[1])
}

// stages are those of a build, in their order.
var stages = []string{"nodes", "ways", "areas", "compile", "write"}

// TestProgress: the stages come one after the other, and each comes to its end.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	var told []string
	ended := true
	_, err := Build(t.Context(), Options{
		Inputs: []string{
			writeFile(t, filepath.Join(dir, "village.osm"), village),
		},
		Output: filepath.Join(dir, "village.region"),
		Progress: func(stage string, done, total int64) {
			if len(told) == 0 || told[len(told)-1] != stage {
				if !ended {
					t.Errorf("%s before the end of %s", stage, told[len(told)-1])
				}
				told = append(told, stage)
			}
			ended = done == total
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(stages, told); diff != "" {
		t.Error(diff)
	}
}

// TestProgressEnds: a build that was cancelled tells nothing after its end, though a goroutine of it may go on.
func TestProgressEnds(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ended atomic.Bool
	_, err := Build(ctx, Options{
		Inputs: []string{writeFile(t, filepath.Join(dir, "village.osm"), village)},
		Output: filepath.Join(dir, "village.region"),
		Progress: func(stage string, _, _ int64) {
			if ended.Load() {
				t.Errorf("%s after the end", stage)
			}
			if stage == "compile" && ctx.Err() == nil {
				cancel()
				time.Sleep(100 * time.Millisecond) // the build could end meanwhile
			}
		},
	})
	ended.Store(true)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	time.Sleep(300 * time.Millisecond)
}

// TestNothingLeftBehind: whenever it is cancelled, and whatever is wrong with the extract, the old file stands alone.
func TestNothingLeftBehind(t *testing.T) {
	check := func(t *testing.T, run func(ctx context.Context, cancel func(), opts Options) error) {
		dir := t.TempDir()
		out := writeFile(t, filepath.Join(dir, "old.region"), "old")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := run(ctx, cancel, Options{Output: out}); err == nil {
			t.Fatal("no error")
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		if content, err := os.ReadFile(out); err != nil || string(content) != "old" || len(entries) != 1 {
			t.Errorf("%q, %v, %v", content, entries, err)
		}
	}
	cancelled := func(t *testing.T, extract, stage string, from float64) {
		check(t, func(ctx context.Context, cancel func(), opts Options) error {
			opts.Inputs = []string{extract}
			opts.Progress = func(s string, done, total int64) {
				if s == stage && float64(done) >= from*float64(total) {
					cancel()
				}
			}
			_, err := Build(ctx, opts)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			return err
		})
	}
	for _, stage := range stages {
		t.Run("cancelled in "+stage, func(t *testing.T) {
			cancelled(t, writeFile(t, filepath.Join(t.TempDir(), "village.osm"), village), stage, 0)
		})
	}
	for _, from := range []float64{0.25, 0.5, 0.75} {
		t.Run(fmt.Sprintf("cancelled when %v is compiled", from), func(t *testing.T) {
			testkit.Whole(t)
			cancelled(t, testkit.Extract(t, testkit.Delaware), "compile", from)
		})
	}
	t.Run("broken extract", func(t *testing.T) {
		check(t, func(ctx context.Context, _ func(), opts Options) error {
			in := writeFile(t, filepath.Join(t.TempDir(), "broken.osm"), village[:300])
			opts.Inputs = []string{in}
			_, err := Build(ctx, opts)
			if err == nil || !strings.Contains(err.Error(), in) {
				t.Errorf("%v", err)
			}
			return err
		})
	})
}

func TestRefusedBeforeReading(t *testing.T) {
	dir := t.TempDir()
	in := writeFile(t, filepath.Join(dir, "village.osm"), village)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(in, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	foreign := writeFile(t, filepath.Join(dir, "foreign"), "no extract")
	readOnly := filepath.Join(dir, "read-only")
	if err := os.Mkdir(readOnly, 0o500); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		opts Options
		want string
	}{
		"no input":         {Options{Output: filepath.Join(dir, "out")}, "no extract"},
		"no output":        {Options{Inputs: []string{in}}, "no output"},
		"no directory":     {Options{Inputs: []string{in}, Output: filepath.Join(dir, "missing", "out")}, "no such"},
		"file as folder":   {Options{Inputs: []string{in}, Output: filepath.Join(in, "out")}, "not a directory"},
		"folder as file":   {Options{Inputs: []string{in}, Output: dir}, "not a regular file"},
		"onto the extract": {Options{Inputs: []string{in}, Output: in}, "made from"},
		"onto its link":    {Options{Inputs: []string{link}, Output: in}, "made from"},
		"a long name": {Options{Inputs: []string{in}, Output: filepath.Join(dir, strings.Repeat("x", 250))},
			"cannot be written"},
		"a loop of links":  {Options{Inputs: []string{in}, Output: filepath.Join(dir, "loop")}, "output: "},
		"read-only folder": {Options{Inputs: []string{in}, Output: filepath.Join(readOnly, "out")}, "cannot be written"},
		"no real folder":   {Options{Inputs: []string{in}, Output: "/proc/out"}, "output: "},
		"a device":         {Options{Inputs: []string{in}, Output: os.DevNull}, "output: "},
		"missing extract": {Options{Inputs: []string{in, filepath.Join(dir, "none.osm")},
			Output: filepath.Join(dir, "out")}, "none.osm"},
		"broken extract": {Options{Inputs: []string{in, foreign}, Output: filepath.Join(dir, "out")}, "foreign"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "read-only folder" && !obeys(readOnly) {
				t.Skip("left out: this user, or system, may write into any directory")
			}
			test.opts.Progress = func(string, int64, int64) { t.Error("reading has begun") }
			if _, err := Build(t.Context(), test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// obeys reports whether a directory that is not writable is so for this process.
func obeys(readOnly string) bool {
	f, err := os.CreateTemp(readOnly, "")
	if err != nil {
		return true
	}
	f.Close()
	os.Remove(f.Name())
	return false
}

// TestEmptyRegions: a map without roads, or without places, still makes a region.
func TestEmptyRegions(t *testing.T) {
	for name, content := range map[string]string{
		"no roads": shop,
		"no places": `<osm><node id="1" lat="1" lon="1"/><node id="2" lat="1" lon="1.01"/>
			<way id="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="service"/></way></osm>`,
		"neither": `<osm><node id="1" lat="1" lon="1"/></osm>`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "out.region")
			if _, err := Build(
				t.Context(),
				Options{Inputs: []string{writeFile(t, filepath.Join(dir, "map.osm"), content)}, Output: out},
			); err != nil {
				t.Fatal(err)
			}
			f, err := region.Open(out)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Release()
			if !f.Covers(orb.Point{1, 1}) {
				t.Error("the region does not cover its node")
			}
		})
	}
}

// TestNoMap: without the map, a file has all but its sections, and says in them what it says with them.
func TestNoMap(t *testing.T) {
	dir := t.TempDir()
	in := writeFile(t, filepath.Join(dir, "village.osm"), village)
	var sections [2]map[string]int64
	for i, noMap := range []bool{false, true} {
		out := filepath.Join(dir, "out.region")
		if _, err := Build(t.Context(), Options{Inputs: []string{in}, Output: out, NoMap: noMap}); err != nil {
			t.Fatal(err)
		}
		f, err := region.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Release()
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		sections[i] = map[string]int64{}
		for _, s := range info.Sections {
			sections[i][s.Name] = s.Bytes
		}
		if m, err := tiles.Open(f); err != nil || (m == nil) != noMap {
			t.Errorf("without map %v: %v, %v", noMap, m != nil, err)
		}
	}
	for name := range sections[0] {
		if strings.HasPrefix(name, "map.") {
			delete(sections[0], name)
		}
	}
	if diff := cmp.Diff(sections[0], sections[1]); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkBuildDelaware(b *testing.B) {
	in, out := testkit.Extract(b, testkit.Delaware), filepath.Join(b.TempDir(), "delaware.region")
	b.ReportAllocs()
	for b.Loop() {
		report, err := Build(b.Context(), Options{Inputs: []string{in}, Output: out})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(report.Read.Seconds(), "read-s")
		b.ReportMetric(report.Compile.Seconds(), "compile-s")
		b.ReportMetric(report.Write.Seconds(), "write-s")
		b.ReportMetric(float64(report.Size)/1e6, "MB")
	}
}
