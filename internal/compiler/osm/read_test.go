package osm_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

func BenchmarkDelaware(b *testing.B) {
	path := testkit.Extract(b, testkit.Delaware)
	b.ReportAllocs()
	for b.Loop() {
		osmtest.Read(b, []string{path}, new(osmtest.Recorder))
	}
}

func BenchmarkAndorra(b *testing.B) {
	path := testkit.Extract(b, testkit.Andorra)
	b.ReportAllocs()
	for b.Loop() {
		osmtest.Read(b, []string{path}, new(osmtest.Recorder))
	}
}

// TestDelaware compares the largest areas of a real extract with what libosmium makes of it.
func TestDelaware(t *testing.T) {
	r := new(osmtest.Recorder)
	e := osmtest.Read(t, []string{testkit.Extract(t, testkit.Delaware)}, r)
	r.Check(t)
	// Eleven ways have but one node.
	if c := e.Counts; c.Nodes != 723870 || c.Ways != 73144 || c.Relations != 1644 || c.MissingNodes != 0 ||
		c.RepairedRings != 0 || c.TooLarge != 0 || len(r.Ways) != 73144-11 || len(r.Relations) != 1644 {
		t.Errorf("counts: %+v, %d ways, %d relations", c, len(r.Ways), len(r.Relations))
	}
	if want := time.Date(2016, 8, 10, 19, 28, 3, 0, time.UTC); !e.Timestamp.Equal(want) {
		t.Errorf("timestamp %v", e.Timestamp)
	}
	if !slices.IsSorted(e.Tiles.Sorted()) {
		t.Error("tiles are not sorted")
	}
	// Areas in square degrees, as libosmium assembles them.
	for _, test := range []struct {
		id       int64
		name     string
		area     float64
		polygons int
	}{
		{162110, "Delaware", 0.6692535036, 1},
		{1245078, "Kent County", 0.2154064066, 1},
		{117178, "Dover", 0.0062626491, 1},
		{384312, "Newark", 0.0025423563, 1},
		{1283198, "Sawpit Cove", 0.0000080004, 1},
	} {
		a := r.Area(region.KindRelation, test.id)
		if a == nil || a.Tags.Find("name") != test.name {
			t.Errorf("%s: %+v", test.name, a)
			continue
		}
		mp := osmtest.Multi(a.Polygons)
		if got := osmtest.AreaOf(mp); math.Abs(got-test.area) > 1e-9 || len(mp) != test.polygons {
			t.Errorf("%s: %.10f square degrees in %d polygons, want %.10f in %d", test.name, got, len(mp), test.area,
				test.polygons)
		}
	}
	capitol := orb.Point{-75.5198, 39.1573}
	if !planar.MultiPolygonContains(osmtest.Multi(r.Area(region.KindRelation, 117178).Polygons), capitol) {
		t.Error("Legislative Hall is not in Dover")
	}
	// The county runs beyond the extract: what is there of it encloses nothing.
	if a := r.Area(region.KindRelation, 417832); a != nil {
		t.Errorf("Chester County: %v", a.Polygons)
	}
	// A town in the old style, whose holes are in a relation without tags.
	if a := r.Area(region.KindWay, 33502428); a == nil || a.Shared == nil || len(a.Polygons[0]) < 2 {
		t.Errorf("Middletown: %+v", a)
	}
}

func TestAndorra(t *testing.T) {
	testkit.Whole(t)
	r := new(osmtest.Recorder)
	e := osmtest.Read(t, []string{testkit.Extract(t, testkit.Andorra)}, r)
	r.Check(t)
	if c := e.Counts; c.Nodes != 203265 || c.Ways != 9080 || c.Relations != 233 {
		t.Errorf("counts: %+v", c)
	}
	if want := time.Date(2018, 3, 1, 21, 43, 2, 0, time.UTC); !e.Timestamp.Equal(want) {
		t.Errorf("timestamp %v", e.Timestamp)
	}
	country := r.Area(region.KindRelation, 9407)
	if country == nil || country.Tags.Find("admin_level") != "2" ||
		!planar.MultiPolygonContains(osmtest.Multi(country.Polygons), orb.Point{1.5218, 42.5063}) {
		t.Errorf("Andorra la Vella is not in Andorra: %+v", country)
	}
}

