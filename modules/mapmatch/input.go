package mapmatch

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/mapsedge/caddy-maps/internal/apierror"
	"github.com/mapsedge/caddy-maps/internal/httpjson"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/internal/urlquery"
)

// input is what a request asks for. Its memory comes from a pool.
type input struct {
	points  []trace.Point
	radius  float64 // metres; 0 where the request has none
	details bool
	geoJSON bool

	text   []byte // of the path, decoded
	values [4]urlquery.Value
}

// parameters are the names that the endpoint knows, in the order of input.values.
var parameters = []string{"path", "radius", "details", "format"}

const (
	path = iota
	radius
	details
	format
)

var inputs = sync.Pool{New: func() any { return new(input) }}

func getInput() *input { return inputs.Get().(*input) }

// maxPooledPoints is the size of the largest trace whose memory is kept.
const maxPooledPoints = 1 << 14

func (in *input) free() {
	if cap(in.points) > maxPooledPoints {
		return
	}
	*in = input{points: in.points[:0], text: in.text[:0]}
	inputs.Put(in)
}

// readQuery reads a GET. The error is an apierror.Error or a *trace.InputError.
func (in *input) readQuery(h *Handler, r *http.Request) error {
	if err := in.scan(h, r); err != nil {
		return err
	}
	if !in.values[path].Present {
		return invalid("path: is missing")
	}
	var err error
	if in.text, err = in.values[path].AppendNumbers(in.text[:0]); err != nil {
		return invalid("path: " + err.Error())
	}
	in.points, err = trace.ParsePath(in.points, in.text, h.MaxPoints)
	return err
}

// readBody reads a POST.
func (in *input) readBody(h *Handler, r *http.Request) error {
	media, ok := httpjson.ContentType(r)
	if !ok || media != "application/json" && media != "application/gpx+xml" && media != "application/geo+json" {
		return apierror.UnsupportedMediaType()
	}
	if err := in.scan(h, r); err != nil {
		return err
	}
	if in.values[path].Present {
		return invalid("path: belongs in the body of a POST, not in its address")
	}
	body, err := httpjson.ReadBody(r, h.MaxBody)
	if err != nil {
		return err
	}
	switch media {
	case "application/gpx+xml":
		in.points, err = trace.ParseGPX(in.points, body, h.MaxPoints)
	case "application/geo+json":
		in.points, err = trace.ParseGeoJSON(in.points, body, h.MaxPoints)
	default:
		var doc trace.Document
		doc, err = trace.ParseJSON(in.points, body, h.MaxPoints)
		in.points = doc.Points
		if err == nil {
			err = in.merge(h, &doc)
		}
	}
	return err
}

// scan reads the parameters of the query, all but the path.
func (in *input) scan(h *Handler, r *http.Request) error {
	if repeated := urlquery.Scan(r.URL.RawQuery, parameters, in.values[:]); repeated != "" {
		return invalid(repeated + ": appears more than once")
	}
	if v := in.values[radius]; v.Present {
		number, ok := v.Number()
		if err := in.setRadius(h, number, ok); err != nil {
			return err
		}
	}
	if v := in.values[details]; v.Present {
		switch word(v) {
		case "true":
			in.details = true
		case "false":
		default:
			return invalid("details: must be true or false")
		}
	}
	if v := in.values[format]; v.Present {
		return in.setFormat(word(v))
	}
	return nil
}

// word is a value decoded; "" if it cannot be.
func word(v urlquery.Value) string {
	text, err := v.AppendText(nil)
	if err != nil {
		return ""
	}
	return string(text)
}

// merge takes over the parameters that stand in a JSON body.
func (in *input) merge(h *Handler, doc *trace.Document) error {
	for i, inBody := range []bool{radius: doc.Radius != nil, details: doc.Details != nil, format: doc.Format != nil} {
		if inBody && in.values[i].Present {
			return invalid(parameters[i] + ": stands in the address and in the body")
		}
	}
	if doc.Radius != nil {
		if err := in.setRadius(h, *doc.Radius, true); err != nil {
			return err
		}
	}
	if doc.Details != nil {
		in.details = *doc.Details
	}
	if doc.Format != nil {
		return in.setFormat(*doc.Format)
	}
	return nil
}

func (in *input) setRadius(h *Handler, metres float64, ok bool) error {
	if !ok || !(metres > 0 && metres <= h.MaxRadius) {
		return invalid(fmt.Sprintf("radius: must be a number of metres, more than 0 and at most %v", h.MaxRadius))
	}
	in.radius = metres
	return nil
}

func (in *input) setFormat(name string) error {
	switch name {
	case "json":
	case "geojson":
		in.geoJSON = true
	default:
		return invalid("format: must be json or geojson")
	}
	return nil
}

func invalid(message string) error { return apierror.InvalidInput(message) }
