package nominatim

import (
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// Nominatim labels the parts of an address by their tags, which differ from place to place (get_label_tag in
// src/nominatim_api/v1/classtypes.py). A street is "road", a square "square"; older servers label a street by its tag.
// These are the labels for each field of an address, best first.
var (
	houseNumberLabels = []string{"house_number"}
	streetLabels      = []string{"road", "pedestrian", "footway", "cycleway", "path", "street", "square"}
	suburbLabels      = []string{
		"suburb", "borough", "city_district", "district", "quarter", "neighbourhood", "subdivision",
	}
	cityLabels     = []string{"city", "town", "village", "municipality", "hamlet", "isolated_dwelling", "croft"}
	hamletLabels   = []string{"hamlet", "isolated_dwelling", "croft"}
	countyLabels   = []string{"county"}
	stateLabels    = []string{"state", "province", "region", "state_district", "county"}
	postcodeLabels = []string{"postcode"}
	countryLabels  = []string{"country"}
	codeLabels     = []string{"country_code"} // in lower case; missing if the country is unknown
)

// address reads the labels and names of an address.
func address(labels map[string]remote.Text) geocoding.Address {
	first := func(among []string) string {
		for _, label := range among {
			if name := labels[label]; name != "" {
				return string(name)
			}
		}
		return ""
	}
	a := geocoding.Address{
		HouseNumber: first(houseNumberLabels), Street: first(streetLabels), Suburb: first(suburbLabels),
		City: first(cityLabels), Hamlet: first(hamletLabels), County: first(countyLabels), State: first(stateLabels),
		Postcode: first(postcodeLabels), Country: first(countryLabels), CountryCode: first(codeLabels),
	}
	if a.County == a.State || a.County == a.City {
		a.County = "" // it is used as the state if there is none, and may be the city
	}
	return a
}
