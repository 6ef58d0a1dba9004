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

// TestDelaware compares the largest areas of a real extract with what libosmium makes of it.
func TestDelaware(t *testing.T) {
	t.Parallel()
	r := new(osmtest.Recorder)
	e := osmtest.Read(t, []string{testkit.Extract(t, testkit.Delaware)}, r)
	r.Check(t)
	// Eleven ways have a single node.
	if c := e.Counts; c.Nodes != 723870 || c.Ways != 73144 || c.Relations != 1644 || c.MissingNodes != 0 ||
		c.RepairedRings != 0 || c.TooLarge != 0 || len(r.Ways) != 73144-11 || len(r.Relations) != 1644 ||
		!e.Timestamp.Equal(time.Date(2016, 8, 10, 19, 28, 3, 0, time.UTC)) {
		t.Errorf("%+v, %d ways, %d relations, %v", c, len(r.Ways), len(r.Relations), e.Timestamp)
	}
	// Areas in square degrees, as libosmium assembles them.
	for id, want := range map[int64]struct {
		name string
		area float64
	}{
		162110:  {"Delaware", 0.6692535036},
		1245078: {"Kent County", 0.2154064066},
		117178:  {"Dover", 0.0062626491},
		384312:  {"Newark", 0.0025423563},
		1283198: {"Sawpit Cove", 0.0000080004},
	} {
		a := r.Area(region.KindRelation, id)
		if a == nil || a.Tags.Find("name") != want.name || len(a.Polygons) != 1 ||
			math.Abs(planar.Area(osmtest.Multi(a.Polygons))-want.area) > 1e-9 {
			t.Errorf("%s: %+v", want.name, a)
		}
	}
	capitol := orb.Point{-75.5198, 39.1573}
	if !planar.MultiPolygonContains(osmtest.Multi(r.Area(region.KindRelation, 117178).Polygons), capitol) {
		t.Error("Legislative Hall is not in Dover")
	}
	// The county extends beyond the extract, and the part that is there encloses nothing.
	if a := r.Area(region.KindRelation, 417832); a != nil {
		t.Errorf("Chester County: %v", a.Polygons)
	}
	// A town in the old style, whose holes are in a relation without tags.
	if a := r.Area(region.KindWay, 33502428); a == nil || a.Shared == nil || len(a.Polygons[0]) < 2 {
		t.Errorf("Middletown: %+v", a)
	}
}

// content is all that consumers are told.
type content struct {
	Extracts osm.Extracts
	Objects  []string // in their order
	Places   []string // of the ways' nodes
}

// contentOf reads extracts, with every second node noted.
func contentOf(t testing.TB, paths ...string) *content {
	t.Helper()
	r := &osmtest.Recorder{Notes: func(n *osm.Node) bool { return n.ID%2 == 1 }}
	e := osmtest.Read(t, paths, r)
	r.Check(t)
	c := &content{Extracts: *e, Objects: r.Objects()}
	for _, w := range r.Ways {
		c.Places = append(c.Places, fmt.Sprint(w.ID, w.Numbers, w.Coords, w.IsArea))
	}
	return c
}

var compareTiles = cmp.Comparer(func(a, b osm.Tiles) bool { return slices.Equal(a.Sorted(), b.Sorted()) })

// TestFormats: one map in each form gives the same objects, with any file name.
func TestFormats(t *testing.T) {
	t.Parallel()
	text := []byte(osmtest.Crossing.XML())
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
	testkit.Whole(t)
	andorra := osmtest.Read(t, []string{testkit.Extract(t, testkit.Andorra)}) // with bzip2
	if c := andorra.Counts; c.Nodes != 203265 || c.Ways != 9080 || c.Relations != 233 ||
		!andorra.Timestamp.Equal(time.Date(2018, 3, 1, 21, 43, 2, 0, time.UTC)) {
		t.Errorf("%+v, %v", c, andorra.Timestamp)
	}
}

