package osrmmatcher

import (
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/jsontext"
	"github.com/mapsedge/caddy-maps/internal/polyline"
)

// readParts reads the matchings. It stops behind more than there can be, which leaves the reader with an error.
func readParts(r *jsontext.Reader, most int) (parts []part) {
	r.Expect('[')
	for first := true; len(parts) <= most && r.More(']', &first); {
		var p part
		r.Expect('{')
		for first := true; r.More('}', &first); {
			switch string(r.Name()) {
			case "confidence":
				p.confidence = readNumber(r)
			case "duration":
				p.duration = readNumber(r)
			case "geometry":
				p.path = readGeometry(r)
			default:
				r.Skip()
			}
		}
		parts = append(parts, p)
	}
	return parts
}

// readNumber reads a number that may be null; one too large for a float64 is 0.
func readNumber(r *jsontext.Reader) float64 {
	if r.Null() {
		return 0
	}
	if v := r.Number(); !math.IsInf(v, 0) {
		return v
	}
	return 0
}

// readGeometry reads a line, encoded as a polyline of six decimals, which is asked for, or as GeoJSON, which proxies and other services
// that speak OSRM's protocol may send all the same. A malformed polyline is an empty line.
func readGeometry(r *jsontext.Reader) (line orb.LineString) {
	if r.Peek() == '"' {
		line, _ = polyline.Decode(r.String(), polyline.Precision6)
		return line
	}
	r.Expect('{')
	for first := true; r.More('}', &first); {
		if string(r.Name()) != "coordinates" {
			r.Skip()
			continue
		}
		r.Expect('[')
		line = make(orb.LineString, 0, 256)
		for first := true; r.More(']', &first); {
			line = append(line, readPosition(r))
		}
	}
	return line
}

// readPosition reads [lon,lat].
func readPosition(r *jsontext.Reader) (p orb.Point) {
	r.Expect('[')
	p[0] = r.Number()
	r.Expect(',')
	p[1] = r.Number()
	r.Expect(']')
	return p
}

// readTracepoints reads the tracepoints, null for those left out. It stops behind more than there can be, as readParts does.
func readTracepoints(r *jsontext.Reader, most int) (points []tracepoint) {
	points = make([]tracepoint, 0, most)
	r.Expect('[')
	for first := true; len(points) <= most && r.More(']', &first); {
		p := tracepoint{part: -1}
		if !r.Null() {
			p = readTracepoint(r)
		}
		points = append(points, p)
	}
	return points
}

// nowhere is a part that no answer has.
const nowhere = math.MaxInt32

func readTracepoint(r *jsontext.Reader) tracepoint {
	p := tracepoint{part: nowhere, location: orb.Point{math.NaN(), math.NaN()}}
	r.Expect('{')
	for first := true; r.More('}', &first); {
		switch string(r.Name()) {
		case "matchings_index":
			if v := r.Number(); v >= 0 && v < nowhere && v == math.Trunc(v) {
				p.part = int(v)
			}
		case "location":
			p.location = readPosition(r)
		case "name":
			if !r.Null() {
				p.name = string(r.String())
			}
		default:
			r.Skip()
		}
	}
	return p
}
