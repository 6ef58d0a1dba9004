package command_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// run runs `maps …` in this process.
func run(t testing.TB, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	return runContext(t, t.Context(), stdin, args...)
}

func runContext(t testing.TB, ctx context.Context, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	root, maps := &cobra.Command{Use: "caddy", SilenceErrors: true, SilenceUsage: true}, &cobra.Command{Use: "maps"}
	maps.Long = caddycmd.Commands()["maps"].Long
	caddycmd.Commands()["maps"].CobraFunc(maps)
	root.AddCommand(maps)
	var out, errs bytes.Buffer
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(append([]string{"maps"}, args...))
	err = root.ExecuteContext(ctx)
	return out.String(), errs.String(), err
}

func villageExtract(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "village.osm")
	if err := os.WriteFile(path, []byte(modulestest.Village), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func villageRegion(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, path, modulestest.Village)
	return path
}

func TestBuild(t *testing.T) {
	extract := villageExtract(t)
	target := filepath.Join(t.TempDir(), "village.region")
	stdout, stderr, err := run(t, "", "build", extract, "--output", target)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(stdout, target+": ") || !strings.Contains(stdout, "3 roads") ||
		!strings.Contains(stdout, "ODbL") {
		t.Errorf("report:\n%s", stdout)
	}
	// Away from a terminal each stage is one plain line.
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	if len(lines) < 4 || strings.ContainsAny(stderr, "\r\x1b█") {
		t.Errorf("progress:\n%q", stderr)
	}
	for i, line := range lines {
		if !strings.Contains(line, ": done in ") || i > 0 && line[:5] == lines[i-1][:5] {
			t.Errorf("progress line %q", line)
		}
	}

	stdout, _, err = run(t, "", "info", target)
	if err != nil || !strings.Contains(stdout, "village.osm") || !strings.Contains(stdout, "ODbL") ||
		!strings.Contains(stdout, "© OpenStreetMap contributors") || strings.Contains(stdout, "verified") ||
		!strings.Contains(stdout, "up to zoom 16") || strings.Contains(stdout, "none: maps") {
		t.Errorf("%v\n%s", err, stdout)
	}
	if stdout, _, err = run(t, "", "info", "--verify", target); err != nil || !strings.Contains(stdout, "(verified)") {
		t.Errorf("%v\n%s", err, stdout)
	}
	stdout, _, err = run(t, "", "info", target, "--json")
	var info struct {
		Sources                        []string
		License, Attribution, Checksum string
		Bounds                         struct{ MinLat, MinLon, MaxLat, MaxLon float64 }
		Counts                         map[string]int64
		Format                         int
		Size                           int64
	}
	if err != nil || json.Unmarshal([]byte(stdout), &info) != nil {
		t.Fatalf("%v\n%s", err, stdout)
	}
	if info.Sources[0] != "village.osm" || len(info.Checksum) != 64 || info.Bounds.MinLat != 39.1 ||
		info.Bounds.MaxLon != -75.4 ||
		info.Counts["roads"] != 3 || info.Format < 1 || info.Size == 0 {
		t.Errorf("%+v", info)
	}

	less := filepath.Join(t.TempDir(), "less.region")
	if _, _, err := run(t, "", "build", extract, "--output", less, "--no-map", "--no-routes", "--no-search"); err != nil {
		t.Fatal(err)
	}
	if stdout, _, err = run(t, "", "info", less); err != nil || !strings.Contains(stdout, "none: maps_tiles") ||
		!strings.Contains(stdout, "none: maps_route") || !strings.Contains(stdout, "none: maps_geocode") {
		t.Errorf("%v\n%s", err, stdout)
	}
	if _, _, err := run(t, "", "search", less, "Elm"); err == nil || !strings.Contains(err.Error(), "--no-search") {
		t.Errorf("search: %v", err)
	}

	// Where a server fetched the file from is kept beside it; a description of another file is not shown.
	const fetchedFrom = "https://files.example.com/village.region"
	for checksum, shown := range map[string]bool{info.Checksum: true, strings.Repeat("0", 64): false} {
		text := `{"url":"` + fetchedFrom + `","fetched":"2026-05-01T10:00:00Z","checksum":"` + checksum + `"}`
		if err := os.WriteFile(target+".json", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		stdout, _, err := run(t, "", "info", target)
		asJSON, _, _ := run(t, "", "info", target, "--json")
		if err != nil || strings.Contains(stdout, fetchedFrom) != shown || strings.Contains(asJSON, fetchedFrom) != shown {
			t.Errorf("%v\n%s%s", err, stdout, asJSON)
		}
	}
}

// What is wrong is one line that names it, and nothing goes to standard output.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	region, extract := villageRegion(t), villageExtract(t)
	whole, err := os.ReadFile(region)
	if err != nil {
		t.Fatal(err)
	}
	newer := append([]byte(nil), whole...)
	newer[8] = 99 // the format version
	flipped := append([]byte(nil), whole...)
	flipped[5000] ^= 1
	cut := file("cut.region", whole[:len(whole)-1])
	flippedFile := file("flipped.region", flipped)
	none := filepath.Join(dir, "none")
	trace := file("trace.json", []byte(`{"path":[{"lat":39.16,"lng":-75.53},{"lat":39.16,"lng":-75.51}]}`))
	target := filepath.Join(dir, "out.region")
	for _, tc := range []struct {
		args []string
		says []string
	}{
		{[]string{"build", extract, none, "--output", target}, []string{"none"}},
		{[]string{"build", file("foreign.osm.pbf", []byte("no protocol buffer")), "-o", target}, []string{"foreign.osm.pbf"}},
		{[]string{"build", file("cut.osm", []byte(modulestest.Village[:400])), "-o", target}, []string{"cut.osm"}},
		{[]string{"build", extract, "-o", extract}, []string{"made from"}},

		{[]string{"info", region, region}, []string{"region file"}},
		{[]string{"info", dir}, []string{dir}},
		{[]string{"info", cut}, []string{"cut.region", "truncated"}},
		{[]string{"info", file("empty.region", nil)}, []string{"empty.region"}},
		{[]string{"info", extract}, []string{"village.osm", "not a region file"}},
		{[]string{"info", file("newer.region", newer)}, []string{"newer.region", "format 99", "update"}},
		{[]string{"info", flippedFile, "--verify"}, []string{"flipped.region", "damaged"}},

		{[]string{"reverse", region, "-90.5", "-75.5"}, []string{"lat", "-90.5"}},
		{[]string{"reverse", region, "39.1", "west"}, []string{"lon", "west"}},
		{[]string{"reverse", region, "39.1", "-75.5", "--max-distance", "-1"}, []string{"max-distance"}},
		{[]string{"reverse", region, "39.1", "-75.5", "--language", "de_AT"}, []string{"language", "de_AT"}},

		{[]string{"match", region, none}, []string{"none"}},
		{[]string{"match", region, dir}, []string{dir}},
		{[]string{"match", region, file("broken.gpx", []byte("<gpx><trk>"))}, []string{"broken.gpx", "XML"}},
		{[]string{"match", region, file("short.json", []byte(`{"path":[]}`))}, []string{"short.json", "at least 2 points"}},
		{[]string{"match", region, file("far.json", []byte(`{"path":[{"lat":1,"lng":1},{"lat":1,"lng":1.01}]}`))},
			[]string{"no matching route", "outside the region's coverage"}},
		{[]string{"match", region, file("wrong.csv", []byte("lat,lng\n1,2\n1,x\n"))}, []string{"wrong.csv", "line 3", "lng"}},
		{[]string{"match", region, trace, "--radius", "-1"}, []string{"radius"}},
		{[]string{"match", region,
			file("bus.json", []byte(`{"profile":"bus","path":[{"lat":39.16,"lng":-75.529},{"lat":39.16,"lng":-75.521}]}`))},
			[]string{"bus.json", `profile: "bus" is not known`}},
		{[]string{"match", region, "-"}, []string{"standard input"}},
	} {
		stdout, _, err := run(t, "", tc.args...)
		if err == nil || stdout != "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, standard output %q", tc.args, err, stdout)
			continue
		}
		for _, says := range tc.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v does not say %q", tc.args, err, says)
			}
		}
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("a refused build left a file")
	}
}

