package remote

import (
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// MatchResponse is a response in the format of OSRM's match service, unchecked.
type MatchResponse struct {
	Code, Message string // Code is `Ok`, or the code of an error, which Message explains
	ErrorCode     int    // number of an error in Valhalla's own format; else 0

	parts  []part
	points []tracepoint
}

// part is a drive without a gap (a matching in OSRM's terms).
type part struct {
	path       orb.LineString
	confidence float64 // NaN if there is none
	duration   float64 // seconds
	points     int     // number of matched points
}

// tracepoint is the result for a point; part is -1 if the point is not matched.
type tracepoint struct {
	part     int
	location orb.Point
	name     string
}

// Matchings is the checked result for the points that were sent.
type Matchings struct {
	parts  []part
	points []tracepoint // one for each of used
	used   []int        // indexes of the points that were sent
}

// TooManyPoints is the error for a trace that exceeds a limit of the service.
var TooManyPoints = &trace.InputError{Parameter: "path", Point: -1,
	Problem: "more points than the matching service takes"}

// Matchings checks a response with the code Ok for the points in use: indexes are valid, geometries exist, and all of
// it lies near the points.
func (d *MatchResponse) Matchings(req *matching.Request, used []int) (*Matchings, error) {
	if len(d.parts) == 0 || len(d.points) != len(used) {
		return nil, InvalidResponse("%d matchings and %d tracepoints for %d points", len(d.parts), len(d.points),
			len(used))
	}
	for i := range d.points {
		p := &d.points[i]
		if p.part < 0 {
			continue
		}
		if p.part >= len(d.parts) || !onGlobe(p.location) {
			return nil, InvalidResponse("tracepoint %d belongs to no matching or lies nowhere", i)
		}
		d.parts[p.part].points++
	}
	for i := range d.parts {
		path := d.parts[i].path
		if len(path) == 0 || slices.ContainsFunc(path, func(p orb.Point) bool { return !onGlobe(p) }) {
			return nil, InvalidResponse("the geometry of matching %d is empty or lies nowhere", i)
		}
	}
	if err := d.checkPlausible(req, used); err != nil {
		return nil, err
	}
	return &Matchings{parts: d.parts, points: d.points, used: used}, nil
}

func onGlobe(p orb.Point) bool {
	return p[0] >= -180 && p[0] <= 180 && p[1] >= -90 && p[1] <= 90
}

// ForgetConfidence removes the confidence of a service that has the same for every drive.
func (a *Matchings) ForgetConfidence() {
	for i := range a.parts {
		a.parts[i].confidence = math.NaN()
	}
}

// smallest returns the part with the fewest points, the first of equal ones.
func (a *Matchings) smallest() int {
	least := 0
	for i := range a.parts {
		if a.parts[i].points < a.parts[least].points {
			least = i
		}
	}
	return least
}

// largest returns the part with the most points, the last of equal ones.
func (a *Matchings) largest() int {
	largest := 0
	for i := range a.parts {
		if a.parts[i].points >= a.parts[largest].points {
			largest = i
		}
	}
	return largest
}

// Whole reports whether the drive has no gap.
func (a *Matchings) Whole() bool { return len(a.parts) == 1 }

// matched returns the number of points on the largest part.
func (a *Matchings) matched() int { return a.parts[a.largest()].points }

// sufficient reports whether the largest part has at least two points and half of the request's, so that it is a
// response.
func (a *Matchings) sufficient(req *matching.Request) bool {
	n := a.matched()
	return n >= 2 && 2*n >= len(req.Points)
}

// smallShare is how many times more points the largest part has than a small one.
const smallShare = 4

// joiningPoints returns the points without those that may keep the parts apart. It leaves out
//
//   - unmatched points between two parts, if there are any;
//   - else, of more than two parts, the small ones, at least the smallest;
//   - else the points on both sides of the gap: one may lie on a road from which, or to which, no route leads.
func (a *Matchings) joiningPoints() []int {
	leave := a.besideGap
	switch {
	case a.unmatchedGap():
		leave = func(i int) bool { return a.points[i].part < 0 }
	case len(a.parts) > 2:
		least, most := a.smallest(), a.matched()
		leave = func(i int) bool {
			part := a.points[i].part
			return part == least || part >= 0 && smallShare*a.parts[part].points <= most
		}
	}
	var used []int
	for i := range a.points {
		if !leave(i) {
			used = append(used, a.used[i])
		}
	}
	return used
}

// unmatchedGap reports whether unmatched points lie between two parts.
func (a *Matchings) unmatchedGap() bool {
	before, unmatched := -1, false
	for i := range a.points {
		part := a.points[i].part
		if part < 0 {
			unmatched = true
			continue
		}
		if unmatched && before >= 0 && before != part {
			return true
		}
		before, unmatched = part, false
	}
	return false
}

// besideGap reports whether a point is next to a gap between two parts.
func (a *Matchings) besideGap(i int) bool {
	other := func(neighbour int) bool {
		if neighbour < 0 || neighbour >= len(a.points) {
			return false
		}
		part := a.points[neighbour].part
		return part >= 0 && part != a.points[i].part
	}
	return a.points[i].part >= 0 && (other(i-1) || other(i+1))
}

// Result returns the largest part as the result of a request, or matching.ErrNoRoute if it is too small.
func (a *Matchings) Result(req *matching.Request) (*matching.Result, error) {
	id := a.largest()
	part := &a.parts[id]
	if !a.sufficient(req) {
		return nil, matching.ErrNoRoute
	}
	if len(part.path) == 1 {
		part.path = append(part.path, part.path[0])
	}
	result := &matching.Result{Path: part.path, Distance: lengthOf(part.path)}
	if !req.Details {
		return result, nil
	}
	result.Confidence = part.confidence
	result.Duration = max(part.duration, 0)
	result.Tracepoints = make([]matching.Tracepoint, len(req.Points))
	for n := range a.points {
		p := &a.points[n]
		if p.part != id {
			continue
		}
		result.Tracepoints[a.used[n]] = matching.Tracepoint{
			Matched: true, Location: p.location, Distance: distance(req.Points[a.used[n]].Location, p.location), Name: p.name,
		}
	}
	return result, nil
}

func distance(a, b orb.Point) float64 { return geo.Distance(a[1], a[0], b[1], b[0]) }
