package remote

import (
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// Document is a response as it came.
type Document struct {
	// Code is `Ok`, or what went wrong, and Message the same in words.
	Code, Message string
	// ErrorCode is Valhalla's number of an error, where it is answered in Valhalla's own form; else 0.
	ErrorCode int

	parts  []part
	points []tracepoint
}

// part is a drive without a gap; OSRM calls it a matching.
type part struct {
	path       orb.LineString
	confidence float64 // NaN where there is none
	duration   float64 // seconds
	points     int     // that are matched
}

// tracepoint is what became of a point; part is -1 where there was no use for it.
type tracepoint struct {
	part     int
	location orb.Point
	name     string
}

// Matchings is what a service made of the points that it was sent.
type Matchings struct {
	parts  []part
	points []tracepoint // one for each of used
	used   []int        // indexes of the points that were sent
}

// TooManyPoints is the error for a trace that a service does not take.
var TooManyPoints = &trace.InputError{Parameter: "path", Point: -1,
	Problem: "more points than the matching service takes"}

// Matchings checks a document whose code is Ok, which answers a request for the points in use: that what belongs
// together is there, and that it lies where the points are.
func (d *Document) Matchings(req *matching.Request, used []int) (*Matchings, error) {
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
	if err := d.near(req, used); err != nil {
		return nil, err
	}
	return &Matchings{parts: d.parts, points: d.points, used: used}, nil
}

func onGlobe(p orb.Point) bool {
	return p[0] >= -180 && p[0] <= 180 && p[1] >= -90 && p[1] <= 90
}

// ForgetConfidence is for a service that says the same of every drive.
func (a *Matchings) ForgetConfidence() {
	for i := range a.parts {
		a.parts[i].confidence = math.NaN()
	}
}

// least is the part with the fewest points, the first of equal ones.
func (a *Matchings) least() int {
	least := 0
	for i := range a.parts {
		if a.parts[i].points < a.parts[least].points {
			least = i
		}
	}
	return least
}

// largest is the part with the most points, the last of equal ones.
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

// matched is the number of points on the largest part, which is what a response can be made of.
func (a *Matchings) matched() int { return a.parts[a.largest()].points }

// enough reports whether the largest part has so many of a request's points that it can be the response.
func (a *Matchings) enough(req *matching.Request) bool {
	n := a.matched()
	return n >= 2 && 2*n >= len(req.Points)
}

// smallShare is how many times as many points as a small part the largest one has.
const smallShare = 4

// fewer lists the points with which the parts may become one. A point without a road in the middle of a trace may be
// all that keeps two parts from each other. Where there is none, it may be the small ones of several parts, at
// least the smallest, and where there are two, the points on both sides of the gap: one of them may lie on a road from
// which, or to which, no route leads.
func (a *Matchings) fewer() []int {
	leave := a.beside
	switch {
	case a.unmatchedGap():
		leave = func(i int) bool { return a.points[i].part < 0 }
	case len(a.parts) > 2:
		least, most := a.least(), a.matched()
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

// unmatchedGap reports whether points without a road lie between two parts.
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

// beside reports whether a point is beside a gap between two parts.
func (a *Matchings) beside(i int) bool {
	other := func(neighbour int) bool {
		if neighbour < 0 || neighbour >= len(a.points) {
			return false
		}
		part := a.points[neighbour].part
		return part >= 0 && part != a.points[i].part
	}
	return a.points[i].part >= 0 && (other(i-1) || other(i+1))
}

// Result makes the response to a request of the largest part.
func (a *Matchings) Result(req *matching.Request) (*matching.Result, error) {
	id := a.largest()
	part := &a.parts[id]
	if !a.enough(req) {
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
