package geo

import "testing"

func TestEastward(t *testing.T) {
	for name, test := range map[string]struct{ from, to, want int32 }{
		"east":                         {10, 30, 20},
		"west":                         {30, 10, -20},
		"across the antimeridian":      {1_799_999_990, -1_799_999_990, 20},
		"back across it":               {-1_799_999_990, 1_799_999_990, -20},
		"the antimeridian's two names": {1_800_000_000, -1_800_000_000, 0},
		"half a turn":                  {0, 1_800_000_000, 1_800_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Eastward(test.from, test.to); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
			if got := Longitude(int64(test.from) + int64(test.want)); Eastward(got, test.to) != 0 {
				t.Errorf("%d and %d more is %d", test.from, test.want, got)
			}
			d := LongitudeDegrees(float64(test.to)/1e7 - float64(test.from)/1e7)
			if diff := d*1e7 - float64(test.want); diff > 0.01 || diff < -0.01 {
				t.Errorf("%v degrees, want %d", d, test.want)
			}
		})
	}
}