// content is all that consumers are told, in a form to compare.
type content struct {
	Extracts osm.Extracts
	Objects  []string // in their order
}

// contentOf reads extracts, with every second node noted.
func contentOf(t testing.TB, paths ...string) *content {
	t.Helper()
	r := &osmtest.Recorder{Notes: func(n *osm.Node) bool { return n.ID%2 == 1 }}
	e := osmtest.Read(t, paths, r)
	r.Check(t)
	c := &content{Extracts: *e}
	for _, n := range r.Nodes {
		c.Objects = append(c.Objects, fmt.Sprint("node ", n.ID, n.At, n.Tags.OSM()))
	}
	for _, rel := range r.Relations {
		c.Objects = append(c.Objects, fmt.Sprint("relation ", rel.ID, rel.Tags.OSM(), rel.Members))
	}
	for _, w := range r.Ways {
		c.Objects = append(c.Objects, fmt.Sprint("way ", w.ID, w.Tags.OSM(), w.Nodes, w.Numbers, w.Coords, w.Lacks, w.Member,
			w.IsArea, r.NotedOf[w.ID]))
	}
	for _, a := range r.Areas {
		c.Objects = append(c.Objects, fmt.Sprint("area ", a.Kind, a.ID, a.Tags.OSM(), a.Polygons, a.Noted, a.OldStyle))
	}
	return c
}

var compareTiles = cmp.Comparer(func(a, b osm.Tiles) bool { return slices.Equal(a.Sorted(), b.Sorted()) })

