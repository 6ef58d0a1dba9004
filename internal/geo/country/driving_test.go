package country

import (
	"slices"
	"strings"
	"testing"
)

// TestDrivesOnLeft: the list has only codes of countries, in order, and tells sides of borders from each other.
func TestDrivesOnLeft(t *testing.T) {
	codes := strings.Fields(leftDriving)
	if !slices.IsSorted(codes) {
		t.Error("the list is not in order")
	}
	for _, code := range codes {
		if c, ok := ByAlpha2(code); !ok || !c.DrivesOnLeft() {
			t.Errorf("%s is no country, or drives on the right", code)
		}
	}
	for code, want := range map[string]bool{"GB": true, "FR": false, "HK": true, "CN": false, "TH": true, "MM": false,
		"VI": true, "US": false, "WS": true, "AS": false, "GG": true, "": false} {
		if c, _ := ByAlpha2(code); c.DrivesOnLeft() != want {
			t.Errorf("%s: left %v", code, !want)
		}
	}
}
