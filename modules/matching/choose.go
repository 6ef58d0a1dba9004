package matching

import (
	"errors"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// regional is what a matcher implements that matches on regions of this server.
type regional interface {
	// Cover adds the regions to the coverage of a trace. The error is that of one that cannot be read.
	Cover(c *matching.Coverage) error
}

// workPerCovered is how many points are compared with a region in a unit of work.
const workPerCovered = 4

// explain adds to an error of the matcher that was asked, which says that there is no route, where the trace lies: as
// seen from all regions, or, where a matcher without regions was asked, from those that would have been asked before it
// had they covered the whole trace. What a damaged region covers is not known; then there is nothing to add.
func (h *Handler) explain(err error, in *input, asked matching.Matcher) error {
	if !errors.Is(err, matching.ErrNoRoute) {
		return err
	}
	_, here := asked.(regional)
	seen := matching.CoverageOf(in.points)
	for _, m := range h.offer.matchers[in.profile] { // the others are not asked for it
		if m == asked && !here {
			return seen.NoRouteOfService()
		}
		if r, ok := m.(regional); ok {
			if in.work.Spend(int64(len(in.points)/workPerCovered)) != nil || r.Cover(seen) != nil {
				return err
			}
		}
	}
	return seen.NoRoute()
}

// choose returns the first matcher that covers a trace, or else the first of those that cover most of it. Where none
// covers any of it, the last one may say what it thinks of it.
func choose(matchers []matching.Matcher, points []trace.Point) matching.Matcher {
	last := matchers[len(matchers)-1]
	if len(matchers) == 1 {
		return last
	}
	best, covered := regions.BestCovering(matchers, func(m matching.Matcher) (covered, of int) {
		c, partial := m.(regions.Partial)
		if !partial {
			return 1, 1
		}
		return trace.CountSampled(points, c.Covers)
	})
	if covered > 0 {
		return matchers[best]
	}
	return last
}
