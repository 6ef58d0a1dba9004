package geocoding

import (
	"cmp"
	"math"
	"slices"
)

// hit is a feature that was found.
type hit struct {
	centimetres float64 // rounded: what the order goes by first
	extent      float32
	feature     uint32
	ref         uint64
	at          position // its point nearest to the origin
}

// compare orders hits: by distance in whole centimetres, then by extent, then by id.
func (a *hit) compare(b *hit) int {
	return cmp.Or(cmp.Compare(a.centimetres, b.centimetres), cmp.Compare(a.extent, b.extent), cmp.Compare(a.ref, b.ref),
		cmp.Compare(a.feature, b.feature))
}

// search finds the features nearest to a point in one or more trees, best first: the nodes of the trees and the features wait
// in a queue by how near they can be, and when that is farther than what was found, the search is over. It is kept for the
// next request, so that it allocates nothing.
type search struct {
	x       *Index
	o       origin
	trees   []openTree
	queue   []candidate
	hits    []hit // in order
	size    int
	reach   float64 // centimetres: how far a feature may be
	limit   float64 // haversine: no farther than that can a feature be to become a hit
	within  within
	text    textBuffer
	context enclosing
}

// openTree is a tree that is being searched.
type openTree struct {
	tree
	pyramid pyramid
}

// candidate is a node of a tree, or a feature, that is at least as far as its haversine.
type candidate struct {
	haversine float64
	node      uint32 // of its level, or the feature
	tree      uint16
	level     int8 // 0: a feature
}

// within restricts a search to settlements of a country and state, and to those of a city where that is set. The zero value
// restricts nothing.
type within struct {
	settlements bool
	sameCity    bool
	country     [3]byte
	state, city uint32 // as in place
}

// reset prepares a search for at most size features within some centimetres.
func (s *search) reset(x *Index, o origin, size int, reach float64) {
	s.x, s.o, s.size, s.reach = x, o, size, reach
	s.trees, s.queue, s.hits = s.trees[:0], s.queue[:0], s.hits[:0]
	s.limit = limitOf(reach)
	s.o.within((reach + 1) / 100)
	s.within = within{}
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
	return haversineWithin((centimetres + 0.51) / 100)
}

// open adds a tree to the search.
func (s *search) open(n uint32) {
	t := s.x.trees.At(int(n))
	if t.Count == 0 {
		return
	}
	s.trees = append(s.trees, openTree{*t, newPyramid(t.Count)})
	number := uint16(len(s.trees) - 1)
	p := &s.trees[number].pyramid
	s.expand(number, p.height, 0, p.count[p.height])
}

// run searches the open trees.
func (s *search) run() []hit {
	for len(s.queue) > 0 {
		c := s.pop()
		if c.haversine > s.limit {
			break
		}
		if c.level == 0 {
			s.visit(c.node)
			continue
		}
		from, to := s.trees[c.tree].pyramid.children(int(c.level), c.node)
		s.expand(c.tree, int(c.level)-1, from, to)
	}
	return s.hits
}

// expand puts nodes of a level into the queue.
func (s *search) expand(number uint16, level int, from, to uint32) {
	t := &s.trees[number]
	s.o.spend(int(to - from))
	var boxes []box
	switch {
	case level > 0:
		first := t.Branches + t.pyramid.first[level]
		boxes = s.x.branches.Range(int(first+from), int(first+to))
	case t.First == wholeFeatures:
		boxes = s.x.boxes.Range(int(from), int(to))
	default:
		boxes = s.x.branches.Range(int(t.Boxes+from), int(t.Boxes+to))
	}
	var bounds [fanout]float64
	s.o.bounds(&bounds, boxes)
	for i, h := range bounds[:len(boxes)] {
		if h > s.limit {
			continue
		}
		node := from + uint32(i)
		if level == 0 && t.First != wholeFeatures {
			node = *s.x.items.At(int(t.First + node))
		}
		s.push(candidate{h, node, number, int8(level)})
	}
}

// push adds to the queue, a binary heap.
func (s *search) push(c candidate) {
	s.queue = append(s.queue, c)
	i := len(s.queue) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if s.queue[parent].haversine <= c.haversine {
			break
		}
		s.queue[i] = s.queue[parent]
		i = parent
	}
	s.queue[i] = c
}

func (s *search) pop() candidate {
	top := s.queue[0]
	last := len(s.queue) - 1
	c := s.queue[last]
	s.queue = s.queue[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && s.queue[child+1].haversine < s.queue[child].haversine {
			child++
		}
		if s.queue[child].haversine >= c.haversine {
			break
		}
		s.queue[i] = s.queue[child]
		i = child
	}
	s.queue[i] = c
	return top
}

// visitSteps is what it takes to find a feature's record.
const visitSteps = 4

// visit measures a feature and keeps it if it is near enough.
func (s *search) visit(n uint32) {
	s.o.spend(visitSteps)
	if s.within.settlements && !s.belongs(n) {
		return
	}
	g := s.x.geometry(n)
	var h float64
	var at position
	if !g.contains(&s.o) {
		if h, at = g.nearest(&s.o, s.limit); h > s.limit {
			return
		}
	}
	f := s.x.features.At(int(n))
	s.keep(hit{math.Round(metres(h) * 100), f.Extent, n, f.Ref, at})
}

// keep puts a hit in its place. Of several hits of one object (houses on one interpolation line, a feature that is in two
// trees) the best stays.
func (s *search) keep(h hit) {
	if h.centimetres > s.reach {
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

// belongs tells whether a settlement lies where the search may find it.
func (s *search) belongs(n uint32) bool {
	i := s.x.features.At(int(n)).Place
	if i == 0 {
		return false
	}
	return s.within.allows(s.x.places.At(int(i - 1)))
}

func (w *within) allows(p *place) bool {
	return p.State == w.state && (!w.sameCity || p.City == w.city) && [3]byte(p.Country[:3]) == w.country
}
