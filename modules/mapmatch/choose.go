package mapmatch

import (
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// coverer is what a matcher implements that does not cover the whole Earth.
type coverer interface {
	Covers(p orb.Point) bool
}

// choose returns the first matcher that covers a trace, or else the first of those that cover most of it.
func (h *Handler) choose(points []trace.Point) matching.Matcher {
	if len(h.matchers) == 1 {
		return h.matchers[0]
	}
	best, most := h.matchers[len(h.matchers)-1], 0
	for _, m := range h.matchers {
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
