package nominatimgeocoder

import (
	"net/http"
	"strconv"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/extract"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geojson"
	"github.com/mapsedge/caddy-maps/internal/jsontext"
	"github.com/mapsedge/caddy-maps/modules/upstream"
)

// nothingFound is how Nominatim says that there is nothing.
const nothingFound = "Unable to geocode"

// document is an answer in the format jsonv2. Coordinates are strings, and in some versions the id is one.
type document struct {
	problem  string // that it reports instead
	kind, id string
	lat, lon string
	found    geocoding.Found
}

// parse reads an answer: one object or none. The error is one of package upstream.
func parse(status int, body []byte) ([]geocoding.Found, error) {
	if status != http.StatusOK && status != http.StatusNotFound {
		return nil, upstream.Unexpected(status)
	}
	var d document
	r := jsontext.NewReader(body)
	err := d.read(r, body)
	r.End()
	switch {
	case r.Err() != nil:
		return nil, upstream.Nonsense("%v", r.Err())
	case err != nil:
		return nil, upstream.Nonsense("geojson: %v", err)
	case d.problem == nothingFound:
		return nil, nil
	case d.problem != "":
		return nil, upstream.Nonsense("it reports %.80q", d.problem)
	case status != http.StatusOK:
		return nil, upstream.Unexpected(status)
	}
	return d.result()
}

// result checks what was read.
func (d *document) result() ([]geocoding.Found, error) {
	lat, hasLat := jsontext.ParseNumber([]byte(d.lat))
	lon, hasLon := jsontext.ParseNumber([]byte(d.lon))
	if !hasLat || !hasLon || lat < -90 || lat > 90 || lon < -180 || lon > 180 {
		return nil, upstream.Nonsense("an object at %.20q, %.20q", d.lat, d.lon)
	}
	if d.found.Category == "" || d.found.Type == "" {
		return nil, upstream.Nonsense("an object without category and type")
	}
	if d.kind == "" && d.id == "" {
		return nil, nil // a country or postcode that Nominatim knows without OpenStreetMap: nothing has its id
	}
	var known bool
	if d.found.Kind, known = kinds[d.kind]; !known {
		return nil, upstream.Nonsense("an object of the type %.20q", d.kind)
	}
	const maxID = 1 << 53
	id, ok := jsontext.ParseNumber([]byte(d.id))
	if !ok || id < 1 || id > maxID || id != float64(int64(id)) {
		return nil, upstream.Nonsense("an object with the id %.20q", d.id)
	}
	d.found.ID = int64(id)
	if d.found.Geometry == nil {
		d.found.Geometry = orb.Point{lon, lat}
	}
	return []geocoding.Found{d.found}, nil
}

var kinds = map[string]extract.Kind{"node": extract.KindNode, "way": extract.KindWay, "relation": extract.KindRelation}

// read reads a whole answer.
func (d *document) read(r *jsontext.Reader, body []byte) (err error) {
	r.Expect('{')
	for first := true; err == nil && r.More('}', &first); {
		switch string(r.Name()) {
		case "error":
			if d.problem = text(r); d.problem == "" {
				d.problem = "an error"
			}
		case "osm_type":
			d.kind = text(r)
		case "osm_id":
			d.id = text(r)
		case "lat":
			d.lat = text(r)
		case "lon":
			d.lon = text(r)
		case "category":
			d.found.Category = text(r)
		case "type":
			d.found.Type = text(r)
		case "name":
			d.found.Name = text(r)
		case "address":
			d.found.Address = readAddress(r)
		case "extratags":
			d.found.Tags = readTags(r)
		case "geojson":
			d.found.Geometry, err = geojson.ReadGeometry(r, body)
		default:
			r.Skip()
		}
	}
	return err
}

// text reads a string or the text of a number. Anything else is empty.
func text(r *jsontext.Reader) string {
	switch c := r.Peek(); {
	case c == '"':
		return string(r.String())
	case c == '-' || c >= '0' && c <= '9':
		return strconv.FormatFloat(r.Number(), 'f', -1, 64)
	}
	r.Skip()
	return ""
}

// readTags reads the further tags of an object.
func readTags(r *jsontext.Reader) (tags extract.Tags) {
	if r.Null() {
		return nil
	}
	r.Expect('{')
	for first := true; r.More('}', &first); {
		key := string(r.Name())
		tags = append(tags, extract.Tag{Key: key, Value: text(r)})
	}
	return tags
}
