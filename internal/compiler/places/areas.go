package places

import (
	"slices"
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
)

// Ranks of an area among those of one role that contain a point. Administrative areas come first, in the order of the
// country's levels, then polygons of settlements, then what the census counts as a settlement.
const (
	rankLevels     = 1
	rankSettlement = 20
	rankCensus     = 60
)

// cityNodes are the places that stand for the city of a point that no polygon contains; dwellings do where there is no
// hamlet either.
var (
	cityNodes = []string{"city", "town", "village"}
	dwellings = []string{"isolated_dwelling", "farm", "croft"}
)

// notSettlements are the values of place that are no answer to where a point on land is: they are larger than that, or
// water, or a building.
var notSettlements = []string{
	"continent", "country", "state", "region", "province", "district", "county", "archipelago", "ocean", "sea", "house",
	"houses",
	"postcode", "plot", "polder",
}

// areaTags is what an area's tags say of its part in addresses.
type areaTags struct {
	level    int // of an administrative area, 0 when unknown
	admin    bool
	place    string
	census   bool
	postcode uint32          // text
	own      country.Country // by its own ISO 3166-1 code
	parent   country.Country // by the code of a subdivision, ISO 3166-2
}

// readArea reads what an area's tags say of its part in addresses.
func (l *lexicon) readArea() areaTags {
	boundary := string(l.value(keyBoundary))
	a := areaTags{place: string(l.value(keyPlace))}
	if boundary != "" || a.place != "" { // on anything else it is an address of its own
		a.postcode = l.onePostcode(l.values[keyPostalCode])
	}
	switch boundary {
	case "administrative":
		a.admin = true
		if n, err := strconv.Atoi(string(l.value(keyLevel))); err == nil && n >= tagging.MinLevel && n <= tagging.MaxLevel {
			a.level = n
		}
		a.census = a.level == 0 && a.place == "locality"
	case "census":
		a.census = true
	case "postal_code":
		if a.postcode == 0 {
			a.postcode = l.onePostcode(l.values[keyRef])
		}
	}
	for _, k := range countryKeys {
		if c, ok := byCode(string(l.value(k))); ok && a.own.Code == "" && a.admin {
			a.own = c
		}
	}
	if code := l.value(keySubdivision); len(code) > 3 && code[2] == '-' {
		a.parent, _ = byCode(string(code[:2]))
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

// serves tells whether an area with a name (or without) has any part in addresses or the fallback.
func (a *areaTags) serves(named bool) bool {
	return a.postcode != 0 || named && (a.admin || a.place != "" || a.census)
}

// ranks returns the ranks of an area in a country for each role.
func (a *areaTags) ranks(alpha2 string) (state, county, city, suburb uint8) {
	if a.level > 0 {
		l := tagging.LevelsOf(alpha2)
		state, city, suburb = rank(l.State, a.level), rank(l.City, a.level), rank(l.Suburb, a.level)
		if alpha2 != "" { // else it may be anything
			county = rank(l.County, a.level)
		}
	}
	if a.place == "county" && county == 0 {
		county = rankSettlement
	}
	if i := slices.Index(tagging.CityPlaces, a.place); i >= 0 && city == 0 {
		city = uint8(rankSettlement + i)
	}
	if i := slices.Index(tagging.SuburbPlaces, a.place); i >= 0 && suburb == 0 && city == 0 {
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
