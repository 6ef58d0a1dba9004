package extract

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"github.com/mapsedge/caddy-maps/internal/build/extract/extracttest"
)

func BenchmarkReadDelaware(b *testing.B) {
	path := realExtract(b, delaware)
	b.ReportAllocs()
	for b.Loop() {
		mustRead(b, path)
	}
}

func BenchmarkReadAndorra(b *testing.B) {
	path := realExtract(b, andorra)
	b.ReportAllocs()
	for b.Loop() {
		mustRead(b, path)
	}
}

func TestDelaware(t *testing.T) {
	d, err := readDelaware()
	if err != nil {
		t.Fatal(err)
	}
	checkData(t, d)
	if c := d.Counts; c.Nodes != 723870 || c.Ways != 73144 || c.Relations != 1644 || c.MissingNodes != 0 || c.RepairedRings != 0 {
		t.Errorf("counts: %+v", c)
	}
	if want := time.Date(2016, 8, 10, 19, 28, 3, 0, time.UTC); !d.Timestamp.Equal(want) {
		t.Errorf("timestamp %v", d.Timestamp)
	}
	// Areas in square degrees, as libosmium assembles them.
	for _, test := range []struct {
		kind     mapdata.Kind
		id       int64
		name     string
		area     float64
		polygons int
	}{
		{mapdata.KindRelation, 162110, "Delaware", 0.6692535036, 1},
		{mapdata.KindRelation, 1245078, "Kent County", 0.2154064066, 1},
		{mapdata.KindRelation, 117178, "Dover", 0.0062626491, 1},
		{mapdata.KindRelation, 384312, "Newark", 0.0025423563, 1},
		{mapdata.KindRelation, 1283198, "Sawpit Cove", 0.0000080004, 1},
	} {
		f := d.feature(test.kind, test.id)
		if f == nil || f.Tags.Get("name") != test.name {
			t.Errorf("%s: %+v", test.name, f)
			continue
		}
		mp := multi(f.Geometry)
		if a := areaOf(mp); math.Abs(a-test.area) > 1e-9 || len(mp) != test.polygons {
			t.Errorf("%s: %.10f square degrees in %d polygons, want %.10f in %d", test.name, a, len(mp), test.area, test.polygons)
		}
	}
	capitol := orb.Point{-75.5198, 39.1573}
	if !planar.MultiPolygonContains(multi(d.feature(mapdata.KindRelation, 117178).Geometry), capitol) {
		t.Error("Legislative Hall is not in Dover")
	}
	// The county runs beyond the extract: what is there of it encloses nothing.
	if f := d.feature(mapdata.KindRelation, 417832); f != nil {
		t.Errorf("Chester County: %v", f.Geometry)
	}
	// A town in the old style, whose holes are in a relation without tags.
	if f := d.feature(mapdata.KindWay, 33502428); f == nil || len(multi(f.Geometry)[0]) < 2 {
		t.Errorf("Middletown: %+v", f)
	}
}

// TestRoadShare: nearly all roads of Delaware are open to cars, and those that are one-way are motorways, ramps and the like.
func TestRoadShare(t *testing.T) {
	d, err := readDelaware()
	if err != nil {
		t.Fatal(err)
	}
	var cars, oneway, named int
	for _, r := range d.Roads {
		if (r.Forward|r.Backward)&mapdata.Car == 0 {
			continue
		}
		cars++
		if r.Forward&mapdata.Car == 0 || r.Backward&mapdata.Car == 0 {
			oneway++
		}
		if r.Name != "" {
			named++
		}
		if r.Class == mapdata.Motorway && !r.Link && r.Forward&r.Backward&mapdata.Car != 0 {
			t.Errorf("motorway %d is open both ways", r.Way)
		}
	}
	for _, share := range []struct {
		name     string
		got      float64
		min, max float64
	}{
		{"open to cars", float64(cars) / float64(len(d.Roads)), 0.75, 0.95},
		{"one-way", float64(oneway) / float64(cars), 0.05, 0.25},
		{"named", float64(named) / float64(cars), 0.55, 0.9},
	} {
		if share.got < share.min || share.got > share.max {
			t.Errorf("%s: %.3f", share.name, share.got)
		}
	}
}

func TestAndorra(t *testing.T) {
	d := mustRead(t, realExtract(t, andorra))
	checkData(t, d)
	if c := d.Counts; c.Nodes != 203265 || c.Ways != 9080 || c.Relations != 233 {
		t.Errorf("counts: %+v", c)
	}
	if want := time.Date(2018, 3, 1, 21, 43, 2, 0, time.UTC); !d.Timestamp.Equal(want) {
		t.Errorf("timestamp %v", d.Timestamp)
	}
	country := d.feature(mapdata.KindRelation, 9407)
	if country == nil || country.Tags.Get("admin_level") != "2" || !planar.MultiPolygonContains(multi(country.Geometry), orb.Point{1.5218, 42.5063}) {
		t.Errorf("Andorra la Vella is not in Andorra: %+v", country)
	}
}

