package rings

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb"
)

// ring is a ring with data to find the rings around it.
type ring struct {
	points  Ring
	bound   orb.Bound
	area    float64
	ways    []int64 // without those whose role is inner
	depth   int     // the number of rings around it
	polygon int     // the index of the polygon of which it is the outer ring, or -1
}

// nest makes polygons of rings. For each ring, the largest first, it finds the smallest ring around it.
func (j *joiner) nest(chains [][]step) {
	var rings []*ring
	for _, chain := range chains {
		if r := j.ring(chain); r != nil {
			rings = append(rings, r)
		}
	}
	slices.SortStableFunc(rings, func(a, b *ring) int { return cmp.Compare(b.area, a.area) })
	for i, r := range rings {
		outer := -1
		for _, around := range slices.Backward(rings[:i]) {
			if around.encloses(r) {
				r.depth, outer = around.depth+1, around.polygon
				break
			}
		}
		switch {
		case r.depth%2 == 1:
			if outer >= 0 {
				slices.Reverse(r.points)
				j.Polygons[outer] = append(j.Polygons[outer], r.points)
			}
		case r.depth == 0 && len(r.ways) == 0:
			j.Broken = true // a hole whose outer ring is missing
		default:
			r.polygon = len(j.Polygons)
			j.Polygons = append(j.Polygons, Polygon{r.points})
			j.Outer = append(j.Outer, r.ways)
		}
	}
}

// ring makes a counter-clockwise ring of a chain, or nil if it encloses nothing.
func (j *joiner) ring(chain []step) *ring {
	if len(chain) < 3 {
		return nil
	}
	r := &ring{polygon: -1, bound: j.at(chain[0].node).Point().Bound()}
	for _, s := range chain {
		at := j.at(s.node)
		r.points = append(r.points, at)
		r.bound = r.bound.Extend(at.Point())
		// A hole that shares a part of the outer ring is cut from its edge.
		if p := &j.pieces[s.piece]; !p.Inner {
			r.ways = append(r.ways, p.Way)
		}
	}
	// Where a gap was closed, two nodes may be at one position.
	r.points = slices.Compact(append(r.points, r.points[0]))
	slices.Sort(r.ways)
	r.ways = slices.Compact(r.ways)
	switch r.area = r.points.Area(); {
	case r.area == 0:
		return nil
	case r.area < 0:
		slices.Reverse(r.points)
		r.area = -r.area
	}
	return r
}

// encloses reports whether another ring lies within this one. Rings do not cross, so one point decides that is not on
// both.
func (r *ring) encloses(inner *ring) bool {
	if !r.bound.Contains(inner.bound.Min) || !r.bound.Contains(inner.bound.Max) {
		return false
	}
	for _, p := range inner.points[1:] {
		if in, on := r.points.contains(float64(p.Lon), float64(p.Lat)); !on {
			return in
		}
	}
	for i, b := range inner.points[1:] {
		a := inner.points[i]
		if in, on := r.points.contains((float64(a.Lon)+float64(b.Lon))/2, (float64(a.Lat)+float64(b.Lat))/2); !on {
			return in
		}
	}
	return true
}

// contains reports whether a position is within the ring (even-odd rule), and whether it is on the ring itself.
func (r Ring) contains(x, y float64) (in, on bool) {
	bx, by := float64(r[0].Lon), float64(r[0].Lat)
	for _, b := range r[1:] {
		ax, ay := bx, by
		bx, by = float64(b.Lon), float64(b.Lat)
		switch {
		case ay < y && by < y, ay > y && by > y:
			continue
		case ax == x && ay == y, ay == by && min(ax, bx) <= x && x <= max(ax, bx):
			return false, true
		case (ay > y) == (by > y):
			continue
		}
		cross := (bx-ax)*(y-ay) - (x-ax)*(by-ay)
		if cross == 0 {
			return false, true
		}
		if (cross > 0) == (by > ay) {
			in = !in
		}
	}
	return in, false
}
