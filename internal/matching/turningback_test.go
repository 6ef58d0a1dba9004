package matching_test

import (
	"strings"
	"testing"
)

// TestOutAndBack: where a sparse trace turns back, the point there is no outlier because those before and after it are
// close.
func TestOutAndBack(t *testing.T) {
	for _, s := range []sketch{
		{name: "three points", step: 20, grid: "a.........b.........c", ways: "ac", trace: "a b a", want: "ac", metres: 400},
		{name: "seven points", step: 50, grid: "a.........1.........2.........3.........b", ways: "ab",
			trace: "a 1 2 3 2 1 a", want: "ab", metres: 3000},
		{name: "a side street", step: 50,
			grid: "a.........b.........c" + strings.Repeat("\n          .", 4) + "\n          d" +
				strings.Repeat("\n          .", 3) + "\n          e",
			ways: "abc\nbde", trace: "a b d b c", want: "abc bde abc", metres: 1500},
		{name: "no_u_turn at the crossing", step: 20, grid: "a.......b.......c\n        d\n        e",
			ways: "ab\nbc\nbde\nab/b/ab restriction=no_u_turn", trace: "a b a", want: "*", metres: 400},
	} {
		t.Run(s.name, s.run)
	}
}
