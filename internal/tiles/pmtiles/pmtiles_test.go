package pmtiles_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
	"github.com/mapsedge/caddy-maps/internal/tiles/pmtiles"
)

var bounds = region.Bounds{MinLat: 38.4, MinLon: -75.8, MaxLat: 39.9, MaxLon: -75}

// inOrder yields all tiles up to a zoom in the order of their numbers.
func inOrder(maxZoom uint8, yield func(z uint8, x, y uint32)) {
	for z := range maxZoom + 1 {
		byID := make([][2]uint32, 1<<(2*z))
		for x := range uint32(1) << z {
			for y := range uint32(1) << z {
				byID[pmtiles.TileID(z, x, y)-pmtiles.TileID(z, 0, 0)] = [2]uint32{x, y}
			}
		}
		for _, at := range byID {
			yield(z, at[0], at[1])
		}
	}
}

// What was written is read by the specification: every tile, and what is the same but once, with leaf directories or
// without.
func TestArchive(t *testing.T) {
	for name, test := range map[string]struct {
		maxZoom  uint8
		content  func(z uint8, x, y uint32) string // empty for a tile that is not there
		contents uint64
		entries  uint64
		leaves   int
	}{
		"one tile":      {0, func(uint8, uint32, uint32) string { return "a" }, 1, 1, 0},
		"all the same":  {8, func(uint8, uint32, uint32) string { return "sea" }, 1, 1, 0},
		"all different": {7, func(z uint8, x, y uint32) string { return fmt.Sprint(z, x, y) }, 21845, 21845, 6},
		"some missing":  {6, func(z uint8, x, y uint32) string { return strings.Repeat("x", int(x+y)%2) }, 1, 2730, 0},
		"random lengths": {7, func(z uint8, x, y uint32) string {
			r := rand.New(rand.NewPCG(pmtiles.TileID(z, x, y), 1))
			return string(binary.LittleEndian.AppendUint64(make([]byte, r.IntN(900)), r.Uint64()))
		}, 21845, 21845, 6},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.pmtiles")
			w, err := pmtiles.Create(path, pmtiles.Archive{Bounds: bounds, Metadata: map[string]any{"name": "x"}, Tiles: 21845})
			if err != nil {
				t.Fatal(err)
			}
			want := map[tilestest.Tile]string{}
			inOrder(test.maxZoom, func(z uint8, x, y uint32) {
				if content := test.content(z, x, y); content != "" {
					want[tilestest.Tile{Z: z, X: x, Y: y}] = content
					if err := w.Add(z, x, y, []byte(content)); err != nil {
						t.Fatal(err)
					}
				}
			})
			if err := w.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			a := tilestest.ReadPMTiles(t, path)
			if a.Contents != test.contents || a.Entries != test.entries || a.Leaves != test.leaves {
				t.Errorf("%d contents, %d entries, %d leaves", a.Contents, a.Entries, a.Leaves)
			}
			if a.MaxZoom != test.maxZoom || a.Bounds != [4]float64{-75.8, 38.4, -75, 39.9} || a.Metadata["name"] != "x" {
				t.Errorf("%+v", a)
			}
			if a.Center[0] != -75.4 || a.Center[1] != 39.15 || a.Center[2] != float64(min(test.maxZoom, 8)) {
				t.Errorf("center %v", a.Center)
			}
			if len(a.Tiles) != len(want) {
				t.Fatalf("%d tiles, want %d", len(a.Tiles), len(want))
			}
			for at, content := range want {
				if string(a.Tiles[at]) != content {
					t.Fatalf("%v: %q, want %q", at, a.Tiles[at], content)
				}
			}
		})
	}
}

// An archive that cannot be finished leaves nothing behind, and what stood there stays.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.pmtiles")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := func() *pmtiles.Writer {
		w, err := pmtiles.Create(path, pmtiles.Archive{Bounds: bounds})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := begin()
	if err := w.Commit(t.Context()); err == nil {
		t.Error("an archive of nothing was written")
	}
	w = begin()
	for _, tile := range [][3]uint32{{1, 2, 0}, {1, 0, 2}, {27, 0, 0}} {
		if err := w.Add(uint8(tile[0]), tile[1], tile[2], []byte("x")); err == nil {
			t.Errorf("%v was taken", tile)
		}
	}
	if err := w.Add(1, 1, 0, []byte("x")); err != nil {
		t.Error(err)
	}
	if err := w.Add(1, 0, 0, []byte("x")); err == nil {
		t.Error("a tile was taken out of order")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := w.Commit(ended); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if before, err := os.ReadFile(path); string(before) != "before" {
		t.Errorf("%q, %v", before, err)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}
