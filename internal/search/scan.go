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
	maxScanned, maxVisited = 4_000, 20_000
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
	top := s.tree.Height
	for i := range s.tree.Count[top] {
		s.pushNode(node{int32(top), i}, most)
	}
	for left := maxScanned; len(s.queue) > 0 && left > 0; {
		item := s.queue.Pop()
		if s.full() && -item.Key <= s.worst() {
			return
		}
		n := item.Value
		if n.level > 0 {
			from, to := s.tree.Children(int(n.level), n.index)
			for i := from; i < to; i++ {
				s.pushNode(node{n.level - 1, i}, most)
			}
			continue
		}
		left--
		d := s.documents.At(int(n.index))
		if any {
			if c, _, ok := s.compare(d.Name); ok {
				c.bound = most
				s.visitDocument(&c, n.index)
			}
			continue
		}
		// A name without documents has the index of the next candidate.
		if i, ok := s.seen.get(d.Name); ok && int(i) < len(s.candidates) && s.candidates[i].name == d.Name {
			s.visitDocument(&s.candidates[i], n.index)
		}
		if i := s.categories[d.Category]; i > 0 {
			s.visitDocument(&s.candidates[i-1], n.index)
		}
	}
}

// pushNode puts a node into the queue, by the greatest rank that a document in it can have.
func (s *searcher) pushNode(n node, text float32) {
	var box geo.Box
	var importance uint32
	if n.level == 0 {
		d := s.documents.At(int(n.index))
		box, importance = geo.Box{MinX: d.X, MinY: d.Y, MaxX: d.X, MaxY: d.Y}, uint32(d.Importance)
	} else {
		b := s.bounds.At(int(s.tree.First[n.level] + n.index))
		box, importance = b.Box, b.Importance
	}
	rank := float64(text) + importanceWeight*float64(importance)/math.MaxUint8 + s.proximity(&box)
	s.queue.Push(-rank, n)
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
