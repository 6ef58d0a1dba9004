package matching

import (
	"fmt"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// NoRouteError is ErrNoRoute with a probable reason. Clients see its text.
type NoRouteError struct{ Reason string }

// Error returns the text of ErrNoRoute and the reason.
func (e *NoRouteError) Error() string { return ErrNoRoute.Error() + ": " + e.Reason }

// Unwrap returns ErrNoRoute.
func (e *NoRouteError) Unwrap() error { return ErrNoRoute }

// Coverage tells which points of a trace the configured regions cover.
type Coverage struct {
	points  []trace.Point
	covered []bool // by any region
	regions int
	most    int // points that a single region covers
}

// CoverageOf returns the coverage of a trace. Add its regions next.
func CoverageOf(points []trace.Point) *Coverage {
	return &Coverage{points: points, covered: make([]bool, len(points))}
}

// Add adds a region. It calls covers once for consecutive points in the same tile.
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

// NoRoute returns a *NoRouteError that says why there may be no route, once all regions have been added.
func (c *Coverage) NoRoute() error {
	reason := c.gap()
	if reason == "" {
		reason = "the trace lies inside the region's coverage, but no drive on its roads fits it"
	}
	return &NoRouteError{Reason: reason}
}

// NoRouteOfService is NoRoute where a service without regions was asked because no region covers the whole trace. It
// returns plain ErrNoRoute where coverage explains nothing: no point lies in any region, or all of them in one.
func (c *Coverage) NoRouteOfService() error {
	gap := c.gap()
	if gap == "" || c.most == 0 {
		return ErrNoRoute
	}
	return &NoRouteError{Reason: gap + "; the service that was asked for the whole trace found no route"}
}

// gap describes what one region's coverage lacks of the trace; "" if nothing.
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
