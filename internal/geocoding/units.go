package geocoding

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// unit is a part of a country that a place may be. The parts of a place are no part of where it is: what is a city has
// no suburb after its name.
type unit uint8

const (
	unitNone unit = iota // no part of a country, or one that has no parts
	unitSuburb
	unitCity
	unitCounty
	unitState
	unitCountry
)

// places of each unit; what is not here is no larger than a suburb.
var (
	statePlaces  = []string{"state", "province", "region", "archipelago"}
	countyPlaces = []string{"county", "district"}
	townPlaces   = append(slices.Clone(placefile.CityPlaces), "isolated_dwelling", "farm")
)

// unitOf tells what a feature is that an answer presents with a key and a value.
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
		// A county, or a part of a city: the larger one is around the other.
		if city := s.around.Feature[placefile.RoleCity]; city == 0 ||
			h.extent > s.around.Extent[placefile.RoleCity] {
			return unitCounty
		}
		return unitSuburb
	}
	return unitNone
}

// unitOfPlace tells what a value of place is.
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

// outside returns the name of a unit unless that is smaller than this one.
func (u unit) outside(name span, of unit) span {
	if u > of {
		return span{}
	}
	return name
}
