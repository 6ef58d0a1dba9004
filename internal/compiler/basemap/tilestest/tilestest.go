// Package tilestest compiles maps for tests.
package tilestest

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/basemap"
	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/maptile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Build compiles the map of an extract, and nothing else, with some bytes of memory, and returns the region file.
func Build(t testing.TB, extractPath string, memory int64) (path string) {
	t.Helper()
	path, err := Try(t, extractPath, memory)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Try is Build of an extract that may be bad. The error is that of basemap.Write.
func Try(t testing.TB, extractPath string, memory int64) (path string, err error) {
	t.Helper()
	dir, err := scratch.Open(t.TempDir(), "test", memory)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	data, err := extract.Read(t.Context(), dir, []string{extractPath}, extract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := new(region.Writer)
	if err := basemap.Write(t.Context(), w, data, dir); err != nil {
		return "", errors.Join(err, dir.Release())
	}
	region.AddCoverage(w, data.Tiles.Sorted())
	path = filepath.Join(t.TempDir(), "map.region")
	if err := w.Commit(t.Context(), path, region.Meta{}); err != nil {
		t.Fatal(err)
	}
	if err := dir.Release(); err != nil {
		t.Fatal(err)
	}
	return path, nil
}

// Open opens the map of a region file until the end of the test.
func Open(t testing.TB, path string) (*region.File, *maptile.Map) {
	t.Helper()
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	m, err := maptile.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	if m == nil {
		t.Fatalf("%s has no map", path)
	}
	return f, m
}
