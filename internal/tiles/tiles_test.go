package tiles_test

import (
	"slices"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/internal/tiles"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// TestTiles: the tiles come in the order of their numbers, Has knows them, and around them there are none.
func TestTiles(t *testing.T) {
	_, m := testregion.OpenMap(t, testregion.BuildMap(t, testkit.Extract(t, testkit.Delaware), 64<<20))
	last, count := -1, map[uint8]int{}
	err := m.Tiles(14, func(z uint8, x, y uint32) bool {
		id := int(mapfile.Tile{Z: z, X: x, Y: y}.ID())
		if has, err := m.Has(z, x, y); !has || err != nil || id <= last {
			t.Errorf("%d/%d/%d, number %d after %d: %v, %v", z, x, y, id, last, has, err)
		}
		last = id
		count[z]++
		return !t.Failed()
	})
	if err != nil || count[0] != 1 || count[12] == 0 || count[14] != 16*count[12] {
		t.Errorf("%v, %v", count, err)
	}
	for name, tile := range map[string]mapfile.Tile{
		"elsewhere":                      {Z: 11, X: 3, Y: 3},
		"elsewhere, rendered when asked": {Z: 14, X: 3, Y: 3},
		"beyond the last zoom":           {Z: 17},
		"far beyond it":                  {Z: 200},
		"a column that is not there":     {Z: 12, X: 1 << 12},
		"a row that is not there":        {Z: 3, Y: 8},
		"a row that overflows a shift":   {Z: 0, Y: 1 << 31},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := m.Tile([]byte("as before"), tile.Z, tile.X, tile.Y)
			has, hasErr := m.Has(tile.Z, tile.X, tile.Y)
			if string(got) != "as before" || err != nil || has || hasErr != nil {
				t.Errorf("%d bytes, %v; %v, %v", len(got), err, has, hasErr)
			}
		})
	}
}

// TestNoMap: a region file without a map has none, and that is no error.
func TestNoMap(t *testing.T) {
	path := t.TempDir() + "/none.region"
	if err := new(region.Writer).Commit(t.Context(), path, region.Meta{}); err != nil {
		t.Fatal(err)
	}
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	if m, err := tiles.Open(f); m != nil || err != nil {
		t.Errorf("%v, %v", m, err)
	}
}

// BenchmarkTile cuts all tiles of zoom 14 of Delaware: each as often as b.N says, with its fastest time counting, since
// the bar is about the work and not about what else the machine does.
func BenchmarkTile(b *testing.B) {
	_, m := testregion.OpenMap(b, testregion.BuildMap(b, testkit.Extract(b, testkit.Delaware), 512<<20))
	var tiles []mapfile.Tile
	err := m.Tiles(14, func(z uint8, x, y uint32) bool {
		if z == 14 {
			tiles = append(tiles, mapfile.Tile{Z: z, X: x, Y: y})
		}
		return true
	})
	if err != nil {
		b.Fatal(err)
	}
	times := make([]time.Duration, len(tiles))
	var buffer []byte
	var bytes int
	for b.Loop() {
		bytes = 0
		for i, t := range tiles {
			begun := time.Now()
			if buffer, err = m.Tile(buffer[:0], t.Z, t.X, t.Y); err != nil {
				b.Fatal(err)
			}
			if took := time.Since(begun); times[i] == 0 || took < times[i] {
				times[i] = took
			}
			bytes += len(buffer)
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(times[len(times)-1].Microseconds())/1000, "max-ms")
	b.ReportMetric(float64(bytes)/float64(len(tiles)), "B/tile")
	b.ReportMetric(float64(len(tiles)), "tiles")
}
