package geocoding_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/placestest"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testextract"
	"github.com/mapsedge/caddy-maps/internal/testkit/testsize"
)

// TestCellsAgreeWithTrees compares answers that a cell's lists give with those of an index that has no cells:
// everything about them, for each size and reach.
func TestCellsAgreeWithTrees(t *testing.T) {
	for _, name := range []string{testextract.Delaware, testextract.Andorra} {
		d := placestest.Read(t, name)
		x := geocodingtest.Build(t, d)
		plain := x.WithoutCells(t)
		points := placestest.DelawarePoints(testsize.Some(3000))
		if name == testextract.Andorra {
			rng := rand.New(rand.NewPCG(8, 8))
			for i := range points {
				points[i] = orb.Point{1.41 + rng.Float64()*0.37, 42.43 + rng.Float64()*0.22}
			}
		}
		known := 0
		for i, p := range points {
			if x.KnowsAll(p) {
				known++
			}
			req := geocoding.Request{Point: p, Size: 1 + i%geocoding.MaxSize, MaxDistance: []float64{1000, 1000, 50, 5000}[i%4]}
			got, err := x.Reverse(t.Context(), &req)
			want, wantErr := plain.Reverse(t.Context(), &req)
			if err != nil || wantErr != nil {
				t.Fatal(err, wantErr)
			}
			if diff := cmp.Diff(want.Places, got.Places); diff != "" {
				t.Errorf("%v (-trees +cells):\n%s", p, diff)
			}
		}
		if known < len(points)/3 {
			t.Errorf("%s: only %d of %d positions lie in cells that know everything", name, known, len(points))
		}
	}
}
