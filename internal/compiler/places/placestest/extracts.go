package placestest

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects/objectstest"
	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testextract"
)

// DelawarePoints returns positions on land all over Delaware's objects.
func DelawarePoints(n int) []orb.Point {
	rng := rand.New(rand.NewPCG(39, 75))
	var points []orb.Point
	for len(points) < n {
		p := orb.Point{-75.79 + rng.Float64()*0.75, 38.45 + rng.Float64()*1.39}
		if _, ok := country.Lookup(p); ok {
			points = append(points, p)
		}
	}
	return points
}

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
	d, e, err := objectstest.Read(t.Context(), Scratch(t), []string{testextract.Path(t, name)})
	if err != nil {
		t.Fatal(err)
	}
	w := &World{data: d, Bounds: e.Bounds, Tiles: d.Tiles.Sorted()}
	for f := range objectstest.All(d) {
		w.Features = append(w.Features, *f)
	}
	for line := range objectstest.Interpolations(d) {
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
