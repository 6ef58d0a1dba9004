package placestest

import (
	"sync"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// extracts has what was read of the map data that the osm module ships for its own tests.
var extracts = struct {
	sync.Mutex
	worlds map[string]*World
}{worlds: map[string]*World{}}

// Read reads map data that the osm module ships for its own tests, once each.
func Read(t testing.TB, name string) *World {
	t.Helper()
	extracts.Lock()
	defer extracts.Unlock()
	if w := extracts.worlds[name]; w != nil {
		return w
	}
	// What is mapped outlives the directory.
	d, e, err := ReadFeatures(t.Context(), Scratch(t), []string{testkit.Extract(t, name)})
	if err != nil {
		t.Fatal(err)
	}
	w := &World{data: d, Bounds: e.Bounds, Tiles: d.Tiles.Sorted()}
	for f := range All(d) {
		w.Features = append(w.Features, *f)
	}
	for line := range Interpolations(d) {
		w.Interpolations = append(w.Interpolations, *line)
	}
	extracts.worlds[name] = w
	return w
}

// Commit writes sections into a file.
func Commit(t testing.TB, path string, w *region.Writer, tiles []uint32) {
	t.Helper()
	region.AddCoverage(w, tiles)
	if err := w.Commit(t.Context(), path, region.Meta{}); err != nil {
		t.Fatal(err)
	}
}
