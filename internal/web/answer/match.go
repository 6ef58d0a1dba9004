// Package answer writes results of engines as responses of the API, and their errors as apierror.Errors.
//
// It computes nothing, and knows no handler. Start with http.go; match.go, places.go and coverage.go write one kind of
// result each.
package answer

import (
	"bytes"
	"math"
	"strconv"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
)

const (
	// coordinateDecimals is the precision of OpenStreetMap, about a centimetre.
	coordinateDecimals = 7
	distanceDecimals   = 2
)

// AppendMatch appends a matched route as JSON: coordinates as [lat,lng] and the length in metres. details adds the
// duration, the tracepoints and, if known, the confidence and the ways.
func AppendMatch(dst []byte, m *matching.Result, details bool) []byte {
	dst = append(dst, `{"coordinates":`...)
	dst = appendLine(dst, m.Path, appendLatLng)
	dst = append(dst, ',')
	dst = appendMeasures(dst, m, details, appendLatLng)
	return append(dst, '}')
}

// AppendMatchFeature appends a matched route as a GeoJSON Feature, with positions as [lng,lat].
func AppendMatchFeature(dst []byte, m *matching.Result, details bool) []byte {
	dst = append(dst, `{"type":"Feature","geometry":{"type":"LineString","coordinates":`...)
	dst = appendLine(dst, m.Path, appendLngLat)
	dst = append(dst, `},"properties":{`...)
	dst = appendMeasures(dst, m, details, appendLngLat)
	return append(dst, `}}`...)
}

// AppendMatchPolyline appends a matched route with its line as an encoded polyline with six decimals, latitude first.
func AppendMatchPolyline(dst []byte, m *matching.Result, details bool) []byte {
	dst = append(dst, `{"polyline":"`...)
	start := len(dst)
	dst = geo.AppendPolyline(dst, m.Path, geo.Polyline6)
	dst = escapeBackslashes(dst, start)
	dst = append(dst, `",`...)
	dst = appendMeasures(dst, m, details, appendLatLng)
	return append(dst, '}')
}

// escapeBackslashes doubles each backslash of dst from start. Of the characters of a polyline, ? to ~, only the
// backslash must be escaped in JSON.
func escapeBackslashes(dst []byte, start int) []byte {
	n := bytes.Count(dst[start:], []byte{'\\'})
	from := len(dst)
	dst = append(dst, make([]byte, n)...)
	for to := len(dst); n > 0; n-- {
		at := bytes.LastIndexByte(dst[start:from], '\\') + start
		to -= copy(dst[to-(from-at):to], dst[at:from]) + 1
		dst[to] = '\\'
		from = at
	}
	return dst
}

// position appends a point as an array of two numbers.
type position func(dst []byte, p orb.Point) []byte

func appendLatLng(dst []byte, p orb.Point) []byte { return appendPair(dst, p[1], p[0]) }

func appendLngLat(dst []byte, p orb.Point) []byte { return appendPair(dst, p[0], p[1]) }

func appendPair(dst []byte, first, second float64) []byte {
	dst = append(dst, '[')
	dst = text.AppendFixed(dst, first, coordinateDecimals)
	dst = append(dst, ',')
	dst = text.AppendFixed(dst, second, coordinateDecimals)
	return append(dst, ']')
}

func appendLine(dst []byte, line orb.LineString, position position) []byte {
	dst = append(dst, '[')
	for i, p := range line {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = position(dst, p)
	}
	return append(dst, ']')
}

// appendMeasures appends everything except the line, without braces.
func appendMeasures(dst []byte, m *matching.Result, details bool, position position) []byte {
	dst = append(dst, `"distance":`...)
	dst = text.AppendRounded(dst, m.Distance, distanceDecimals)
	if !details {
		return dst
	}
	if !math.IsNaN(m.Confidence) {
		dst = append(dst, `,"confidence":`...)
		dst = text.AppendRounded(dst, m.Confidence, 4)
	}
	dst = append(dst, `,"duration":`...)
	dst = text.AppendRounded(dst, m.Duration, 1)
	dst = append(dst, `,"tracepoints":[`...)
	for i := range m.Tracepoints {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendTracepoint(dst, &m.Tracepoints[i], position)
	}
	dst = append(dst, ']')
	if m.Ways == nil {
		return dst
	}
	dst = append(dst, `,"ways":[`...)
	for i := range m.Ways {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendWay(dst, &m.Ways[i])
	}
	return append(dst, ']')
}

func appendWay(dst []byte, w *matching.Way) []byte {
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendInt(dst, w.ID, 10)
	dst = append(dst, `,"name":`...)
	dst = appendString(dst, w.Name)
	dst = append(dst, `,"from":`...)
	dst = strconv.AppendInt(dst, int64(w.From), 10)
	dst = append(dst, `,"to":`...)
	dst = strconv.AppendInt(dst, int64(w.To), 10)
	return append(dst, '}')
}

func appendTracepoint(dst []byte, t *matching.Tracepoint, position position) []byte {
	if !t.Matched {
		return append(dst, `{"location":null,"distance":null,"name":"","matched":false,"index":null}`...)
	}
	dst = append(dst, `{"location":`...)
	dst = position(dst, t.Location)
	dst = append(dst, `,"distance":`...)
	dst = text.AppendRounded(dst, t.Distance, distanceDecimals)
	dst = append(dst, `,"name":`...)
	dst = appendString(dst, t.Name)
	dst = append(dst, `,"matched":true,"index":`...)
	dst = strconv.AppendInt(dst, int64(t.Index), 10)
	return append(dst, '}')
}
