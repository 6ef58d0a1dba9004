package regionmatcher

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// kept stands in for a body that has been looked into. Whoever reads it gets every byte and every error of the
// original. It also holds what was found, so that several matchers of one request read its body once.
type kept struct {
	io.Reader
	original io.Closer
	touched  bool // somebody has read from it, so that what was found no longer belongs to what is left

	by        limits
	positions []orb.Point
}

// limits is everything that the outcome depends on beside the bytes.
type limits struct {
	media     string
	maxBody   int64
	maxPoints int
}

// Read implements io.Reader.
func (k *kept) Read(p []byte) (int, error) {
	k.touched = true
	return k.Reader.Read(p)
}

// Close closes the original.
func (k *kept) Close() error { return k.original.Close() }

// body reads the trace in the body of a request, and puts the body back as it was. The error is an
// *admission.OverloadError or that of the request's context.
func (m *Matcher) body(r *http.Request) ([]orb.Point, error) {
	media, ok := request.ContentType(r)
	if !ok || r.Body == nil || r.ContentLength > m.MaxBody {
		return nil, nil
	}
	by := limits{media, m.MaxBody, m.MaxPoints}
	if before, ok := r.Body.(*kept); ok && !before.touched && before.by == by {
		return before.positions, nil
	}
	parse := parserOf(media)
	if parse == nil {
		return nil, nil
	}
	caller := app.Caller(r.Context())
	memory := m.admission.Bodies.For(caller)
	text, err := request.Receive(r, m.MaxBody, &memory)
	context.AfterFunc(r.Context(), memory.Release) // the text goes on with the request
	rest := r.Body
	k := &kept{Reader: bytes.NewReader(text), original: rest, by: by}
	r.Body = k
	switch {
	case err == nil:
		k.positions, err = m.parse(r.Context(), caller, parse, text)
	case errors.Is(err, request.ErrBodyTooLarge):
		k.Reader, err = io.MultiReader(k.Reader, rest), nil
	case isOverload(err) || r.Context().Err() != nil:
	default: // it broke off, for whoever reads it next too
		k.Reader, err = io.MultiReader(k.Reader, broken{err}), nil
	}
	return k.positions, err
}

func isOverload(err error) bool {
	_, overload := errors.AsType[*admission.OverloadError](err)
	return overload
}

// parser is one of the parsers of package trace.
type parser func(dst []trace.Point, body []byte, max int, meter trace.Meter) ([]trace.Point, error)

// parserOf returns the parser of a media type; nil for one that maps_match does not take.
func parserOf(media string) parser {
	switch media {
	case "application/json":
		return func(dst []trace.Point, body []byte, max int, _ trace.Meter) ([]trace.Point, error) {
			doc, err := trace.ParseJSON(dst, body, max)
			return doc.Points, err
		}
	case "application/gpx+xml":
		return trace.ParseGPX
	case "application/geo+json":
		return func(dst []trace.Point, body []byte, max int, _ trace.Meter) ([]trace.Point, error) {
			return trace.ParseGeoJSON(dst, body, max)
		}
	case "text/csv":
		return trace.ParseCSV
	}
	return nil
}

// parse returns some of the points of a trace, none where it is not one. The errors are those of Work.
func (m *Matcher) parse(ctx context.Context, caller admission.Caller, parse parser, text []byte) ([]orb.Point, error) {
	var work admission.Work
	if err := work.Begin(ctx, m.admission.Processors, caller); err != nil {
		return nil, err
	}
	defer work.End()
	if err := work.Spend(trace.ParseWork(len(text))); err != nil {
		return nil, err
	}
	s := scratches.Get().(*scratch)
	defer s.free()
	points, err := parse(s.points[:0], text, m.MaxPoints, &work)
	if isOverload(err) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return nil, nil
	}
	s.points = points
	return trace.Sample(points), nil
}

// broken is the end of a body that broke off.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
