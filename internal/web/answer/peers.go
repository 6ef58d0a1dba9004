package answer

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/paulmach/orb"

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

// object is a JSON object that is being written, without its closing brace.
type object []byte

// set adds a member; an empty text or nil is left out.
func (o *object) set(name string, value any) {
	if value == "" || value == nil {
		return
	}
	*o = append(*o, "{,"[min(len(*o), 1)])
	*o = append(appendString(*o, name), ':')
	if inner, ok := value.(object); ok {
		*o = append(append(*o, inner...), '}')
		return
	}
	text, _ := json.Marshal(value, jsontext.AllowInvalidUTF8(true)) // of texts, numbers and lists
	*o = append(*o, text...)
}

// The names of an address's fields in Photon's answers and geocodejson, and in Nominatim's.
var (
	geocodeFields = [...]string{"housenumber", "street", "locality", "district", "postcode", "city", "county", "state",
		"country"}
	nominatimFields = [...]string{"house_number", "road", "hamlet", "suburb", "postcode", "city", "county", "state",
		"country"}
)

// setAddress adds the parts of an address that are larger than the place itself.
func (o *object) setAddress(p *geocoding.Place, names *[len(geocodeFields)]string) {
	a := &p.Address
	for i, part := range [...]struct {
		text  string
		layer geocoding.Layer
	}{
		{a.HouseNumber, geocoding.LayerStreet}, {a.Street, geocoding.LayerStreet}, {a.Hamlet, geocoding.LayerDistrict},
		{a.Suburb, geocoding.LayerDistrict}, {a.Postcode, geocoding.LayerCity}, {a.City, geocoding.LayerCity},
		{a.County, geocoding.LayerCounty}, {a.State, geocoding.LayerState}, {a.Country, geocoding.LayerCountry},
	} {
		if p.Layer == geocoding.LayerOther || p.Layer > part.layer {
			o.set(names[i], part.text)
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

// feature returns a GeoJSON Feature of a place, maybe with a box.
func feature(p *geocoding.Place, properties object, box []float64) (o object) {
	o.set("type", "Feature")
	o.set("properties", properties)
	if box != nil {
		o.set("bbox", box)
	}
	o.set("geometry", geometry(p))
	return o
}

// geometry returns the shape of a place, if it is known, or its location.
func geometry(p *geocoding.Place) (o object) {
	if p.Shape != nil {
		o.set("type", "MultiLineString")
		o.set("coordinates", p.Shape)
		return o
	}
	o.set("type", "Point")
	o.set("coordinates", rounded(p.Location[0], p.Location[1]))
	return o
}

// appendList appends an array of objects.
func appendList(dst []byte, list []object) []byte {
	dst = append(dst, '[')
	for i, o := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, o...), '}')
	}
	return append(dst, ']')
}

// AppendPhoton appends places as Photon does.
func AppendPhoton(dst []byte, places []geocoding.Place) []byte {
	var list []object
	for i := range places {
		p := &places[i]
		kind, id := osmObject(p)
		var o object
		o.set("osm_type", strings.ToUpper(kind[:1]))
		o.set("osm_id", id)
		o.set("osm_key", p.Category)
		o.set("osm_value", p.Type)
		o.set("type", LayerNames[PeerLayer(p.Category, p.Type, p.Layer)])
		o.set("countrycode", alpha2(p))
		o.set("name", ownName(p))
		o.setAddress(p, &geocodeFields)
		if b := &p.Bound; b.Min != b.Max {
			o.set("extent", rounded(b.Min[0], b.Max[1], b.Max[0], b.Min[1]))
		}
		list = append(list, feature(p, o, nil))
	}
	return append(appendList(append(dst, `{"type":"FeatureCollection","features":`...), list), '}')
}

// Nominatim says what answers of Nominatim's API contain.
type Nominatim struct {
	Format                 string // one of NominatimFormats
	Address, Names, Extras bool
}

