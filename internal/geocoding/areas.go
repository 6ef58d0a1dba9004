package geocoding

import (
	"slices"
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/country"
)

// Ranks of an area among those of one role that contain a point. Administrative areas come first, in the order of the
// country's levels, then polygons of settlements, then what the census counts as a settlement.
const (
	rankLevels     = 1
	rankSettlement = 20
	rankCensus     = 60
)

// cityPlaces and suburbPlaces are the values of place that can be an address's city and suburb, best first.
var (
	cityPlaces   = []string{"city", "town", "municipality", "village", "hamlet"}
	suburbPlaces = []string{"borough", "suburb", "quarter", "neighbourhood", "subdivision"}
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
	"continent", "country", "state", "region", "province", "district", "county", "archipelago", "ocean", "sea", "house", "houses",
	"postcode", "plot", "polder",
}

// areaTags is what an area's tags say of its part in addresses.
type areaTags struct {
	level    int // of an administrative area, 0 when unknown
	admin    bool
	place    string
	census   bool
	postcode string
	own      country.Country // by its own ISO 3166-1 code
	parent   country.Country // by the code of a subdivision, ISO 3166-2
}

func readArea(tags extract.Tags) areaTags {
	boundary := tags.Get("boundary")
	a := areaTags{place: tags.Get("place")}
	if boundary != "" || a.place != "" { // on anything else it is an address of its own
		a.postcode = onePostcode(tags.Get("postal_code"))
	}
	switch boundary {
	case "administrative":
		a.admin = true
		if n, err := strconv.Atoi(tags.Get("admin_level")); err == nil && n >= minLevel && n <= maxLevel {
			a.level = n
		}
		a.census = a.level == 0 && a.place == "locality"
	case "census":
		a.census = true
	case "postal_code":
		if a.postcode == "" {
			a.postcode = onePostcode(tags.Get("ref"))
		}
	}
	for _, key := range []string{"ISO3166-1:alpha3", "ISO3166-1:alpha2", "ISO3166-1", "country_code_iso3166_1_alpha_2"} {
		if c, ok := byCode(tags.Get(key)); ok && a.own.Code == "" && a.admin {
			a.own = c
		}
	}
	if code := tags.Get("ISO3166-2"); len(code) > 3 && code[2] == '-' {
		a.parent, _ = byCode(code[:2])
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
	return a.postcode != "" || named && (a.admin || a.place != "" || a.census)
}

// ranks returns the ranks of an area in a country for each role.
func (a *areaTags) ranks(alpha2 string) (state, county, city, suburb uint8) {
	if a.level > 0 {
		l := levelsOf(alpha2)
		state, city, suburb = rank(l.state, a.level), rank(l.city, a.level), rank(l.suburb, a.level)
		if alpha2 != "" { // else it may be anything
			county = rank(l.county, a.level)
		}
	}
	if a.place == "county" && county == 0 {
		county = rankSettlement
	}
	if i := slices.Index(cityPlaces, a.place); i >= 0 && city == 0 {
		city = uint8(rankSettlement + i)
	}
	if i := slices.Index(suburbPlaces, a.place); i >= 0 && suburb == 0 && city == 0 {
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
