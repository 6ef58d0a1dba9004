package valhalla

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// edge is a piece of a road.
type edge struct {
	Names []string `json:"names"`
	Way   int64    `json:"way_id"` // of OpenStreetMap; 0 where the response does not say
	Begin int      `json:"begin_shape_index"`
	End   int      `json:"end_shape_index"`
}

// maxNames is how many names a road may have.
const maxNames = 100

// ways asks which ways a path is on, by walking along it. It returns nil where Valhalla cannot walk it, which happens
// where a drive turns round in the middle of an edge, and where it may not be asked once more.
func (m *Matcher) ways(ctx context.Context, profile matching.Profile, path orb.LineString) []matching.Way {
	line := geo.AppendPolyline(nil, path, geo.Polyline6)
	body := append([]byte(nil), `{"encoded_polyline":`...)
	body, _ = jsontext.AppendQuote(body, line) // ASCII, as are the names of costings
	body = append(body, `,"shape_format":"polyline6","shape_match":"edge_walk","costing":`...)
	body, _ = jsontext.AppendQuote(body, m.costing(profile))
	body = append(body, `,"directions_type":"none","filters":{"action":"include","attributes":["edge.way_id",`+
		`"edge.names","edge.begin_shape_index","edge.end_shape_index","shape"]}}`...)
	var ways []matching.Way
	err := m.Ask(ctx, &remote.Request{Path: "/trace_attributes", Body: body}, func(status int, body []byte) error {
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
	var read struct {
		Shape string `json:"shape"`
		Edges []edge `json:"edges"`
	}
	err := json.Unmarshal(body, &read, json.WithUnmarshalers(json.JoinUnmarshalers(
		remote.AtMost[edge](points), remote.AtMost[string](maxNames))))
	if err != nil || read.Shape != string(line) {
		return nil
	}
	at := 0
	for _, e := range read.Edges {
		if e.Way <= 0 || e.Begin != at || e.End < at || e.End >= points {
			return nil
		}
		if e.End == at {
			continue
		}
		if n := len(ways); n == 0 || ways[n-1].ID != e.Way {
			ways = append(ways, matching.Way{ID: e.Way, Name: e.name(), From: at})
		}
		at = e.End
		ways[len(ways)-1].To = at
	}
	if at != points-1 {
		return nil
	}
	return ways
}

// name is the first name that a road has; "" where it has none.
func (e *edge) name() string {
	for _, name := range e.Names {
		if name != "" {
			return name
		}
	}
	return ""
}
