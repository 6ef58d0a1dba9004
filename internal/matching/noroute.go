package matching

import (
	"fmt"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// NoRouteError is ErrNoRoute with what may be the reason. Its text is shown to the client.
type NoRouteError struct{ Reason string }

// Error is the text of ErrNoRoute and the reason.
func (e *NoRouteError) Error() string { return ErrNoRoute.Error() + ": " + e.Reason }

// Unwrap returns ErrNoRoute.
func (e *NoRouteError) Unwrap() error { return ErrNoRoute }

// Coverage is where a trace lies, seen from the regions on which it could be matched.
type Coverage struct {
	points  []trace.Point
	covered []bool // for each point, whether any region covers it
	regions int
	most    int // points that the one region covers that covers most
}

// CoverageOf returns the coverage of a trace by no region yet.
func CoverageOf(points []trace.Point) *Coverage {
	return &Coverage{points: points, covered: make([]bool, len(points))}
}

// Add adds a region. It asks for one point of those that follow each other in one tile.
func (c *Coverage) Add(covers func(orb.Point) bool) {
	c.regions++
	count, inside := 0, false
	var tile uint32
	for i := range c.points {
		at := c.points[i].Location
		if t := region.CoverageTile(at); i == 0 || t != tile {
			tile, inside = t, covers(at)
		}
		if inside {
			c.covered[i] = true
			count++
		}
	}
	c.most = max(c.most, count)
}

// NoRoute is why there may be no route, once all regions have been added: a *NoRouteError.
func (c *Coverage) NoRoute() error {
	reason := c.gap()
	if reason == "" {
		reason = "the trace lies inside the region's coverage, but no drive on its roads fits it"
	}
	return &NoRouteError{Reason: reason}
}

// NoRouteOfService is why there may be no route where none of the regions covers the whole trace, so that a service
// without regions was asked for all of it: a *NoRouteError. It is ErrNoRoute where the regions had no part in that:
// where no point lies in any of them, or all of them in one.
func (c *Coverage) NoRouteOfService() error {
	gap := c.gap()
	if gap == "" || c.most == 0 {
		return ErrNoRoute
	}
	return &NoRouteError{Reason: gap + "; the service that was asked for the whole trace found no route"}
}

// gap is how the trace is not inside the coverage of one region; "" where it is.
func (c *Coverage) gap() string {
	outside := 0
	for _, covered := range c.covered {
		if !covered {
			outside++
		}
	}
	where := "the region's coverage"
	if c.regions > 1 {
		where = "the coverage of all regions"
	}
	switch {
	case outside == len(c.points):
		return "the whole trace lies outside " + where
	case outside > 0:
		return fmt.Sprintf("part of the trace, %d of %d points, lies outside %s", outside, len(c.points), where)
	case c.most < len(c.points):
		return "each point lies in some region's coverage, but no region covers the whole trace"
	}
	return ""
}
