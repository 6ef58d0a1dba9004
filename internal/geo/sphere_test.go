package geo

import (
	"math"
	"testing"
)

// TestDistance: known distances on the sphere, near and far, also across the 180th meridian and over a pole.
func TestDistance(t *testing.T) {
	quarter := math.Pi / 2 * EarthRadius
	for name, test := range map[string]struct{ lat1, lon1, lat2, lon2, want float64 }{
		"nowhere":               {50, 8, 50, 8, 0},
		"a unit of latitude":    {50, 8, 50.0000001, 8, MetresPerUnit},
		"a degree of latitude":  {50, 8, 51, 8, math.Pi / 180 * EarthRadius},
		"a degree at 60° north": {60, 8, 60, 8.01, math.Pi / 18000 * EarthRadius / 2},
		"across the meridian":   {0, 179.995, 0, -179.995, math.Pi / 18000 * EarthRadius},
		"over the pole":         {89.995, 0, 89.995, 180, math.Pi / 18000 * EarthRadius},
		"a quarter":             {0, 0, 90, 0, quarter},
		"the other side":        {0, 0, 0, 180, 2 * quarter},
	} {
		t.Run(name, func(t *testing.T) {
			got := Distance(test.lat1, test.lon1, test.lat2, test.lon2)
			if math.Abs(got-test.want) > 1e-6+1e-7*test.want {
				t.Errorf("%v m, want %v", got, test.want)
			}
			if back := Distance(test.lat2, test.lon2, test.lat1, test.lon1); back != got {
				t.Errorf("%v m there, %v back", got, back)
			}
		})
	}
}
