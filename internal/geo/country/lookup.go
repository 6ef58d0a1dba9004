package country

import "github.com/paulmach/orb"

// Lookup returns the country that contains a position (longitude and latitude in degrees), and whether there is one.
// There is none at sea, nor for an invalid position. On a border it is exactly one of the neighbours.
func Lookup(p orb.Point) (Country, bool) {
	x, y, ok := position(p)
	if !ok {
		return Country{}, false
	}
	if n := number(x, y); n != 0 {
		return countries[n-1], true
	}
	return Country{}, false
}

// territorialSea is the width of the territorial sea: 12 nautical miles, in metres.
const territorialSea = 22_224

// LookupOffshore is Lookup with the territorial sea: at sea it returns the nearest country, within 12 nautical miles.
func LookupOffshore(p orb.Point) (Country, bool) {
	if c, ok := Lookup(p); ok {
		return c, true
	}
	c, _, ok := Nearest(p, territorialSea)
	return c, ok
}

// number returns the country at a position in units, plus one; 0 for none.
func number(x, y float64) int {
	ix, iy := uint32(x), uint32(y)
	shift := uint32(cellShift)
	tag, value := node(iy>>shift*columns + ix>>shift)
	for tag == tagBranch {
		shift--
		tag, value = node(value + (iy>>shift&1)<<1 + ix>>shift&1)
	}
	if tag == tagWhole {
		return int(value)
	}
	mask := uint32(1)<<shift - 1
	return numberInLeaf(leaf(value), x-float64(ix&^mask), y-float64(iy&^mask))
}

// numberInLeaf finds the area of a leaf that contains a position, given from the leaf's south-west corner.
func numberInLeaf(data []byte, x, y float64) int {
	r := reader{data: data}
	otherwise := r.uint()
	for areas := r.uint(); areas > 0; areas-- {
		n := r.uint()
		inside := false
		for rings := r.uint(); rings > 0; rings-- {
			inside = inside != ringContains(&r, x, y)
		}
		if inside {
			return n
		}
	}
	return otherwise
}

// ringContains reads a ring, and reports whether a ray to the east crosses it an odd number of times. Vertices are
// integers, so they can be compared with the position rounded down. Only edges whose boxes contain it need arithmetic.
func ringContains(r *reader, x, y float64) bool {
	ix, iy := int(x), int(y)
	vertices := r.uint()
	firstX, firstY := r.uint(), r.uint()
	inside := false
	for ax, ay := firstX, firstY; vertices > 0; vertices-- {
		bx, by := firstX, firstY
		if vertices > 1 {
			bx, by = ax+r.int(), ay+r.int()
		}
		if (ay > iy) != (by > iy) {
			switch {
			case ax > ix && bx > ix:
				inside = !inside
			case ax > ix || bx > ix:
				// The lower end first, so that neighbours who share an edge in opposite directions get the same answer.
				lx, ly, ux, uy := ax, ay, bx, by
				if ly > uy {
					lx, ly, ux, uy = bx, by, ax, ay
				}
				if (x-float64(lx))*float64(uy-ly) < (y-float64(ly))*float64(ux-lx) {
					inside = !inside
				}
			}
		}
		ax, ay = bx, by
	}
	return inside
}
