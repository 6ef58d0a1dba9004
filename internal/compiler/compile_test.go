package compiler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/search"
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

// shop is an extract without roads.
const shop = `<osm><node id="1" lat="1" lon="1"><tag k="shop" v="bakery"/><tag k="name" v="Bakery"/></node></osm>`

func writeFile(t testing.TB, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// build compiles a region file and opens it until the end of the test.
func build(t testing.TB, opts Options) (*region.File, *Report) {
	t.Helper()
	report, err := Build(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	f, err := region.Open(opts.Output)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	return f, report
}

func checkSame(t *testing.T, a, b string) {
	t.Helper()
	first, err := os.ReadFile(a)
	second, failed := os.ReadFile(b)
	if err := errors.Join(err, failed); err != nil || !bytes.Equal(first, second) {
		t.Errorf("%d and %d bytes that differ, %v", len(first), len(second), err)
	}
}

// TestDelaware builds Delaware twice, with much and with little memory: the bytes are the same, and the file says what it
// was made of.
func TestDelaware(t *testing.T) {
	testkit.Whole(t)
	dir := t.TempDir()
	out, again := filepath.Join(dir, "delaware.region"), filepath.Join(dir, "again.region")
	inputs := []string{testkit.Extract(t, testkit.Delaware)}
	f, report := build(t, Options{Inputs: inputs, Output: out, Memory: 4 << 30})
	build(t, Options{Inputs: inputs, Output: again, Memory: LeastMemory, Temp: t.TempDir()})
	checkSame(t, out, again)
	if err := f.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	info, err := f.Info()
	if err != nil {
		t.Fatal(err)
	}
	if info.License != "ODbL-1.0" || info.Attribution != "© OpenStreetMap contributors" ||
		!slices.Equal(info.Sources, []string{testkit.Delaware}) || info.Size != report.Size ||
		info.Counts["roads"] != report.Counts.Roads || info.Counts["nodes"] != 723870 {
		t.Errorf("info: %+v, report: %+v", info, report)
	}
	want := time.Date(2016, 8, 10, 19, 28, 3, 0, time.UTC)
	if !info.Timestamp.Equal(want) || !report.Timestamp.Equal(want) {
		t.Errorf("timestamp %v", info.Timestamp)
	}
	if b := info.Bounds; b.MinLat < 38 || b.MaxLat > 40 || b.MinLon < -76.2 || b.MaxLon > -74.4 || b.MinLat >= b.MaxLat {
		t.Errorf("bounds: %+v", b)
	}
	for name, c := range map[string]struct {
		at   orb.Point
		want bool
	}{"Dover": {orb.Point{-75.52, 39.16}, true}, "the Atlantic": {orb.Point{-70, 38.5}, false}, "Paris": {orb.Point{2.35, 48.86}, false}} {
		if got := f.Covers(c.at); got != c.want {
			t.Errorf("covers %s: %v", name, got)
		}
	}
}

// TestElsewhere: the directory of the extracts does not matter. The stages are reported one after the other, each to its
// end. No temporary file stays open or mapped, which would keep its room on the disk until the process ends.
func TestElsewhere(t *testing.T) {
	var files [2]string
	for i := range files {
		dir := t.TempDir()
		files[i] = filepath.Join(dir, "out.region")
		inputs := []string{writeFile(t, filepath.Join(dir, "village.osm"), village), writeFile(t, filepath.Join(dir, "shop.osm"), shop)}
		var told []string
		var last int64
		ended := true
		_, err := Build(t.Context(), Options{Inputs: inputs, Output: files[i], Progress: func(stage string, done, total int64) {
			if len(told) == 0 || told[len(told)-1] != stage {
				if !ended {
					t.Errorf("%s before the end of %s", stage, told[len(told)-1])
				}
				told, last = append(told, stage), 0
			}
			if done < last || done > total {
				t.Errorf("%s: %d of %d after %d", stage, done, total, last)
			}
			last, ended = done, done == total
		}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append([]string{"versions"}, stages...), told); diff != "" || !ended {
			t.Error(diff)
		}
		if runtime.GOOS == "linux" {
			checkClosed(t, dir)
		}
	}
	checkSame(t, files[0], files[1])
}

// checkClosed fails if files of a directory are open or mapped.
func checkClosed(t *testing.T, dir string) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(maps, []byte(dir)) {
		t.Errorf("files of %s are mapped", dir)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range open {
		if path, err := os.Readlink("/proc/self/fd/" + f.Name()); err == nil && strings.HasPrefix(path, dir) {
			t.Errorf("%s is open", path)
		}
	}
}

// stages are those of a build of one extract, in their order.
var stages = []string{"nodes", "ways", "areas", "compile", "write"}

// TestNothingLeftBehind: after an error, and after a cancellation in any stage, there is the old file and nothing else.
// Progress is not reported any more, though goroutines may go on for a moment.
func TestNothingLeftBehind(t *testing.T) {
	file := func(content string) string { return writeFile(t, filepath.Join(t.TempDir(), "map.osm"), content) }
	small, large := []string{file(village), file(shop)}, []string{testkit.Extract(t, testkit.Delaware)}
	broken := file(village[:300])
	type test struct {
		inputs []string
		stage  string
		from   float64 // the share of the stage that is done
	}
	tests := []test{{[]string{broken}, "", 0}, {large, "compile", 0.25}, {large, "compile", 0.5}, {large, "compile", 0.75}, {small, "versions", 0}}
	for _, stage := range stages {
		tests = append(tests, test{small, stage, 0})
	}
	for _, c := range tests {
		t.Run(fmt.Sprint(c.stage, c.from), func(t *testing.T) {
			if c.from > 0 {
				testkit.Whole(t)
			}
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { // which waits for all goroutines
				out, ended := writeFile(t, filepath.Join(dir, "old.region"), "old"), false
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				_, err := Build(ctx, Options{Inputs: c.inputs, Output: out, Progress: func(stage string, done, total int64) {
					if ended {
						t.Errorf("%s after the end", stage)
					}
					if stage == c.stage && float64(done) >= c.from*float64(total) {
						cancel()
					}
				}})
				ended = true
				if c.stage != "" && !errors.Is(err, context.Canceled) || c.stage == "" && (err == nil || !strings.Contains(err.Error(), broken)) {
					t.Error(err)
				}
				entries, err := os.ReadDir(dir)
				if content, failed := os.ReadFile(out); errors.Join(err, failed) != nil || string(content) != "old" || len(entries) != 1 {
					t.Errorf("%q, %v, %v", content, entries, errors.Join(err, failed))
				}
			})
		})
	}
}

// TestRefusedBeforeReading: a build that cannot succeed fails before it takes minutes to read.
func TestRefusedBeforeReading(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	in, foreign := writeFile(t, path("village.osm"), village), writeFile(t, path("foreign"), "no extract")
	if err := errors.Join(os.Symlink(in, path("link")), os.Symlink("loop", path("loop")), os.Mkdir(path("read-only"), 0o500)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		inputs       []string
		output, want string
	}{
		"no input":           {nil, path("out"), "no extract"},
		"no output":          {[]string{in}, "", "no output"},
		"no directory":       {[]string{in}, path("missing/out"), "no such"},
		"file as directory":  {[]string{in}, in + "/out", "not a directory"},
		"directory as file":  {[]string{in}, dir, "not a regular file"},
		"onto the extract":   {[]string{in}, in, "made from"},
		"onto its link":      {[]string{path("link")}, in, "made from"},
		"a long name":        {[]string{in}, path(strings.Repeat("x", 250)), "cannot be written"},
		"a loop of links":    {[]string{in}, path("loop"), "output: "},
		"read-only":          {[]string{in}, path("read-only/out"), "cannot be written"},
		"no real directory":  {[]string{in}, "/proc/out", "output: "},
		"a device":           {[]string{in}, os.DevNull, "output: "},
		"missing extract":    {[]string{in, path("none.osm")}, path("out"), "none.osm"},
		"what is no extract": {[]string{in, foreign}, path("out"), "foreign"},
	} {
		if f, err := os.CreateTemp(path("read-only"), ""); name == "read-only" && err == nil { // as for root
			f.Close()
			os.Remove(f.Name())
			continue
		}
		_, err := Build(t.Context(), Options{Inputs: c.inputs, Output: c.output,
			Progress: func(string, int64, int64) { t.Errorf("%s: reading has begun", name) }})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestSections: an extract without roads or places makes a region. Without the map, what routes need and the search
// index, a file has all other sections, as they are with these.
func TestSections(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"village": village, "no roads": shop, "neither": `<osm><node id="1" lat="1" lon="1"/></osm>`,
		"no places": `<osm><node id="1" lat="1" lon="1"/><node id="2" lat="1" lon="1.01"/>
			<way id="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="service"/></way></osm>`,
	} {
		in := writeFile(t, filepath.Join(dir, "map.osm"), content)
		var sections [2]map[string]int64
		for i, less := range []bool{false, true} {
			f, _ := build(t, Options{Inputs: []string{in}, Output: filepath.Join(dir, "out.region"), NoMap: less, NoRoutes: less, NoSearch: less})
			info, err := f.Info()
			if err != nil || !f.Covers(orb.Point{1, 1}) && !f.Covers(orb.Point{8, 50}) {
				t.Errorf("%s: the region does not cover its node, %v", name, err)
			}
			sections[i] = map[string]int64{}
			for _, s := range info.Sections {
				if less || !strings.HasPrefix(s.Name, "map.") && !strings.HasPrefix(s.Name, "routes.") && !strings.HasPrefix(s.Name, "search.") {
					sections[i][s.Name] = s.Bytes
				}
			}
			if m, err := tiles.Open(f); err != nil || (m == nil) != less {
				t.Errorf("%s, without map %v: %v, %v", name, less, m != nil, err)
			}
			if roads := f.Has(roadgraph.BaseEdgesSection); f.Has(routing.EdgesSection) != (roads && !less) {
				t.Errorf("%s, without routes %v: has routes %v", name, less, !less)
			}
			places, err := geocoding.Open(f)
			if err != nil {
				t.Fatal(err)
			}
			x, err := search.Open(f, places)
			if err != nil {
				t.Fatal(err)
			}
			found, err := x.Search(t.Context(), &geocoding.Query{Text: "bakery", Limit: 5})
			if shops := strings.Contains(content, "shop") && !less; err != nil || len(found.Places) > 0 != shops || x.Empty() && shops || less && !x.Empty() {
				t.Errorf("%s, without search %v: %v, %v", name, less, found, err)
			}
		}
		if diff := cmp.Diff(sections[0], sections[1]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
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
