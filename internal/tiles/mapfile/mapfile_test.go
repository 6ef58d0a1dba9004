package mapfile

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	_ "github.com/mapsedge/caddy-maps/internal/testkit" // fewer checks under the race detector
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
)

// TestIDs: the numbers are those of the PMTiles specification, version 3.
func TestIDs(t *testing.T) {
	for tile, want := range map[Tile]uint64{
		{0, 0, 0}: 0, {1, 0, 0}: 1, {1, 0, 1}: 2, {1, 1, 1}: 3, {1, 1, 0}: 4, {2, 0, 0}: 5, {2, 1, 3}: 11,
		{12, 3423, 1763}: 19078479,
	} {
		if got := tile.ID(); got != want {
			t.Errorf("%v: %d, want %d", tile, got, want)
		}
		if got := TileOf(want); got != tile {
			t.Errorf("%d: %v, want %v", want, got, tile)
		}
	}
}

func anyTile(t *rapid.T, most uint8) Tile {
	z := rapid.Uint8Range(0, most).Draw(t, "zoom")
	at := rapid.Uint32Range(0, 1<<z-1)
	return Tile{z, at.Draw(t, "x"), at.Draw(t, "y")}
}

// TestDescendants: they are those that lie in the tile, each once, in the order of their IDs.
func TestDescendants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tile := anyTile(t, CellZoom)
		z := tile.Z + rapid.Uint8Range(0, 4).Draw(t, "further")
		var ids []uint64
		tile.Descendants(z, func(d Tile) bool {
			if d.Z != z || d.Parent(tile.Z) != tile || TileOf(d.ID()) != d {
				t.Fatalf("%v in %v", d, tile)
			}
			ids = append(ids, d.ID())
			return true
		})
		if !slices.IsSorted(ids) || len(slices.Compact(ids)) != 1<<(2*(z-tile.Z)) {
			t.Errorf("%v: %d of zoom %d", tile, len(ids), z)
		}
	})
}

// TestRecords: records are read as they were written, and none is missed that touches a window.
func TestRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tile := anyTile(t, MaxZoom)
		in := tile.Buffered()
		point := rapid.Custom(func(t *rapid.T) geo.Projected {
			return geo.Projected{X: rapid.Int32Range(in.Min.X, in.Max.X).Draw(t, "x"),
				Y: rapid.Int32Range(in.Min.Y, in.Max.Y).Draw(t, "y")}
		})
		parts := rapid.SliceOfN(rapid.SliceOfN(point, 1, 5), 1, 4).Draw(t, "lines")
		var shape Shape
		for _, l := range parts {
			shape.Lines = append(shape.Lines, l)
		}
		bounds := clip.Bounds(slices.Concat(parts...))
		text := rapid.Uint64Range(0, 1<<40)
		class := text.Draw(t, "class")
		names := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Name {
			return Name{text.Draw(t, "key"), text.Draw(t, "value")}
		}), 0, 3).Draw(t, "names")
		zoom := rapid.Uint8Range(0, MaxZoom).Draw(t, "zoom")
		data := AppendRecord(nil, tile, zoom, bounds, AppendBody(nil, class, names), AppendShape(nil, tile, &shape))

		h, body, rest := NextRecord(append(data, 7))
		r := NewReader(tile, body)
		if got := r.Uint(); got != class || h.Zoom != zoom || len(rest) != 1 {
			t.Fatalf("class %d, zoom %d, %d bytes left", got, h.Zoom, len(rest))
		}
		var read []Name
		EachName(r.Names(), func(n Name) { read = append(read, n) })
		if diff := cmp.Diff(names, read); len(names) > 0 && diff != "" {
			t.Error(diff)
		}
		var lines [][]geo.Projected
		for range r.Count() {
			lines = append(lines, r.Points(nil))
		}
		if diff := cmp.Diff(parts, lines); diff != "" {
			t.Error(diff)
		}
		a, b := point.Draw(t, "a"), point.Draw(t, "b")
		window := clip.Bounds([]geo.Projected{a, b})
		if w := NewWindow(tile, window); window.Meets(bounds) && !w.Has(&h) {
			t.Errorf("%v is not found in %v", bounds, window)
		}
	})
}

// TestCorrupt: reading something else than a record ends with a damage error.
func TestCorrupt(t *testing.T) {
	tile := Tile{CellZoom, 1, 2}
	record := func(shape ...byte) []byte {
		return AppendRecord(nil, tile, 1, clip.Rect{}, AppendBody(nil, 1, nil), shape)
	}
	for name, records := range map[string][]byte{
		"nothing":                 {},
		"no end of a number":      {0x80},
		"a length beyond the end": {9, 0, 0, 0, 0, 0},
		"too many positions":      record(2, 0, 0),
		"no end of a position":    record(1, 0x80, 0x80),
		"a position far outside":  record(1, 0xff, 0xff, 0xff, 0xff, 0x7f, 0),
		"names without end":       AppendRecord(nil, tile, 1, clip.Rect{}, []byte{1, 200}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			read := func() (err error) {
				defer region.Recover(&err, region.FaultsPanic())
				_, body, _ := NextRecord(records)
				r := NewReader(tile, body)
				r.Uint()
				r.Names()
				r.Points(nil)
				return nil
			}
			if _, ok := errors.AsType[*region.DamageError](read()); !ok {
				t.Errorf("%v", read())
			}
		})
	}
}
