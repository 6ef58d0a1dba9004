// Package geocodingtest compiles places and opens them for tests (Build, Ask), and searches them by brute force
// (Search, Equal).
package geocodingtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/places"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// compiled are the region files of extracts, which take long to compile.
var compiled = struct {
	sync.Mutex
	files map[*placestest.World][]byte
}{files: map[*placestest.World][]byte{}}

// Build compiles a world into a region file and opens it. An extract is compiled once.
func Build(t testing.TB, world *placestest.World) *Index {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.region")
	if world.IsExtract() {
		writeOnce(t, path, world)
	} else {
		Write(t, path, world)
	}
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	x, err := geocoding.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	return &Index{x, f}
}

// writeOnce writes a copy of the region file that was compiled first.
func writeOnce(t testing.TB, path string, world *placestest.World) {
	t.Helper()
	compiled.Lock()
	defer compiled.Unlock()
	if content := compiled.files[world]; content != nil {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	Write(t, path, world)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compiled.files[world] = content
}

// Write compiles a world into a region file.
func Write(t testing.TB, path string, world *placestest.World) {
	t.Helper()
	d := world.Data(t)
	var w region.Writer
	if _, err := places.Write(&w, d, placestest.Scratch(t)); err != nil {
		t.Fatal(err)
	}
	placestest.Commit(t, path, &w, d.Tiles.Sorted())
}

// Index is an index with the region file that it reads.
type Index struct {
	*geocoding.Index
	File *region.File
}

// PlaceOf returns an object that is at or near the middle.
func PlaceOf(t testing.TB, x *Index, kind region.Kind, id int64) geocoding.Place {
	t.Helper()
	places := Ask(t, x, placestest.Kansas, 5)
	i := slices.IndexFunc(places, func(p geocoding.Place) bool { return p.ID == ID(kind, id) })
	if i < 0 {
		t.Fatalf("not found: %+v", places)
	}
	return places[i]
}

// Ask returns the answer to a request at a position.
func Ask(t testing.TB, x geocoding.Geocoder, p orb.Point, size int, categories ...string) []geocoding.Place {
	t.Helper()
	r, err := x.Reverse(t.Context(), &geocoding.Request{Point: p, Size: size, Categories: categories,
		MaxDistance: geocoding.DefaultMaxDistance})
	if err != nil {
		t.Fatal(err)
	}
	return r.Places
}

// Ids joins the ids of an answer.
func Ids(places []geocoding.Place) string {
	var s []string
	for _, p := range places {
		s = append(s, p.ID)
	}
	return strings.Join(s, " ")
}
