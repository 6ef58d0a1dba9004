package geocoding

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/minheap"
)

// hit is a feature that was found.
type hit struct {
	centimetres float64 // rounded: what the order goes by first
	extent      float32
	feature     uint32
	record      feature
	ref         uint64
	at          geometry.Offset // its point nearest to the origin
}

// compare orders hits: by distance in whole centimetres, then by extent, then by the number of the
// id, then by kind.
func (a *hit) compare(b *hit) int {
	return cmp.Or(cmp.Compare(a.centimetres, b.centimetres), cmp.Compare(a.extent, b.extent), cmp.Compare(a.ref, b.ref),
		cmp.Compare(a.feature, b.feature))
}

// search finds the features nearest to a point in one or more trees, best first: the nodes of the trees and the
// features wait in a queue by how near they can be, and when that is farther than what was found, the search is over.
// It is kept for the next request, so that it allocates nothing.
type search struct {
	x            *Index
	o            geometry.Origin
	trees        []openTree
	queue        minheap.Heap[candidate]
	hits         []hit // in order
	size         int
	farthest     float64 // centimetres: how far a feature may be
	limit        float64 // haversine: no farther than that can a feature be to become a hit
	jurisdiction placefile.Jurisdiction
	text         textBuffer
	around       placefile.Surroundings
}

// candidate is a node of a tree, or a feature.
type candidate struct {
	node  uint32 // of its level, or the feature
	tree  uint16
	level int8 // 0: a feature
}

// reset prepares a search for at most size features within some centimetres.
func (s *search) reset(x *Index, o geometry.Origin, size int, farthest float64) {
	s.x, s.o, s.size, s.farthest = x, o, size, farthest
	s.trees, s.queue, s.hits = s.trees[:0], s.queue[:0], s.hits[:0]
	s.limit = limitOf(farthest)
	s.o.LimitTo((farthest + 1) / 100)
	s.jurisdiction = placefile.Jurisdiction{}
}

// release keeps a search for the next request, unless it has become large.
func (s *search) release() {
	const large = 1 << 16
	if cap(s.queue) <= large && cap(s.text.bytes) <= large {
		s.x.scratch.Put(s)
	}
}

// limitOf is the haversine of the distances that round to some centimetres.
func limitOf(centimetres float64) float64 {
	return geometry.HaversineWithin((centimetres + 0.51) / 100)
}

// run searches the open trees.
func (s *search) run() []hit {
	for len(s.queue) > 0 {
		next := s.queue.Pop()
		if next.Key > s.limit {
			break
		}
		if c := next.Value; c.level == 0 {
			s.visit(c.node)
		} else {
			s.descend(c)
		}
	}
	return s.hits
}

// visitSteps is what it takes to find a feature's record.
const visitSteps = 4

// visit measures a feature and keeps it if it is near enough.
func (s *search) visit(n uint32) {
	s.o.Spend(visitSteps)
	f := s.x.feature(n)
	g := s.x.geometry(&f)
	var h float64
	var at geometry.Offset
	if !g.Contains(&s.o) {
		if h, at = g.Closest(&s.o, s.limit); h > s.limit {
			return
		}
	}
	r := s.x.details(&f, placefile.DetailBytes)
	s.keep(hit{math.Round(geometry.Metres(h) * 100), f.Extent, n, f, f.ReadRef(&r), at})
}

// keep puts a hit in its place. Of several hits of one object (houses on one interpolation line, a feature that is in
// two trees) the best stays.
func (s *search) keep(h hit) {
	if h.centimetres > s.farthest {
		return
	}
	for i := range s.hits {
		if s.hits[i].ref == h.ref {
			if h.compare(&s.hits[i]) >= 0 {
				return
			}
			s.hits = slices.Delete(s.hits, i, i+1)
			break
		}
	}
	i := len(s.hits)
	for i > 0 && h.compare(&s.hits[i-1]) < 0 {
		i--
	}
	if i >= s.size {
		return
	}
	if len(s.hits) == s.size {
		s.hits = s.hits[:s.size-1]
	}
	s.hits = slices.Insert(s.hits, i, h)
	if len(s.hits) == s.size {
		s.limit = limitOf(s.hits[s.size-1].centimetres)
	}
}
