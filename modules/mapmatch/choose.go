package mapmatch

import (
	"errors"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// coverer is what a matcher implements that does not cover the whole Earth.
type coverer interface {
	Covers(p orb.Point) bool
}

// regional is what a matcher implements that matches on regions of this server.
type regional interface {
	// Cover adds the regions to the coverage of a trace. The error is that of one that cannot be read.
	Cover(c *matching.Coverage) error
}

// workPerCovered is how many points are compared with a region in a unit of work.
const workPerCovered = 4

// explain adds to an error that says that there is no route where the trace lies. A matcher without regions may know
// the whole Earth, and what a damaged region covers is not known; then there is nothing to add.
func (h *Handler) explain(err error, in *input) error {
	if !errors.Is(err, matching.ErrNoRoute) {
		return err
	}
	matchers := h.offer.matchers[in.profile] // the others were never asked
	for _, m := range matchers {
		if _, ok := m.(regional); !ok {
			return err
		}
	}
	coverage := matching.CoverageOf(in.points)
	for _, m := range matchers {
		if in.work.Spend(int64(len(in.points)/workPerCovered)) != nil || m.(regional).Cover(coverage) != nil {
			return err
		}
	}
	return coverage.NoRoute()
}

// choose returns the first matcher that covers a trace, or else the first of those that cover most of it.
func choose(matchers []matching.Matcher, points []trace.Point) matching.Matcher {
	if len(matchers) == 1 {
		return matchers[0]
	}
	best, most := matchers[len(matchers)-1], 0
	for _, m := range matchers {
		c, partial := m.(coverer)
		if !partial {
			return m
		}
		covered, asked := trace.CountSampled(points, c.Covers)
		if covered == asked {
			return m
		}
		if covered > most {
			best, most = m, covered
		}
	}
	return best
}
