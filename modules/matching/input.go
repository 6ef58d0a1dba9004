package matching

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"unsafe"

	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// input is what a request asks for. Its memory comes from a pool.
type input struct {
	points  []trace.Point
	radius  float64 // metres; 0 where the request has none
	details bool
	format  string // of the response; "" where the request has none
	profile int    // of those that the endpoint offers

	text   []byte // of the path, decoded
	values [5]request.QueryValue
	parser parser // of the body; nil for a GET

	memory admission.Reservation
	work   admission.Work
}

// parameters are the names that the endpoint knows, in the order of input.values.
var parameters = []string{"path", "radius", "details", "format", "profile"}

const (
	path = iota
	radius
	details
	format
	profile
)

// The formats of responses. Without one it is formatJSON.
const (
	formatJSON     = "json"
	formatGeoJSON  = "geojson"
	formatPolyline = "polyline6"
)

var inputs = sync.Pool{New: func() any { return new(input) }}

func getInput() *input { return inputs.Get().(*input) }

// maxPooledPoints is the size of the largest trace whose memory is kept.
const maxPooledPoints = 1 << 14

func (in *input) free() {
	in.memory.Release()
	if cap(in.points) > maxPooledPoints {
		return
	}
	*in = input{points: in.points[:0], text: in.text[:0]}
	inputs.Put(in)
}

// receive reads the parameters of a request, and its body where it has one. The error is an apierror.Error or that of
// the request's context.
func (in *input) receive(h *Handler, r *http.Request) (body []byte, err error) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if err := in.scan(h, r); err != nil {
			return nil, err
		}
		if !in.values[path].Present {
			return nil, invalid("path: is missing")
		}
		return nil, nil
	case http.MethodPost:
		return in.receiveBody(h, r)
	}
	return nil, apierror.MethodNotAllowed(http.MethodGet, http.MethodHead, http.MethodPost)
}

func (in *input) receiveBody(h *Handler, r *http.Request) ([]byte, error) {
	media, ok := request.ContentType(r)
	if in.parser = parserOf(media); !ok || in.parser == nil {
		return nil, apierror.UnsupportedMediaType()
	}
	if err := in.scan(h, r); err != nil {
		return nil, err
	}
	if in.values[path].Present {
		return nil, invalid("path: belongs in the body of a POST, not in its query")
	}
	return request.ReadBody(r, h.MaxBody, &in.memory)
}

// parser reads a trace of at most max points from a body.
type parser func(in *input, body []byte, max int) (trace.Document, error)

func parserOf(media string) parser {
	switch media {
	case "application/json":
		return func(in *input, body []byte, max int) (trace.Document, error) {
			return trace.ParseJSON(in.points, body, max)
		}
	case "application/gpx+xml":
		return func(in *input, body []byte, max int) (trace.Document, error) {
			points, err := trace.ParseGPX(in.points, body, max, &in.work)
			return trace.Document{Points: points}, err
		}
	case "application/geo+json":
		return func(in *input, body []byte, max int) (trace.Document, error) {
			points, err := trace.ParseGeoJSON(in.points, body, max)
			return trace.Document{Points: points}, err
		}
	case "text/csv":
		return func(in *input, body []byte, max int) (trace.Document, error) {
			points, err := trace.ParseCSV(in.points, body, max, &in.work)
			return trace.Document{Points: points}, err
		}
	}
	return nil
}

// parse reads the trace. The error is an apierror.Error, a *trace.InputError or that of the work.
func (in *input) parse(h *Handler, body []byte) error {
	if in.parser != nil {
		if err := in.work.Spend(trace.ParseWork(len(body))); err != nil {
			return err
		}
		doc, err := in.parser(in, body, h.MaxPoints)
		in.points = doc.Points
		if err != nil {
			return err
		}
		return in.merge(h, &doc)
	}
	if err := in.work.Spend(trace.ParseWork(len(in.values[path].Raw))); err != nil {
		return err
	}
	var err error
	if in.text, err = in.values[path].AppendNumbers(in.text[:0]); err != nil {
		return invalid("path: " + err.Error())
	}
	in.points, err = trace.ParsePath(in.points, in.text, h.MaxPoints)
	return err
}

// keepPoints sets the memory that the trace takes aside, instead of that of the body which it was read from. Requests
// that wait for a processor would otherwise take any amount of it.
func (in *input) keepPoints(ctx context.Context, p *admission.Processors, caller admission.Caller) error {
	bytes := int64(len(in.points)) * int64(unsafe.Sizeof(trace.Point{}))
	if !in.memory.TryGrow(bytes) {
		in.work.End() // nobody keeps a processor while it waits for memory
		if err := in.memory.Resize(ctx, bytes); err != nil {
			return err
		}
		return in.work.Begin(ctx, p, caller)
	}
	return in.memory.Resize(ctx, bytes)
}

// scan reads the parameters of the query, all but the path.
func (in *input) scan(h *Handler, r *http.Request) error {
	if repeated := request.ScanQuery(r.URL.RawQuery, parameters, in.values[:]); repeated != "" {
		return invalid(repeated + ": appears more than once")
	}
	if v := in.values[radius]; v.Present {
		number, ok := v.Number()
		if err := in.setRadius(h, number, ok); err != nil {
			return err
		}
	}
	if v := in.values[details]; v.Present {
		switch word, _ := v.Text(maxWord); word {
		case "true":
			in.details = true
		case "false":
		default:
			return invalid("details: must be true or false")
		}
	}
	if v := in.values[format]; v.Present {
		word, _ := v.Text(maxWord)
		if err := in.setFormat(word); err != nil {
			return err
		}
	}
	if v := in.values[profile]; v.Present {
		word, _ := v.Text(maxWord)
		return in.setProfile(h, word)
	}
	return nil
}

// maxWord is longer than any word that a parameter can be, in bytes. One that is longer or malformed is read as "".
const maxWord = 256

// merge takes over the parameters that stand in a JSON body.
func (in *input) merge(h *Handler, doc *trace.Document) error {
	for i, inBody := range []bool{
		radius: doc.Radius != nil, details: doc.Details != nil, format: doc.Format != nil, profile: doc.Profile != nil,
	} {
		if inBody && in.values[i].Present {
			return invalid(parameters[i] + ": stands in the query and in the body")
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
		if err := in.setFormat(*doc.Format); err != nil {
			return err
		}
	}
	if doc.Profile != nil {
		return in.setProfile(h, *doc.Profile)
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
	case formatJSON, formatGeoJSON, formatPolyline:
		in.format = name
		return nil
	}
	return invalid("format: must be json, geojson or polyline6")
}

func (in *input) setProfile(h *Handler, name string) (err error) {
	in.profile, err = h.offer.find(name)
	return err
}

func invalid(message string) error { return apierror.InvalidInput(message) }
