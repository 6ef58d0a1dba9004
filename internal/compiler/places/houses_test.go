package places

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

func TestInterpolate(t *testing.T) {
	for name, c := range map[string]struct {
		line    orb.LineString
		numbers []int32
		step    int32
		parity  objects.Parity
		want    map[int32]float64 // thousandths of a degree east
	}{
		"down":        {placestest.Line(0, 0, 3, 0), []int32{7, 1}, 2, 0, map[int32]float64{5: 1, 3: 2}},
		"three nodes": {placestest.Line(0, 0, 2, 0, 6, 0), []int32{2, 4, 8}, 1, 0, map[int32]float64{3: 1, 5: 3, 6: 4, 7: 5}},
		"around": {placestest.Line(0, 0, 1, 0, 0, 0), []int32{1, objects.NoNumber, 5}, 1, 0,
			map[int32]float64{2: 0.5, 3: 1, 4: 0.5}},
		"neighbours":    {placestest.Line(0, 0, 1, 0), []int32{2, 4}, 2, 0, nil},
		"the same":      {placestest.Line(0, 0, 1, 0), []int32{2, 2}, 2, 0, nil},
		"uneven":        {placestest.Line(0, 0, 3, 0), []int32{1, 4}, 2, 0, map[int32]float64{3: 2}},
		"no length":     {placestest.Line(1, 0, 1, 0), []int32{1, 3}, 1, 0, map[int32]float64{2: 1}},
		"far too many":  {placestest.Line(0, 0, 1, 0), []int32{1, 90000}, 1, 0, nil},
		"one number":    {placestest.Line(0, 0, 1, 0), []int32{1, objects.NoNumber}, 1, 0, nil},
		"fewer numbers": {placestest.Line(0, 0, 1, 0), []int32{1}, 1, 0, nil},
		"from 0":        {placestest.Line(0, 0, 4, 0), []int32{0, 8}, 2, objects.Even, map[int32]float64{2: 1, 4: 2, 6: 3}},
		"to 0":          {placestest.Line(0, 0, 4, 0), []int32{4, 0}, 1, 0, map[int32]float64{3: 1, 2: 2, 1: 3}},
		"odd from even": {placestest.Line(0, 0, 6, 0), []int32{2, 8}, 2, objects.Odd, map[int32]float64{3: 1, 5: 3, 7: 5}},
		"even down":     {placestest.Line(0, 0, 6, 0), []int32{7, 1}, 2, objects.Even, map[int32]float64{6: 1, 4: 3, 2: 5}},
		"even to odd":   {placestest.Line(0, 0, 5, 0), []int32{1, 6}, 2, objects.Even, map[int32]float64{2: 1, 4: 3}},
		"no step":       {placestest.Line(0, 0, 2, 0), []int32{1, 3}, 0, 0, map[int32]float64{2: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[int32]float64{}
			line := objects.Interpolation{Line: c.line, Numbers: c.numbers, Step: c.step, Parity: c.parity}
			interpolate(&line, func(number int32, at orb.Point) {
				got[number] = (at[0] - placestest.Kansas[0]) * 1000
			})
			if c.want == nil {
				c.want = map[int32]float64{}
			}
			if diff := cmp.Diff(c.want, got, placestest.Approximate); diff != "" {
				t.Error(diff)
			}
		})
	}
}
