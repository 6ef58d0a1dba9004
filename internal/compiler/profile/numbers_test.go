package profile

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"

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
		r, ok := RoadOf(tags.Of(osm.Tags{{Key: "highway", Value: "primary"}, {Key: test.key, Value: test.value}}))
		if !ok || r.Forward&(region.Bicycle|region.Foot) != region.Bicycle|region.Foot ||
			r.Forward&region.Car == 0 != test.closed ||
			r.Backward&region.Car == 0 != test.closed {
			t.Errorf("%s=%s: %+v", test.key, test.value, r)
		}
	}
}

func TestParseDuration(t *testing.T) {
	tests := []struct {
		value   string
		seconds int // 0: none
	}{
		{"25", 1500}, {"00:25", 1500}, {"1:20", 4800}, {"01:20:30", 4830}, {"00:00:45", 45}, {" 10 ", 600}, {"10;20", 600},
		{"26:00", 93_600}, {"PT1H20M", 4800}, {"PT20M", 1200}, {"PT90S", 90}, {"P1DT2H", 93_600}, {"pt5m", 300},
		{"", 0}, {"0", 0}, {"00:00", 0}, {"-5", 0}, {"soon", 0}, {"1:2:3:4", 0}, {"1:", 0}, {"P", 0}, {"PT", 0}, {"P1D", 86_400}, {"1:m", 0}, {"25:", 0}, {":25", 0}, {"5ms", 0}, {"PTP", 0}, {"PT5", 0},
		{"PTM", 0}, {"P1Y", 0}, {"P8D", 0}, {"99999999", 0}, {"1.5", 0}, {"١٠", 0},
	}
	for _, test := range tests {
		if got := parseDuration(test.value); got != test.seconds {
			t.Errorf("%q: %d s, want %d", test.value, got, test.seconds)
		}
	}
}

// TestTakes: what takes how long.
func TestTakes(t *testing.T) {
	for tags, seconds := range map[string]int32{
		"route=ferry": 0, "route=ferry duration=00:10": 600, "route=ferry duration=PT1H": 3600,
		"route=shuttle_train duration=00:02": 120, "route=ferry duration=later": 0, "highway=residential duration=00:10": 0,
	} {
		if r, ok := RoadOf(tagsOf(tags)); !ok || r.Takes != seconds {
			t.Errorf("%s: %+v", tags, r)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, seed := range []string{"25", "00:25", "01:20:30", "PT1H20M", "P1DT2H", "::", "P9DT", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if s := parseDuration(value); s < 0 || s > 7*24*3600 {
			t.Errorf("%q: %d s", value, s)
		}
	})
}