// TestFormats: one map in each form gives the same Data, whatever the file is called.
func TestFormats(t *testing.T) {
	s := crossing()
	text := []byte(s.xml())
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(text[:200])
	z.Close()
	z.Reset(&zipped) // a second member, as parallel compressors write them
	z.Write(text[200:])
	z.Close()
	want := s.read(t)
	if len(want.Roads) != 2 || len(want.Features) != 3 {
		t.Fatalf("%+v", want)
	}
	for name, content := range map[string][]byte{
		"map.osm.gz": zipped.Bytes(), "map.osm": append([]byte("\xef\xbb\xbf\n<!-- a comment -->"), bytes.TrimPrefix(text, []byte("<?xml version='1.0' encoding='UTF-8'?>"))...),
		"misnamed.pbf": text, "misnamed": zipped.Bytes(),
	} {
		if diff := cmp.Diff(want, mustRead(t, writeFile(t, name, content)), withoutCost); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// withoutCost compares what was read, not how large the file was.
var withoutCost = cmpopts.IgnoreFields(Data{}, "Cost")

// crossing is a small map with a bit of everything.
func crossing() *sketch {
	return &sketch{
		nodes:    grid(),
		nodeTags: map[int64]string{5: "name=Cafe amenity=cafe"},
		ways: []sketchWay{
			{1, []int64{10, 11, 12}, "highway=residential name=High+Street"}, {2, []int64{1, 11, 21}, "highway=service"},
			{3, []int64{33, 34, 44, 43, 33}, ""},
		},
		relations: []sketchRelation{
			{1, "w1:from n11:via w2:to", "type=restriction restriction=no_left_turn"},
			{2, "w3:outer", "type=multipolygon leisure=park name=Park"},
		},
	}
}

// TestSeveralExtracts: neighbours that overlap give one map. What both have is there once, in its newest version; ways and
// areas find their parts in either file.
func TestSeveralExtracts(t *testing.T) {
	whole := crossing()
	want := whole.read(t)
	west, east := *whole, *whole
	west.nodes, east.nodes = make(map[int64][2]float64), make(map[int64][2]float64)
	for id, p := range whole.nodes {
		if id%10 <= 3 {
			west.nodes[id] = p
		}
		if id%10 >= 2 {
			east.nodes[id] = p
		}
	}
	west.relations, east.ways = whole.relations[:1], whole.ways[:1]
	east.relations = whole.relations[1:]
	newer := strings.Replace(east.xml(), `<way id="1" version="1">`, `<way id="1" version="2"><tag k="alt_name" v="Broadway"/>`, 1)
	paths := []string{writeFile(t, "west.osm", []byte(west.xml())), writeFile(t, "east.osm", []byte(newer))}
	got := mustRead(t, paths...)
	if f := got.feature(mapdata.KindWay, 1); f == nil || f.Tags.Get("alt_name") != "Broadway" {
		t.Errorf("way 1: %+v", f)
	} else {
		f.Tags = want.feature(mapdata.KindWay, 1).Tags
	}
	got.Counts.Nodes, got.Counts.Ways = want.Counts.Nodes, want.Counts.Ways // those of both files
	if diff := cmp.Diff(want, got, withoutCost); diff != "" {
		t.Error(diff)
	}
	paths[0], paths[1] = paths[1], paths[0]
	if f := mustRead(t, paths...).feature(mapdata.KindWay, 1); f == nil || f.Tags.Get("alt_name") != "Broadway" {
		t.Errorf("way 1, files swapped: %+v", f)
	}
}

func TestTimestampOfNewestObject(t *testing.T) {
	text := `<osm version="0.6"><node id="1" lat="0" lon="0" timestamp="2020-01-02T03:04:05Z"/>
		<node id="2" lat="0" lon="0" timestamp="2019-01-02T03:04:05Z"/></osm>`
	d := mustRead(t, writeFile(t, "map.osm", []byte(text)))
	if want := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC); !d.Timestamp.Equal(want) {
		t.Errorf("timestamp %v", d.Timestamp)
	}
}

func TestBrokenExtracts(t *testing.T) {
	pbf, err := os.ReadFile(realExtract(t, delaware))
	if err != nil {
		t.Fatal(err)
	}
	bz2, err := os.ReadFile(realExtract(t, andorra))
	if err != nil {
		t.Fatal(err)
	}
	text := crossing().xml()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, text)
	z.Close()
	damaged := bytes.Clone(pbf[:300_000])
	for i := range 50 {
		damaged[200_000+i] ^= 0x55
	}
	tests := []struct {
		name    string
		content []byte
		want    string
	}{
		{"empty.osm.pbf", nil, "is empty"},
		{"short.osm.pbf", pbf[:8], "not an OpenStreetMap extract"},
		{"truncated.osm.pbf", pbf[:300_000], "truncated"},
		{"damaged.osm.pbf", damaged, "block at byte"},
		{"truncated.osm.bz2", bz2[:100_000], "truncated"},
		{"start.osm.bz2", bz2[:3], "truncated"},
		{"damaged.osm.bz2", append(append([]byte{}, bz2[:1000]...), bz2[2000:100_000]...), "bzip2"},
		{"truncated.osm.gz", zipped.Bytes()[:zipped.Len()/2], "truncated"},
		{"start.osm.gz", zipped.Bytes()[:5], "truncated"},
		{"truncated.osm", []byte(text[:len(text)/2]), "truncated"},
		{"malformed.osm", []byte(strings.Replace(text, "</way>", "</road>", 1)), "XML, line"},
		{"number.osm", []byte(`<osm><node id="one" lat="0" lon="0"/></osm>`), `"one"`},
		{"nothing.osm", []byte("<osm/>"), "no map data"},
		{"page.osm", []byte("<!DOCTYPE html><html><body>404</body></html>"), "root element is <html>"},
		{"change.osc", []byte("<osmChange version='0.6'/>"), "root element is <osmChange>"},
		{"notes.txt", []byte("Dear diary"), "not an OpenStreetMap extract"},
		{"picture.png", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00"), "not an OpenStreetMap extract"},
		{"zeros.osm.pbf", make([]byte, 10_000), "not an OpenStreetMap extract"},
		{"packed.osm.pbf.gz", gzipped(pbf[:20_000]), "unpack it first"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkRefused(t, test.name, test.content, test.want) })
	}
	t.Run("missing", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "missing.osm.pbf")
		if _, err := Read(t.Context(), []string{path}, nil); !errors.Is(err, os.ErrNotExist) || strings.Count(err.Error(), path) != 1 {
			t.Error(err)
		}
	})
	t.Run("directory", func(t *testing.T) {
		if _, err := Read(t.Context(), []string{t.TempDir()}, nil); err == nil || !strings.Contains(err.Error(), "directory") {
			t.Error(err)
		}
	})
	t.Run("none", func(t *testing.T) {
		if _, err := Read(t.Context(), nil, nil); err == nil {
			t.Error("no error")
		}
	})
	t.Run("second", func(t *testing.T) {
		good, bad := writeFile(t, "good.osm", []byte(text)), writeFile(t, "bad.osm", []byte(text[:len(text)/2]))
		if _, err := Read(t.Context(), []string{good, bad}, nil); err == nil || !strings.HasPrefix(err.Error(), bad) {
			t.Error(err)
		}
	})
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// endless is XML of one element that never ends.
type endless struct{ head io.Reader }

