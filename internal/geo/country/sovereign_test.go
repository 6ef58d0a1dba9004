package country

import (
	"strings"
	"testing"
)

func TestIsTerritoryOf(t *testing.T) {
	for _, tc := range []struct {
		territory, state string
		want             bool
	}{
		{"PR", "US", true}, {"RE", "FR", true}, {"HK", "CN", true}, {"SX", "NL", true},
		{"SX", "FR", false}, {"US", "US", false}, {"US", "PR", false}, {"CA", "US", false}, {"PR", "", false},
	} {
		c, ok := ByAlpha2(tc.territory)
		if got := c.IsTerritoryOf(tc.state); !ok || got != tc.want {
			t.Errorf("%s of %s: %v", tc.territory, tc.state, got)
		}
	}
	if (Country{}).IsTerritoryOf("US") {
		t.Error("no country is a territory")
	}
	seen := map[string]bool{}
	for state, list := range sovereigns {
		for _, code := range append(strings.Fields(list), state) {
			if _, ok := ByAlpha2(code); !ok || seen[code] {
				t.Errorf("%s is no country, or there twice", code)
			}
			seen[code] = true
		}
	}
}
