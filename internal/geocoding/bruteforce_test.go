package geocoding_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// compareWithBruteForce asks for positions and compares every answer with that of the search over everything, with each
// size in turn. A term that begins with ! is a key that Request.Keep leaves out.
func compareWithBruteForce(t *testing.T, x *geocodingtest.Index, d *placestest.World, points []orb.Point, terms []string) {
	t.Helper()
	features := geocodingtest.Features(d.AllFeatures, d.AllInterpolations)
	const reach = 1000.0
	for i, p := range points {
		term := terms[i%len(terms)]
		req := geocoding.Request{Point: p, Size: geocoding.MaxSize - i%3, MaxDistance: reach}
		wanted := features
		if key, without := strings.CutPrefix(term, "!"); without {
			req.Keep = func(category, _ string, _ geocoding.Layer) bool { return category != key }
			wanted, term = geocodingtest.Without(features, key), ""
		} else if term != "" {
			req.Categories = []string{term}
		}
		result, err := x.Reverse(t.Context(), &req)
		if err != nil {
			t.Fatal(err)
		}
		want := geocodingtest.Search(wanted, p, term, reach)
		if len(want) == 0 && term == "" {
			continue // the fallback has tests of its own
		}
		var got []geocodingtest.Hit
		for _, place := range result.Places {
			got = append(got, geocodingtest.Hit{ID: place.ID, Distance: place.Distance})
		}
		if problem := geocodingtest.Equal(got, want, req.Size); problem != "" {
			t.Errorf("%v %q: %s", p, term, problem)
		}
	}
}

// TestExtractsEqualBruteForce asks for random positions, and at and around vertices, where answers are close to one
// another.
func TestExtractsEqualBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, extract := range []string{testkit.Delaware, testkit.Andorra} {
		if extract == testkit.Andorra && testkit.Little() {
			continue
		}
		d := placestest.Read(t, extract)
		points := delawarePoints(testkit.Some(1200))
		if extract == testkit.Andorra {
			points = nil
			for range testkit.Some(600) {
				points = append(points, orb.Point{1.41 + rng.Float64()*0.37, 42.43 + rng.Float64()*0.22})
			}
		}
		for range testkit.Some(900) {
			b := d.Features[rng.IntN(len(d.Features))].Geometry.Bound()
			points = append(points, orb.Point{b.Min[0] + (rng.Float64()-0.5)*1e-3, b.Max[1] + (rng.Float64()-0.5)*1e-3})
		}
		compareWithBruteForce(t, geocodingtest.Build(t, d), d, points,
			[]string{"", "", "!highway", "hotel", "Peak", "school", "highway", "building", "boundary", "place", "house"})
	}
}
