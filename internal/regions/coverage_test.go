package regions

import (
	"testing"

	"github.com/paulmach/orb"
)

func TestBestCovering(t *testing.T) {
	for name, test := range map[string]struct {
		covered              []int // of 10, by each candidate
		best, most, measured int
	}{
		"the first that covers all":      {[]int{9, 10, 10}, 1, 10, 2},
		"most":                           {[]int{2, 7, 5}, 1, 7, 3},
		"the first of those that do":     {[]int{2, 7, 7}, 1, 7, 3},
		"nothing":                        {[]int{0, 0}, 0, 0, 2},
		"those left out do not count":    {[]int{-1, 0, 3, -1}, 2, 3, 4},
		"all left out":                   {[]int{-1, -1}, -1, -1, 2},
		"none there":                     {nil, -1, -1, 0},
		"less than nothing is not most":  {[]int{-1, 0}, 1, 0, 2},
		"nobody is asked behind the one": {[]int{10, -1}, 0, 10, 1},
	} {
		measured := 0
		best, most := BestCovering(test.covered, func(n int) (covered, of int) {
			measured++
			return n, 10
		})
		if best != test.best || most != test.most || measured != test.measured {
			t.Errorf("%s: %d with %d after %d, want %d with %d after %d", name, best, most, measured, test.best,
				test.most, test.measured)
		}
	}
}

// east covers what lies east of a meridian.
type east float64

func (e east) Covers(p orb.Point) bool { return p[0] > float64(e) }

func TestCoversPoint(t *testing.T) {
	for name, test := range map[string]struct {
		candidate any
		lon       float64
		covered   int
	}{
		"in the part":     {east(10), 11, 1},
		"elsewhere":       {east(10), 9, 0},
		"the whole Earth": {"anything", 9, 1},
	} {
		if covered, of := CoversPoint(test.candidate, orb.Point{test.lon, 0}); covered != test.covered || of != 1 {
			t.Errorf("%s: %d of %d, want %d of 1", name, covered, of, test.covered)
		}
	}
}

func TestAnyCovers(t *testing.T) {
	for lon, want := range map[float64]bool{5: false, 15: true, 25: true} {
		if got := AnyCovers([]east{20, 10}, orb.Point{lon, 0}); got != want {
			t.Errorf("at %v: %v, want %v", lon, got, want)
		}
	}
	if AnyCovers[east](nil, orb.Point{}) {
		t.Error("none covers something")
	}
}
