package valhallamatcher

import (
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/jsontext"
)

// read reads a whole answer. It stops behind more matched points than there can be, which leaves the reader with an error.
func (a *answer) read(r *jsontext.Reader, points int) {
	r.Expect('{')
	for first := true; r.More('}', &first); {
		switch string(r.Name()) {
		case "error_code":
			a.code = int(finite(r))
		case "shape":
			a.shape = r.String()
		case "confidence_score":
			a.confidence = finite(r)
		case "edges":
			r.Expect('[')
			for first := true; r.More(']', &first); {
				a.edges = append(a.edges, readEdge(r))
			}
		case "matched_points":
			r.Expect('[')
			for first := true; len(a.points) <= points && r.More(']', &first); {
				a.points = append(a.points, readPoint(r))
			}
		default:
			r.Skip()
		}
	}
	r.End()
}

// finite reads a number that may be null; one too large to count with is 0.
func finite(r *jsontext.Reader) float64 {
	if r.Null() {
		return 0
	}
	if v := r.Number(); math.Abs(v) < math.MaxInt32 {
		return v
	}
	return 0
}

func readEdge(r *jsontext.Reader) edge {
	e := edge{begin: -1, end: -1}
	r.Expect('{')
	for first := true; r.More('}', &first); {
		switch string(r.Name()) {
		case "names":
			r.Expect('[')
			for first := true; r.More(']', &first); {
				if name := r.String(); e.name == "" {
					e.name = string(name)
				}
			}
		case "end_node":
			e.elapsed = readElapsed(r)
		case "way_id":
			if !r.Null() {
				if v := r.Number(); v > 0 && v < 1<<53 {
					e.way = int64(v)
				}
			}
		case "begin_shape_index":
			e.begin = int(finite(r))
		case "end_shape_index":
			e.end = int(finite(r))
		default:
			r.Skip()
		}
	}
	return e
}

// readElapsed reads the time of a node.
func readElapsed(r *jsontext.Reader) (seconds float64) {
	r.Expect('{')
	for first := true; r.More('}', &first); {
		if string(r.Name()) == "elapsed_time" {
			seconds = finite(r)
		} else {
			r.Skip()
		}
	}
	return seconds
}

func readPoint(r *jsontext.Reader) point {
	p := point{location: orb.Point{math.NaN(), math.NaN()}, edge: -1}
	r.Expect('{')
	for first := true; r.More('}', &first); {
		switch string(r.Name()) {
		case "lat":
			p.location[1] = r.Number()
		case "lon":
			p.location[0] = r.Number()
		case "type":
			kind := string(r.String())
			p.matched = kind == "matched" || kind == "interpolated"
		case "edge_index":
			if v := r.Number(); v >= 0 && v < math.MaxInt32 {
				p.edge = int(v)
			}
		case "begin_route_discontinuity":
			p.begins = r.Bool()
		case "end_route_discontinuity":
			p.ends = r.Bool()
		default:
			r.Skip()
		}
	}
	return p
}
