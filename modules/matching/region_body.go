package matching

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

// keptBody replaces a request body that has been read: it returns every byte and every error of the original. It keeps
// the positions that were found, so that several matchers of one request read its body once.
type keptBody struct {
	io.Reader
	original io.Closer
	touched  bool // has been read from, so that positions are not those of the rest

	by        bodyLimits
	positions []orb.Point
}

// bodyLimits is what the positions depend on besides the bytes.
type bodyLimits struct {
	media     string // the header Content-Type
	maxBody   int64
	maxPoints int
}

// Read implements io.Reader.
func (k *keptBody) Read(p []byte) (int, error) {
	k.touched = true
	return k.Reader.Read(p)
}

// Close closes the original.
func (k *keptBody) Close() error { return k.original.Close() }

// body reads the trace in the body of a request, and replaces the body by an equal one. The error is an
// *admission.OverloadError or that of the request's context.
func (m *RegionMatcher) body(r *http.Request) ([]orb.Point, error) {
	if r.Body == nil || r.ContentLength > m.MaxBody {
		return nil, nil
	}
	by := bodyLimits{r.Header.Get("Content-Type"), m.MaxBody, m.MaxPoints}
	if before, ok := r.Body.(*keptBody); ok && !before.touched && before.by == by {
		return before.positions, nil
	}
	parse, err := parserOf(r)
	if err != nil {
		return nil, nil //nolint:nilerr // the handler refuses the body
	}
	caller := app.Caller(r.Context())
	memory := m.admission.Bodies.For(caller)
	text, err := request.Receive(r, m.MaxBody, &memory)
	context.AfterFunc(r.Context(), memory.Release) // the text is needed until the request ends
	rest := r.Body
	k := &keptBody{Reader: bytes.NewReader(text), original: rest, by: by}
	r.Body = k
	switch {
	case err == nil:
		k.positions, err = m.parse(r.Context(), caller, parse, text)
	case errors.Is(err, request.ErrBodyTooLarge):
		k.Reader, err = io.MultiReader(k.Reader, rest), nil
	case isOverload(err) || r.Context().Err() != nil:
	default: // it was cut off, as the next reader must see
		k.Reader, err = io.MultiReader(k.Reader, brokenBody{err}), nil
	}
	return k.positions, err
}

func isOverload(err error) bool {
	_, overload := errors.AsType[*admission.OverloadError](err)
	return overload
}

// parse returns some of the points of a trace, or none if the text is no trace. The errors are those of admission.Work.
func (m *RegionMatcher) parse(ctx context.Context, caller admission.Caller, parse parser, text []byte) (
	[]orb.Point, error) {
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
	doc, err := parse(s.points[:0], text, m.MaxPoints, &work)
	if isOverload(err) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return nil, nil
	}
	s.points = doc.Points
	return trace.Sample(doc.Points), nil
}

// brokenBody is the end of a body that was cut off.
type brokenBody struct{ err error }

func (b brokenBody) Read([]byte) (int, error) { return 0, b.err }
