package extract

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/osm"
)

// TestTooSmall: what a car does not fit through is closed to it, and to nobody else.
func TestTooSmall(t *testing.T) {
	for _, test := range []struct {
		key, value string
		closed     bool
	}{
		{"maxheight", "1", true}, {"maxheight", "1.9 m", true}, {"maxheight", "6'", true}, {"maxheight", `6'2"`, true},
		{"maxheight", "2", false}, {"maxheight", `6'7"`, false}, {"maxheight", "7 ft", false},
		{"maxheight", "default", false},
		{"maxheight", "none", false}, {"maxheight", "", false}, {"maxheight", "NaN", false},
		{"maxheight:physical", "1.5", true},
		{"maxwidth", "1", true}, {"maxwidth", "1.9", true}, {"maxwidth", "2", false}, {"maxwidth", "5 ft", true},
		{"maxwidth:physical", "1.2m", true}, {"width", "1.8", true}, {"width", "3", false}, {"width", "narrow", false},
		{"est_width", "1.5", true}, {"est_width", "3", false}, {"height", "1", false},
	} {
		r, ok := roadOf(osm.Tags{{Key: "highway", Value: "primary"}, {Key: test.key, Value: test.value}})
		if !ok || r.Forward&(mapdata.Bicycle|mapdata.Foot) != mapdata.Bicycle|mapdata.Foot ||
			r.Forward&mapdata.Car == 0 != test.closed ||
			r.Backward&mapdata.Car == 0 != test.closed {
			t.Errorf("%s=%s: %+v", test.key, test.value, r)
		}
	}
}
