package geocoding

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/paulmach/orb"
)

// How far, in metres, the settlement may be that stands for the city, or the suburb and the hamlet, of a point that no
// polygon contains.
const (
	maxCityDistance = 30_000
	// maxCityDistanceUnproven is for points whose state no polygon tells: another state may begin anywhere.
	maxCityDistanceUnproven = 5_000
	maxSuburbDistance       = 1_000
)

// surroundings is where a point is, as far as polygons, borders and the nearest settlements tell. Strings of the region
// are given by number.
type surroundings struct {
	country              country.Country
	countryLabel         label // no name: country.Name
	suburb, hamlet, city label
	county, state        label
	postcode             uint32
	within               within
}

// surroundings works out where the search's origin is, after enclose.
func (s *search) surroundings(p orb.Point) surroundings {
	c := &s.context
	a := surroundings{suburb: c.label(roleSuburb), hamlet: c.label(roleHamlet), city: c.label(roleCity),
		county: c.label(roleCounty), state: c.label(roleState), countryLabel: c.label(roleCountry), postcode: c.PostcodeText}
	if a.county.feature == a.city.feature {
		a.county = label{}
	}
	if code := c.code(); code != ([3]byte{}) {
		a.country = s.x.countryByCode(code)
	} else if found, ok := countryAt(p); ok {
		a.country = found
	}
	a.within = within{settlements: true, state: a.state.feature, city: a.city.feature}
	copy(a.within.country[:], a.country.Code)
	return a
}

// label is a feature + 1, 0 for none, and its name.
type label struct{ feature, name uint32 }

func (e *enclosing) label(role int) label { return label{e.Feature[role], e.Name[role]} }

// countryByCode returns the country of an alpha-3 code of the region.
func (x *Index) countryByCode(code [3]byte) country.Country {
	if c := x.country.Load(); c != nil && c.Code == string(code[:]) {
		return *c
	}
	c, ok := country.ByAlpha3(string(code[:]))
	if ok {
		x.country.Store(&c)
	}
	return c
}

// settle names the nearest settlements as the city, the suburb and the hamlet where no polygon does.
func (s *search) settle(a *surroundings, c *cell) {
	known := c.flags&cellContext != 0
	if a.city.feature == 0 {
		s.settleCity(a, c, known)
	}
	near := a.within
	near.sameCity = true
	if a.suburb.feature == 0 {
		if known {
			a.suburb = s.nearestOf(c.suburbs, maxSuburbDistance, c.flags&cellOneSub != 0)
		} else {
			a.suburb = s.nearest(treeSuburbs, maxSuburbDistance, near)
		}
	}
	if a.hamlet.feature == 0 {
		if known {
			a.hamlet = s.nearestOf(c.hamlets, maxSuburbDistance, c.flags&cellOneHam != 0)
		} else {
			a.hamlet = s.nearest(treeHamlets, maxSuburbDistance, near)
		}
	}
}

// settleCity names the nearest city, town or village as the city. Where there is none, a hamlet stands for it, and
// where there is none of these either, the nearest farm.
func (s *search) settleCity(a *surroundings, c *cell, known bool) {
	reach := a.cityReach()
	if known {
		a.city = s.nearestOf(c.cities, reach, c.flags&cellOneCity != 0)
	} else {
		a.city = s.nearestWithin(treeCities, reach, a.within)
	}
	for _, tree := range [...]uint32{treeHamlets, treeDwellings} {
		if a.city.feature == 0 {
			a.city = s.nearestWithin(tree, reach, a.within)
		}
	}
}

// nearestWithin returns the nearest settlement of a tree, which it looks for near by first.
func (s *search) nearestWithin(tree uint32, reach float64, in within) label {
	found := s.nearest(tree, maxCityDistanceUnproven, in)
	if found.feature == 0 && reach > maxCityDistanceUnproven {
		found = s.nearest(tree, reach, in)
	}
	return found
}

// cityReach is how far the settlement may be that stands for the city: not far where no polygon tells the state and
// there may be another one.
func (a *surroundings) cityReach() float64 {
	if a.state.feature != 0 || len(levelsOf(a.country.Alpha2).state) == 0 {
		return maxCityDistance
	}
	return maxCityDistanceUnproven
}

// nearest returns the nearest settlement of a tree.
func (s *search) nearest(tree uint32, reach float64, in within) label {
	near := s.x.scratch.Get().(*search)
	defer near.release()
	near.reset(s.x, s.o, 1, reach*100)
	near.within = in
	near.open(tree)
	return s.firstOf(near)
}

// nearestOf returns the nearest settlement of a cell's list, all of which are where the search may find them.
func (s *search) nearestOf(list []uint32, reach float64, one bool) label {
	switch {
	case len(list) == 0:
		return label{}
	case one:
		return label{list[0] + 1, s.x.features.At(int(list[0])).Name}
	}
	near := s.x.scratch.Get().(*search)
	defer near.release()
	near.reset(s.x, s.o, 1, reach*100)
	near.openList(list)
	return s.firstOf(near)
}

// firstOf runs a search that is a part of this one, and returns its first hit.
func (s *search) firstOf(near *search) label {
	found := near.first()
	s.o.left = near.o.left
	return found
}

// first runs a search and returns the first hit.
func (s *search) first() label {
	hits := s.run()
	if len(hits) == 0 {
		return label{}
	}
	n := hits[0].feature
	return label{n + 1, s.x.features.At(int(n)).Name}
}

// fallback answers where no feature is near: with the smallest named place or administrative area around the point,
// else, on land, with the nearest place.
func (s *search) fallback(p orb.Point, a *surroundings) []hit {
	if n := s.context.Feature[roleAnswer]; n != 0 {
		f := s.x.features.At(int(n - 1))
		s.hits = append(s.hits[:0], hit{0, f.Extent, n - 1, f.Ref, position{}})
		return s.hits
	}
	if _, ok := country.Lookup(p); !ok {
		return nil
	}
	for _, reach := range [...]float64{10_000, 100_000, math.Ceil(math.Pi * earthRadius)} {
		s.reset(s.x, s.o, 1, reach*100)
		s.within = a.within
		s.open(treeSettlements)
		if hits := s.run(); len(hits) > 0 {
			return hits
		}
	}
	return nil
}
