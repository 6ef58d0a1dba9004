package answer

import (
	"math"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
)

// LayerNames are the layers in Photon's API and in geocodejson.
var LayerNames = [...]string{"other", "country", "state", "county", "city", "district", "locality", "street", "house"}

// ranks are Nominatim's ranks of layers, and halves are half the sizes, in degrees, of the boxes around their nodes.
var (
	ranks  = [...]int{22, 4, 8, 12, 16, 20, 22, 26, 30}
	halves = [...]float64{5e-5, 7, 2.6, 0.7, 0.04, 0.02, 0.01, 5e-5, 5e-5}
)

// PeerLayer returns the layer of a feature as Nominatim and Photon have it, where points of interest are houses.
func PeerLayer(category, kind string, layer geocoding.Layer) geocoding.Layer {
	if layer == geocoding.LayerOther && geocoding.IsPOI(category, kind) {
		return geocoding.LayerHouse
	}
	return layer
}

// object is a JSON object.
type object map[string]any

// set adds members, given as names and values; an empty text is left out.
func (o object) set(members ...any) object {
	for i := 0; i < len(members); i += 2 {
		if members[i+1] != "" {
			o[members[i].(string)] = members[i+1]
		}
	}
	return o
}

// The names of an address's fields in Photon's answers and geocodejson, and in Nominatim's.
var (
	geocodeFields = [...]string{"housenumber", "street", "locality", "district", "postcode", "city", "county", "state",
		"country"}
	nominatimFields = [...]string{"house_number", "road", "hamlet", "suburb", "postcode", "city", "county", "state",
		"country"}
)

// setAddress adds the parts of an address that are larger than the place itself.
func (o object) setAddress(p *geocoding.Place, names *[len(geocodeFields)]string) {
	const street, district, city = geocoding.LayerStreet, geocoding.LayerDistrict, geocoding.LayerCity
	layers := [...]geocoding.Layer{street, street, district, district, city, city, geocoding.LayerCounty,
		geocoding.LayerState, geocoding.LayerCountry}
	a := &p.Address
	for i, part := range [...]string{a.HouseNumber, a.Street, a.Hamlet, a.Suburb, a.Postcode, a.City, a.County, a.State,
		a.Country} {
		if p.Layer == geocoding.LayerOther || p.Layer > layers[i] {
			o.set(names[i], part)
		}
	}
}

// osmObject splits the id of a place, such as way:2.
func osmObject(p *geocoding.Place) (kind string, id int64) {
	kind, number, _ := strings.Cut(p.ID, ":")
	id, _ = strconv.ParseInt(number, 10, 64)
	return kind, id
}

// ownName returns the name of a place; "" if it is its house number and street.
func ownName(p *geocoding.Place) string {
	if a := &p.Address; a.HouseNumber != "" && p.Name == strings.TrimSpace(a.HouseNumber+" "+a.Street) {
		return ""
	}
	return p.Name
}

// alpha2 returns the ISO 3166-1 alpha-2 code of an address.
func alpha2(p *geocoding.Place) string {
	c, _ := country.ByAlpha3(p.Address.CountryCode)
	return c.Alpha2
}

// rounded returns coordinates in degrees with the precision of OpenStreetMap.
func rounded(degrees ...float64) []float64 {
	for i := range degrees {
		degrees[i] = math.Round(degrees[i]*1e7) / 1e7
	}
	return degrees
}

// feature returns a GeoJSON Feature of a place.
func feature(p *geocoding.Place, properties object) object {
	return object{"type": "Feature", "properties": properties, "geometry": geometry(p)}
}

// geometry returns the shape of a place, if it is known, or its location.
func geometry(p *geocoding.Place) object {
	if p.Shape != nil {
		return object{"type": "MultiLineString", "coordinates": p.Shape}
	}
	return object{"type": "Point", "coordinates": rounded(p.Location[0], p.Location[1])}
}

