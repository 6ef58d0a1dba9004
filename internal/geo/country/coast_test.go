package country

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
)

// TestCoast: to the left of the coast is land, to the right is sea, but where coasts are very near to each other.
func TestCoast(t *testing.T) {
	edges, wrong := 0, 0
	earth := orb.Bound{Min: orb.Point{-180, -90}, Max: orb.Point{180, 90}}
	Coast(earth, func(line []orb.Point) bool {
		for i, a := range line[:len(line)-1] {
			b := line[i+1]
			dx, dy := b[0]-a[0], b[1]-a[1]
			length := math.Hypot(dx, dy)
			if length < 10*degreesPerUnit {
				continue
			}
			const off = 2 * degreesPerUnit
			left := orb.Point{(a[0]+b[0])/2 - dy/length*off, (a[1]+b[1])/2 + dx/length*off}
			right := orb.Point{(a[0]+b[0])/2 + dy/length*off, (a[1]+b[1])/2 - dx/length*off}
			_, land := Lookup(left)
			_, sea := Lookup(right)
			edges++
			if !land || sea {
				wrong++
			}
		}
		return true
	})
	t.Logf("%d edges, %d of them wrong", edges, wrong)
	if edges < 200_000 || wrong > edges/1000 {
		t.Errorf("%d of %d edges have no land to the left, or some to the right", wrong, edges)
	}
}

// TestCoastWithin: the coast within a box is what all of the coast has there, and the walk ends when it is told to.
func TestCoastWithin(t *testing.T) {
	for name, test := range map[string]struct {
		box  orb.Bound
		most int // of lines
		none bool
	}{
		"Kansas":                {orb.Bound{Min: orb.Point{-100, 37.5}, Max: orb.Point{-98, 39}}, 0, true},
		"France and Spain":      {orb.Bound{Min: orb.Point{0.5, 42.5}, Max: orb.Point{1.5, 43}}, 0, true},
		"Delaware":              {orb.Bound{Min: orb.Point{-75.8, 38.4}, Max: orb.Point{-75, 39.9}}, 1000, false},
		"beyond the meridian":   {orb.Bound{Min: orb.Point{179, 60}, Max: orb.Point{180, 75}}, 1000, false},
		"the middle of nowhere": {orb.Bound{Min: orb.Point{-30, -30}, Max: orb.Point{-28, -28}}, 0, true},
	} {
		lines := 0
		Coast(test.box, func(line []orb.Point) bool {
			if len(line) < 2 {
				t.Errorf("%s: a line of %v", name, line)
			}
			lines++
			return true
		})
		if lines > test.most || lines == 0 != test.none {
			t.Errorf("%s has %d lines", name, lines)
		}
		if lines > 1 {
			lines = 0
			Coast(test.box, func([]orb.Point) bool { lines++; return false })
			if lines != 1 {
				t.Errorf("%s: %d lines after the walk was ended", name, lines)
			}
		}
	}
}
