package geocoding_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// FuzzHostileRegion asks crafted files with correct checksums: each request ends in an answer or in an error that
// becomes a 503.
func FuzzHostileRegion(f *testing.F) {
	path := filepath.Join(f.TempDir(), "a.region")
	geocodingtest.Write(f, path, county())
	testregion.FuzzHostile(f, path, func(t *testing.T, file *region.File) {
		x, err := geocoding.Open(file)
		if err != nil {
			return
		}
		for _, p := range []orb.Point{placestest.At(-12, 0), placestest.Kansas, placestest.At(-10, 0)} {
			for _, categories := range [][]string{nil, {"highway", "place", "town"}} {
				r, err := x.Reverse(t.Context(), &geocoding.Request{Point: p, Size: 5, MaxDistance: 1e9, Categories: categories, Languages: []string{"de"}})
				var damage *region.DamageError
				if (r == nil) == (err == nil) || err != nil && !errors.As(err, &damage) && !errors.Is(err, geocoding.ErrWork) {
					t.Errorf("%v, %v", r, err)
				}
			}
		}
	})
}
