package matching_test

import (
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestRetrace makes sure that the check which all other tests rely on tells drives that are allowed from others.
func TestRetrace(t *testing.T) {
	tests := map[string]struct {
		town func(town *roadgraphtest.Town)
		path []float64 // x, y, x, y, …
		want []string  // nil where it is not allowed
	}{
		"along a street":               {cross, []float64{-150, 0, 0, 0, 150, 0}, []string{"west", "east"}},
		"with more points than needed": {cross, []float64{-150, 0, -50, 0, 0, 0, 10, 0, 150, 0}, []string{"west", "east"}},
		"round a corner":               {cross, []float64{-150, 0, 0, 0, 0, 150}, []string{"west", "north"}},
		"back on the same street":      {cross, []float64{-150, 0, 0, 0, 0, 150, 0, 0, 100, 0}, []string{"west", "north", "east"}},
		"a corner that is cut":         {cross, []float64{-150, 0, -5, 0, 0, 5, 0, 150}, nil},
		"off the street":               {cross, []float64{-150, 0, -50, 1, 0, 0}, nil},
		"a beginning off the street":   {cross, []float64{-150, 1, -50, 0}, nil},
		"beyond its end":               {cross, []float64{-150, 0, -201, 0}, nil},
		"down a one-way street":        {around, []float64{100, 0, 500, 0, 500, 60, 0, 60}, []string{"straight", "round"}},
		"up a one-way street":          {around, []float64{300, 0, 100, 0}, nil},
		"a little way up":              {around, []float64{300, 0, 310, 0, 309, 0, 400, 0}, nil},
		"turning round in one":         {around, []float64{100, 0, 200, 0, 100, 0}, nil},
		"a forbidden turn": {
			func(town *roadgraphtest.Town) { block(town); forbidTurn(town, "in", "left") },
			[]float64{-150, 0, 0, 0, 0, 100}, nil,
		},
		"another turn there": {
			func(town *roadgraphtest.Town) { block(town); forbidTurn(town, "in", "left") },
			[]float64{-150, 0, 0, 0, 100, 0}, []string{"in", "bottom"},
		},
		"from a bridge down to the road below": {crossing, []float64{-100, 0, 0, 0, 0, 100}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var town roadgraphtest.Town
			test.town(&town)
			g := town.Open(t)
			var line orb.LineString
			length := 0.0
			for i := 0; i < len(test.path); i += 2 {
				line = append(line, roadgraphtest.At(test.path[i], test.path[i+1]))
				if i > 0 {
					length += math.Hypot(test.path[i]-test.path[i-2], test.path[i+1]-test.path[i-1])
				}
			}
			drive, err := retrace(g, line)
			if got := streets(g, drive); !slices.Equal(got, test.want) || (err != nil) != (test.want == nil) {
				t.Fatalf("the drive takes %q, error %v; want %q", got, err, test.want)
			}
			if err == nil && math.Abs(metres(drive)-length) > 0.5 {
				t.Errorf("the drive is %.1f m long, not %.1f", metres(drive), length)
			}
		})
	}
}