func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.head.Read(p); err == nil {
		return n, nil
	}
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestEndlessElement(t *testing.T) {
	root, err := rootOf([]byte("<osm>"))
	if err != nil {
		t.Fatal(err)
	}
	x := newXML(memoryFile{}, 0, &endless{strings.NewReader("<osm><node id='1'>")}, root, nil)
	x.maxElement = 1 << 20
	if err := x.load(t.Context()); err == nil || !strings.Contains(err.Error(), "an element of more than 1048576 bytes") {
		t.Error(err)
	}
}

func TestProgress(t *testing.T) {
	if _, err := readDelaware(); err != nil {
		t.Fatal(err)
	}
	checkProgress(t, delawareProgress)
	if len(delawareProgress) < 8 {
		t.Errorf("only %d reports", len(delawareProgress))
	}
	var small []progressReport
	path := writeFile(t, "map.osm", []byte(crossing().xml()))
	if _, err := Read(t.Context(), []string{path}, func(stage string, done, total int64) {
		small = append(small, progressReport{stage, done, total})
	}); err != nil {
		t.Fatal(err)
	}
	checkProgress(t, small)
}

// checkProgress checks that all stages come, each from nothing to its end.
func checkProgress(t *testing.T, reports []progressReport) {
	t.Helper()
	var stages []string
	var last progressReport
	for _, r := range append(reports, progressReport{}) {
		if len(stages) == 0 || r.stage != last.stage {
			if last.done != last.total {
				t.Errorf("stage %s ended at %d of %d", last.stage, last.done, last.total)
			}
			stages = append(stages, r.stage)
			last = progressReport{stage: r.stage}
		}
		if r.done < last.done || r.done > r.total {
			t.Errorf("stage %s: %d of %d after %d", r.stage, r.done, r.total, last.done)
		}
		last = r
	}
	if diff := cmp.Diff([]string{"relations", "ways", "nodes", "areas", ""}, stages); diff != "" {
		t.Error(diff)
	}
}

func TestCancel(t *testing.T) {
	large, small := realExtract(t, delaware), writeFile(t, "sample.osm.pbf", extracttest.Sample(true))
	text := writeFile(t, "map.osm", []byte(crossing().xml()))
	for _, test := range []struct{ stage, path string }{
		{"relations", large}, {"relations", small}, {"ways", small}, {"nodes", small}, {"areas", small}, {"relations", text}, {"nodes", text},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Read(ctx, []string{test.path}, func(stage string, _, _ int64) {
			if stage == test.stage {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s cancelled in %s: %v", test.path, test.stage, err)
		}
		cancel()
	}
}
