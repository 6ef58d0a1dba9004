package nominatim

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// nothingFound is Nominatim's error if there is nothing, with the status 200 (src/nominatim_api/v1/format_json.py).
// Proxies and compatible servers may send it with 404.
const nothingFound = "Unable to geocode"

// document is a response in the format jsonv2 (src/nominatim_api/v1/format_json.py). Coordinates are strings. The id is
// a number, and a string in the examples of docs/api/Reverse.md.
type document struct {
	Problem    problem                `json:"error"`
	Kind       remote.Text            `json:"osm_type"`
	ID         remote.Text            `json:"osm_id"`
	Lat        remote.Text            `json:"lat"`
	Lon        remote.Text            `json:"lon"`
	Category   remote.Text            `json:"category"`
	Type       remote.Text            `json:"type"`
	Name       remote.Text            `json:"name"`
	Importance remote.Text            `json:"importance"`
	Address    map[string]remote.Text `json:"address"`
	ExtraTags  map[string]remote.Text `json:"extratags"`
	Box        []remote.Text          `json:"boundingbox"` // south, north, west, east
	Geometry   remote.Geometry        `json:"geojson"`
}

// parse reads a response: one object or none. The error is one of package remote. A refusal (400) has a reason in JSON
// (src/nominatim_api/server/asgi_adaptor.py); timeouts (503) and failures (500) are plain text (server/falcon/server.py
// and server/starlette/server.py).
func parse(status int, body []byte, req *geocoding.Request) ([]geocoding.Found, error) {
	switch status {
	case http.StatusOK, http.StatusNotFound, http.StatusBadRequest:
	default:
		return nil, remote.Unexpected(status)
	}
	var d document
	err := json.Unmarshal(body, &d)
	switch {
	case err != nil:
		return nil, remote.InvalidResponse("status %d: %v", status, err)
	case d.Problem == nothingFound && status != http.StatusBadRequest:
		return nil, nil
	case d.Problem != "":
		return nil, remote.InvalidResponse("status %d: it reports %.200q", status, d.Problem)
	case status != http.StatusOK:
		return nil, remote.Unexpected(status)
	}
	return d.result(req)
}

// maxLimit is the largest number of results of a search (search_endpoint in src/nominatim_api/v1/server_glue.py).
const maxLimit = 50

// parseList reads a response of `search`: a list. Without results it is empty.
func parseList(status int, body []byte) (found []geocoding.Found, err error) {
	if status != http.StatusOK {
		return parse(status, body, nil)
	}
	var list []document
	if err := json.Unmarshal(body, &list, json.WithUnmarshalers(remote.AtMost[document](maxLimit))); err != nil {
		return nil, remote.InvalidResponse("%v", err)
	}
	for i := range list {
		f, ok, err := list[i].found()
		if err != nil {
			return nil, err
		}
		if ok {
			f.Bound, _ = list[i].bound()
			found = append(found, f)
		}
	}
	return found, nil
}

// result checks a document.
func (d *document) result(req *geocoding.Request) ([]geocoding.Found, error) {
	found, ok, err := d.found()
	if err != nil || !ok {
		return nil, err
	}
	bound, known := d.bound()
	if !known { // then a point of a relation may be the centre of a large area
		bound = found.Geometry.Bound()
		known = found.Kind != region.KindRelation || bound.Min != bound.Max
	}
	if known && req.Implausible(bound, req.MaxDistance) {
		return nil, remote.InvalidResponse("an object at %.20q, %.20q, far from the position", d.Lat, d.Lon)
	}
	return []geocoding.Found{found}, nil
}

// found returns the object of a document; ok is false if that is not from OpenStreetMap.
func (d *document) found() (found geocoding.Found, ok bool, err error) {
	lat, hasLat := text.ParseNumber([]byte(d.Lat))
	lon, hasLon := text.ParseNumber([]byte(d.Lon))
	if !hasLat || !hasLon || lat < -90 || lat > 90 || lon < -180 || lon > 180 {
		return found, false, remote.InvalidResponse("an object at %.20q, %.20q", d.Lat, d.Lon)
	}
	if d.Category == "" || d.Type == "" {
		return found, false, remote.InvalidResponse("an object without category and type")
	}
	kind, known := kinds[string(d.Kind)]
	if !known {
		// A country or postcode that is not from OpenStreetMap has no kind and no id. There may be other kinds
		// (docs/api/Output.md, "OSM reference"), which our API has no ids for.
		return found, false, nil
	}
	const maxID = 1 << 53
	id, err := strconv.ParseInt(string(d.ID), 10, 64)
	if err != nil || id < 1 || id > maxID {
		return found, false, remote.InvalidResponse("an object with the id %.20q", d.ID)
	}
	importance, _ := text.ParseNumber([]byte(d.Importance))
	found = geocoding.Found{Kind: kind, ID: id, Category: string(d.Category), Type: string(d.Type),
		Name: string(d.Name), Address: address(d.Address), Geometry: d.Geometry.Geometry,
		Importance: importance}
	if found.Geometry == nil {
		found.Geometry = orb.Point{lon, lat}
	}
	if d.ExtraTags != nil {
		found.Tags = make(map[string]string, len(d.ExtraTags))
		for key, value := range d.ExtraTags {
			found.Tags[key] = string(value)
		}
	}
	return found, true, nil
}

// bound returns the bounding box; ok is false if there is none.
func (d *document) bound() (b orb.Bound, ok bool) {
	if len(d.Box) != 4 {
		return b, false
	}
	for i, to := range [...]*float64{&b.Min[1], &b.Max[1], &b.Min[0], &b.Max[0]} {
		if *to, ok = text.ParseNumber([]byte(d.Box[i])); !ok {
			return b, false
		}
	}
	return b, b.Min[0] <= b.Max[0] && b.Min[1] <= b.Max[1]
}

var kinds = map[string]region.Kind{
	"node": region.KindNode, "way": region.KindWay, "relation": region.KindRelation,
}

// problem is an error: a text, or an object with a message.
type problem string

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (p *problem) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var read struct {
		Message remote.Text `json:"message"`
	}
	into := any(&read.Message)
	if dec.PeekKind() == jsontext.KindBeginObject {
		into = &read
	}
	err := json.UnmarshalDecode(dec, into)
	*p = cmp.Or(problem(read.Message), "an error")
	return err
}
