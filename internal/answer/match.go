// Package answer turns what the engines return into the answers of the API.
package answer

import (
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/jsontext"
	"github.com/mapsedge/caddy-maps/internal/matching"
)

const (
	// coordinateDecimals is the precision of OpenStreetMap, about a centimetre.
	coordinateDecimals = 7
	distanceDecimals   = 2
)

// AppendMatch appends a matched drive as the API answers it: coordinates as [lat,lng] and the length in metres. details adds
// confidence, duration and tracepoints.
func AppendMatch(dst []byte, m *matching.Result, details bool) []byte {
	dst = append(dst, `{"coordinates":`...)
	dst = appendLine(dst, m.Path, appendLatLng)
	dst = append(dst, ',')
	dst = appendMeasures(dst, m, details, appendLatLng)
	return append(dst, '}')
}

// AppendMatchFeature appends a matched drive as a GeoJSON Feature, every position as [lng,lat].
func AppendMatchFeature(dst []byte, m *matching.Result, details bool) []byte {
	dst = append(dst, `{"type":"Feature","geometry":{"type":"LineString","coordinates":`...)
	dst = appendLine(dst, m.Path, appendLngLat)
	dst = append(dst, `},"properties":{`...)
	dst = appendMeasures(dst, m, details, appendLngLat)
	return append(dst, `}}`...)
}

// position appends a point as an array of two numbers.
type position func(dst []byte, p orb.Point) []byte

func appendLatLng(dst []byte, p orb.Point) []byte { return appendPair(dst, p[1], p[0]) }

func appendLngLat(dst []byte, p orb.Point) []byte { return appendPair(dst, p[0], p[1]) }

func appendPair(dst []byte, first, second float64) []byte {
	dst = append(dst, '[')
	dst = jsontext.AppendFixed(dst, first, coordinateDecimals)
	dst = append(dst, ',')
	dst = jsontext.AppendFixed(dst, second, coordinateDecimals)
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

// appendMeasures appends everything but the line, without braces.
func appendMeasures(dst []byte, m *matching.Result, details bool, position position) []byte {
	dst = append(dst, `"distance":`...)
	dst = jsontext.AppendRounded(dst, m.Distance, distanceDecimals)
	if !details {
		return dst
	}
	dst = append(dst, `,"confidence":`...)
	dst = jsontext.AppendRounded(dst, m.Confidence, 4)
	dst = append(dst, `,"duration":`...)
	dst = jsontext.AppendRounded(dst, m.Duration, 1)
	dst = append(dst, `,"tracepoints":[`...)
	for i := range m.Tracepoints {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendTracepoint(dst, &m.Tracepoints[i], position)
	}
	return append(dst, ']')
}

func appendTracepoint(dst []byte, t *matching.Tracepoint, position position) []byte {
	if !t.Matched {
		return append(dst, `{"location":null,"distance":null,"name":"","matched":false}`...)
	}
	dst = append(dst, `{"location":`...)
	dst = position(dst, t.Location)
	dst = append(dst, `,"distance":`...)
	dst = jsontext.AppendRounded(dst, t.Distance, distanceDecimals)
	dst = append(dst, `,"name":`...)
	dst = jsontext.AppendString(dst, t.Name)
	return append(dst, `,"matched":true}`...)
}
