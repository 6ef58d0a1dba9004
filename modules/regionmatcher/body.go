package regionmatcher

import (
	"bytes"
	"io"
	"net/http"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/httpjson"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// kept stands in for a body that has been looked into. Whoever reads it gets every byte and every error of the original. It
// also holds what was found, so that several matchers of one request read its body once.
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

// body reads the trace in the body of a request, and puts the body back as it was.
func (m *Matcher) body(r *http.Request) []orb.Point {
	media, ok := httpjson.ContentType(r)
	if !ok || r.Body == nil || r.ContentLength > m.MaxBody {
		return nil
	}
	by := limits{media, m.MaxBody, m.MaxPoints}
	if before, ok := r.Body.(*kept); ok && !before.touched && before.by == by {
		return before.positions
	}
	parse := parserOf(media)
	if parse == nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, m.MaxBody+1))
	k := &kept{Reader: bytes.NewReader(text), original: r.Body, by: by}
	switch {
	case err != nil: // it broke off, for whoever reads it next too
		k.Reader = io.MultiReader(k.Reader, broken{err})
	case int64(len(text)) > m.MaxBody:
		k.Reader = io.MultiReader(k.Reader, r.Body)
	default:
		k.positions = m.parse(parse, text)
	}
	r.Body = k
	return k.positions
}

// parser is one of the parsers of package trace.
type parser func(dst []trace.Point, body []byte, max int) ([]trace.Point, error)

// parserOf returns the parser of a media type; nil for one that maps_match does not take.
func parserOf(media string) parser {
	switch media {
	case "application/json":
		return func(dst []trace.Point, body []byte, max int) ([]trace.Point, error) {
			doc, err := trace.ParseJSON(dst, body, max)
			return doc.Points, err
		}
	case "application/gpx+xml":
		return trace.ParseGPX
	case "application/geo+json":
		return trace.ParseGeoJSON
	}
	return nil
}

func (m *Matcher) parse(parse parser, text []byte) []orb.Point {
	s := scratches.Get().(*scratch)
	defer s.free()
	points, err := parse(s.points[:0], text, m.MaxPoints)
	if err != nil {
		return nil
	}
	s.points = points
	return trace.Sample(points)
}

// broken is the end of a body that broke off.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
