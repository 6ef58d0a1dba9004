// Package country tells in which country a position lies, anywhere on Earth, without a map loaded. Its outlines are
// Natural Earth's at 1:10 million, compiled into a grid that is embedded in the program and read where it lies: no
// start-up cost, no allocation, less than a microsecond for a lookup.
//
// A country here is whatever has an assigned ISO 3166-1 code of its own, so French Guiana, Svalbard and Hong Kong
// answer for themselves, not for the state they belong to. Kosovo has the user-assigned code XKX that is in general
// use. Where Natural Earth draws who controls a territory and ISO 3166 says otherwise, ISO 3166 counts: Crimea is
// Ukraine, Western Sahara is ESH, Northern Cyprus is Cyprus, Somaliland is Somalia. The generator's territory table
// lists every such decision.
//
// Coast walks along the coast of all countries, for maps that show what lies around them.
//
// Borders are as exact as their source, some hundreds of metres; the 49th parallel and four very small countries,
// which Natural Earth draws farther off, are redrawn by the generator. Where the polygons of a map are at hand, they
// know better, and ByAlpha2 and ByAlpha3 turn their codes into a Country.
package country

import "slices"

//go:generate go run -C ../../tools ./countrygen -output ../internal/geo/country

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
