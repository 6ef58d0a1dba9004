package geocoding

import (
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
)

// location is where a point is, as far as polygons, borders and the nearest settlements tell. Texts are parts of the
// file.
type location struct {
	country              country.Country
	countryLabel         label // no name: country.Name
	suburb, hamlet, city label
	county, state        label
	postcode             []byte
	jurisdiction         placefile.Jurisdiction
}

// locate works out where the search's origin is, after enclose.
func (s *search) locate(p orb.Point) location {
	e := &s.around.Enclosing
	a := location{suburb: s.label(placefile.RoleSuburb), hamlet: s.label(placefile.RoleHamlet),
		city: s.label(placefile.RoleCity), county: s.label(placefile.RoleCounty), state: s.label(placefile.RoleState),
		countryLabel: s.label(placefile.RoleCountry), postcode: s.x.text.String(e.PostcodeText)}
	if a.county.feature == a.city.feature {
		a.county = label{}
	}
	if code := e.Code(); code != ([3]byte{}) {
		a.country = s.x.countryByCode(code)
	} else if found, ok := country.LookupOffshore(p); ok {
		a.country = found
	}
	a.jurisdiction = placefile.Jurisdiction{Settlements: true, State: a.state.feature, City: a.city.feature}
	copy(a.jurisdiction.Country[:], a.country.Code)
	return a
}

// label is a feature + 1, 0 for none, and its name.
type label struct {
	feature uint32
	name    []byte
}

// label is that of the area with a role around the search's origin.
func (s *search) label(role int) label {
	e := &s.around.Enclosing
	return label{e.Feature[role], s.x.text.String(e.Name[role])}
}

// labelOf is that of a feature.
func (x *Index) labelOf(n uint32) label {
	f := x.feature(n)
	r := x.details(&f, placefile.DetailBytes)
	d := f.ReadDetails(&r, &x.text)
	return label{n + 1, d.Name}
}

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
func (s *search) settle(a *location, c *cell) {
	known := c.Flags&placefile.CellContext != 0
	if a.city.feature == 0 {
		s.settleCity(a, c, known)
	}
	near := a.jurisdiction
	near.SameCity = true
	if a.suburb.feature == 0 {
		if known {
			a.suburb = s.nearestOf(s.around.Suburbs, placefile.MaxSuburbDistance, s.around.OneSuburb)
		} else {
			a.suburb = s.nearest(placefile.TreeSuburbs, placefile.MaxSuburbDistance, near)
		}
	}
	if a.hamlet.feature == 0 {
		if known {
			a.hamlet = s.nearestOf(s.around.Hamlets, placefile.MaxSuburbDistance, s.around.OneHamlet)
		} else {
			a.hamlet = s.nearest(placefile.TreeHamlets, placefile.MaxSuburbDistance, near)
		}
	}
}

// settleCity names the nearest city, town or village as the city. Where there is none, a hamlet stands for it, and
// where there is none of these either, the nearest farm.
func (s *search) settleCity(a *location, c *cell, known bool) {
	farthest := a.cityDistance()
	if known {
		a.city = s.nearestOf(s.around.Cities, farthest, s.around.OneCity)
	} else {
		a.city = s.nearestIn(placefile.TreeCities, farthest, a.jurisdiction)
	}
	for _, tree := range [...]uint32{placefile.TreeHamlets, placefile.TreeDwellings} {
		if a.city.feature == 0 {
			a.city = s.nearestIn(tree, farthest, a.jurisdiction)
		}
	}
}

// nearestIn returns the nearest settlement of a tree, which it looks for near by first.
func (s *search) nearestIn(tree uint32, farthest float64, in placefile.Jurisdiction) label {
	found := s.nearest(tree, placefile.MaxCityDistanceUnproven, in)
	if found.feature == 0 && farthest > placefile.MaxCityDistanceUnproven {
		found = s.nearest(tree, farthest, in)
	}
	return found
}

// cityDistance is how far, in metres, the settlement may be that stands for the city: not far where no polygon tells
// the state and there may be another one.
func (a *location) cityDistance() float64 {
	if a.state.feature != 0 || len(tagging.LevelsOf(a.country.Alpha2).State) == 0 {
		return placefile.MaxCityDistance
	}
	return placefile.MaxCityDistanceUnproven
}

// nearest returns the nearest settlement of a tree.
func (s *search) nearest(tree uint32, farthest float64, in placefile.Jurisdiction) label {
	near := s.x.scratch.Get().(*search)
	defer near.release()
	near.reset(s.x, s.o, 1, farthest*100)
	near.jurisdiction = in
	near.open(tree)
	return s.firstOf(near)
}

// nearestOf returns the nearest settlement of a cell's list, all of which are where the search may find them.
func (s *search) nearestOf(list []uint32, farthest float64, one bool) label {
	switch {
	case len(list) == 0:
		return label{}
	case one:
		return s.x.labelOf(list[0])
	}
	near := s.x.scratch.Get().(*search)
	defer near.release()
	near.reset(s.x, s.o, 1, farthest*100)
	near.openList(list)
	return s.firstOf(near)
}

// firstOf runs a search that is a part of this one, and returns its first hit.
func (s *search) firstOf(near *search) label {
	found := near.first()
	s.o.Left = near.o.Left
	return found
}

// first runs a search and returns the first hit.
func (s *search) first() label {
	hits := s.run()
	if len(hits) == 0 {
		return label{}
	}
	return s.x.labelOf(hits[0].feature)
}

// fallback answers where no feature is near: with the smallest named place or administrative area around the point,
// else, on land, with the nearest place.
func (s *search) fallback(p orb.Point, a *location) []hit {
	if n := s.around.Enclosing.Feature[placefile.RoleAnswer]; n != 0 {
		f := s.x.feature(n - 1)
		r := s.x.details(&f, placefile.DetailBytes)
		s.hits = append(s.hits[:0], hit{0, f.Extent, n - 1, f, f.ReadRef(&r), geometry.Offset{}})
		return s.hits
	}
	if _, ok := country.Lookup(p); !ok {
		return nil
	}
	for _, farthest := range [...]float64{10_000, 100_000, math.Ceil(math.Pi * geometry.EarthRadius)} {
		s.reset(s.x, s.o, 1, farthest*100)
		s.jurisdiction = a.jurisdiction
		s.open(placefile.TreeSettlements)
		if hits := s.run(); len(hits) > 0 {
			return hits
		}
	}
	return nil
}
