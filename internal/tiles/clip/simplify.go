package clip

import "github.com/mapsedge/caddy-maps/internal/geo"

// simplifiedAtOnce limits the positions that are simplified together: the worst case takes quadratic time.
const simplifiedAtOnce = 1 << 10

// SimplifyLine simplifies a line by the algorithm of Douglas and Peucker with a tolerance in units. The ends stay. The
// result is a new slice.
func SimplifyLine(l Line, tolerance int32) Line {
	if len(l) < 2 {
		return nil
	}
	return append(simplify(make(Line, 0, 16), l, tolerance), l[len(l)-1])
}

// SimplifyRing simplifies a ring with a tolerance in units. It returns nil if no area is left. The result begins at the
// westernmost position, so it does not depend on the start of the ring. It may cross itself; Simple repairs it.
func SimplifyRing(r Ring, tolerance int32) Ring {
	if len(r) < 3 {
		return nil
	}
	start := 0
	for i, p := range r {
		if compare(p, r[start]) < 0 {
			start = i
		}
	}
	turned := make(Ring, 0, len(r)+1)
	turned = append(append(append(turned, r[start:]...), r[:start]...), r[start])
	far, most := 0, -1.0
	for i, p := range turned {
		if d := squareOf(turned[0], p); d > most {
			far, most = i, d
		}
	}
	out := simplify(make(Ring, 0, 16), turned[:far+1], tolerance)
	out = simplify(out, turned[far:], tolerance)
	if len(out) < 3 {
		return nil
	}
	return out
}

// simplify appends the positions that stay, without the last one.
func simplify[L ~[]geo.Projected](dst, points L, tolerance int32) L {
	for len(points) > 1 {
		n := min(len(points), simplifiedAtOnce)
		dst = douglasPeucker(dst, points[:n], tolerance)
		points = points[n-1:]
	}
	return dst
}

// douglasPeucker appends the positions that stay of at least two, without the last one.
func douglasPeucker[L ~[]geo.Projected](dst, points L, tolerance int32) L {
	limit := float64(tolerance) * float64(tolerance)
	var ahead [64]int // ends that are still to come; the rest of them is on the heap where there are many
	ends := append(ahead[:0], len(points)-1)
	for start := 0; len(ends) > 0; {
		end := ends[len(ends)-1]
		far, most := 0, limit
		a, b := points[start], points[end]
		length := dot(a, b, b)
		for i, p := range points[start+1 : end] {
			// The square of its distance from the segment.
			var d float64
			switch along := dot(a, b, p); {
			case along <= 0:
				d = squareOf(a, p)
			case along >= length:
				d = squareOf(b, p)
			default:
				off := float64(cross(a, b, p))
				d = off * off / float64(length)
			}
			if d > most {
				far, most = start+1+i, d
			}
		}
		if far > 0 {
			ends = append(ends, far)
			continue
		}
		dst = append(dst, points[start])
		start, ends = end, ends[:len(ends)-1]
	}
	return dst
}

// squareOf is the square of the distance between two positions.
func squareOf(a, b geo.Projected) float64 { return float64(dot(a, b, b)) }

// dot is the scalar product of the ways from a to b and from a to c.
func dot(a, b, c geo.Projected) int64 {
	return int64(b.X-a.X)*int64(c.X-a.X) + int64(b.Y-a.Y)*int64(c.Y-a.Y)
}
