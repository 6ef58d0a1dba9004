package matching

import (
	"bytes"
	"net/http"
	"strings"
	"sync"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// The ends of the paths of this service's endpoints. A slash may follow matchingPath.
const (
	reversePath  = "/v2/search/reverse-geocoding"
	matchingPath = "/api/route/matching"
)

// positionParameters are the names in queries, in the order of the values.
var positionParameters = []string{"lat", "lon", "lng", "origin", "path"}

const (
	paramLat = iota
	paramLon
	paramLng
	paramOrigin
	paramPath
)

// positionQuery is what the query of a request says about positions.
type positionQuery [5]request.QueryValue

// positions returns the positions of a request: a few points of a long trace, or none if it cannot be read. The error
// is that of body.
func (m *RegionMatcher) positions(r *http.Request) ([]orb.Point, error) {
	switch {
	case strings.HasSuffix(r.URL.Path, reversePath):
		q, ok := scanQuery(r, paramLat, paramLon, paramLng)
		if !ok {
			return nil, nil
		}
		return one(q.coordinates()), nil
	case strings.HasSuffix(strings.TrimSuffix(r.URL.Path, "/"), matchingPath):
		return m.trace(r)
	}
	q, ok := scanQuery(r, paramLat, paramLon, paramLng, paramOrigin)
	switch {
	case !ok:
		return nil, nil
	case q[paramOrigin].Present:
		return one(q.pair()), nil
	}
	return one(q.coordinates()), nil
}

// scanQuery reads the wanted ones of positionParameters. ok is false if one of them is repeated, which every endpoint
// refuses.
func scanQuery(r *http.Request, wanted ...int) (q positionQuery, ok bool) {
	names := make([]string, len(wanted), len(positionParameters))
	var values positionQuery
	for i, n := range wanted {
		names[i] = positionParameters[n]
	}
	repeated := request.ScanQuery(r.URL.RawQuery, names, values[:len(names)])
	for i, n := range wanted {
		q[n] = values[i]
	}
	return q, repeated == ""
}

func one(p orb.Point, ok bool) []orb.Point {
	if !ok {
		return nil
	}
	return []orb.Point{p}
}

// coordinates reads the position of a reverse geocoding.
func (q *positionQuery) coordinates() (p orb.Point, ok bool) {
	lon, only := request.Either(q[:], paramLon, paramLng)
	latitude, okLat := q[paramLat].Number()
	longitude, okLon := q[lon].Number()
	return onGlobe(latitude, longitude, only && okLat && okLon)
}

// longestOrigin is the longest origin that is decoded, in bytes; two float64 need far less.
const longestOrigin = 1024

// pair reads an origin: a latitude, a comma and a longitude.
func (q *positionQuery) pair() (p orb.Point, ok bool) {
	if len(q[paramOrigin].Raw) > longestOrigin {
		return p, false
	}
	decoded, err := q[paramOrigin].AppendNumbers(make([]byte, 0, 64))
	if err != nil {
		return p, false
	}
	first, second, _ := bytes.Cut(decoded, []byte(","))
	latitude, okLat := text.ParseNumber(bytes.TrimSpace(first))
	longitude, okLon := text.ParseNumber(bytes.TrimSpace(second))
	return onGlobe(latitude, longitude, okLat && okLon)
}

func onGlobe(lat, lon float64, ok bool) (orb.Point, bool) {
	return orb.Point{lon, lat}, ok && lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180
}

// trace reads the trace of a map matching.
func (m *RegionMatcher) trace(r *http.Request) ([]orb.Point, error) {
	q, ok := scanQuery(r, paramPath)
	switch {
	case !ok:
		return nil, nil
	case r.Method == http.MethodPost:
		if q[paramPath].Present {
			return nil, nil // the trace of a POST belongs in the body
		}
		return m.body(r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return nil, nil
	}
	s := scratches.Get().(*scratch)
	defer s.free()
	var err error
	if s.text, err = q[paramPath].AppendNumbers(s.text[:0]); err != nil {
		return nil, nil
	}
	points, err := trace.ParsePath(s.points[:0], s.text, m.MaxPoints)
	if err != nil {
		return nil, nil
	}
	s.points = points
	return trace.Sample(points), nil
}

// scratch is memory for reading traces.
type scratch struct {
	text   []byte
	points []trace.Point
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func (s *scratch) free() {
	if cap(s.points) <= maxPooledPoints {
		scratches.Put(s)
	}
}
