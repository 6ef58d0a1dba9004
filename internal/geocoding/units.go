package geocoding

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// unit is the kind of administrative unit that a place is. A display name leaves out smaller units: a city has no
// suburb after its name.
type unit uint8

const (
	unitNone unit = iota // no administrative unit
	unitSuburb
	unitCity
	unitCounty
	unitState
	unitCountry
)

// The values of place of each unit. All others are no larger than a suburb.
var (
	statePlaces  = []string{"state", "province", "region", "archipelago"}
	countyPlaces = []string{"county", "district"}
	townPlaces   = append(slices.Clone(placefile.CityPlaces), "isolated_dwelling", "farm")
)

// unitOf returns the unit of a feature with a category.
func (s *search) unitOf(h *hit, a *location, key, value []byte) unit {
	switch string(key) {
	case "place":
		return unitOfPlace(string(value))
	case "boundary":
		if v := string(value); v != "administrative" && v != "census" {
			return unitNone
		}
		switch h.feature + 1 {
		case s.around.Feature[placefile.RoleCountry]:
			return unitCountry
		case a.state.feature:
			return unitState
		case a.city.feature:
			return unitCity
		case a.suburb.feature:
			return unitSuburb
		}
		// A county, or a part of a city: the county is the larger one.
		if city := s.around.Feature[placefile.RoleCity]; city == 0 ||
			h.extent > s.around.Extent[placefile.RoleCity] {
			return unitCounty
		}
		return unitSuburb
	}
	return unitNone
}

// unitOfPlace returns the unit of a value of place.
func unitOfPlace(place string) unit {
	switch {
	case slices.Contains(townPlaces, place):
		return unitCity
	case slices.Contains(statePlaces, place):
		return unitState
	case slices.Contains(countyPlaces, place):
		return unitCounty
	case place == "country" || place == "continent":
		return unitCountry
	case slices.Contains(placefile.SuburbPlaces, place):
		return unitSuburb
	}
	return unitNone
}

// outside returns the name of another unit unless that is smaller than this one.
func (u unit) outside(name span, of unit) span {
	if u > of {
		return span{}
	}
	return name
}
