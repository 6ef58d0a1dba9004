package matchservice

import (
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/jsontext"
	"github.com/mapsedge/caddy-maps/internal/polyline"
	"github.com/mapsedge/caddy-maps/modules/upstream"
)

// Read reads a whole document that answers a request for so many points. Its error is one of package upstream.
func Read(body []byte, points int) (*Document, error) {
	d := new(Document)
	r := jsontext.NewReader(body)
	r.Expect('{')
	for first := true; r.More('}', &first); {
		switch string(r.Name()) {
		case "code":
			d.Code = string(r.String())
		case "message":
			d.Message = string(r.String())
		case "error_code":
			d.ErrorCode = int(max(0, min(readNumber(r, 0), math.MaxInt32)))
		case "matchings":
			d.parts = readParts(r, points)
		case "tracepoints":
			d.points = readTracepoints(r, d.points[:0], points)
		default:
			r.Skip()
		}
	}
	r.End()
	if err := r.Err(); err != nil {
		return nil, upstream.InvalidResponse("%v", err)
	}
	return d, nil
}

// readParts reads the matchings. It stops behind more than there can be, which leaves the reader with an error.
func readParts(r *jsontext.Reader, most int) (parts []part) {
	r.Expect('[')
	for first := true; len(parts) <= most && r.More(']', &first); {
		p := part{confidence: math.NaN()}
		r.Expect('{')
		for first := true; r.More('}', &first); {
			switch string(r.Name()) {
			case "confidence":
				p.confidence = probability(readNumber(r, math.NaN()))
			case "duration":
				p.duration = readNumber(r, 0)
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

// readNumber reads a number. Where it is null, or too large for a float64, it is another one.
func readNumber(r *jsontext.Reader, other float64) float64 {
	if r.Null() {
		return other
	}
	if v := r.Number(); !math.IsInf(v, 0) {
		return v
	}
	return other
}

// readGeometry reads a line, encoded as a polyline of six decimals, which is asked for, or as GeoJSON, which proxies
// and other services that speak OSRM's protocol may send all the same. A malformed polyline is an empty line.
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
		line = slices.Grow(line[:0], 256)
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

// readTracepoints appends the tracepoints, null for those left out. It stops behind more than there can be, as
// readParts does. A member that comes again and again takes no more memory than once.
func readTracepoints(r *jsontext.Reader, points []tracepoint, most int) []tracepoint {
	points = slices.Grow(points, most)
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

// nowhere is a part that no response has.
const nowhere = math.MaxInt32

func readTracepoint(r *jsontext.Reader) tracepoint {
	p := tracepoint{part: nowhere, location: orb.Point{math.NaN(), math.NaN()}}
	r.Expect('{')
	for first := true; r.More('}', &first); {
		switch string(r.Name()) {
		case "matchings_index":
			if r.Null() {
				p.part = -1
			} else if v := r.Number(); v >= 0 && v < nowhere && v == math.Trunc(v) {
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
