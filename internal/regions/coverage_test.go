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
		"the first that covers all":        {[]int{9, 10, -1}, 1, 10, 2},
		"the first of those with the most": {[]int{2, 7, 7, 5}, 1, 7, 4},
		"nothing":                          {[]int{-1, 0, 0}, 1, 0, 3},
		"some are skipped":                 {[]int{-1, 0, 3, -1}, 2, 3, 4},
		"all are skipped":                  {[]int{-1, -1}, -1, -1, 2},
		"no candidates":                    {nil, -1, -1, 0},
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

// east covers positions east of a meridian.
type east float64

func (e east) Covers(p orb.Point) bool { return p[0] > float64(e) }

func TestCoversPoint(t *testing.T) {
	for lon, want := range map[float64][3]bool{5: {false, true, false}, 15: {true, true, true}, 25: {true, true, true}} {
		p := orb.Point{lon, 0}
		covered, _ := CoversPoint(east(10), p)
		everywhere, _ := CoversPoint("the whole Earth", p)
		if got := [3]bool{covered == 1, everywhere == 1, AnyCovers([]east{20, 10}, p)}; got != want {
			t.Errorf("at %v: %v, want %v", lon, got, want)
		}
	}
}
