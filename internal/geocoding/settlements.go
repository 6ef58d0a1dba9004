package geocoding

import (
	"bytes"
	"math"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// nearest is the settlement nearest to a search's origin.
type nearest struct {
	match
	name     uint64 // string
	found    bool
	in       placefile.Jurisdiction
	sameCity bool
}

// seek starts the search for the nearest settlement within some metres.
func (s *search) seek(metres float64, in *placefile.Jurisdiction, sameCity bool) *nearest {
	s.o.LimitTo(metres + 0.01)
	s.farthest, s.limit = metres*100, limitOf(metres*100)
	s.nearest.found, s.nearest.in, s.nearest.sameCity = false, *in, sameCity
	return &s.nearest
}

// among visits up to Fanout settlements.
func (s *search) among(items []*placefile.Settlement) {
	s.o.Spend(len(items))
	var boxes [geo.TreeFanout]geo.Box
	var near [geo.TreeFanout]geometry.Near
	for i := range items {
		boxes[i] = items[i].Box
	}
	n := s.o.Nearest(&near, boxes[:len(items)], s.limit)
	outlines := 0
	for _, b := range near[:n] { // positions first: outlines are slower, and most are then too far
		if box := &boxes[b.Index]; box.MinX != box.MaxX || box.MinY != box.MaxY {
			near[outlines] = b
			outlines++
		} else if b.Haversine <= s.limit {
			s.look(items[b.Index], &geometry.Geometry{Shape: geometry.Point, Box: *box})
		}
	}
	for _, b := range near[:outlines] {
		if b.Haversine > s.limit {
			return
		}
		if item := items[b.Index]; s.allows(item) {
			f := s.x.feature(item.Feature)
			g := s.x.geometry(&f)
			s.look(item, &g)
		}
	}
}

// allows reports whether a settlement is in the wanted jurisdiction.
func (s *search) allows(item *placefile.Settlement) bool {
	return item.Place != 0 && s.nearest.in.Allows(s.x.places.At(int(item.Place-1)), s.nearest.sameCity)
}

// look looks at a settlement.
func (s *search) look(item *placefile.Settlement, g *geometry.Geometry) {
	if !s.allows(item) {
		return
	}
	n, found := &s.nearest, match{extent: item.Extent, feature: item.Feature, ref: item.Ref}
	var h float64
	if !g.Contains(&s.o) {
		if h, found.at = g.Closest(&s.o, s.limit); h > s.limit {
			return
		}
	}
	found.centimetres = math.Round(geometry.Metres(h) * 100)
	if found.centimetres <= s.farthest && (!n.found || found.compare(&n.match) < 0) {
		n.match, n.name, n.found, s.limit = found, item.Name, true, limitOf(found.centimetres)
	}
}

// settle takes the nearest settlements for city, suburb and hamlet where no polygon gives them. Without a city, town or
// village the city is a hamlet, else the nearest farm. near is the offset of the candidates; 0 if unknown.
func (s *search) settle(a *location, near uint32) {
	r := placefile.Reader{Data: s.x.contexts.String(uint64(near))}
	s.name(&a.city, placefile.TreeCities, a.cityDistance(), a, false, &r)
	for _, tree := range [...]uint32{placefile.TreeHamlets, placefile.TreeDwellings} {
		s.name(&a.city, tree, a.cityDistance(), a, false, &placefile.Reader{})
	}
	s.name(&a.suburb, placefile.TreeSuburbs, placefile.MaxSuburbDistance, a, true, &r)
	s.name(&a.hamlet, placefile.TreeHamlets, placefile.MaxSuburbDistance, a, true, &r)
}

// name makes the nearest settlement of a tree the label, unless there is one. near has the candidates, or no bytes if
// they are unknown.
func (s *search) name(l *label, tree uint32, metres float64, a *location, sameCity bool, near *placefile.Reader) {
	var list placefile.Nearby
	list.Read(near)
	if l.feature != 0 || list.Known && list.Count == 0 {
		return
	}
	if list.Certain {
		item := s.x.settlements.At(int(list.Numbers[0]))
		*l = label{item.Feature + 1, s.x.text.String(item.Name)}
		return
	}
	n := s.seek(metres, &a.jurisdiction, sameCity)
	if list.Known {
		var items [placefile.Fanout]*placefile.Settlement
		for i, number := range list.Numbers[:list.Count] {
			items[i] = s.x.settlements.At(int(number))
		}
		s.among(items[:list.Count])
	} else {
		s.search(tree)
	}
	if n.found {
		*l = label{n.feature + 1, s.x.text.String(n.name)}
	}
}

// The addresses around a point that tell its city.
const (
	cityVotes   = 9
	maxCityVote = 2_000 // metres
)

// infer takes the city that most of the nearest addresses of the same country tell, at least two, where neither an
// area nor a settlement tells it: an extract may have cut the boundary of the city, and left out its center.
func (s *search) infer(a *location) {
	if a.city.feature != 0 {
		return
	}
	n := s.x.scratch.Get().(*search)
	defer n.release()
	n.reset(s.x, &s.o, cityVotes, maxCityVote*100)
	n.search(placefile.TreeGeneral)
	best, most := []byte(nil), 1 // of two that agree
	for i := range n.hits {
		if c, ok := country.LookupOffshore(n.o.Location(n.hits[i].at)); !ok || c.Code != a.country.Code {
			continue
		}
		city, votes := s.x.cityOf(&n.hits[i].record), 0
		for k := range n.hits {
			if bytes.Equal(s.x.cityOf(&n.hits[k].record), city) {
				votes++
			}
		}
		if votes > most { // of as many votes the nearest
			best, most = city, votes
		}
	}
	a.city.name = best
}

// cityOf returns the city that a feature's own address tells.
func (x *Index) cityOf(f *feature) []byte {
	r := x.details(f, placefile.DetailBytes)
	d := f.ReadDetails(&r, &x.text)
	if d.Address == 0 {
		return nil
	}
	r = placefile.Reader{Data: slice(&x.addresses, int(d.Address), placefile.AddressBytes)}
	return placefile.ReadAddress(&r, &x.text).City
}
