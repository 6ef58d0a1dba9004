package geo

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"
)

func TestDecodePolyline(t *testing.T) {
	for _, tt := range []struct {
		text      string
		precision float64
		want      orb.LineString
	}{
		{"_p~iF~ps|U_ulLnnqC_mqNvxq`@", Polyline5, orb.LineString{{-120.2, 38.5}, {-120.95, 40.7}, {-126.453, 43.252}}},
		{"??", Polyline6, orb.LineString{{0, 0}}},
		{"", Polyline6, orb.LineString{}},
		{"_izlhA~rlgdF_{geC~ywl@_kwzCn`{nI", Polyline6, orb.LineString{{-120.2, 38.5}, {-120.95, 40.7}, {-126.453, 43.252}}},
	} {
		got, err := DecodePolyline([]byte(tt.text), tt.precision)
		if err != nil || !near(got, tt.want, 1e-9) {
			t.Errorf("%q: %v, %v, want %v", tt.text, got, err, tt.want)
		}
		if text := AppendPolyline([]byte("x"), tt.want, tt.precision); string(text) != "x"+tt.text {
			t.Errorf("%v is %q, want %q behind an x", tt.want, text, tt.text)
		}
	}
	for _, text := range []string{"?", "_", "_p~iF", " ?", "??\x7f", "?????", "~~~~~~~~~?", "\xff?"} {
		if got, err := DecodePolyline([]byte(text), Polyline6); err != ErrPolyline {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// near reports whether two lines have the same points, up to so many degrees.
func near(a, b orb.LineString, degrees float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(a[i][0]-b[i][0]) > degrees || math.Abs(a[i][1]-b[i][1]) > degrees {
			return false
		}
	}
	return true
}

// encode is the format's definition, written down the other way round.
func encode(line orb.LineString) (text []byte) {
	var before [2]int64
	for _, p := range line {
		for i, degrees := range []float64{p[1], p[0]} {
			now := int64(math.Round(degrees * Polyline6))
			v := (now - before[i]) << 1
			if v < 0 {
				v = ^v
			}
			before[i] = now
			for ; v >= 0x20; v >>= 5 {
				text = append(text, byte(v&0x1f|0x20)+63)
			}
			text = append(text, byte(v)+63)
		}
	}
	return text
}

func TestPolylineRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := orb.LineString{}
		for range rapid.IntRange(0, 20).Draw(t, "points") {
			line = append(line, orb.Point{rapid.Float64Range(-180, 180).Draw(t, "lon"), rapid.Float64Range(-90, 90).Draw(t, "lat")})
		}
		text := AppendPolyline(nil, line, Polyline6)
		if want := encode(line); string(text) != string(want) {
			t.Fatalf("%v is %q, want %q", line, text, want)
		}
		got, err := DecodePolyline(text, Polyline6)
		if err != nil || !near(got, line, 6e-7) {
			t.Fatalf("%v, %v, want %v", got, err, line)
		}
	})
}

func FuzzDecodePolyline(f *testing.F) {
	f.Add([]byte("_p~iF~ps|U_ulLnnqC_mqNvxq`@"))
	f.Fuzz(func(t *testing.T, text []byte) {
		line, err := DecodePolyline(text, Polyline6)
		if err == nil && 2*len(line) > len(text) {
			t.Errorf("%d points of %d bytes", len(line), len(text))
		}
	})
}