// TestManyCores: the order of the objects does not depend on the number of cores.
func TestManyCores(t *testing.T) {
	testkit.Whole(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	path := testkit.Extract(t, testkit.Delaware)
	runtime.GOMAXPROCS(1)
	want := contentOf(t, path)
	runtime.GOMAXPROCS(7)
	got := contentOf(t, path)
	if !slices.Equal(want.Objects, got.Objects) || !slices.Equal(want.Places, got.Places) ||
		want.Extracts.Counts != got.Extracts.Counts || want.Extracts.Bounds != got.Extracts.Bounds {
		t.Errorf("%+v and %+v", want.Extracts.Counts, got.Extracts.Counts)
	}
}

// TestSeveralExtracts: neighbours that overlap give one map. An object of both is there once, in its newest version; ways
// and areas find their parts in either file.
func TestSeveralExtracts(t *testing.T) {
	t.Parallel()
	whole := osmtest.Crossing.XML()
	want := contentOf(t, osmtest.Crossing.File(t))
	part := func(lacks func(line string, x byte) bool) string {
		lines := strings.SplitAfter(whole, "\n")
		return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
			id, node := strings.CutPrefix(line, `<node id="`)
			if id, _, _ = strings.Cut(id, `"`); !node {
				id = "x"
			}
			return lacks(line, id[len(id)-1])
		}), "")
	}
	west := part(func(line string, x byte) bool {
		return '3' < x && x <= '9' || strings.HasPrefix(line, `<relation id="2"`)
	})
	east := part(func(line string, x byte) bool {
		return x < '2' || strings.HasPrefix(line, `<relation id="1"`) || strings.HasPrefix(line, `<way id="2"`) ||
			strings.HasPrefix(line, `<way id="3"`)
	})
	// Both files have way 1. What is as new in both is taken from the first.
	paths := []string{osmtest.WriteFile(t, "west.osm", []byte(west)), osmtest.WriteFile(t, "east.osm", []byte(east))}
	if diff := cmp.Diff(want, contentOf(t, paths...), compareTiles); diff != "" {
		t.Error(diff)
	}
	paths[1] = osmtest.WriteFile(t, "east.osm", []byte(strings.Replace(east, `<way id="1" version="1">`,
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

// TestUnsorted: the objects do not depend on the order of the file.
func TestUnsorted(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(osmtest.Crossing.XML()), "\n")
	slices.Reverse(lines[2 : len(lines)-1]) // all but the XML declaration and the root element
	want, got := contentOf(t, osmtest.Crossing.File(t)), contentOf(t, osmtest.WriteFile(t, "map.osm", []byte(strings.Join(lines, "\n"))))
	for _, c := range []*content{want, got} {
		slices.Sort(c.Objects)
		slices.Sort(c.Places)
	}
	if diff := cmp.Diff(want, got, compareTiles); diff != "" {
		t.Error(diff)
	}
}

// TestNewestNode: of a node that was moved, the newest position counts, for the node and for the ways over it.
func TestNewestNode(t *testing.T) {
	t.Parallel()
	const way = " / w4 5 6 highway=path"
	moved := strings.Replace((osmtest.Crossing + way + " / n5 0.055 0.002 name=Cafe").XML(), `<node id="5" version="1"`, `<node id="5" version="2"`, 1)
	paths := []string{(osmtest.Crossing + way).File(t), osmtest.WriteFile(t, "moved.osm", []byte(moved))}
	want := osm.Coord{Lat: 20_000, Lon: 550_000}
	for range 2 {
		r := &osmtest.Recorder{Notes: func(*osm.Node) bool { return true }}
		osmtest.Read(t, paths, r)
		if len(r.Nodes) != 1 || r.Nodes[0].At != want {
			t.Errorf("the node: %+v", r.Nodes)
		}
		if w := r.Way(4); w == nil || w.Coords[0] != want || !slices.Equal(r.NotedOf[4], []int64{5}) {
			t.Errorf("the way: %+v", w)
		}
		slices.Reverse(paths)
	}
}

// TestStrangeFiles: files that no editor writes.
func TestStrangeFiles(t *testing.T) {
	t.Parallel()
	const twice = `<way id="1"><nd ref="1"/><nd ref="2"/></way><relation id="1"/>`
	for name, c := range map[string]struct {
		content string
		want    osm.Counts
		objects string
	}{
		"the same objects twice": {`<node id="1" lat="0" lon="0"/><node id="1" lat="0" lon="0"/><node id="2" lat="0" lon="1"/>` + twice + twice,
			osm.Counts{Nodes: 3, Ways: 2, Relations: 2}, "r1 / r1 / w1 1 2 / w1 1 2"},
		"only relations": {`<relation id="1"><tag k="type" v="multipolygon"/><tag k="leisure" v="park"/></relation>` +
			`<relation id="2"><member type="way" ref="1" role="outer"/><tag k="type" v="multipolygon"/><tag k="leisure" v="park"/></relation>` +
			`<relation id="3"><member type="way" ref="1"/><tag k="type" v="boundary"/></relation>`,
			osm.Counts{Relations: 3, BrokenAreas: 1}, "r1 type=multipolygon leisure=park / r2 w1:outer type=multipolygon leisure=park / r3 w1: type=boundary"},
		"only ways": {`<way id="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="1"/><tag k="natural" v="water"/></way>`,
			osm.Counts{Ways: 1, MissingNodes: 4, BrokenAreas: 1}, "w1 1 2 3 1 [lacks 4] natural=water"},
		"ids that are negative or far apart": {`<node id="-4611686018427387904" lat="0" lon="0"/><node id="-2" lat="0" lon="0.01"/>` +
			`<node id="1152921504606846976" lat="0.01" lon="0.01"/><way id="-1"><nd ref="-4611686018427387904"/><nd ref="-2"/>` +
			`<nd ref="1152921504606846976"/><nd ref="-4611686018427387904"/><tag k="natural" v="water"/></way>` +
			`<relation id="-3"><member type="way" ref="-1" role="outer"/><tag k="type" v="multipolygon"/></relation>`,
			osm.Counts{Nodes: 3, Ways: 1, Relations: 1}, "r-3 w-1:outer type=multipolygon / w-1 -4611686018427387904 -2 1152921504606846976 " +
				"-4611686018427387904 [member] natural=water / w-1 (0 1 11) [with r-3: natural=water] natural=water"},
	} {
		r := new(osmtest.Recorder)
		e := osmtest.ReadXML(t, c.content, r)
		r.Check(t)
		if diff := cmp.Diff(c.objects, strings.Join(r.Objects(), " / ")); diff != "" || e.Counts != c.want {
			t.Errorf("%s: %+v\n%s", name, e.Counts, diff)
		}
	}
	if e := osmtest.Crossing.Read(t); e.Counts.Ways != 3 {
		t.Errorf("without consumers: %+v", e.Counts)
	}
	e := osmtest.ReadXML(t, `<node id="1" lat="0" lon="0" timestamp="2020-01-02T03:04:05Z"/>
		<node id="2" lat="0" lon="0" timestamp="2019-01-02T03:04:05Z"/>`)
	if want := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC); !e.Timestamp.Equal(want) {
		t.Errorf("the timestamp is %v, not that of the newest object", e.Timestamp)
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

// TestFailingConsumers: the error of a consumer ends the reading, and is returned in one line.
func TestFailingConsumers(t *testing.T) {
	t.Parallel()
	path := osmtest.Crossing.File(t)
	for _, at := range []string{"take", "located", "finish"} {
		_, err := osm.Read(t.Context(), osmtest.Dir(t), []string{path}, nil, new(osmtest.Recorder), &failing{at: at},
			&failing{at: at})
		if !errors.Is(err, errFailing) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", at, err)
		}
	}
}
