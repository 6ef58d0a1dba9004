package drives

import (
	"context"
	"math"
	"testing"

	"github.com/paulmach/orb"
)

// TestRecipe: each thing that a recipe asks for shows in the drives.
func TestRecipe(t *testing.T) {
	g := city(t)
	simulate := func(r Recipe) []Drive {
		t.Helper()
		ds, err := r.Simulate(context.Background(), g, 4, 5)
		if err != nil {
			t.Fatal(err)
		}
		for i := range ds {
			if len(ds[i].Times) != len(ds[i].Trace) {
				t.Fatalf("drive %d has %d positions and %d times", i, len(ds[i].Trace), len(ds[i].Times))
			}
		}
		return ds
	}
	plain := simulate(Recipe{})
	t.Run("more via points make longer drives", func(t *testing.T) {
		if a, b := meanLength(simulate(Recipe{Vias: 2})), meanLength(plain); a < 1.2*b {
			t.Errorf("%.0f m with three via points, %.0f m with one", a, b)
		}
	})
	t.Run("who wanders drives longer than the fastest", func(t *testing.T) {
		same := 0
		for i, d := range simulate(Recipe{Wander: 1}) {
			if len(d.Truth) == len(plain[i].Truth) && d.Truth[0] == plain[i].Truth[0] {
				same++
			}
		}
		if same > len(plain)/4 {
			t.Errorf("%d of %d drives are the same", same, len(plain))
		}
	})
	t.Run("errors are correlated", func(t *testing.T) {
		for _, c := range []struct {
			recipe   Recipe
			min, max float64
		}{{Recipe{}, -0.15, 0.15}, {Recipe{Correlation: 15}, 0.85, 0.98}} {
			if got := correlation(simulate(c.recipe), Cell{10, 1}); got < c.min || got > c.max {
				t.Errorf("%+v: %.3f from one second to the next", c.recipe, got)
			}
		}
	})
	t.Run("gaps", func(t *testing.T) {
		some := simulate(Recipe{Gaps: 0.2})
		had, has := 0, 0
		for i := range plain {
			had, has = had+len(plain[i].Trace), has+len(some[i].Trace)
		}
		if share := 1 - float64(has)/float64(had); share < 0.1 || share > 0.3 {
			t.Errorf("%.2f of the positions are missing", share)
		}
	})
	t.Run("outliers", func(t *testing.T) {
		off, all := 0, 0
		for i, d := range simulate(Recipe{Outliers: 0.1}) {
			if d.Sigma != 4 {
				continue
			}
			for k := range d.Trace {
				if all++; distance(d.Trace[k], plain[i].Trace[k]) > 50 {
					off++
				}
			}
		}
		if share := float64(off) / float64(all); share < 0.05 || share > 0.12 {
			t.Errorf("%.3f of the positions are far off", share)
		}
	})
}

func meanLength(ds []Drive) float64 {
	sum := 0.0
	for i := range ds {
		for k := 1; k < len(ds[i].Truth); k++ {
			sum += distance(ds[i].Truth[k-1], ds[i].Truth[k])
		}
	}
	return sum / float64(len(ds))
}

// correlation is that of the errors across the road of neighbouring positions, as far as the distances from the truth
// show it.
func correlation(ds []Drive, cell Cell) float64 {
	product, square := 0.0, 0.0
	for i := range ds {
		if ds[i].Cell != cell {
			continue
		}
		last, known := 0.0, false
		for _, p := range ds[i].Trace {
			at, ok := east(ds[i].Truth, p)
			if ok && known {
				product += last * at
				square += (last*last + at*at) / 2
			}
			last, known = at, ok
		}
	}
	return product / square
}

// east is how many metres a position is east of a road that leads north or south there; ok is false beside others.
func east(truth orb.LineString, p orb.Point) (metres float64, ok bool) {
	nearest := math.Inf(1)
	for k := 1; k < len(truth); k++ {
		a, b := truth[k-1], truth[k]
		if math.Abs(a.Lon()-b.Lon()) > 1e-7 || (p.Lat()-a.Lat())*(p.Lat()-b.Lat()) > 0 {
			continue
		}
		d := (p.Lon() - a.Lon()) * degree * math.Cos(a.Lat()*math.Pi/180)
		if math.Abs(d) < nearest {
			nearest, metres, ok = math.Abs(d), d, nearest > 40 || math.Abs(d) < 40
		}
	}
	return metres, ok && nearest < 40
}
