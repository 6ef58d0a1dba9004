package testregion

import (
	"path/filepath"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/basemap"
	"github.com/mapsedge/caddy-maps/internal/compiler/coast"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/tiles"
)

// BuildMap compiles the map of an extract, and nothing else, with some bytes of memory, and returns the region file.
func BuildMap(t testing.TB, extractPath string, memory int64) (path string) {
	t.Helper()
	path, _ = BuildMapCounting(t, extractPath, memory)
	return path
}

// BuildMapCounting is BuildMap. It tells how many map features are left out because they are too large.
func BuildMapCounting(t testing.TB, extractPath string, memory int64) (path string, skipped int64) {
	t.Helper()
	dir, err := scratch.Open(t.TempDir(), "test", memory)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	sea := coast.New(dir)
	m, err := basemap.New(dir, sea)
	if err != nil {
		t.Fatal(err)
	}
	data, err := osm.Read(t.Context(), dir, []string{extractPath}, nil, sea, m)
	if err != nil {
		t.Fatal(err)
	}
	w := new(region.Writer)
	if err := m.Write(t.Context(), w, data.Tiles, nil); err != nil {
		t.Fatal(err)
	}
	region.AddCoverage(w, data.Tiles.Sorted())
	path = filepath.Join(t.TempDir(), "map.region")
	if err := w.Commit(t.Context(), path, region.Meta{}); err != nil {
		t.Fatal(err)
	}
	if err := dir.Release(); err != nil {
		t.Fatal(err)
	}
	return path, m.Skipped()
}

// OpenMap opens the map of a region file until the end of the test.
func OpenMap(t testing.TB, path string) (*region.File, *tiles.Map) {
	t.Helper()
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	m, err := tiles.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	if m == nil {
		t.Fatalf("%s has no map", path)
	}
	return f, m
}