// TestFormats: one map in each form gives the same objects, whatever the file is called.
func TestFormats(t *testing.T) {
	text := []byte(osmtest.Crossing().XML())
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(text[:200])
	z.Close()
	z.Reset(&zipped) // a second member, as parallel compressors write them
	z.Write(text[200:])
	z.Close()
	zstandard, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := contentOf(t, osmtest.WriteFile(t, "map.osm", text))
	if len(want.Objects) != 1+2+3+1 {
		t.Fatalf("%+v", want.Objects)
	}
	for name, content := range map[string][]byte{
		"map.osm.gz": zipped.Bytes(), "map.osm": append([]byte("\xef\xbb\xbf\n<!-- a comment -->"),
			bytes.TrimPrefix(text, []byte("<?xml version='1.0' encoding='UTF-8'?>"))...),
		"map.osm.zst": zstandard.EncodeAll(text, nil), "misnamed.pbf": text, "misnamed": zipped.Bytes(),
	} {
		if diff := cmp.Diff(want, contentOf(t, osmtest.WriteFile(t, name, content)), compareTiles); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestManyCores: however many cores there are, the objects come in the same order.
func TestManyCores(t *testing.T) {
	testkit.Whole(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	path := testkit.Extract(t, testkit.Delaware)
	runtime.GOMAXPROCS(1)
	want := contentOf(t, path)
	runtime.GOMAXPROCS(7)
	got := contentOf(t, path)
	if !slices.Equal(want.Objects, got.Objects) || want.Extracts.Counts != got.Extracts.Counts ||
		want.Extracts.Bounds != got.Extracts.Bounds {
		t.Errorf("%+v and %+v", want.Extracts.Counts, got.Extracts.Counts)
	}
}

// TestSeveralExtracts: neighbours that overlap give one map. What both have is there once, in its newest version; ways
// and areas find their parts in either file.
func TestSeveralExtracts(t *testing.T) {
	whole := osmtest.Crossing()
	want := contentOf(t, whole.File(t))
	west, east := *whole, *whole
	west.Nodes, east.Nodes = make(map[int64][2]float64), make(map[int64][2]float64)
	for id, p := range whole.Nodes {
		if id%10 <= 3 {
			west.Nodes[id] = p
		}
		if id%10 >= 2 {
			east.Nodes[id] = p
		}
	}
	west.Relations, east.Ways = whole.Relations[:1], whole.Ways[:1]
	east.Relations = whole.Relations[1:]
	// Both files have way 1. What is as new in both is taken from the first.
	paths := []string{west.File(t), osmtest.WriteFile(t, "east.osm", []byte(east.XML()))}
	if diff := cmp.Diff(want, contentOf(t, paths...), compareTiles); diff != "" {
		t.Error(diff)
	}
	paths[1] = osmtest.WriteFile(t, "east.osm", []byte(strings.Replace(east.XML(), `<way id="1" version="1">`,
		`<way id="1" version="2"><tag k="alt_name" v="Broadway"/>`, 1)))
	for range 2 {
		r := new(osmtest.Recorder)
		e := osmtest.Read(t, paths, r)
		if w := r.Way(1); len(r.Ways) != 3 || w == nil || w.Tags.Find("alt_name") != "Broadway" || w.Lacks != 0 {
			t.Errorf("%d ways, way 1: %+v", len(r.Ways), w)
		}
		if r.Area(region.KindRelation, 2) == nil || len(r.Relations) != 2 || e.Counts != want.Extracts.Counts {
			t.Errorf("%+v, %+v", e.Counts, r.Areas)
		}
		slices.Reverse(paths)
	}
}

// TestUnsorted: the order of the objects in a file makes no difference, but for the order in which they are told.
func TestUnsorted(t *testing.T) {
	text := osmtest.Crossing().XML()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Reverse(lines[2 : len(lines)-1]) // all but the XML declaration and the root element
	want := contentOf(t, osmtest.WriteFile(t, "map.osm", []byte(text)))
	got := contentOf(t, osmtest.WriteFile(t, "map.osm", []byte(strings.Join(lines, "\n"))))
	slices.Sort(want.Objects)
	slices.Sort(got.Objects)
	if diff := cmp.Diff(want, got, compareTiles); diff != "" {
		t.Error(diff)
	}
}

// TestNewestNode: of a node that was moved, the newest place counts, for the node itself and for the ways over it.
func TestNewestNode(t *testing.T) {
	s := osmtest.Crossing()
	s.Ways = append(s.Ways, osmtest.SketchWay{ID: 4, Nodes: []int64{5, 6}, Tags: "highway=path"})
	old := s.XML()
	s.Nodes[5] = [2]float64{0.055, 0.002}
	moved := strings.Replace(s.XML(), `<node id="5" version="1"`, `<node id="5" version="2"`, 1)
	paths := []string{osmtest.WriteFile(t, "old.osm", []byte(old)), osmtest.WriteFile(t, "moved.osm", []byte(moved))}
	want := osm.Coord{Lat: 20_000, Lon: 550_000}
	for range 2 {
		r := &osmtest.Recorder{Notes: func(*osm.Node) bool { return true }}
		osmtest.Read(t, paths, r)
		if n := r.Node(5); len(r.Nodes) != 1 || n == nil || n.At != want {
			t.Errorf("the node: %+v", r.Nodes)
		}
		if w := r.Way(4); w == nil || w.Coords[0] != want || !slices.Equal(r.NotedOf[4], []int64{5}) {
			t.Errorf("the way: %+v", w)
		}
		slices.Reverse(paths)
	}
}

// TestTwiceInOneFile: a single file is taken as it is.
func TestTwiceInOneFile(t *testing.T) {
	node := `<node id="1" version="1" lat="0" lon="0"><tag k="shop" v="yes"/></node>`
	r := new(osmtest.Recorder)
	e := osmtest.ReadXML(t, node+node+`<node id="2" lat="0" lon="1"/>`+
		strings.Repeat(`<way id="1"><nd ref="1"/><nd ref="2"/></way><relation id="1"/>`, 2), r)
	if c := e.Counts; len(r.Nodes) != 2 || len(r.Ways) != 2 || len(r.Relations) != 2 || c.Nodes != 3 || r.Ways[0].Lacks != 0 {
		t.Errorf("%+v: %+v, %+v", c, r.Nodes, r.Ways)
	}
}

// TestStrangeFiles: negative ids, ids far apart, ways alone, relations alone.
func TestStrangeFiles(t *testing.T) {
	t.Run("negative ids", func(t *testing.T) {
		s := osmtest.Sketch{Nodes: map[int64][2]float64{-1: {0, 0}, -2: {0.01, 0}, -1 << 62: {0.01, 0.01}, 1 << 60: {0, 0.01}},
			NodeTags: map[int64]string{-2: "barrier=gate"},
			Ways: []osmtest.SketchWay{{ID: -1, Nodes: []int64{-1, -2, -1 << 62, 1 << 60, -1}, Tags: "natural=water"},
				{ID: -2, Nodes: []int64{-1, -2, -1 << 62}}, {ID: -3, Nodes: []int64{-1 << 62, 1 << 60, -1}}},
			Relations: []osmtest.SketchRelation{{ID: -1, Members: "w-2:outer w-3:outer", Tags: "type=multipolygon leisure=park"},
				{ID: -2, Members: "w-1:outer", Tags: "type=multipolygon"}}}
		r := &osmtest.Recorder{Notes: func(*osm.Node) bool { return true }}
		e := s.Read(t, r)
		r.Check(t)
		lake, park := r.Area(region.KindWay, -1), r.Area(region.KindRelation, -1)
		if lake == nil || park == nil || len(r.Areas) != 2 || lake.Shared == nil || lake.Relation != -2 || len(park.Noted) != 1 {
			t.Errorf("areas: %+v", r.Areas)
		}
		if w := r.Way(-1); w == nil || !slices.Equal(w.Nodes, s.Ways[0].Nodes) || !slices.Equal(r.NotedOf[-1], []int64{-2}) {
			t.Errorf("way: %+v", w)
		}
		if e.Counts.MissingNodes != 0 || e.Counts.BrokenAreas != 0 {
			t.Errorf("%+v", e.Counts)
		}
	})
	t.Run("relations alone", func(t *testing.T) {
		s := osmtest.Sketch{Relations: []osmtest.SketchRelation{{ID: 1}, {ID: 2, Tags: "type=multipolygon leisure=park"},
			{ID: 3, Members: "w1:outer", Tags: "type=multipolygon leisure=park"}, {ID: 4, Members: "w1", Tags: "type=boundary"}}}
		r := new(osmtest.Recorder)
		e := s.Read(t, r)
		if len(r.Relations) != 4 || len(r.Areas) != 0 || e.Counts != (osm.Counts{Relations: 4, BrokenAreas: 1}) ||
			e.Bounds != (orb.Bound{}) || len(e.Tiles.Sorted()) != 0 {
			t.Errorf("%+v, %v", e.Counts, e.Bounds)
		}
	})
	t.Run("ways alone", func(t *testing.T) {
		s := osmtest.Sketch{Ways: []osmtest.SketchWay{{ID: 1, Nodes: []int64{1, 2, 3, 1}, Tags: "natural=water"}}}
		r := new(osmtest.Recorder)
		e := s.Read(t, r)
		r.Check(t)
		if w := r.Way(1); w == nil || w.Lacks != 4 || e.Counts != (osm.Counts{Ways: 1, MissingNodes: 4, BrokenAreas: 1}) {
			t.Errorf("%+v, %+v", e.Counts, w)
		}
	})
	t.Run("no consumer", func(t *testing.T) {
		if e := osmtest.Crossing().Read(t); e.Counts.Ways != 3 {
			t.Errorf("%+v", e.Counts)
		}
	})
}

func TestTimestampOfNewestObject(t *testing.T) {
	e := osmtest.ReadXML(t, `<node id="1" lat="0" lon="0" timestamp="2020-01-02T03:04:05Z"/>
		<node id="2" lat="0" lon="0" timestamp="2019-01-02T03:04:05Z"/>`)
	if want := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC); !e.Timestamp.Equal(want) {
		t.Errorf("timestamp %v", e.Timestamp)
	}
}

// failing is a consumer that fails somewhere.
type failing struct {
	osmtest.Recorder
	at string
}

var errFailing = errors.New("failed")

func (f *failing) fail(at string) error {
	if f.at == at {
		return errFailing
	}
	return nil
}

func (f *failing) Take(b osm.Batch) error {
	if err := f.Recorder.Take(b); err != nil || len(f.Relations) == 0 {
		return err
	}
	return f.fail("take")
}

func (f *failing) Located(context.Context, *osm.Nodes) error { return f.fail("located") }
func (f *failing) Finish(context.Context) error              { return f.fail("finish") }

// TestFailingConsumers: the error of a consumer ends the reading, and is told in one line.
func TestFailingConsumers(t *testing.T) {
	path := osmtest.Crossing().File(t)
	for _, at := range []string{"take", "located", "finish"} {
		_, err := osm.Read(t.Context(), osmtest.Dir(t), []string{path}, nil, new(osmtest.Recorder), &failing{at: at},
			&failing{at: at})
		if !errors.Is(err, errFailing) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", at, err)
		}
	}
}
