package drives

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

func TestAside(t *testing.T) {
	p, west, south := roadgraphtest.At(0, 0), roadgraphtest.At(-100, 0), roadgraphtest.At(0, -100)
	for _, tt := range []struct {
		from, to orb.Point
		metres   float64
		x, y     float64
	}{
		{west, p, 50, 0, 50}, // eastward: left is north
		{p, west, 50, 0, -50},
		{south, p, 50, -50, 0}, // northward: left is west
		{south, p, -50, 50, 0},
		{p, p, 50, -50, 0},
	} {
		if x, y := roadgraphtest.XY(aside(p, tt.from, tt.to, tt.metres)); math.Hypot(x-tt.x, y-tt.y) > 0.1 {
			t.Errorf("%v m to the left of %v to %v is %.1f, %.1f, want %v, %v", tt.metres, tt.from, tt.to, x, y, tt.x, tt.y)
		}
	}
}

func TestDisturbances(t *testing.T) {
	var d Drive
	for x := 0.0; x < 1000; x += 100 {
		d.Trace = append(d.Trace, roadgraphtest.At(x, 0))
	}
	before := slices.Clone(d.Trace)
	for seed := range uint64(20) {
		outlier := Outlier.All([]Drive{d}, seed)[0].Trace
		var off []float64
		for i, p := range outlier {
			if x, y := roadgraphtest.XY(p); p != d.Trace[i] {
				off = append(off, math.Abs(y))
				if math.Abs(x-float64(i)*100) > 0.1 {
					t.Errorf("the outlier is at %.1f, %.1f", x, y)
				}
				if i == 0 || i == len(outlier)-1 {
					t.Errorf("position %d of %d is the outlier", i, len(outlier))
				}
			}
		}
		if len(outlier) != len(d.Trace) || len(off) != 1 || math.Abs(off[0]-outlierDistance) > 0.5 {
			t.Errorf("positions are off by %v m", off)
		}
		stop := Stop.All([]Drive{d}, seed)[0].Trace
		if len(stop) != len(d.Trace)+stopPositions {
			t.Fatalf("%d positions", len(stop))
		}
		at := slices.IndexFunc(stop, func(p orb.Point) bool { return !slices.Contains(d.Trace, p) })
		if diff := cmp.Diff(d.Trace, slices.Delete(slices.Clone(stop), at, at+stopPositions)); diff != "" {
			t.Errorf("the others are changed:\n%s", diff)
		}
		for _, p := range stop[at : at+stopPositions] {
			if x, y := roadgraphtest.XY(p); math.Hypot(x-float64(at-1)*100, y) > 6*stopSigma {
				t.Errorf("a position of the stop at %.0f, 0 is at %.0f, %.0f", float64(at-1)*100, x, y)
			}
		}
	}
	if diff := cmp.Diff(before, d.Trace); diff != "" {
		t.Errorf("the drive was changed:\n%s", diff)
	}
}
