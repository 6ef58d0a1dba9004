package photongeocoder

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geojson"
	"github.com/mapsedge/caddy-maps/internal/jsontext"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/modules/upstream"
)

// parse reads a response, a FeatureCollection (searcher/GeoJsonFormatter.java). The error is one of package upstream.
// The status is 400 for a question that Photon refuses, and for all that goes wrong in it too, such as a database that
// does not answer (App.java).
func parse(status int, body []byte) ([]geocoding.Found, error) {
	switch status {
	case http.StatusOK:
	case http.StatusBadRequest:
		return nil, upstream.InvalidResponse("status %d: it says %.200q", status, message(body))
	default:
		return nil, upstream.Unexpected(status)
	}
	d := document{Reader: jsontext.NewReader(body), body: body}
	d.read()
	d.End()
	switch {
	case d.Err() != nil:
		return nil, upstream.InvalidResponse("%v", d.Err())
	case d.err != nil:
		return nil, upstream.InvalidResponse("%v", d.err)
	case !d.collection:
		return nil, upstream.InvalidResponse("a response without features")
	}
	return d.found, nil
}

// message is what Photon says instead of a response, for the log: of geometries that it does not have, for example.
func message(body []byte) (said string) {
	r := jsontext.NewReader(body)
	r.Expect('{')
	for first := true; r.More('}', &first); {
		if string(r.Name()) == "message" {
			said = text(r)
		} else {
			r.Skip()
		}
	}
	return said
}

// document is a response that is being read.
type document struct {
	*jsontext.Reader
	body       []byte
	err        error // of what is well-formed and makes no sense
	collection bool  // it has features
	found      []geocoding.Found
}

// read reads the whole. It stops behind more features than Photon can have been asked for, which leaves the reader with
// an error.
func (d *document) read() {
	d.Expect('{')
	for first := true; d.err == nil && d.More('}', &first); {
		if string(d.Name()) != "features" {
			d.Skip()
			continue
		}
		d.collection = true
		d.Expect('[')
		for first, n := true, 0; d.err == nil && n <= maxLimit && d.More(']', &first); n++ {
			d.feature()
		}
	}
}

// feature reads a feature. One that is no object of OpenStreetMap, and so has no osm_type and osm_id, is left out:
// nothing has its id. Where Photon has no geometry of an object, it sends its middle, asked for geometries or not.
func (d *document) feature() {
	var p properties
	d.Expect('{')
	for first := true; d.err == nil && d.More('}', &first); {
		switch string(d.Name()) {
		case "geometry":
			p.found.Geometry, d.err = geojson.ReadGeometry(d.Reader, d.body)
		case "properties":
			p.read(d.Reader)
		default:
			d.Skip()
		}
	}
	if d.err != nil || d.Err() != nil {
		return
	}
	if p.found.Geometry == nil {
		d.err = upstream.InvalidResponse("a feature without a geometry")
		return
	}
	var known bool
	if p.found.Kind, known = kinds[p.osmType]; known && p.found.ID > 0 && p.found.Category != "" && p.found.Type != "" {
		p.settle()
		d.found = append(d.found, p.found)
	}
}

var kinds = map[string]mapdata.Kind{"N": mapdata.KindNode, "W": mapdata.KindWay, "R": mapdata.KindRelation}

// properties are what Photon says of an object, each missing where it is not known (searcher/GeoJsonFields.java). The
// type is the rank in an address that Nominatim gave it (nominatim/model/AddressType.java).
type properties struct {
	osmType, layer             string
	district, locality, county string
	found                      geocoding.Found
}

func (p *properties) read(r *jsontext.Reader) {
	a := &p.found.Address
	r.Expect('{')
	for first := true; r.More('}', &first); {
		switch string(r.Name()) {
		case "osm_type":
			p.osmType = text(r)
		case "osm_id":
			p.found.ID = readID(r)
		case "osm_key":
			p.found.Category = text(r)
		case "osm_value":
			p.found.Type = text(r)
		case "type":
			p.layer = text(r)
		case "name":
			p.found.Name = text(r)
		case "housenumber":
			a.HouseNumber = text(r)
		case "street":
			a.Street = text(r)
		case "district":
			p.district = text(r)
		case "locality":
			p.locality = text(r)
		case "city":
			a.City = text(r)
		case "county":
			p.county = text(r)
		case "state":
			a.State = text(r)
		case "postcode":
			a.Postcode = text(r)
		case "country":
			a.Country = text(r)
		case "countrycode":
			a.CountryCode = strings.ToUpper(text(r))
		default:
			r.Skip()
		}
	}
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

// readID reads an id; 0 for what is none.
func readID(r *jsontext.Reader) int64 {
	const maxID = 1 << 53
	if c := r.Peek(); c != '-' && (c < '0' || c > '9') {
		r.Skip()
		return 0
	}
	if v := r.Number(); v >= 1 && v <= maxID && v == float64(int64(v)) {
		return int64(v)
	}
	return 0
}

// text reads a string; anything else is empty.
func text(r *jsontext.Reader) string {
	if r.Peek() == '"' {
		return string(r.String())
	}
	r.Skip()
	return ""
}
