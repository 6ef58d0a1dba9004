package placefile

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/geo/country"
)

func TestLevels(t *testing.T) {
	table, err := parseLevels(levelsText)
	if err != nil {
		t.Fatal(err)
	}
	for code, l := range table {
		if code == "*" {
			continue
		}
		if _, ok := country.ByAlpha2(code); !ok {
			t.Errorf("%q is no country", code)
		}
		for _, list := range [][]int{l.State, l.County, l.City, l.Suburb} {
			sorted := slices.Clone(list)
			slices.Sort(sorted)
			if len(slices.Compact(sorted)) != len(list) {
				t.Errorf("%s: a level is twice in %v", code, list)
			}
		}
	}
	if diff := cmp.Diff([]int{8, 7}, LevelsOf("US").City); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(table["*"].City, LevelsOf("QQ").City); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"US 4 8", "US 4 6 8 9 10", "US 4 8 9", "US x 6 8 9", "US 4 6 99 9",
		"US 4 6 8 9\nUS 4 6 8 9"} {
		if _, err := parseLevels(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
