package nominatimgeocoder

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geojson"
	"github.com/mapsedge/caddy-maps/internal/jsontext"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/modules/upstream"
)

// nothingFound is how Nominatim says that there is nothing, with the status 200 (src/nominatim_api/v1/format_json.py).
// A proxy or another server that speaks its protocol may say the same with 404.
const nothingFound = "Unable to geocode"

// document is a response in the format jsonv2 (src/nominatim_api/v1/format_json.py). Coordinates are strings. So is
// the id in the examples of docs/api/Reverse.md; today's servers send a number.
type document struct {
	problem  string // that it reports instead
	kind, id string
	lat, lon string
	box      [4]string // south, north, west, east
	found    geocoding.Found
}

// parse reads a response: one object or none. The error is one of package upstream. Where Nominatim refuses the
// question (400), it says why, in JSON (src/nominatim_api/server/asgi_adaptor.py); where it takes too long (503) or
// fails (500), in plain text (server/falcon/server.py and server/starlette/server.py).
func parse(status int, body []byte, req *geocoding.Request) ([]geocoding.Found, error) {
	switch status {
	case http.StatusOK, http.StatusNotFound, http.StatusBadRequest:
	default:
		return nil, upstream.Unexpected(status)
	}
	var d document
	r := jsontext.NewReader(body)
	err := d.read(r, body)
	r.End()
	switch {
	case r.Err() != nil:
		return nil, upstream.InvalidResponse("status %d: %v", status, r.Err())
	case err != nil:
		return nil, upstream.InvalidResponse("geojson: %v", err)
	case d.problem == nothingFound && status != http.StatusBadRequest:
		return nil, nil
	case d.problem != "":
		return nil, upstream.InvalidResponse("status %d: it reports %.200q", status, d.problem)
	case status != http.StatusOK:
		return nil, upstream.Unexpected(status)
	}
	return d.result(req)
}

// result checks what was read.
func (d *document) result(req *geocoding.Request) ([]geocoding.Found, error) {
	lat, hasLat := jsontext.ParseNumber([]byte(d.lat))
	lon, hasLon := jsontext.ParseNumber([]byte(d.lon))
	if !hasLat || !hasLon || lat < -90 || lat > 90 || lon < -180 || lon > 180 {
		return nil, upstream.InvalidResponse("an object at %.20q, %.20q", d.lat, d.lon)
	}
	if d.found.Category == "" || d.found.Type == "" {
		return nil, upstream.InvalidResponse("an object without category and type")
	}
	var known bool
	if d.found.Kind, known = kinds[d.kind]; !known {
		// A country or postcode that Nominatim knows without OpenStreetMap has no kind and no id. Other kinds may come:
		// docs/api/Output.md ("OSM reference") says not to expect these three only. Nothing of ours has their ids.
		return nil, nil
	}
	const maxID = 1 << 53
	id, ok := jsontext.ParseNumber([]byte(d.id))
	if !ok || id < 1 || id > maxID || id != float64(int64(id)) {
		return nil, upstream.InvalidResponse("an object with the id %.20q", d.id)
	}
	d.found.ID = int64(id)
	bound, known := d.bound()
	if d.found.Geometry == nil {
		d.found.Geometry = orb.Point{lon, lat}
	}
	if !known { // then a point of a relation is its middle, however large it is
		bound = d.found.Geometry.Bound()
		known = d.found.Kind != mapdata.KindRelation || bound.Min != bound.Max
	}
	if known && req.Astray(bound, req.MaxDistance) {
		return nil, upstream.InvalidResponse("an object at %.20q, %.20q, far from what was asked for", d.lat, d.lon)
	}
	return []geocoding.Found{d.found}, nil
}

// bound returns the bounding box, if there is one.
func (d *document) bound() (b orb.Bound, ok bool) {
	for i, to := range [...]*float64{&b.Min[1], &b.Max[1], &b.Min[0], &b.Max[0]} {
		if *to, ok = jsontext.ParseNumber([]byte(d.box[i])); !ok {
			return b, false
		}
	}
	return b, b.Min[0] <= b.Max[0] && b.Min[1] <= b.Max[1]
}

var kinds = map[string]mapdata.Kind{
	"node": mapdata.KindNode, "way": mapdata.KindWay, "relation": mapdata.KindRelation,
}

// read reads a whole response.
func (d *document) read(r *jsontext.Reader, body []byte) (err error) {
	r.Expect('{')
	for first := true; err == nil && r.More('}', &first); {
		switch string(r.Name()) {
		case "error":
			d.problem = problem(r)
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
		case "boundingbox":
			d.box = readBox(r)
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

// readBox reads the four sides of a bounding box.
func readBox(r *jsontext.Reader) (box [4]string) {
	if r.Peek() != '[' {
		r.Skip()
		return box
	}
	r.Expect('[')
	for first, i := true, 0; r.More(']', &first); i++ {
		if side := text(r); i < len(box) {
			box[i] = side
		}
	}
	return box
}

// problem reads what goes wrong: a text, or an object with a message.
func problem(r *jsontext.Reader) (said string) {
	if r.Peek() != '{' {
		said = text(r)
	} else {
		r.Expect('{')
		for first := true; r.More('}', &first); {
			if string(r.Name()) == "message" {
				said = text(r)
			} else {
				r.Skip()
			}
		}
	}
	return cmp.Or(said, "an error")
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

// readTags reads the further tags of an object, null where it has none.
func readTags(r *jsontext.Reader) map[string]string {
	if r.Null() {
		return nil
	}
	tags := map[string]string{}
	r.Expect('{')
	for first := true; r.More('}', &first); {
		key := string(r.Name())
		tags[key] = text(r)
	}
	return tags
}
