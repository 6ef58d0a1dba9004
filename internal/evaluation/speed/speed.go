// Package speed measures how fast a matcher is on one core.
package speed

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/evaluation/drives"
	"github.com/mapsedge/caddy-maps/internal/matching"
)

// Result is the speed on a set of trips.
type Result struct {
	Trips, Points   int           // of one round
	Failed          int           // trips of one round without an answer
	PointsPerSecond float64       // the median of all rounds
	Fastest         float64       // points per second of the fastest round: the one that the machine disturbed least
	P50, P99        time.Duration // of a trip, over all rounds
}

// Measure matches trips one after the other, with no more than one core for everything, garbage collection included; once
// unmeasured and then rounds times. rounds is at least 1.
func Measure(ctx context.Context, m matching.Matcher, trips []orb.LineString, rounds int) (Result, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	requests := make([]matching.Request, len(trips))
	r := Result{Trips: len(trips)}
	for i, trip := range trips {
		requests[i].Points = drives.Points(trip)
		r.Points += len(trip)
	}
	if r.Points == 0 {
		return r, nil
	}
	var perSecond []float64
	var perTrip []time.Duration
	for round := range rounds + 1 {
		runtime.GC()
		r.Failed = 0
		began := time.Now()
		for i := range requests {
			start := time.Now()
			_, err := m.Match(ctx, &requests[i])
			if round > 0 {
				perTrip = append(perTrip, time.Since(start))
			}
			switch {
			case errors.Is(err, matching.ErrNoRoute) || errors.Is(err, matching.ErrOverloaded):
				r.Failed++
			case err != nil:
				return r, err
			}
		}
		if round > 0 {
			perSecond = append(perSecond, float64(r.Points)/time.Since(began).Seconds())
		}
	}
	slices.Sort(perSecond)
	slices.Sort(perTrip)
	r.PointsPerSecond, r.Fastest = quantile(perSecond, 0.5), perSecond[len(perSecond)-1]
	r.P50, r.P99 = quantile(perTrip, 0.5), quantile(perTrip, 0.99)
	return r, nil
}

// quantile of sorted values, of which there is at least one: the least one that a share of all values does not exceed.
func quantile[T any](sorted []T, share float64) T {
	return sorted[max(int(math.Ceil(share*float64(len(sorted))))-1, 0)]
}
