package rings

import (
	"slices"

	"github.com/paulmach/orb"
)

// Area is what became of the lines around an area.
type Area struct {
	// Polygons have counter-clockwise outer rings and clockwise holes; rings are closed.
	Polygons orb.MultiPolygon
	// Outer is for each polygon the ways of its outer ring, sorted, without those whose role is inner. It may be empty.
	Outer [][]int64
	// Repaired counts what had to be repaired: lines given twice, ends that do not quite meet.
	Repaired int
	Broken   bool // some of it could not be closed
}

// Assemble makes an area of lines. At returns the position of a node in degrees. Partial says that lines are missing:
// then a gap is theirs, and only lines that are rings themselves are to be trusted.
func Assemble(pieces []Piece, at func(node uint64) orb.Point, partial bool) *Area {
	j := joiner{pieces: pieces, at: at, partial: partial}
	j.join()
	a := &Area{Broken: j.broken}
	a.build(&j, j.nest())
	a.Repaired = j.repaired
	return a
}

// build makes polygons of rings that have been nested.
func (a *Area) build(j *joiner, rings []ring) {
	polygonOf := make([]int, len(rings)) // of outer rings
	for i := range rings {
		r := &rings[i]
		switch {
		case r.depth%2 == 1:
			if p := polygonOf[r.parent]; p >= 0 {
				a.Polygons[p] = append(a.Polygons[p], oriented(r.points, false))
			}
		case r.depth == 0 && r.inner:
			// A hole in nothing: its outer ring is missing.
			polygonOf[i] = -1
			a.Broken = true
		default:
			polygonOf[i] = len(a.Polygons)
			a.Polygons = append(a.Polygons, orb.Polygon{oriented(r.points, true)})
			var ways []int64
			for _, p := range r.chain.pieces {
				// A hole that shares a part of the outer ring makes a dent in it.
				if !j.pieces[p].Inner {
					ways = append(ways, j.pieces[p].Way)
				}
			}
			slices.Sort(ways)
			a.Outer = append(a.Outer, slices.Compact(ways))
		}
	}
}

// SignedArea is positive for rings that run counter-clockwise. It is relative to the first point, so that small rings
// far from the origin keep their digits.
func SignedArea(r orb.Ring) float64 { return signedArea(r) }
