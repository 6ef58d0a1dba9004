package matching_test

import (
	"errors"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// FuzzHostileRegion matches on crafted files with correct checksums: each request ends in an answer or in an error that
// becomes a 503.
func FuzzHostileRegion(f *testing.F) {
	var town roadgraphtest.Town
	crossed(&town, 41, 100)
	path := roadgraphtest.Compile(f, &town.Data).Path()
	trail := newNoise(4, 15)
	requests := []*matching.Request{
		{Points: trail.along(20, -1900, 0, 1900, 0, 1900, 1500, 0, 1500), Details: true},
		{Points: trail.along(700, -1900, 0, 1900, 0, -1900, 1500, 0, 1500), Details: true, MaxRadius: 300},
	}
	testregion.FuzzHostile(f, path, func(t *testing.T, file *region.File) {
		networks, err := matching.OpenNetworks(file)
		if err != nil {
			return
		}
		m := matching.NewLocal(networks, matching.Options{})
		for _, req := range requests {
			r, err := m.Match(t.Context(), req)
			var damage *region.DamageError
			if (r == nil) == (err == nil) || err != nil && !errors.As(err, &damage) &&
				!errors.Is(err, matching.ErrWork) && !errors.Is(err, matching.ErrNoRoute) {
				t.Errorf("%v, %v", r, err)
			}
		}
	})
}
