package extract

import (
	"bytes"
	"compress/gzip"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/testkit/testextract"
	"github.com/mapsedge/caddy-maps/internal/testkit/testsize"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
)

// BenchmarkReadDelaware also tells what a map costs.
func BenchmarkReadDelaware(b *testing.B) {
	path := testextract.Path(b, testextract.Delaware)
	for name, o := range map[string]Options{"map": {}, "none": {NoMap: true}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(b.Context(), openScratch(b), []string{path}, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadAndorra(b *testing.B) {
	path := testextract.Path(b, testextract.Andorra)
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
	if c := d.Counts; c.Nodes != 723870 || c.Ways != 73144 || c.Relations != 1644 || c.MissingNodes != 0 ||
		c.RepairedRings != 0 {
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
			t.Errorf("%s: %.10f square degrees in %d polygons, want %.10f in %d", test.name, a, len(mp), test.area,
				test.polygons)
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

// TestRoadShare: nearly all roads of Delaware are open to cars, and those that are one-way are motorways, ramps and the
// like.
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
	testsize.Whole(t)
	d := mustRead(t, testextract.Path(t, testextract.Andorra))
	checkData(t, d)
	if c := d.Counts; c.Nodes != 203265 || c.Ways != 9080 || c.Relations != 233 {
		t.Errorf("counts: %+v", c)
	}
	if want := time.Date(2018, 3, 1, 21, 43, 2, 0, time.UTC); !d.Timestamp.Equal(want) {
		t.Errorf("timestamp %v", d.Timestamp)
	}
	country := d.feature(mapdata.KindRelation, 9407)
	if country == nil || country.Tags.Get("admin_level") != "2" || !planar.MultiPolygonContains(multi(country.Geometry),
		orb.Point{1.5218, 42.5063}) {
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
	zstandard, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := s.read(t)
	if len(want.Roads) != 2 || len(want.Features) != 3 {
		t.Fatalf("%+v", want)
	}
	for name, content := range map[string][]byte{
		"map.osm.gz": zipped.Bytes(), "map.osm": append([]byte("\xef\xbb\xbf\n<!-- a comment -->"),
			bytes.TrimPrefix(text, []byte("<?xml version='1.0' encoding='UTF-8'?>"))...),
		"map.osm.zst": zstandard.EncodeAll(text, nil), "misnamed.pbf": text, "misnamed": zipped.Bytes(),
	} {
		if diff := cmp.Diff(want, mustRead(t, writeFile(t, name, content))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

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

// TestSeveralExtracts: neighbours that overlap give one map. What both have is there once, in its newest version; ways
// and areas find their parts in either file.
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
	newer := strings.Replace(east.xml(), `<way id="1" version="1">`,
		`<way id="1" version="2"><tag k="alt_name" v="Broadway"/>`, 1)
	paths := []string{writeFile(t, "west.osm", []byte(west.xml())), writeFile(t, "east.osm", []byte(newer))}
	got := mustRead(t, paths...)
	if f := got.feature(mapdata.KindWay, 1); f == nil || f.Tags.Get("alt_name") != "Broadway" {
		t.Errorf("way 1: %+v", f)
	} else {
		f.Tags = want.feature(mapdata.KindWay, 1).Tags
	}
	got.Counts.Nodes, got.Counts.Ways = want.Counts.Nodes, want.Counts.Ways // those of both files
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	paths[0], paths[1] = paths[1], paths[0]
	if f := mustRead(t, paths...).feature(mapdata.KindWay, 1); f == nil || f.Tags.Get("alt_name") != "Broadway" {
		t.Errorf("way 1, files swapped: %+v", f)
	}
}

// TestUnsorted: the order of the objects in a file makes no difference.
func TestUnsorted(t *testing.T) {
	text := crossing().xml()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Reverse(lines[2 : len(lines)-1]) // all but the XML declaration and the root element
	reversed := strings.Join(lines, "\n")
	want, got := mustRead(t, writeFile(t, "map.osm", []byte(text))), mustRead(t, writeFile(t, "map.osm", []byte(reversed)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNewestNode: of a node that was moved, the newest place counts, for the node itself and for the roads over it.
func TestNewestNode(t *testing.T) {
	s := crossing()
	s.ways = append(s.ways, sketchWay{4, []int64{5, 6}, "highway=path"})
	old := s.xml()
	s.nodes[5] = [2]float64{0.055, 0.002}
	moved := strings.Replace(s.xml(), `<node id="5" version="1"`, `<node id="5" version="2"`, 1)
	paths := []string{writeFile(t, "old.osm", []byte(old)), writeFile(t, "moved.osm", []byte(moved))}
	for range 2 {
		d := mustRead(t, paths...)
		if f := d.feature(mapdata.KindNode, 5); f == nil || f.Geometry != (orb.Point{0.055, 0.002}) {
			t.Errorf("the feature: %+v", f)
		}
		if n := d.Nodes[d.Roads[2].Nodes[0]]; n.Lat != 20_000 || n.Lon != 550_000 {
			t.Errorf("the node of the road: %+v", n)
		}
		slices.Reverse(paths)
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
