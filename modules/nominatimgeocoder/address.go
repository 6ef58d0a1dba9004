package nominatimgeocoder

import (
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/jsontext"
)

// Nominatim labels the parts of an address by how they are tagged, which differs from place to place (get_label_tag in
// src/nominatim_api/v1/classtypes.py). A street is "road", a square "square"; older servers name a street by its tag.
// For each field of ours: the labels that it may be under, best first.
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
	codeLabels     = []string{"country_code"} // in lower case, and missing where the country is not known
)

// field is a field of an address while it is read.
type field struct {
	labels []string
	into   *string
	rank   int // of the label that its value has, from 1; 0 for none
}

// readAddress reads an object of labels and names.
func readAddress(r *jsontext.Reader) (a geocoding.Address) {
	if r.Null() {
		return a
	}
	fields := [...]field{
		{houseNumberLabels, &a.HouseNumber, 0}, {streetLabels, &a.Street, 0}, {suburbLabels, &a.Suburb, 0},
		{cityLabels, &a.City, 0}, {hamletLabels, &a.Hamlet, 0}, {countyLabels, &a.County, 0}, {stateLabels, &a.State, 0},
		{postcodeLabels, &a.Postcode, 0}, {countryLabels, &a.Country, 0}, {codeLabels, &a.CountryCode, 0},
	}
	r.Expect('{')
	for first := true; r.More('}', &first); {
		label := string(r.Name())
		value := text(r)
		for i := range fields {
			fields[i].take(label, value)
		}
	}
	if a.County == a.State || a.County == a.City {
		a.County = "" // it stands for the state where there is none, and a city may be one
	}
	return a
}

// take keeps a value if its label is a better one than that of the value before.
func (f *field) take(label, value string) {
	if value == "" {
		return
	}
	for i, l := range f.labels {
		if f.rank != 0 && f.rank <= i+1 {
			return
		}
		if l == label {
			*f.into, f.rank = value, i+1
			return
		}
	}
}
