package geocoding

import (
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// location is the address of a point by polygons, borders and the nearest settlements. Texts are parts of the file.
type location struct {
	country              country.Country
	countryLabel         label // no name: country.Name
	suburb, hamlet, city label
	county, state        label
	postcode             []byte
	jurisdiction         placefile.Jurisdiction
}

// locate finds the location of the search's origin, after enclose.
func (s *search) locate(p orb.Point) location {
	e := &s.around
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
	a.jurisdiction = placefile.Jurisdiction{State: a.state.feature, City: a.city.feature}
	copy(a.jurisdiction.Country[:], a.country.Code)
	return a
}

// label is a feature + 1, 0 for none, and its name.
type label struct {
	feature uint32
	name    []byte
}

// label returns the label of the area with a role around the search's origin.
func (s *search) label(role int) label {
	e := &s.around
	return label{e.Feature[role], s.x.text.String(e.Name[role])}
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

// cityDistance returns the greatest distance in metres of a settlement that is taken for the city. It is short if the
// state is unknown and may change nearby.
func (a *location) cityDistance() float64 {
	if a.state.feature != 0 || len(placefile.LevelsOf(a.country.Alpha2).State) == 0 {
		return placefile.MaxCityDistance
	}
	return placefile.MaxCityDistanceUnproven
}

// fallback answers if no feature is near: with the smallest named place or administrative area around the point, else,
// on land, with the nearest place.
func (s *search) fallback(p orb.Point, a *location) []hit {
	if n := s.around.Feature[placefile.RoleAnswer]; n != 0 {
		f := s.x.feature(n - 1)
		r := s.x.details(&f, placefile.DetailBytes)
		s.hits = append(s.hits[:0], hit{match{0, f.Extent, n - 1, f.ReadRef(&r), geometry.Offset{}}, f})
		return s.hits
	}
	if _, ok := country.Lookup(p); !ok {
		return nil
	}
	for _, farthest := range [...]float64{10_000, 100_000, math.Ceil(math.Pi * geometry.EarthRadius)} {
		n := s.seek(farthest, &a.jurisdiction, false)
		if s.search(placefile.TreeSettlements); n.found {
			s.hits = append(s.hits[:0], hit{n.match, s.x.feature(n.feature)})
			return s.hits
		}
	}
	return nil
}
