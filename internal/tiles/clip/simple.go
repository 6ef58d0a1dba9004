package clip

import (
	"cmp"
	"slices"
	"sort"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// coarsest is how many bits of the positions Simple drops at most if rings cross everywhere.
const coarsest = 6

// Simple returns the polygons of rings by the even-odd rule. Direction and order of the rings do not matter; an area
// covered twice is not covered. The result is valid:
//
//   - Rings neither cross nor touch themselves, have no spikes and no common edges, and touch each other only at single
//     positions.
//   - Holes lie in their outer rings.
//   - Positions on the line between their neighbours are removed.
//   - Edges move by less than a unit, and only where rings cross between grid positions.
//
// Rings that cross in far more places than they have positions are made coarser, and left out if that does not help.
// The rings given are not kept.
func Simple(rings []Ring) []Polygon {
	if len(rings) == 1 && isSimple(rings[0]) {
		return polygonOf(rings[0])
	}
	segs := oddSegments(rings)
	for shift := 1; ; shift++ {
		budget := pairsAtLeast + pairsPerSegment*len(segs)
		m, ok := meet(segs, &budget)
		if ok {
			if shift == 1 && len(rings) == 1 && len(segs) == len(rings[0]) && m.ofOneRing(len(segs)) {
				return polygonOf(rings[0])
			}
			if noded, ok := node(segs, m, &budget); ok {
				return assemble(noded)
			}
		}
		if shift > coarsest {
			return nil
		}
		segs = coarser(segs, shift)
	}
}

// polygonOf returns the polygon of a valid ring, without positions on the line between their neighbours.
func polygonOf(ring Ring) []Polygon {
	out := make(Ring, 0, len(ring))
	last := ring[len(ring)-1]
	for i, p := range ring {
		if cross(last, p, ring[(i+1)%len(ring)]) != 0 {
			out = append(out, p)
		}
		last = p
	}
	if Area2(out) < 0 {
		slices.Reverse(out)
	}
	return []Polygon{{out}}
}

// fewPositions is up to how many positions all edges of a ring are compared with each other, which is faster than
// sorting. Most buildings have no more.
const fewPositions = 12

// isSimple reports whether a ring of few positions is valid as it is.
func isSimple(ring Ring) bool {
	n := len(ring)
	if n < 3 || n > fewPositions {
		return false
	}
	for i, a := range ring {
		b, c := ring[(i+1)%n], ring[(i+2)%n]
		if cross(a, b, c) == 0 {
			return false
		}
		for j := i + 2; j < n && j-i < n-1; j++ {
			c, d := ring[j], ring[(j+1)%n]
			cSide, dSide := cross(a, b, c), cross(a, b, d)
			if cSide > 0 && dSide > 0 || cSide < 0 && dSide < 0 {
				continue
			}
			aSide, bSide := cross(c, d, a), cross(c, d, b)
			if aSide > 0 && bSide > 0 || aSide < 0 && bSide < 0 {
				continue
			}
			return false // they cross or touch, or lie on one line
		}
	}
	return true
}

// coarser rounds the segments to fewer bits, but not beyond their bounds.
func coarser(segs []segment, shift int) []segment {
	ends := make([]geo.Projected, 0, 2*len(segs))
	for _, s := range segs {
		ends = append(ends, s.a, s.b)
	}
	in := Bounds(ends)
	half := int32(1) << shift >> 1
	for i, p := range ends {
		ends[i].X = max(in.Min.X, min((p.X+half)>>shift<<shift, in.Max.X))
		ends[i].Y = max(in.Min.Y, min((p.Y+half)>>shift<<shift, in.Max.Y))
	}
	segs = segs[:0]
	for i := 0; i < len(ends); i += 2 {
		segs = appendSegment(segs, ends[i], ends[i+1])
	}
	return cancelPairs(segs)
}

// plane is a set of segments that meet at ends only, of which an even number ends at every position: the border of an
// area.
type plane struct {
	points []geo.Projected
	edges  []edge // sorted by first, and then from north to south
}

// edge is a segment between two of the plane's points, first < last, and the result of the sweep.
type edge struct {
	first, last int32
	// forward is set where the area is on the right of the way from first to last.
	forward bool
	visited bool
	// next is the edge that comes after this one around the area.
	next int32
	// above is the edge that lies straight to the north of the first point, or -1: for the first edge of those that
	// begin at a point where none ends.
	above int32
	// polygon is the number of the polygon to whose border the edge belongs.
	polygon int32
}

// assemble makes polygons of noded segments.
func assemble(segs []segment) []Polygon {
	if len(segs) < 3 {
		return nil
	}
	pl := newPlane(segs)
	pl.sweep()
	return pl.walk()
}

func newPlane(segs []segment) *plane {
	points := make([]geo.Projected, 0, 2*len(segs))
	for _, s := range segs {
		points = append(points, s.a, s.b)
	}
	slices.SortFunc(points, compare)
	pl := &plane{points: slices.Compact(points), edges: make([]edge, len(segs))}
	first := 0
	for i, s := range segs {
		for pl.points[first] != s.a {
			first++
		}
		last, _ := slices.BinarySearchFunc(pl.points, s.b, compare)
		pl.edges[i] = edge{first: int32(first), last: int32(last), above: -1}
	}
	slices.SortFunc(pl.edges, func(e, o edge) int {
		if e.first != o.first {
			return cmp.Compare(e.first, o.first)
		}
		return cmp.Compare(0, cross(pl.points[e.first], pl.points[e.last], pl.points[o.last]))
	})
	return pl
}

// sweep visits the points from west to east, with the edges across the point's meridian from north to south. It finds
// for every edge on which side the area is, and which edge follows.
func (pl *plane) sweep() {
	var active, around []int32
	next := 0
	for point, p := range pl.points {
		at := sort.Search(len(active), func(i int) bool {
			e := &pl.edges[active[i]]
			return cross(pl.points[e.first], pl.points[e.last], p) <= 0
		})
		end := at
		for end < len(active) && pl.edges[active[end]].last == int32(point) {
			end++
		}
		begin := next
		for next < len(pl.edges) && pl.edges[next].first == int32(point) {
			pl.edges[next].forward = (at+next-begin)%2 == 0
			next++
		}
		if at > 0 && at == end {
			pl.edges[begin].above = active[at-1]
		}
		// All edges of the point, clockwise.
		around = around[:0]
		for i := begin; i < next; i++ {
			around = append(around, int32(i))
		}
		for i := end - 1; i >= at; i-- {
			around = append(around, active[i])
		}
		for i, e := range around {
			arrives := pl.edges[e].forward == (pl.edges[e].last == int32(point))
			if arrives {
				pl.edges[e].next = around[(i+len(around)-1)%len(around)]
			}
		}
		active = slices.Replace(active, at, end, around[:next-begin]...)
	}
}

// walk goes along the borders of the area and returns its polygons.
func (pl *plane) walk() []Polygon {
	w := walker{plane: pl, place: make([]int32, len(pl.points))}
	for i := range pl.edges {
		if !pl.edges[i].visited {
			w.follow(int32(i))
		}
	}
	return w.polygons
}

type walker struct {
	*plane
	polygons []Polygon
	// border has the edges of the border that is walked.
	border []int32
	// path is the way since the border's beginning without the rings that were cut off, and place where in it a point
	// is, plus 1.
	path  []int32
	place []int32
}

// follow walks along a border from its first edge. All borders further west have been walked, so a border that only
// surrounds holes lies in the polygon of the edge to its north.
func (w *walker) follow(start int32) {
	polygon := int32(-1)
	var holes []Ring
	w.path, w.border = w.path[:0], w.border[:0]
	for i := start; !w.edges[i].visited; i = w.edges[i].next {
		e := &w.edges[i]
		e.visited = true
		w.border = append(w.border, i)
		from := e.first
		if !e.forward {
			from = e.last
		}
		if at := w.place[from]; at > 0 {
			holes, polygon = w.cutOff(at-1, holes, polygon)
		}
		w.path = append(w.path, from)
		w.place[from] = int32(len(w.path))
	}
	holes, polygon = w.cutOff(0, holes, polygon)
	if polygon < 0 {
		polygon = w.edges[w.edges[start].above].polygon
	}
	w.polygons[polygon] = append(w.polygons[polygon], holes...)
	for _, i := range w.border {
		w.edges[i].polygon = polygon
	}
}

// cutOff takes a ring off the end of the path: it becomes a hole, or the outer ring of a new polygon.
func (w *walker) cutOff(from int32, holes []Ring, polygon int32) ([]Ring, int32) {
	loop := w.path[from:]
	ring := make(Ring, 0, len(loop))
	for i, at := range loop {
		w.place[at] = 0
		before, after := loop[(i+len(loop)-1)%len(loop)], loop[(i+1)%len(loop)]
		p := w.points[at]
		if cross(w.points[before], p, w.points[after]) != 0 {
			ring = append(ring, p)
		}
	}
	w.path = w.path[:from]
	if Area2(ring) < 0 {
		return append(holes, ring), polygon
	}
	w.polygons = append(w.polygons, Polygon{ring})
	return holes, int32(len(w.polygons) - 1)
}
