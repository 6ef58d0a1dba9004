package search_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// FuzzHostileRegion asks crafted files with correct checksums: each search ends in an answer or in an error that becomes
// a 503.
func FuzzHostileRegion(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.region")
	sketch := state()
	if _, err := compiler.Build(f.Context(), compiler.Options{Inputs: []string{sketch.File(f)}, Output: path, NoMap: true, NoRoutes: true}); err != nil {
		f.Fatal(err)
	}
	testregion.FuzzHostile(f, path, func(t *testing.T, file *region.File) {
		places, err := geocoding.Open(file)
		if err != nil {
			return
		}
		x, err := search.Open(file, places)
		if err != nil {
			return
		}
		for _, text := range []string{"m", "36 main street dover", "mian stret", "pharmacy newport", "12 a loockerman st", "205 lookerman", "kunstmuseum 19901"} {
			for _, q := range []geocoding.Query{{Limit: 5, Autocomplete: true}, {Limit: 50, Near: &orb.Point{-75.5, 39}, Categories: []string{"highway", "place"}, Countries: []string{"USA"}}} {
				q.Text = text
				r, err := x.Search(t.Context(), &q)
				var damage *region.DamageError
				if (r == nil) == (err == nil) || err != nil && !errors.As(err, &damage) {
					t.Errorf("%q: %v, %v", strings.Clone(text), r, err)
				}
			}
		}
	})
}
