package photon

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// parse reads a response, a FeatureCollection (searcher/GeoJsonFormatter.java). The error is one of package upstream.
// The status is 400 for a question that Photon refuses, and for all that goes wrong in it too, such as a database that
// does not answer (App.java).
func parse(status int, body []byte) ([]geocoding.Found, error) {
	switch status {
	case http.StatusOK:
	case http.StatusBadRequest:
		return nil, remote.InvalidResponse("status %d: it says %.200q", status, message(body))
	default:
		return nil, remote.Unexpected(status)
	}
	var read struct {
		Features []feature `json:"features"`
	}
	err := json.Unmarshal(body, &read, json.WithUnmarshalers(remote.AtMost[feature](maxLimit)))
	switch {
	case err != nil:
		return nil, remote.InvalidResponse("%v", err)
	case read.Features == nil:
		return nil, remote.InvalidResponse("a response without features")
	}
	var found []geocoding.Found
	for i := range read.Features {
		f := &read.Features[i]
		if f.Geometry.Geometry == nil {
			return nil, remote.InvalidResponse("a feature without a geometry")
		}
		if object, ok := f.found(); ok {
			found = append(found, object)
		}
	}
	return found, nil
}

// message is what Photon says instead of a response, for the log: of geometries that it does not have, for example.
func message(body []byte) string {
	var read struct {
		Message remote.Text `json:"message"`
	}
	_ = json.Unmarshal(body, &read) // else it says nothing
	return string(read.Message)
}

// feature is an object. Where Photon has no geometry of it, it sends its middle, asked for geometries or not. The
// properties are missing where they are not known (searcher/GeoJsonFields.java).
type feature struct {
	Geometry   remote.Geometry        `json:"geometry"`
	Properties map[string]remote.Text `json:"properties"`
}

var kinds = map[string]region.Kind{"N": region.KindNode, "W": region.KindWay, "R": region.KindRelation}

// found is the object. ok is false for one that is no object of OpenStreetMap, and so has no osm_type and osm_id:
// nothing has its id.
func (f *feature) found() (found geocoding.Found, ok bool) {
	const maxID = 1 << 53
	p := f.Properties
	id, err := strconv.ParseInt(string(p["osm_id"]), 10, 64)
	kind, known := kinds[string(p["osm_type"])]
	found = geocoding.Found{Kind: kind, ID: id, Category: string(p["osm_key"]), Type: string(p["osm_value"]),
		Name: string(p["name"]), Geometry: f.Geometry.Geometry}
	if !known || err != nil || id < 1 || id > maxID || found.Category == "" || found.Type == "" {
		return found, false
	}
	found.Address = geocoding.Address{
		HouseNumber: string(p["housenumber"]), Street: string(p["street"]), City: string(p["city"]),
		State: string(p["state"]), Postcode: string(p["postcode"]), Country: string(p["country"]),
		CountryCode: strings.ToUpper(string(p["countrycode"])),
	}
	parts := properties{string(p["type"]), string(p["district"]), string(p["locality"]), string(p["county"]), found}
	parts.settle()
	return parts.found, true
}

// properties are an object and what its address is made of. The type is the rank in an address that Nominatim gave it
// (nominatim/model/AddressType.java).
type properties struct {
	layer                      string
	district, locality, county string
	found                      geocoding.Found
}

// settle puts the parts of an address where they belong. Photon does not repeat the name of an object that is itself
// such a part.
func (p *properties) settle() {
	a := &p.found.Address
	if p.found.Category == "place" && slices.Contains(cities, p.found.Type) {
		own(&a.City, p.found.Name)
	}
	switch p.layer {
	case "country":
		own(&a.Country, p.found.Name)
	case "state":
		own(&a.State, p.found.Name)
	case "county":
		own(&p.county, p.found.Name)
	case "city":
		own(&a.City, p.found.Name)
	case "district":
		p.ownPart(&p.district)
	case "locality":
		p.ownPart(&p.locality)
	}
	own(&a.Suburb, p.district)
	own(&a.Suburb, p.locality)
	if a.State != "" && a.State != p.county && a.City != p.county {
		a.County = p.county
	}
	own(&a.State, p.county) // where there is no state, the county stands for it
}

// cities are the places that are an address's city, however small.
var cities = []string{"city", "town", "municipality", "village", "hamlet"}

// ownPart names an object as a part of a city, unless it is what the city is.
func (p *properties) ownPart(field *string) {
	if p.found.Name != p.found.Address.City {
		own(field, p.found.Name)
	}
}

// own sets what is not known yet.
func own(field *string, name string) {
	if *field == "" {
		*field = name
	}
}