// Ctrl-C ends a build soon, and leaves neither a target nor a temporary file; an existing target stays.
func TestBuildInterrupted(t *testing.T) {
	extract := testkit.Extract(t, testkit.Delaware)
	dir := t.TempDir()
	target := filepath.Join(dir, "delaware.region")
	if err := os.WriteFile(target, []byte("what was there"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	root, maps := &cobra.Command{Use: "caddy", SilenceErrors: true, SilenceUsage: true}, &cobra.Command{Use: "maps"}
	caddycmd.Commands()["maps"].CobraFunc(maps)
	root.AddCommand(maps)
	root.SetArgs([]string{"maps", "build", extract, "--output", target})
	root.SetOut(io.Discard)
	var interruptedAt time.Time
	// The first stage that has come to its end gives the signal.
	root.SetErr(writerFunc(func(p []byte) (int, error) {
		if interruptedAt.IsZero() {
			interruptedAt = time.Now()
			if err := self.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}
		return len(p), nil
	}))
	err = root.ExecuteContext(t.Context())
	if err == nil || err.Error() != "interrupted" {
		t.Errorf("%v", err)
	}
	if took := time.Since(interruptedAt); took > 5*time.Second {
		t.Errorf("it went on for %v", took)
	}
	entries, err := os.ReadDir(dir)
	if content, _ := os.ReadFile(target); err != nil || len(entries) != 1 || string(content) != "what was there" {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestReverse(t *testing.T) {
	region := villageRegion(t)
	for line, want := range map[string]string{
		"39.1601 -75.5201":                           "node:100",
		"39.1601 -75.5201 --category school":         "node:101",
		"--category=nothing,SCHOOL 39.1601 -75.5201": "node:101",
		"39.1601 -75.5201 --category bank":           "",
		"39.1680 -75.5203 --max-distance 1":          "node:101",
		"-- -39.16 -75.52":                           "",
		"-39.16 --size 3 -0.52":                      "",
		"--size=1 +39.1601 -75.5201":                 "node:100",
	} {
		fields := strings.Fields(line)
		stdout, _, err := run(t, "", append([]string{"reverse", region}, fields...)...)
		var got struct {
			Data struct {
				Results []struct{ ID string }
			}
		}
		if err != nil || json.Unmarshal([]byte(stdout), &got) != nil {
			t.Errorf("%s: %v, %s", line, err, stdout)
			continue
		}
		id := ""
		if len(got.Data.Results) > 0 {
			id = got.Data.Results[0].ID
		}
		if id != want || len(got.Data.Results) > 1 {
			t.Errorf("%s: %s, want %q", line, stdout, want)
		}
	}
	stdout, _, err := run(t, "", "reverse", region, "--size", "4", "39.1601", "-75.5201", "--language", "fr-CH")
	if err != nil || strings.Count(stdout, `"id":`) != 4 ||
		!strings.HasPrefix(stdout, `{"data":{"query":"39.160100,-75.520100",`) {
		t.Errorf("%v, %s", err, stdout)
	}
}

// What a text means, as lines and as the server's JSON.
func TestSearch(t *testing.T) {
	region := villageRegion(t)
	for line, want := range map[string]string{
		"crossing cafe": "39.16010,-75.52010  Crossing Café, Testville, United States  (amenity=cafe)\n",
		"5 main st --limit 1 --near 39.16,-75.51 --language de": "39.16010,-75.51500  5 Main Street, Testville, United States  " +
			"(place=house)\n",
		"nothing": "",
	} {
		stdout, _, err := run(t, "", append([]string{"search", region}, strings.Fields(line)...)...)
		if err != nil || stdout != want {
			t.Errorf("%s: %v, %q, want %q", line, err, stdout, want)
		}
	}
	explained := regexp.MustCompile(`^[0-9.]+ \(text [01]\.[0-9]+, importance 0\.[0-9]+, proximity 0\.[0-9]+\)  39\.16010,-75\.52010  Crossing`)
	stdout, _, err := run(t, "", "search", region, "crossing cafe", "--explain", "--near", "39.16,-75.52")
	if err != nil || !explained.MatchString(stdout) {
		t.Errorf("%v, %s", err, stdout)
	}
	stdout, _, err = run(t, "", "search", region, "crossing cafe", "--json", "--explain", "--near", "39.16,-75.52")
	if err != nil || !strings.HasPrefix(stdout, `{"data":{"query":"crossing cafe","results":[{"id":"node:100",`) ||
		!strings.Contains(stdout, `"score":{"total":`) || !strings.Contains(stdout, `"distance":`) {
		t.Errorf("%v, %s", err, stdout)
	}
}

// One drive along Main Street and up Oak Street, in every form and from every place that a trace may come from.
func TestMatch(t *testing.T) {
	region := villageRegion(t)
	points := [][2]float64{
		{39.16002, -75.528}, {39.15998, -75.524}, {39.16003, -75.5204}, {39.164, -75.52002}, {39.168, -75.51998},
	}
	var body, gpx, line, rows []string
	for _, p := range points {
		body = append(body, fmt.Sprintf(`{"lat":%v,"lng":%v}`, p[0], p[1]))
		gpx = append(gpx, fmt.Sprintf(`<trkpt lat="%v" lon="%v"/>`, p[0], p[1]))
		rows = append(rows, fmt.Sprintf(`%v,%v`, p[1], p[0]))
		line = append(line, fmt.Sprintf(`[%v,%v]`, p[1], p[0]))
	}
	const metresPerDegree = 6371008.8 * math.Pi / 180
	want := (0.008*math.Cos(39.16*math.Pi/180) + 0.008) * metresPerDegree
	var first string
	for name, text := range map[string]string{
		"JSON": `{"radius":20,"path":[` + strings.Join(body, ",") + `]}`,
		"GPX":  `<?xml version="1.0"?><gpx><trk><trkseg>` + strings.Join(gpx, "") + `</trkseg></trk></gpx>`,
		"GeoJSON": `{"type":"Feature","properties":{},"geometry":{"type":"LineString","coordinates":[` +
			strings.Join(line, ",") + `]}}`,
		"collection": `{"type":"FeatureCollection","features":[{"type":"Feature",` +
			`"geometry":{"type":"LineString","coordinates":[` +
			strings.Join(line, ",") + `]}}]}`,
		"CSV": "Lon,\"lat\"\r\n" + strings.Join(rows, "\r\n"),
	} {
		file := filepath.Join(t.TempDir(), "trace")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{file}, {"-"}, {file, "--radius", "20"}} {
			stdout, _, err := run(t, text, append([]string{"match", region}, args...)...)
			if err != nil {
				t.Fatalf("%s from %q: %v", name, args, err)
			}
			if first == "" {
				first = stdout
			}
			if stdout != first {
				t.Errorf("%s from %q:\n%s\nbefore:\n%s", name, args, stdout, first)
			}
		}
	}
	var feature struct {
		Type     string
		Geometry struct {
			Type        string
			Coordinates [][2]float64
		}
		Properties map[string]float64
	}
	if err := json.Unmarshal([]byte(first), &feature); err != nil {
		t.Fatal(err)
	}
	if c := feature.Geometry.Coordinates; feature.Type != "Feature" || feature.Geometry.Type != "LineString" ||
		len(c) < 3 || c[0][0] > -75 {
		t.Errorf("%s", first)
	}
	if got := feature.Properties["distance"]; math.Abs(got-want) > 2 || len(feature.Properties) != 1 {
		t.Errorf("properties %v, want a distance of %.1f", feature.Properties, want)
	}

	text := `{"details":true,"path":[` + strings.Join(body, ",") + `]}`
	for _, args := range [][]string{{"-"}, {"-", "--details"}, {"-", "--details=false"}} {
		stdout, _, err := run(t, text, append([]string{"match", region}, args...)...)
		if want := len(args) == 1 || args[1] == "--details"; err != nil || strings.Contains(stdout, "tracepoints") != want {
			t.Errorf("%q: %v, %s", args, err, stdout)
		}
	}
}

// A trace on a footway: --profile says how it was travelled, or the JSON of a request does.
func TestMatchProfile(t *testing.T) {
	region := filepath.Join(t.TempDir(), "path.region")
	modulestest.BuildRegion(t, region, `<osm version="0.6">
		<node id="1" version="1" lat="39.16" lon="-75.53"/><node id="2" version="1" lat="39.16" lon="-75.52"/>
		<way id="1" version="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="footway"/></way></osm>`)
	const path = `"path":[{"lat":39.16,"lng":-75.529},{"lat":39.16,"lng":-75.521}]}`
	for _, tc := range []struct{ trace, flag, want string }{
		{`{` + path, "--profile=foot", ""}, {`{"profile":"foot",` + path, "--details=false", ""},
		{`{` + path, "--details=false", "no matching route"}, {`{"profile":"foot",` + path, "--profile=car", "no matching route"},
	} {
		stdout, _, err := run(t, tc.trace, "match", region, "-", tc.flag)
		if tc.want == "" && (err != nil || !strings.Contains(stdout, `"distance":`)) ||
			tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s %s: %v, %s", tc.trace, tc.flag, err, stdout)
		}
	}
}
