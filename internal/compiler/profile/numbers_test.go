package profile

import (
	"strings"
	"testing"

	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// TestTooSmall: a way that is too small for cars is closed to them, and to no one else.
func TestTooSmall(t *testing.T) {
	for open, all := range map[region.Modes][]string{
		everyone &^ region.Car: {"maxheight=1", "maxheight=1.9 m", "maxheight=6'", `maxheight=6'2"`, "maxheight:physical=1.5", "maxwidth=1", "maxwidth=1.9",
			"maxwidth=5 ft", "maxwidth:physical=1.2m", "width=1.8", "est_width=1.5"},
		everyone: {"maxheight=2", `maxheight=6'7"`, "maxheight=7 ft", "maxheight=default", "maxheight=none", "maxheight=", "maxheight=NaN", "maxwidth=2",
			"width=3", "width=narrow", "est_width=3", "height=1"},
	} {
		for _, tag := range all {
			key, value, _ := strings.Cut(tag, "=")
			r, _ := RoadOf(tags.Of(osm.Tags{{Key: "highway", Value: "primary"}, {Key: key, Value: value}}))
			if r.Forward != open || r.Backward != open {
				t.Errorf("%s: %+v", tag, r)
			}
		}
	}
}

func TestParseDuration(t *testing.T) {
	for seconds, values := range map[int][]string{
		45: {"00:00:45"}, 90: {"PT90S"}, 300: {"pt5m"}, 600: {" 10 ", "10;20"}, 1200: {"PT20M"}, 1500: {"25", "00:25"}, 4800: {"1:20", "PT1H20M"},
		4830: {"01:20:30"}, 86_400: {"P1D"}, 93_600: {"26:00", "P1DT2H"},
		0: {"", "0", "00:00", "-5", "soon", "1:2:3:4", "1:", "P", "PT", "1:m", "25:", ":25", "5ms", "PTP", "PT5", "PTM", "P1Y", "P8D", "99999999", "1.5", "١٠"},
	} {
		for _, value := range values {
			if got := parseDuration(value); got != seconds {
				t.Errorf("%q: %d s, want %d", value, got, seconds)
			}
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
