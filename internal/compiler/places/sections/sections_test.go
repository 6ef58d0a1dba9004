package sections

import (
	"fmt"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

func newWriter(t *testing.T) *Writer {
	t.Helper()
	dir, err := scratch.Open(t.TempDir(), "test", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	w, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// feature is what a Writer is given.
type feature struct {
	placefile.Record
	kinds   []placefile.Kind
	address placefile.Address
}

// point is a feature at a position in degrees.
func point(lon, lat float64) *feature {
	g, _ := geometry.New(orb.Point{lon, lat})
	return &feature{Record: placefile.Record{Geometry: &g}, kinds: []placefile.Kind{{Key: "amenity", Value: "cafe"}}}
}

func add(t *testing.T, w *Writer, f *feature) {
	t.Helper()
	if err := w.Add(&f.Record, f.kinds, &f.address); err != nil {
		t.Fatal(err)
	}
}

// TestSize: what many features have in common is there once, and what they do not need to say is not there.
func TestSize(t *testing.T) {
	long := strings.Repeat("x", 4000)
	for name, c := range map[string]struct {
		change func(f *feature, i int)
		want   int // bytes of each feature beside its block
	}{
		"positions":    {func(*feature, int) {}, 3},
		"names":        {func(f *feature, _ int) { f.Name = long }, 3 + 1},
		"numbers":      {func(f *feature, _ int) { f.HouseNumber = long }, 3 + 2},
		"names abroad": {func(f *feature, _ int) { f.Names = []placefile.Kind{{Key: "de", Value: long}} }, 3 + 5},
		"kinds":        {func(f *feature, _ int) { f.kinds = []placefile.Kind{{Key: "amenity", Value: long}} }, 3},
		"named as its address": {func(f *feature, _ int) {
			f.HouseNumber, f.address, f.Name = "12", placefile.Address{Street: "Elm Street"}, "12 Elm Street"
		}, 3 + 4},
		"one street of many cities": {func(f *feature, i int) { f.address = placefile.Address{Street: long, City: fmt.Sprint(i % 10)} }, 3 + 2},
	} {
		const n = 3200
		w := newWriter(t)
		for i := range n {
			f := point(float64(i)*1e-7, 0)
			c.change(f, i)
			add(t, w, f)
		}
		if err := w.Trees(n); err != nil {
			t.Fatal(err)
		}
		size := w.records.Len() + len(w.text.Bytes()) + len(w.kinds.Bytes()) + len(w.addresses.Bytes())
		if common := size - n*c.want; common < 0 || common > 5000 {
			t.Errorf("%s: %d bytes, %d each and %d for all", name, size, c.want, common)
		}
	}
}

// TestFarApart: the records of a block may lie far apart, and its features too.
func TestFarApart(t *testing.T) {
	w := newWriter(t)
	var line orb.LineString
	for i := range 100_000 {
		line = append(line, orb.Point{float64(i%359) - 179.0000001, float64(i%170)/2 - 60.0000003})
	}
	var boxes []placefile.Corner
	for i := range placefile.Fanout {
		f := point(-180, -90)
		if i%3 == 1 {
			g, _ := geometry.New(line)
			f.Geometry = &g
		}
		if i%3 == 2 {
			f = point(float64(i)*1.2345671, 90)
		}
		boxes = append(boxes, placefile.Corner{Dx: uint32(f.Geometry.Box.MinX), Dy: uint32(f.Geometry.Box.MinY)})
		f.Ref = uint64(i)
		add(t, w, f)
	}
	if err := w.Trees(placefile.Fanout); err != nil {
		t.Fatal(err)
	}
	b := w.blocks.Slice()[0]
	for i, want := range boxes {
		record := w.records.Slice()[b.At+uint64(b.Offsets[i])<<b.Unit:]
		h := placefile.ReadHead(record, b.Shift)
		box := b.Box(i)
		got := placefile.Corner{Dx: uint32(box.MinX) + h.Dx, Dy: uint32(box.MinY) + h.Dy}
		ref := h.ReadRef(&placefile.Reader{Data: record, At: h.Details})
		if ref != uint64(i) || got != want {
			t.Errorf("feature %d: %d at %v, want %v", i, ref, got, want)
		}
	}
}
