package matching

import (
	"errors"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// regional is implemented by matchers on regions of this server.
type regional interface {
	// Cover adds the regions to the coverage of a trace. It fails if a region cannot be read.
	Cover(c *matching.Coverage) error
}

// workPerCovered is how many points are compared with a region per unit of work.
const workPerCovered = 4

// explain adds to a NoRoute error of the chosen matcher where the trace lies. If the chosen matcher has regions, that
// is relative to the regions of all matchers, else relative to those in front of it. If a region is damaged, its
// coverage is unknown and the error stays as it is.
func (h *Handler) explain(err error, in *input, chosen matching.Matcher) error {
	if !errors.Is(err, matching.ErrNoRoute) {
		return err
	}
	_, hasRegions := chosen.(regional)
	seen := matching.CoverageOf(in.points)
	for _, m := range h.offer.matchers[in.profile] {
		if m == chosen && !hasRegions {
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

// choose returns the first matcher that covers a whole trace, or else the first of those that cover most of it. If none
// covers any of it, the last one answers that there is no route.
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