// NominatimFormats are the formats of places.
var NominatimFormats = []string{"jsonv2", "json", "geojson", "geocodejson"}

const osmLicence = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright"

// NominatimID is the place_id of a place: the same for an object in every answer.
func NominatimID(p *geocoding.Place) int64 {
	kind, id := osmObject(p)
	return id<<2 | map[string]int64{"node": 1, "way": 2, "relation": 3}[kind]
}

// Append appends places, or if single the first one.
func (n *Nominatim) Append(dst []byte, places []geocoding.Place, single bool) []byte {
	if single && len(places) == 0 {
		return append(dst, `{"error":"Unable to geocode"}`...)
	}
	var list []object
	for i := range places {
		list = append(list, n.place(&places[i]))
	}
	switch {
	case n.Format == "geojson":
		dst = append(dst, `{"type":"FeatureCollection","licence":"`+osmLicence+`","features":`...)
	case n.Format == "geocodejson":
		dst = append(dst, `{"type":"FeatureCollection","geocoding":{"version":"0.1.0","attribution":"`+osmLicence+
			`","licence":"ODbL"},"features":`...)
	case single:
		return append(append(dst, list[0]...), '}')
	default:
		return appendList(dst, list)
	}
	return append(appendList(dst, list), '}')
}

// place returns an element of an answer.
func (n *Nominatim) place(p *geocoding.Place) (o object) {
	kind, id := osmObject(p)
	layer := PeerLayer(p.Category, p.Type, p.Layer)
	simple := n.Format == "json" || n.Format == "jsonv2"
	b := p.Bound
	if b.Min == b.Max { // of a node
		half := halves[p.Layer]
		b = orb.Bound{Min: orb.Point{b.Min[0] - half, b.Min[1] - half}, Max: orb.Point{b.Max[0] + half, b.Max[1] + half}}
	}
	text := func(degrees float64) string { return strconv.FormatFloat(degrees, 'f', coordinateDecimals, 64) }
	o.set("place_id", NominatimID(p))
	if simple {
		o.set("licence", osmLicence)
	}
	o.set("osm_type", kind)
	o.set("osm_id", id)
	if n.Format == "geocodejson" {
		o.set("osm_key", p.Category)
		o.set("osm_value", p.Type)
		o.set("type", LayerNames[layer])
		o.set("label", p.DisplayName)
		o.set("name", ownName(p))
		if n.Address {
			o.setAddress(p, &geocodeFields)
			o.set("country_code", strings.ToLower(alpha2(p)))
		}
		var properties object
		properties.set("geocoding", o)
		return feature(p, properties, nil)
	}
	class := "category"
	if simple {
		o.set("lat", text(p.Location[1]))
		o.set("lon", text(p.Location[0]))
		if n.Format == "json" {
			class = "class"
		}
	}
	o.set(class, p.Category)
	o.set("type", p.Type)
	o.set("place_rank", ranks[layer])
	o.set("importance", p.Importance)
	o.set("addresstype", addressType(p))
	o.set("name", jsontext.Value(appendString(nil, ownName(p)))) // also if it is empty
	o.set("display_name", p.DisplayName)
	if n.Address {
		var address object
		if p.Layer != geocoding.LayerHouse {
			address.set(addressType(p), ownName(p))
		}
		address.setAddress(p, &nominatimFields)
		address.set("country_code", strings.ToLower(alpha2(p)))
		o.set("address", address)
	}
	if n.Extras {
		o.set("extratags", jsontext.Value("null"))
	}
	if n.Names {
		o.set("namedetails", map[string]string{"name": ownName(p)})
	}
	if !simple {
		return feature(p, o, rounded(b.Min[0], b.Min[1], b.Max[0], b.Max[1]))
	}
	o.set("boundingbox", []string{text(b.Min[1]), text(b.Max[1]), text(b.Min[0]), text(b.Max[0])})
	if p.Shape != nil {
		o.set("geojson", geometry(p))
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
