package extract

import (
	"cmp"
	"math"
	"slices"

	"github.com/paulmach/orb"
)

// ring is a closed ring with what is needed to tell which others it lies in.
type ring struct {
	points orb.Ring
	bound  orb.Bound
	area   float64 // in square degrees, positive
	chain  *chain
	inner  bool // all its pieces have the role inner
	parent int  // the smallest ring around it, or -1
	depth  int
}

// nest orders the rings by size, the largest first, and finds for each the smallest one around it.
func (j *joiner) nest() []ring {
	rings := make([]ring, 0, len(j.rings))
	for i := range j.rings {
		c := &j.rings[i]
		r := ring{points: make(orb.Ring, 0, len(c.nodes)), chain: c, parent: -1, inner: true}
		for _, node := range c.nodes {
			// Two nodes may lie at one place, where a gap was mended.
			if p := j.at(node); len(r.points) == 0 || r.points[len(r.points)-1] != p {
				r.points = append(r.points, p)
			}
		}
		for _, p := range c.pieces {
			r.inner = r.inner && j.pieces[p].inner
		}
		r.bound = r.points.Bound()
		r.area = math.Abs(signedArea(r.points))
		if len(r.points) > 3 && r.area > 0 {
			rings = append(rings, r)
		}
	}
	slices.SortStableFunc(rings, func(a, b ring) int { return cmp.Compare(b.area, a.area) })
	for i := range rings {
		for k := i - 1; k >= 0; k-- {
			if covers(rings[k].bound, rings[i].bound) && encloses(rings[k].points, rings[i].points) {
				rings[i].parent, rings[i].depth = k, rings[k].depth+1
				break
			}
		}
	}
	return rings
}

// sameRing says whether two closed rings have the same nodes.
func sameRing(a, b []int32) bool {
	if len(a) != len(b) {
		return false
	}
	a, b = slices.Clone(a[1:]), slices.Clone(b[1:])
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func covers(a, b orb.Bound) bool {
	return a.Min[0] <= b.Min[0] && a.Min[1] <= b.Min[1] && a.Max[0] >= b.Max[0] && a.Max[1] >= b.Max[1]
}

// encloses says whether a ring lies within another. Rings do not cross, so one point tells, if it is not on both.
func encloses(outer, inner orb.Ring) bool {
	for _, p := range inner[1:] {
		if in, on := contains(outer, p); !on {
			return in
		}
	}
	for i := range inner[1:] {
		middle := orb.Point{(inner[i][0] + inner[i+1][0]) / 2, (inner[i][1] + inner[i+1][1]) / 2}
		if in, on := contains(outer, middle); !on {
			return in
		}
	}
	return true
}

// contains says whether a point is within a ring (by the even-odd rule), and whether it lies on the ring itself.
func contains(r orb.Ring, p orb.Point) (in, on bool) {
	for i := 1; i < len(r); i++ {
		a, b := r[i-1], r[i]
		if p == a {
			return false, true
		}
		if (a[1] > p[1]) == (b[1] > p[1]) {
			if a[1] == p[1] && b[1] == p[1] && min(a[0], b[0]) <= p[0] && p[0] <= max(a[0], b[0]) {
				return false, true
			}
			continue
		}
		cross := (b[0]-a[0])*(p[1]-a[1]) - (p[0]-a[0])*(b[1]-a[1])
		if cross == 0 {
			return false, true
		}
		if (cross > 0) == (b[1] > a[1]) {
			in = !in
		}
	}
	return in, false
}

// signedArea is positive for rings that run counter-clockwise. Relative to the first point, so that small rings far from
// the origin keep their digits.
func signedArea(r orb.Ring) float64 {
	sum := 0.0
	for i := 1; i < len(r); i++ {
		a, b := r[i-1], r[i]
		sum += (a[0]-r[0][0])*(b[1]-r[0][1]) - (b[0]-r[0][0])*(a[1]-r[0][1])
	}
	return sum / 2
}

// oriented returns a ring counter-clockwise, or clockwise.
func oriented(r orb.Ring, ccw bool) orb.Ring {
	if (signedArea(r) > 0) != ccw {
		slices.Reverse(r)
	}
	return r
}
