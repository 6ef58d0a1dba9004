package pmtiles_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/tiles/pmtiles"
)

// Tiles are added in the order of their numbers. The archive takes its place when it is whole.
func Example() {
	dir, err := os.MkdirTemp("", "pmtiles")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "world.pmtiles")

	w, err := pmtiles.Create(path, pmtiles.Archive{
		Bounds:   region.Bounds{MinLat: -85, MinLon: -180, MaxLat: 85, MaxLon: 180},
		Metadata: map[string]any{"vector_layers": []any{}}, Tiles: 3,
	})
	if err != nil {
		panic(err)
	}
	var tile bytes.Buffer
	compressed := gzip.NewWriter(&tile)
	_, _ = compressed.Write([]byte("a tile"))
	_ = compressed.Close()
	for zoom := range uint8(3) {
		fmt.Println("tile", pmtiles.TileID(zoom, 0, 0))
		if err := w.Add(zoom, 0, 0, tile.Bytes()); err != nil {
			w.Discard()
			panic(err)
		}
	}
	if err := w.Commit(context.Background()); err != nil {
		panic(err)
	}
	archive, err := os.ReadFile(path)
	fmt.Printf("%.7s version %d %v\n", archive, archive[7], err)
	// Output:
	// tile 0
	// tile 1
	// tile 5
	// PMTiles version 3 <nil>
}