// Photon returns the JSON of places as Photon has it.
func Photon(places []geocoding.Place) any {
	features := make([]object, len(places))
	for i := range places {
		p := &places[i]
		kind, id := osmObject(p)
		o := object{}.set("osm_type", strings.ToUpper(kind[:1]), "osm_id", id, "osm_key", p.Category, "osm_value", p.Type,
			"type", LayerNames[PeerLayer(p.Category, p.Type, p.Layer)], "countrycode", alpha2(p), "name", ownName(p))
		o.setAddress(p, &geocodeFields)
		if b := &p.Bound; b.Min != b.Max {
			o["extent"] = rounded(b.Min[0], b.Max[1], b.Max[0], b.Min[1])
		}
		features[i] = feature(p, o)
	}
	return object{"type": "FeatureCollection", "features": features}
}

// Nominatim says what answers of Nominatim's API contain.
type Nominatim struct {
	Format                 string // one of NominatimFormats
	Address, Names, Extras bool
}

// NominatimFormats are the formats of places.
var NominatimFormats = []string{"jsonv2", "json", "geojson", "geocodejson"}

const osmLicence = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright"

// One returns the JSON of the first of places.
func (n *Nominatim) One(places []geocoding.Place) any {
	if len(places) == 0 {
		return object{"error": "Unable to geocode"}
	}
	list := n.List(places[:1])
	if one, ok := list.([]object); ok {
		return one[0]
	}
	return list
}

// List returns the JSON of places.
func (n *Nominatim) List(places []geocoding.Place) any {
	list := make([]object, len(places))
	for i := range places {
		list[i] = n.place(&places[i])
	}
	switch n.Format {
	case "geojson":
		return object{"type": "FeatureCollection", "licence": osmLicence, "features": list}
	case "geocodejson":
		return object{"type": "FeatureCollection", "features": list,
			"geocoding": object{"version": "0.1.0", "attribution": osmLicence, "licence": "ODbL"}}
	}
	return list
}

// place returns an element of an answer.
func (n *Nominatim) place(p *geocoding.Place) object {
	kind, id := osmObject(p)
	layer, code := PeerLayer(p.Category, p.Type, p.Layer), strings.ToLower(alpha2(p))
	// The place_id is the same for an object in every answer.
	o := object{"place_id": id<<2 | int64(1+strings.IndexByte("nwr", kind[0])), "osm_type": kind, "osm_id": id}
	if n.Format == "geocodejson" {
		o.set("osm_key", p.Category, "osm_value", p.Type, "type", LayerNames[layer], "label", p.DisplayName,
			"name", ownName(p))
		if n.Address {
			o.setAddress(p, &geocodeFields)
			o.set("country_code", code)
		}
		return feature(p, object{"geocoding": o})
	}
	o.set("type", p.Type, "place_rank", ranks[layer], "importance", p.Importance, "addresstype", addressType(p),
		"display_name", p.DisplayName)
	o["name"] = ownName(p) // also if it is empty
	if n.Address {
		address := object{}
		if p.Layer != geocoding.LayerHouse {
			address.set(addressType(p), ownName(p))
		}
		address.setAddress(p, &nominatimFields)
		o["address"] = address.set("country_code", code)
	}
	if n.Extras {
		o["extratags"] = nil
	}
	if n.Names {
		o["namedetails"] = object{"name": ownName(p)}
	}
	b := p.Bound
	if b.Min == b.Max { // of a node
		b = b.Pad(halves[p.Layer])
	}
	if n.Format == "geojson" {
		o["category"] = p.Category
		f := feature(p, o)
		f["bbox"] = rounded(b.Min[0], b.Min[1], b.Max[0], b.Max[1])
		return f
	}
	text := func(degrees float64) string { return strconv.FormatFloat(degrees, 'f', coordinateDecimals, 64) }
	class := map[string]string{"json": "class", "jsonv2": "category"}[n.Format]
	o.set("licence", osmLicence, "lat", text(p.Location[1]), "lon", text(p.Location[0]), class, p.Category,
		"boundingbox", []string{text(b.Min[1]), text(b.Max[1]), text(b.Min[0]), text(b.Max[0])})
	if p.Shape != nil {
		o["geojson"] = geometry(p)
	}
	return o
}

// addressType is the name that a place itself has in its address.
func addressType(p *geocoding.Place) string {
	switch {
	case p.Layer == geocoding.LayerStreet:
		return "road"
	case p.Layer == geocoding.LayerOther || p.Layer == geocoding.LayerHouse:
		return p.Category
	case p.Category == "place":
		return p.Type
	case p.Layer == geocoding.LayerDistrict:
		return "suburb"
	}
	return LayerNames[p.Layer]
}
