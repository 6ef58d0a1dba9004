package remote

import (
	"context"
	"errors"

	"github.com/mapsedge/caddy-maps/internal/matching"
)

// SearchOptions are the options of one request to a service.
type SearchOptions struct {
	// Sigma is the assumed standard deviation of the points, in metres.
	Sigma float64
	// Widened makes the service look for roads as far from the points as the request allows.
	Widened bool
}

// Search finds a drive without a gap by up to several requests to a service.
type Search struct {
	// Request is the client's request.
	Request *matching.Request
	// Sigma is the assumed standard deviation of the points in the first request, in metres.
	Sigma float64
	// CanWiden tells whether a widened search differs from the first one.
	CanWiden bool
	// WidenGaps widens the search after a drive with a gap, before any points are left out: the roads in the gap may be
	// farther from the points.
	WidenGaps bool
	// Pause is the time in seconds above which the service was told to split a drive; 0 if it was not. Parts before and
	// after a pause are not joined.
	Pause float64
	// MaySend reports whether another request is allowed.
	MaySend func() bool
	// GapSigma is the least assumed standard deviation after a drive with a gap, in metres.
	GapSigma float64
	// Send sends a request for the points with these indexes.
	Send func(used []int, options SearchOptions) (*Matchings, error)
}

const (
	// maxRuns limits the requests with fewer points.
	maxRuns = 4
	// sigmaFactor is how much larger than assumed the measured sigma must be for another request.
	sigmaFactor = 1.5
)

// Run sends requests until there is a drive without a gap, or nothing is left to try:
//
//  1. for all points;
//  2. for all points again, with a larger sigma if the points are farther from their roads than assumed, and widened if
//     there is no drive or one with a gap;
//  3. without the points that may keep the parts apart.
//
// Of the results for all points it prefers one that is sufficient, then one without a gap, then the one with more
// points on its largest part. A result for fewer points must not have fewer points there. If a later request fails, the
// best result so far is returned.
func (s *Search) Run(ctx context.Context) (*Matchings, error) {
	used := make([]int, len(s.Request.Points))
	for i := range used {
		used[i] = i
	}
	options := SearchOptions{Sigma: s.Sigma}
	best, err := s.Send(used, options)
	if other := s.secondTry(options, best, err); other != options && s.MaySend() {
		next, again := s.Send(used, other)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case again == nil && (err != nil || s.better(next, best)):
			best, err, options = next, nil, other
		}
	}
	if err != nil {
		return nil, err
	}
	last := best
	for run := 1; run < maxRuns && !last.Whole() && !s.cutAtPause(last) && s.MaySend(); run++ {
		used := last.joiningPoints()
		if len(used) <= best.matched() || len(used) == len(last.used) {
			break
		}
		next, err := s.Send(used, options)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			break
		}
		if last = next; last.matched() >= best.matched() {
			best = last
		}
	}
	return best, nil //nolint:nilerr // the best result so far is returned, even if a later request failed
}

// secondTry returns the options of another request for all points, or the same options if it is not worth while.
func (s *Search) secondTry(options SearchOptions, a *Matchings, err error) SearchOptions {
	if err != nil {
		options.Widened = s.CanWiden && errors.Is(err, matching.ErrNoRoute)
		return options
	}
	if sigma := a.sigma(s.Request); sigma > sigmaFactor*options.Sigma {
		options.Sigma = sigma
	}
	if !a.Whole() {
		options.Sigma = max(options.Sigma, s.GapSigma)
	}
	options.Widened = s.CanWiden && (!a.sufficient(s.Request) || s.WidenGaps && !a.Whole())
	return options
}

// cutAtPause reports whether the two parts of a drive are those before and after a pause.
func (s *Search) cutAtPause(a *Matchings) bool {
	if s.Pause == 0 || len(a.parts) != 2 {
		return false
	}
	before := -1
	for i := range a.points {
		if a.points[i].part < 0 {
			continue
		}
		if before >= 0 && a.points[i].part != a.points[before].part {
			return s.Request.Points[a.used[i]].Time-s.Request.Points[a.used[before]].Time > s.Pause
		}
		before = i
	}
	return false
}

// better reports whether a result for all points is better than the one before.
func (s *Search) better(a, before *Matchings) bool {
	if enough := a.sufficient(s.Request); enough != before.sufficient(s.Request) {
		return enough
	}
	if a.Whole() != before.Whole() {
		return a.Whole()
	}
	return a.matched() >= before.matched()
}
