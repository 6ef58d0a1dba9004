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

// parse reads a response, a FeatureCollection (searcher/GeoJsonFormatter.java). The error is one of package remote. The
// status is 400 for refused requests and for internal errors, such as a database that does not respond (App.java).
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

// message returns the message of an error, for the log.
func message(body []byte) string {
	var read struct {
		Message remote.Text `json:"message"`
	}
	_ = json.Unmarshal(body, &read) // no message then
	return string(read.Message)
}

// feature is an object. If Photon has no geometry of it, it sends the centre. Unknown properties are missing
// (searcher/GeoJsonFields.java).
type feature struct {
	Geometry   remote.Geometry        `json:"geometry"`
	Properties map[string]remote.Text `json:"properties"`
}

var kinds = map[string]region.Kind{"N": region.KindNode, "W": region.KindWay, "R": region.KindRelation}

// found returns the object. ok is false if it is not from OpenStreetMap, and has no osm_type and osm_id.
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
	parts.assignParts()
	return parts.found, true
}

// properties are an object and the parts of its address. The layer is its rank in addresses, by Nominatim
// (nominatim/model/AddressType.java).
type properties struct {
	layer                      string
	district, locality, county string
	found                      geocoding.Found
}

// assignParts assigns the parts of an address to its fields. Photon does not repeat the name of an object that is
// itself a part.
func (p *properties) assignParts() {
	a := &p.found.Address
	if p.found.Category == "place" && slices.Contains(cities, p.found.Type) {
		setIfEmpty(&a.City, p.found.Name)
	}
	switch p.layer {
	case "country":
		setIfEmpty(&a.Country, p.found.Name)
	case "state":
		setIfEmpty(&a.State, p.found.Name)
	case "county":
		setIfEmpty(&p.county, p.found.Name)
	case "city":
		setIfEmpty(&a.City, p.found.Name)
	case "district":
		p.setPart(&p.district)
	case "locality":
		p.setPart(&p.locality)
	}
	setIfEmpty(&a.Suburb, p.district)
	setIfEmpty(&a.Suburb, p.locality)
	if a.State != "" && a.State != p.county && a.City != p.county {
		a.County = p.county
	}
	setIfEmpty(&a.State, p.county) // without a state, the county is used
}

// cities are the places that are the city of an address.
var cities = []string{"city", "town", "municipality", "village", "hamlet"}

// setPart sets a part of a city to the name of the object, unless that is the city.
func (p *properties) setPart(field *string) {
	if p.found.Name != p.found.Address.City {
		setIfEmpty(field, p.found.Name)
	}
}

// setIfEmpty sets an empty field.
func setIfEmpty(field *string, name string) {
	if *field == "" {
		*field = name
	}
}
