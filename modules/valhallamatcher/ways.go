package valhallamatcher

import (
	"bytes"
	"context"
	"math"
	"net/http"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/jsontext"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/polyline"
	"github.com/mapsedge/caddy-maps/modules/upstream"
)

// edge is a piece of a road.
type edge struct {
	name string
	way  int64 // of OpenStreetMap; 0 where the response does not say
	// begin and end are where in the path it lies; -1 where the response does not say.
	begin, end int
}

// ways asks which ways a path is on, by walking along it. It returns nil where Valhalla cannot walk it, which happens
// where a drive turns round in the middle of an edge, and where it may not be asked once more.
func (m *Matcher) ways(ctx context.Context, profile matching.Profile, path orb.LineString) []matching.Way {
	line := polyline.Append(nil, path, polyline.Precision6)
	body := append([]byte(nil), `{"encoded_polyline":`...)
	body = jsontext.AppendString(body, string(line))
	body = append(body, `,"shape_format":"polyline6","shape_match":"edge_walk","costing":`...)
	body = jsontext.AppendString(body, m.costing(profile))
	body = append(body, `,"directions_type":"none","filters":{"action":"include","attributes":["edge.way_id",`+
		`"edge.names","edge.begin_shape_index","edge.end_shape_index","shape"]}}`...)
	var ways []matching.Way
	err := m.Ask(ctx, &upstream.Request{Path: "/trace_attributes", Body: body}, func(status int, body []byte) error {
		if status == http.StatusOK {
			ways = readWays(body, line, len(path))
		}
		return nil
	})
	if err != nil {
		return nil // the drive is there without them
	}
	return ways
}

// readWays joins the edges of a response into runs of ways; nil where it is about another line than was asked for, does
// not say which ways they are, or where in the line.
func readWays(body, line []byte, points int) (ways []matching.Way) {
	var edges []edge
	same := false
	r := jsontext.NewReader(body)
	r.Expect('{')
	for first := true; r.More('}', &first); {
		switch string(r.Name()) {
		case "shape":
			same = bytes.Equal(r.String(), line)
		case "edges":
			r.Expect('[')
			for first := true; len(edges) <= points && r.More(']', &first); {
				edges = append(edges, readEdge(r))
			}
		default:
			r.Skip()
		}
	}
	if r.End(); r.Err() != nil || !same {
		return nil
	}
	at := 0
	for i := range edges {
		e := &edges[i]
		if e.way == 0 || e.begin != at || e.end < at || e.end >= points {
			return nil
		}
		if e.end == at {
			continue
		}
		if n := len(ways); n == 0 || ways[n-1].ID != e.way {
			ways = append(ways, matching.Way{ID: e.way, Name: e.name, From: at})
		}
		at = e.end
		ways[len(ways)-1].To = at
	}
	if at != points-1 {
		return nil
	}
	return ways
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
		case "way_id":
			if v := readIndex(r); v > 0 {
				e.way = v
			}
		case "begin_shape_index":
			e.begin = int(readIndex(r))
		case "end_shape_index":
			e.end = int(readIndex(r))
		default:
			r.Skip()
		}
	}
	return e
}

// readIndex reads a whole number that is not negative; -1 for everything else.
func readIndex(r *jsontext.Reader) int64 {
	if r.Null() {
		return -1
	}
	if v := r.Number(); v >= 0 && v < 1<<53 && v == math.Trunc(v) {
		return int64(v)
	}
	return -1
}
