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

// input is what a request asks for. It comes from a pool.
type input struct {
	points  []trace.Point
	radius  float64 // metres; 0 if the request has none
	details bool
	format  string // of the response; "" if the request has none
	profile int    // index into offer.profiles

	text   []byte // the decoded path
	values [5]request.QueryValue
	parser parser // of the body; nil for a GET

	memory admission.Reservation
	work   admission.Work
}

// parameters are the known names, in the order of input.values.
var parameters = []string{"path", "radius", "details", "format", "profile"}

const (
	path = iota
	radius
	details
	format
	profile
)

// The formats of responses. The default is formatJSON.
const (
	formatJSON     = "json"
	formatGeoJSON  = "geojson"
	formatPolyline = "polyline6"
)

var inputs = sync.Pool{New: func() any { return new(input) }}

func getInput() *input { return inputs.Get().(*input) }

// maxPooledPoints is the largest trace whose memory is kept for other requests.
const maxPooledPoints = 1 << 14

func (in *input) free() {
	in.memory.Release()
	if cap(in.points) > maxPooledPoints {
		return
	}
	*in = input{points: in.points[:0], text: in.text[:0]}
	inputs.Put(in)
}

// receive reads the parameters of a request, and the body of a POST. The error is an apierror.Error or that of the
// request's context.
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

func (in *input) receiveBody(h *Handler, r *http.Request) (_ []byte, err error) {
	if in.parser, err = parserOf(r); err != nil {
		return nil, err
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
type parser func(dst []trace.Point, body []byte, max int, meter trace.Meter) (trace.Document, error)

// multipartForm is the media type of a form with a file.
const multipartForm = "multipart/form-data"

// mediaTypes are those of bodies.
var mediaTypes = func() (types []string) {
	for _, f := range trace.Formats {
		types = append(types, f.Media)
	}
	return append(types, multipartForm)
}()

// parserOf returns the parser for the body of a request. The error is UnsupportedMediaType if there is none.
func parserOf(r *http.Request) (parser, error) {
	media, params, err := request.ContentType(r, mediaTypes...)
	if err != nil {
		return nil, err
	}
	for _, f := range trace.Formats {
		if f.Media == media {
			return f.Read, nil
		}
	}
	return func(dst []trace.Point, body []byte, max int, meter trace.Meter) (trace.Document, error) {
		file, err := request.FormFile(body, params["boundary"], parameters)
		if err != nil {
			return trace.Document{}, invalid(err.Error())
		}
		return trace.Parse(dst, file, max, meter)
	}, nil
}

// parse reads the trace. The error is an apierror.Error, a *trace.InputError or one of admission.Work.
func (in *input) parse(h *Handler, body []byte) error {
	if in.parser != nil {
		if err := in.work.Spend(trace.ParseWork(len(body))); err != nil {
			return err
		}
		doc, err := in.parser(in.points, body, h.MaxPoints, &in.work)
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

// keepPoints accounts for the memory of the trace instead of that of the body, so that requests that wait for a
// processor are limited as well.
func (in *input) keepPoints(ctx context.Context, p *admission.Processors, caller admission.Caller) error {
	bytes := int64(len(in.points)) * int64(unsafe.Sizeof(trace.Point{}))
	if !in.memory.TryGrow(bytes) {
		in.work.End() // no processor is held during a wait for memory
		if err := in.memory.Resize(ctx, bytes); err != nil {
			return err
		}
		return in.work.Begin(ctx, p, caller)
	}
	return in.memory.Resize(ctx, bytes)
}

// scan reads the parameters of the query except the path.
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

// maxWord is longer than any valid word of a parameter, in bytes. A longer or malformed one is read as "".
const maxWord = 256

// merge reads the parameters of a JSON body.
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
