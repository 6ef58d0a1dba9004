package objects

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

func TestIsFeature(t *testing.T) {
	tests := []struct {
		tags string
		want bool
	}{
		{"name=Cafe amenity=cafe", true},
		{"amenity=cafe", false},
		{"name=Something", false},
		{"name=Something source=survey", false},
		{"name= amenity=cafe", false},
		{"addr:housenumber=12", true},
		{"addr:conscriptionnumber=1415", true},
		{"addr:streetnumber=7", true},
		{"addr:housename=Villa building=yes", true},
		{"name=River waterway=river", true},
		{"name=Town place=town", true},
		{"boundary=postal_code postal_code=19901", true},
		{"boundary=administrative ISO3166-1=AD", true},
		{"boundary=administrative admin_level=8", false},
		{"postal_code=19901 building=yes", false},
	}
	for _, test := range tests {
		if got := isFeature(osmtest.Tags(test.tags)); got != test.want {
			t.Errorf("%s: %v, want %v", test.tags, got, test.want)
		}
	}
}

func TestParseHouseNumber(t *testing.T) {
	for value, want := range map[string]int32{
		"12": 12, "12a": 12, "12-14": 12, "1;3": 1, "0": 0, "0a": 0, "": NoNumber, "A1": NoNumber, "99999": 99999,
		"100000": NoNumber, "99999999999999999999": NoNumber, "-5": NoNumber,
	} {
		if got := parseHouseNumber(value); got != want {
			t.Errorf("%q: %d, want %d", value, got, want)
		}
	}
}

func FuzzHouseNumbers(f *testing.F) {
	for _, seed := range []string{"12", "12a", "odd", "even", "all", "alphabetic", "4", "-1", "99999999999", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if n := parseHouseNumber(value); n < NoNumber || n > maxHouseNumber {
			t.Errorf("house number %q: %d", value, n)
		}
		if step, _, ok := parseInterpolation(value); ok != (step > 0) || step > maxStep {
			t.Errorf("interpolation %q: %d, %v", value, step, ok)
		}
	})
}
