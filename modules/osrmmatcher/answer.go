package osrmmatcher

import (
	"net/http"
	"slices"
	"strings"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/jsontext"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/trace"
	"github.com/mapsedge/caddy-maps/modules/upstream"
)

// answer is what OSRM found.
type answer struct {
	parts  []part
	points []tracepoint // one for each of used
	used   []int        // indices of the points that were sent
}

// part is a drive without a gap; OSRM calls it a matching.
type part struct {
	id         int // its index in OSRM's answer
	path       orb.LineString
	confidence float64
	duration   float64 // seconds
	points     int     // that are matched
}

// tracepoint is what OSRM made of a point; part is -1 where it had no use for it.
type tracepoint struct {
	part     int
	location orb.Point
	name     string
}

// parse reads an answer to a request for the points in use. The error is matching.ErrNoRoute, a *trace.InputError, or one of
// package upstream.
func parse(status int, body []byte, used []int) (*answer, error) {
	switch status {
	case http.StatusOK, http.StatusBadRequest:
	case http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge:
		return nil, tooManyPoints
	default:
		return nil, upstream.Unexpected(status)
	}
	a := &answer{used: used}
	var code, message string
	r := jsontext.NewReader(body)
	r.Expect('{')
	for first := true; r.More('}', &first); {
		switch string(r.Name()) {
		case "code":
			code = string(r.String())
		case "message":
			message = string(r.String())
		case "matchings":
			a.parts = readParts(r, len(used))
		case "tracepoints":
			a.points = readTracepoints(r, len(used))
		default:
			r.Skip()
		}
	}
	r.End()
	if err := r.Err(); err != nil {
		return nil, upstream.Nonsense("%v", err)
	}
	switch code {
	case "Ok":
		if status != http.StatusOK {
			return nil, upstream.Unexpected(status)
		}
		return a, a.check()
	case "NoMatch", "NoSegment":
		return nil, matching.ErrNoRoute
	case "TooBig":
		if strings.Contains(strings.ToLower(message), "radius") {
			return nil, &trace.InputError{Parameter: "radius", Point: -1, Problem: "is more than the matching service takes"}
		}
		return nil, tooManyPoints
	}
	return nil, upstream.Nonsense("code %.40q", code)
}

var tooManyPoints = &trace.InputError{Parameter: "path", Point: -1, Problem: "more points than the matching service takes"}

// check compares what belongs together, and counts the points of the parts.
func (a *answer) check() error {
	if len(a.parts) == 0 || len(a.points) != len(a.used) {
		return upstream.Nonsense("%d matchings and %d tracepoints for %d points", len(a.parts), len(a.points), len(a.used))
	}
	for i := range a.points {
		p := &a.points[i]
		if p.part < 0 {
			continue
		}
		if p.part >= len(a.parts) || !onGlobe(p.location) {
			return upstream.Nonsense("tracepoint %d belongs to no matching or lies nowhere", i)
		}
		a.parts[p.part].points++
	}
	for i := range a.parts {
		a.parts[i].id = i
		if path := a.parts[i].path; len(path) == 0 || slices.ContainsFunc(path, func(p orb.Point) bool { return !onGlobe(p) }) {
			return upstream.Nonsense("the geometry of matching %d is empty or lies nowhere", i)
		}
	}
	return nil
}

func onGlobe(p orb.Point) bool {
	return p[0] >= -180 && p[0] <= 180 && p[1] >= -90 && p[1] <= 90
}

// least is the part with the fewest points.
func (a *answer) least() int {
	least := 0
	for i := range a.parts {
		if a.parts[i].points < a.parts[least].points {
			least = i
		}
	}
	return least
}

// leaveOut takes a part out.
func (a *answer) leaveOut(i int) { a.parts = slices.Delete(a.parts, i, i+1) }

// without lists the points in use that are not of a part.
func (a *answer) without(i int) []int {
	var used []int
	for n := range a.points {
		if a.points[n].part != a.parts[i].id {
			used = append(used, a.used[n])
		}
	}
	return used
}

// result makes the answer of the one part that is left.
func (a *answer) result(req *matching.Request) (*matching.Result, error) {
	part := &a.parts[0]
	if part.points < 2 || 2*part.points < len(req.Points) {
		return nil, matching.ErrNoRoute
	}
	if len(part.path) == 1 {
		part.path = append(part.path, part.path[0])
	}
	result := &matching.Result{Path: part.path}
	for i := range part.path[1:] {
		result.Distance += distance(part.path[i], part.path[i+1])
	}
	if !req.Details {
		return result, nil
	}
	result.Confidence = min(max(part.confidence, 0), 1)
	result.Duration = max(part.duration, 0)
	result.Tracepoints = make([]matching.Tracepoint, len(req.Points))
	for n := range a.points {
		p := &a.points[n]
		if p.part != part.id {
			continue
		}
		result.Tracepoints[a.used[n]] = matching.Tracepoint{
			Matched: true, Location: p.location, Distance: distance(req.Points[a.used[n]].Location, p.location), Name: p.name,
		}
	}
	result.PlacePoints()
	return result, nil
}

func distance(a, b orb.Point) float64 { return roadgraph.Distance(a[1], a[0], b[1], b[0]) }
