package geocoding

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// TestCellsAgreeWithTrees compares answers that a cell's lists give with those of an index that has no cells: everything about
// them, for each size and reach.
func TestCellsAgreeWithTrees(t *testing.T) {
	for _, name := range []string{delaware, andorra} {
		d := readExtract(t, name)
		x := build(t, d)
		plain, err := Open(x.file)
		if err != nil {
			t.Fatal(err)
		}
		plain.roots = region.View[root]{}
		points := delawarePoints(fewer(3000))
		if name == andorra {
			rng := rand.New(rand.NewPCG(8, 8))
			for i := range points {
				points[i] = orb.Point{1.41 + rng.Float64()*0.37, 42.43 + rng.Float64()*0.22}
			}
		}
		known := 0
		for i, p := range points {
			o := newOrigin(p)
			if c := x.cellAt(&o); c.flags&(cellFeatures|cellContext|cellCovered) == cellFeatures|cellContext|cellCovered {
				known++
			}
			req := Request{Point: p, Size: 1 + i%MaxSize, MaxDistance: []float64{1000, 1000, 50, 5000}[i%4]}
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
