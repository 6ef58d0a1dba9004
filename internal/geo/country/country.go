// Package country finds the country of a position, anywhere on Earth, without a region file. Its outlines are Natural
// Earth's at 1:10 million, compiled into an embedded grid that is read in place: no start-up cost, no allocation, less
// than a microsecond for a lookup. It knows no states or cities. Start with Lookup.
//
// A country here has an assigned ISO 3166-1 code of its own, so French Guiana, Svalbard and Hong Kong are countries.
// Kosovo has the user-assigned code XKX. Where Natural Earth shows de facto control, ISO 3166 counts: Crimea is
// Ukraine, Western Sahara is ESH, Northern Cyprus is Cyprus, Somaliland is Somalia. The generator's territory table
// lists every such decision.
//
// Borders are exact to some hundreds of metres. The generator corrects the 49th parallel and four very small countries.
// The polygons of a map are more exact; ByAlpha2 and ByAlpha3 turn their codes into a Country.
package country

import "slices"

//go:generate go run -C ../../../tools ./countrygen -output ../internal/geo/country

// Country is a country, or a territory with an ISO 3166-1 code of its own.
type Country struct {
	// Name is the common English name.
	Name string
	// Code is the ISO 3166-1 alpha-3 code; XKX for Kosovo.
	Code string
	// Alpha2 is the ISO 3166-1 alpha-2 code; XK for Kosovo.
	Alpha2 string
}

// ByAlpha2 returns the country of an ISO 3166-1 alpha-2 code in upper case, and whether there is one.
func ByAlpha2(code string) (Country, bool) {
	i := slices.IndexFunc(countries[:], func(c Country) bool { return c.Alpha2 == code })
	if i < 0 {
		return Country{}, false
	}
	return countries[i], true
}

// ByAlpha3 returns the country of an ISO 3166-1 alpha-3 code in upper case, and whether there is one.
func ByAlpha3(code string) (Country, bool) {
	i := slices.IndexFunc(countries[:], func(c Country) bool { return c.Code == code })
	if i < 0 {
		return Country{}, false
	}
	return countries[i], true
}
