package valhallamatcher

import (
	"net/http"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/jsontext"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/polyline"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/upstream"
)

// answer is what Valhalla found.
type answer struct {
	code       int // of an error; 0 where there is none
	shape      []byte
	path       orb.LineString
	confidence float64
	edges      []edge
	points     []point
}

// edge is a piece of a road.
type edge struct {
	name    string
	elapsed float64 // seconds from the beginning of the drive to its end
	way     int64   // of OpenStreetMap; 0 where the answer does not say
	// begin and end are where in the path it lies; -1 where the answer does not say.
	begin, end int
}

// point is what Valhalla made of a point of the trace.
type point struct {
	matched  bool
	location orb.Point
	edge     int  // -1 for none
	begins   bool // no route leads to it
	ends     bool // no route leads from it
}

// parse reads an answer to a request with so many points. The error is matching.ErrNoRoute, a *trace.InputError, or one of
// package upstream.
func parse(status int, body []byte, points int) (*answer, error) {
	switch status {
	case http.StatusOK, http.StatusBadRequest:
	case http.StatusRequestEntityTooLarge:
		return nil, tooManyPoints
	default:
		return nil, upstream.Unexpected(status)
	}
	a := new(answer)
	r := jsontext.NewReader(body)
	a.read(r, points)
	if err := r.Err(); err != nil {
		return nil, upstream.Nonsense("%v", err)
	}
	if err := refusal(a.code); err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, upstream.Unexpected(status)
	}
	var err error
	if a.path, err = polyline.Decode(a.shape, polyline.Precision6); err != nil {
		return nil, upstream.Nonsense("shape: %v", err)
	}
	return a, a.check(points)
}

var tooManyPoints = &trace.InputError{Parameter: "path", Point: -1, Problem: "more points than the matching service takes"}

// refusal is what an error code of Valhalla means; nil for none.
func refusal(code int) error {
	switch code {
	case 0:
		return nil
	case 170, 171, 172, 441, 442, 443, 444: // no edges near, parts that are not connected, no path, nothing matched
		return matching.ErrNoRoute
	case 123: // insufficient shape
		return &trace.InputError{Parameter: "path", Point: -1, Problem: "fewer points than the matching service needs"}
	case 150, 153: // too many locations, too many points
		return tooManyPoints
	case 154: // the trace is too long
		return &trace.InputError{Parameter: "path", Point: -1, Problem: "longer than the matching service takes"}
	}
	return upstream.Nonsense("error code %d", code)
}

// check compares what belongs together.
func (a *answer) check(points int) error {
	if len(a.path) == 0 || len(a.edges) == 0 || len(a.points) != points {
		return upstream.Nonsense("%d positions, %d edges and %d matched points for %d points", len(a.path), len(a.edges), len(a.points), points)
	}
	for _, p := range a.path {
		if !onGlobe(p) {
			return upstream.Nonsense("the shape leaves the globe")
		}
	}
	for i := range a.points {
		p := &a.points[i]
		// A point on an edge that the answer does not have is on no road that it tells of.
		if p.edge < 0 || p.edge >= len(a.edges) {
			p.matched = false
		}
		if p.matched && !onGlobe(p.location) {
			return upstream.Nonsense("matched point %d lies nowhere", i)
		}
	}
	return nil
}

func onGlobe(p orb.Point) bool {
	return p[0] >= -180 && p[0] <= 180 && p[1] >= -90 && p[1] <= 90
}

// largest returns the part of the drive with the most points, the later of equal ones, and whether it is the whole drive.
func (a *answer) largest() (from, to int, whole bool) {
	whole = true
	most, begin, matched := -1, 0, 0
	for i := range a.points {
		if a.points[i].matched {
			matched++
		}
		last := i == len(a.points)-1
		if gap := a.points[i].ends || !last && a.points[i+1].begins; !gap && !last {
			continue
		}
		whole = whole && last
		if matched >= most {
			most, from, to = matched, begin, i+1
		}
		begin, matched = i+1, 0
	}
	return from, to, whole
}

// result makes the answer to a request, the first of whose points used was this one.
func (a *answer) result(req *matching.Request, first int) (*matching.Result, error) {
	matched := 0
	for i := range a.points {
		if a.points[i].matched {
			matched++
		}
	}
	if matched < 2 || 2*matched < len(req.Points) {
		return nil, matching.ErrNoRoute
	}
	if len(a.path) == 1 {
		a.path = append(a.path, a.path[0])
	}
	result := &matching.Result{Path: a.path}
	for i := range a.path[1:] {
		result.Distance += distance(a.path[i], a.path[i+1])
	}
	if !req.Details {
		return result, nil
	}
	result.Confidence = min(max(a.confidence, 0), 1)
	for _, e := range a.edges {
		result.Duration = max(result.Duration, e.elapsed)
	}
	result.Tracepoints = make([]matching.Tracepoint, len(req.Points))
	for i := range a.points {
		p := &a.points[i]
		if !p.matched {
			continue
		}
		result.Tracepoints[first+i] = matching.Tracepoint{
			Matched: true, Location: p.location, Distance: distance(req.Points[first+i].Location, p.location), Name: a.edges[p.edge].name,
		}
	}
	result.Ways = a.ways()
	result.PlacePoints()
	return result, nil
}

// ways joins the edges into runs of ways; nil where the answer does not say which they are, or where in the path.
func (a *answer) ways() (ways []matching.Way) {
	at := 0
	for i := range a.edges {
		e := &a.edges[i]
		if e.way == 0 || e.begin != at || e.end < at || e.end >= len(a.path) {
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
	if at != len(a.path)-1 {
		return nil
	}
	return ways
}

func distance(a, b orb.Point) float64 { return roadgraph.Distance(a[1], a[0], b[1], b[0]) }
