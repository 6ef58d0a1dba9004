// Package speed measures the speed of a matcher on one core, and how it scales with the size of the map. It does not
// measure a server: `make soak` does. Start with Measure and Scale.
package speed

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/lab/drives"
)

// Result is the speed on a set of trips.
type Result struct {
	Trips, Points   int           // of one round
	Failed          int           // trips of one round without an answer
	PointsPerSecond float64       // the median of all rounds
	Fastest         float64       // points per second of the fastest round: the one that the machine disturbed least
	P50, P99        time.Duration // of a trip, over all rounds
}

// Measure matches trips one after the other, with no more than one core for everything, garbage collection included;
// once unmeasured and then rounds times. rounds is at least 1.
func Measure(ctx context.Context, m matching.Matcher, trips []orb.LineString, rounds int) (Result, error) {
	s := newSession(m, trips)
	err := measure(ctx, rounds, s)
	return s.result(), err
}

// measure goes through the rounds of some sessions in turn, so that what else the machine does meets all of them.
func measure(ctx context.Context, rounds int, sessions ...*session) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for round := range rounds + 1 {
		for _, s := range sessions {
			if err := s.round(ctx, round > 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// session is the measurement of one matcher on one set of trips.
type session struct {
	matcher   matching.Matcher
	requests  []matching.Request
	points    int
	failed    int             // trips of the last round without an answer
	perSecond []float64       // points, of each round
	perTrip   []time.Duration // of all rounds
}

func newSession(m matching.Matcher, trips []orb.LineString) *session {
	s := &session{matcher: m, requests: make([]matching.Request, len(trips))}
	for i, trip := range trips {
		s.requests[i].Points = drives.Points(trip)
		s.points += len(trip)
	}
	return s
}

// round matches all trips once.
func (s *session) round(ctx context.Context, counts bool) error {
	runtime.GC()
	s.failed = 0
	began := time.Now()
	for i := range s.requests {
		start := time.Now()
		_, err := s.matcher.Match(ctx, &s.requests[i])
		if counts {
			s.perTrip = append(s.perTrip, time.Since(start))
		}
		switch {
		case errors.Is(err, matching.ErrNoRoute) || errors.Is(err, matching.ErrWork):
			s.failed++
		case err != nil:
			return err
		}
	}
	if counts {
		s.perSecond = append(s.perSecond, float64(s.points)/time.Since(began).Seconds())
	}
	return nil
}

func (s *session) result() Result {
	r := Result{Trips: len(s.requests), Points: s.points, Failed: s.failed}
	if len(s.perTrip) > 0 {
		slices.Sort(s.perSecond)
		slices.Sort(s.perTrip)
		r.PointsPerSecond, r.Fastest = quantile(s.perSecond, 0.5), s.perSecond[len(s.perSecond)-1]
		r.P50, r.P99 = quantile(s.perTrip, 0.5), quantile(s.perTrip, 0.99)
	}
	return r
}

// quantile of sorted values, of which there is at least one: the least one that a share of all values does not exceed.
func quantile[T any](sorted []T, share float64) T {
	return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
}
