package search

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// Where very many documents match, such as all with a name that begins with "s", the tree of documents leads to the
// best ones: to the near and important ones first.

const (
	// After so many documents, one name after the other, the tree is used if at least one in scanShare documents matches.
	fewDocuments, scanShare = 1_000, 16
	// maxScanned is how many documents are looked at along the tree, maxVisited how many without it.
	maxScanned, maxVisited = 12_000, 20_000
)

// node is a node of the tree over the documents.
type node struct {
	level int32
	index uint32
}

// scan ranks the documents of candidates along the tree, or those of all names if there are too many candidates. None
// of them matches better than most.
func (s *searcher) scan(most float32, any bool) {
	s.queue = s.queue[:0]
	s.queue.Push(math.Inf(-1), node{level: int32(s.tree.Height) + 1}) // above the top level
	for left := maxScanned; len(s.queue) > 0 && left > 0; {
		item := s.queue.Pop()
		if s.full() && -item.Key <= s.worst() {
			return
		}
		n := item.Value
		from, to := s.tree.Children(int(n.level), n.index)
		for i := from; i < to; i++ {
			if n.level > 1 {
				b := s.bounds.At(int(s.tree.First[n.level-1] + i))
				s.queue.Push(-s.greatest(most, b.Importance, &b.Box), node{n.level - 1, i})
				continue
			}
			left--
			d := s.documents.At(int(i))
			if any {
				box := geo.Box{MinX: d.X, MinY: d.Y, MaxX: d.X, MaxY: d.Y}
				if s.full() && s.greatest(most, uint32(d.Importance), &box) <= s.worst() {
					continue
				}
				if c, _, ok := s.compare(d.Name); ok {
					c.bound = most
					s.visitDocument(&c, i)
				}
				continue
			}
			// A name without documents has the index of the next candidate.
			if k, ok := s.seen.get(d.Name); ok && int(k) < len(s.candidates) && s.candidates[k].name == d.Name {
				s.visitDocument(&s.candidates[k], i)
			}
			if k := s.categories[d.Category]; k > 0 {
				s.visitDocument(&s.candidates[k-1], i)
			}
		}
	}
}

// greatest returns the greatest rank that a document in a box can have.
func (s *searcher) greatest(text float32, importance uint32, b *geo.Box) float64 {
	return float64(text) + importanceWeight*float64(importance)/math.MaxUint8 + s.proximity(b)
}

// proximity returns the part of the rank of the nearest position in a box.
func (s *searcher) proximity(b *geo.Box) float64 {
	if s.nearest == 0 {
		return 0
	}
	return proximityWeight * s.near.proximity(s.scale, b)
}

// focus is a position to be near.
type focus struct {
	geometry.Coord
	cos float64 // of the latitude
}

func newFocus(c geometry.Coord) focus {
	return focus{c, math.Cos(float64(c.Y) * geometry.RadiansPerUnit)}
}

// proximity returns 1 for a box around a position, and half for one at so many metres as the scale.
func (at *focus) proximity(scale float64, b *geo.Box) float64 {
	dx, dy := gap(at.X, b.MinX, b.MaxX), gap(at.Y, b.MinY, b.MaxY)
	if around := geometry.FullTurn - max(float64(b.MaxX)-float64(at.X), float64(at.X)-float64(b.MinX)); around < dx {
		dx = max(around, 0) // across the antimeridian
	}
	// On a plane, which is exact enough for ranks.
	return scale / (scale + math.Sqrt(dx*dx*at.cos*at.cos+dy*dy)*geo.MetresPerUnit)
}

// gap returns the distance of a coordinate from a range.
func gap(v, from, to int32) float64 {
	return max(0, float64(from)-float64(v), float64(v)-float64(to))
}
