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

// edge is an edge of Valhalla's graph on the drive.
type edge struct {
	Names []string `json:"names"`
	Way   int64    `json:"way_id"` // of OpenStreetMap; 0 if missing
	Begin int      `json:"begin_shape_index"`
	End   int      `json:"end_shape_index"`
}

// maxNames is the largest number of names of a road.
const maxNames = 100

// ways requests the ways along a path. It returns nil if Valhalla cannot follow the path, as when a drive turns round
// in the middle of an edge, and if max_calls allows no more.
func (m *Matcher) ways(ctx context.Context, profile matching.Profile, path orb.LineString) []matching.Way {
	line := geo.AppendPolyline(nil, path, geo.Polyline6)
	body := append([]byte(nil), `{"encoded_polyline":`...)
	body, _ = jsontext.AppendQuote(body, line) // ASCII, as are the names of costings
	body = append(body, `,"shape_format":"polyline6","shape_match":"edge_walk","costing":`...)
	body, _ = jsontext.AppendQuote(body, m.costing(profile))
	body = append(body, `,"directions_type":"none","filters":{"action":"include","attributes":["edge.way_id",`+
		`"edge.names","edge.begin_shape_index","edge.end_shape_index","shape"]}}`...)
	var ways []matching.Way
	err := m.Send(ctx, &remote.Request{Path: "/trace_attributes", Body: body}, func(status int, body []byte) error {
		if status == http.StatusOK {
			ways = readWays(body, line, len(path))
		}
		return nil
	})
	if err != nil {
		return nil // the response has no ways then
	}
	return ways
}

// readWays joins consecutive edges of one way. It returns nil if the response is for another line, or does not tell the
// ways of the whole line.
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

// name returns the first name of a road; "" if it has none.
func (e *edge) name() string {
	for _, name := range e.Names {
		if name != "" {
			return name
		}
	}
	return ""
}
