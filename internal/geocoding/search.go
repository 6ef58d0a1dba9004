package geocoding

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// match is the sort key of a feature that was found, and its place.
type match struct {
	centimetres float64 // rounded
	extent      float32
	feature     uint32
	ref         uint64
	at          geometry.Offset // its point nearest to the origin
}

// hit is a feature that was found.
type hit struct {
	match
	record feature
}

// compare orders matches by distance in whole centimetres, extent, id and kind.
func (a *match) compare(b *match) int {
	if a.centimetres != b.centimetres {
		return cmp.Compare(a.centimetres, b.centimetres)
	}
	return cmp.Or(cmp.Compare(a.extent, b.extent), cmp.Compare(a.ref, b.ref), cmp.Compare(a.feature, b.feature))
}

// search finds the features nearest to a point in one or more trees. It visits the nearest nodes first, and skips those
// that are farther than what was found. It is reused, so that requests allocate nothing.
type search struct {
	x        *Index
	o        geometry.Origin
	hits     []hit // in order
	size     int
	request  *Request // nil in infer
	farthest float64  // greatest distance of a feature in centimetres
	limit    float64  // haversine beyond which a feature is no hit
	text     textBuffer
	spans    []placeSpans
	around   placefile.Enclosing
	nearest  nearest
}

// reset prepares a search for at most size features within some centimetres.
func (s *search) reset(x *Index, o *geometry.Origin, size int, farthest float64) {
	s.x, s.o, s.size, s.farthest, s.hits = x, *o, size, farthest, s.hits[:0]
	s.limit = limitOf(farthest)
	s.o.LimitTo((farthest + 1) / 100)
}

// release keeps a search for the next request, unless it has become large.
func (s *search) release() {
	const large = 1 << 16
	s.request = nil
	if cap(s.text.bytes) <= large {
		s.x.scratch.Put(s)
	}
}

// limitOf returns a haversine above those of all distances that round to the centimetres.
func limitOf(centimetres float64) float64 {
	return geometry.HaversineWithin((centimetres + 0.51) / 100)
}

// visitSteps is the work of finding a feature's record.
const visitSteps = 4

// visit measures a feature, and keeps it if it is near enough.
func (s *search) visit(n uint32) {
	s.o.Spend(visitSteps)
	f := s.x.feature(n)
	if h := (hit{match{feature: n, extent: f.Extent}, f}); s.measure(&h) && s.wants(&f) {
		s.keep(&h)
	}
}

// measure sets the distance and the reference of a feature; false if it is beyond the limit.
func (s *search) measure(h *hit) bool {
	g := s.x.geometry(&h.record)
	var distance float64
	if !g.Contains(&s.o) {
		if distance, h.at = g.Closest(&s.o, s.limit); distance > s.limit {
			return false
		}
	}
	r := s.x.details(&h.record, placefile.DetailBytes)
	h.centimetres, h.ref = math.Round(geometry.Metres(distance)*100), h.record.ReadRef(&r)
	return true
}

// wants reports whether a feature is wanted: by Request.Keep, in infer if it tells its city.
func (s *search) wants(f *feature) bool {
	if s.request != nil && s.request.Keep == nil {
		return true
	}
	if s.request == nil {
		return len(s.x.cityOf(f)) > 0
	}
	r := s.x.details(f, placefile.DetailBytes)
	d := f.ReadDetails(&r, &s.x.text)
	_, _, _, ok := s.x.presented(f, &d, s.request)
	return ok
}

// keep inserts a hit in order. Of several hits of one object (houses on one interpolation line, a feature in two trees)
// it keeps the best.
func (s *search) keep(h *hit) {
	if h.centimetres > s.farthest {
		return
	}
	for i := range s.hits {
		if s.hits[i].ref == h.ref {
			if h.compare(&s.hits[i].match) >= 0 {
				return
			}
			s.hits = slices.Delete(s.hits, i, i+1)
			break
		}
	}
	i := len(s.hits)
	for i > 0 && h.compare(&s.hits[i-1].match) < 0 {
		i--
	}
	if i >= s.size {
		return
	}
	if len(s.hits) == s.size {
		s.hits = s.hits[:s.size-1]
	}
	s.hits = slices.Insert(s.hits, i, *h)
	if len(s.hits) == s.size {
		s.limit = limitOf(s.hits[s.size-1].centimetres)
	}
}
