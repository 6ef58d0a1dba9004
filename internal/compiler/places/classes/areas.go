package classes

import (
	"slices"
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// Ranks of an area among those of one role that contain a point. Administrative areas come first, in the order of the
// country's levels, then polygons of settlements, then census areas.
const (
	rankLevels     = 1
	rankSettlement = 20
	rankCensus     = 60
)

// AreaTags is the role of an area in addresses by its tags.
type AreaTags struct {
	Level    int // of an administrative area, 0 when unknown
	Admin    bool
	Place    string
	census   bool
	Postcode uint32          // text
	Own      country.Country // by its own ISO 3166-1 code
	Parent   country.Country // by the code of a subdivision, ISO 3166-2
}

// readArea reads the role of an area in addresses.
func (l *Reader) readArea() AreaTags {
	boundary := string(l.value(keyBoundary))
	a := AreaTags{Place: string(l.value(keyPlace))}
	if boundary != "" || a.Place != "" { // on other objects it is their own address
		a.Postcode = l.OnePostcode(l.values[keyPostalCode])
	}
	switch boundary {
	case "administrative":
		a.Admin = true
		n, err := strconv.Atoi(string(l.value(keyLevel)))
		if err == nil && n >= placefile.MinLevel && n <= placefile.MaxLevel {
			a.Level = n
		}
		a.census = a.Level == 0 && a.Place == "locality"
	case "census":
		a.census = true
	case "postal_code":
		if a.Postcode == 0 {
			a.Postcode = l.OnePostcode(l.values[keyRef])
		}
	}
	for _, k := range countryKeys {
		if c, ok := byCode(string(l.value(k))); ok && a.Own.Code == "" && a.Admin {
			a.Own = c
		}
	}
	if code := l.value(keySubdivision); len(code) > 3 && code[2] == '-' {
		a.Parent, _ = byCode(string(code[:2]))
	}
	return a
}

// byCode returns the country of an alpha-2 or alpha-3 code.
func byCode(code string) (country.Country, bool) {
	switch len(code) {
	case 2:
		return country.ByAlpha2(code)
	case 3:
		return country.ByAlpha3(code)
	}
	return country.Country{}, false
}

// serves reports whether an area, with a name or without, has a role in addresses or in the fallback.
func (a *AreaTags) serves(named bool) bool {
	return a.Postcode != 0 || named && (a.Admin || a.Place != "" || a.census)
}

// Ranks returns the ranks of an area in a country for each role.
func (a *AreaTags) Ranks(alpha2 string) (state, county, city, suburb uint8) {
	if a.Level > 0 {
		l := placefile.LevelsOf(alpha2)
		state, city, suburb = rank(l.State, a.Level), rank(l.City, a.Level), rank(l.Suburb, a.Level)
		if alpha2 != "" { // without a country the level tells nothing
			county = rank(l.County, a.Level)
		}
	}
	if a.Place == "county" && county == 0 {
		county = rankSettlement
	}
	if i := slices.Index(placefile.CityPlaces, a.Place); i >= 0 && city == 0 {
		city = uint8(rankSettlement + i)
	}
	if i := slices.Index(placefile.SuburbPlaces, a.Place); i >= 0 && suburb == 0 && city == 0 {
		suburb = uint8(rankSettlement + i)
	}
	if a.census && city == 0 {
		city = rankCensus
	}
	return state, county, city, suburb
}

func rank(levels []int, level int) uint8 {
	return uint8(rankLevels + slices.Index(levels, level))
}
