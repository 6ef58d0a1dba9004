package remote

import (
	"context"
	"errors"

	"github.com/mapsedge/caddy-maps/internal/matching"
)

// Terms are how points are asked for.
type Terms struct {
	// Sigma is how exact the points are taken to be: one sigma in metres.
	Sigma float64
	// Wide says that roads are looked for as far from the points as the request allows.
	Wide bool
}

// Search finds one drive in what a service answers.
type Search struct {
	// Request is what a client asks for.
	Request *matching.Request
	// Sigma is how exact its points are taken to be at first, in metres.
	Sigma float64
	// CanWiden says whether a wide search is another one.
	CanWiden bool
	// WidenGaps says that a drive with a gap is looked for farther away before any point is left out: the roads that
	// are missing in the gap may not have been near enough.
	WidenGaps bool
	// Pause is the time, in seconds, above which the service was told to cut a drive in two; 0 where it was not. No point
	// keeps the parts before and behind a pause from each other.
	Pause float64
	// MayAsk says whether another question is allowed, once one has been answered.
	MayAsk func() bool
	// GapSigma is how exact the points of a drive with a gap are taken to be at least, in metres.
	GapSigma float64
	// Ask asks for the points with these indexes.
	Ask func(used []int, terms Terms) (*Matchings, error)
}

const (
	// maxRuns is how often a trace is asked for again with fewer points.
	maxRuns = 4
	// coarser is how many times as far off as they were taken to be the points must be for another search.
	coarser = 1.5
)

// Run asks for the trace until there is a drive without a gap, or nothing is left to try. Where the points lie farther
// from their roads than they were taken to, it asks once more for points that are less exact; where there is no drive,
// or one with a gap, in a wider search; then without the points that keep the parts of the drive from each other. Of
// two answers for all points it takes the one that has enough points on its largest part, then the one without a gap,
// then the one with more points on that part; of those that follow, only one that has no fewer there. What was answered
// before stands when the service fails later.
func (s *Search) Run(ctx context.Context) (*Matchings, error) {
	used := make([]int, len(s.Request.Points))
	for i := range used {
		used[i] = i
	}
	terms := Terms{Sigma: s.Sigma}
	best, err := s.Ask(used, terms)
	if other := s.other(terms, best, err); other != terms && s.MayAsk() {
		next, again := s.Ask(used, other)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case again == nil && (err != nil || s.better(next, best)):
			best, err, terms = next, nil, other
		}
	}
	if err != nil {
		return nil, err
	}
	last := best
	for run := 1; run < maxRuns && !last.Whole() && !s.cut(last) && s.MayAsk(); run++ {
		used := last.fewer()
		if len(used) <= best.matched() || len(used) == len(last.used) {
			break
		}
		next, err := s.Ask(used, terms)
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
	return best, nil //nolint:nilerr // the best answer so far stands, whatever became of a question for a better one
}

// other returns how to ask for all points again after the first response, or the same terms where that is not worth it.
func (s *Search) other(terms Terms, a *Matchings, err error) Terms {
	if err != nil {
		terms.Wide = s.CanWiden && errors.Is(err, matching.ErrNoRoute)
		return terms
	}
	if sigma := a.sigma(s.Request); sigma > coarser*terms.Sigma {
		terms.Sigma = sigma
	}
	if !a.Whole() {
		terms.Sigma = max(terms.Sigma, s.GapSigma)
	}
	terms.Wide = s.CanWiden && (!a.enough(s.Request) || s.WidenGaps && !a.Whole())
	return terms
}

// cut reports whether the two parts of a drive are those before and behind a pause.
func (s *Search) cut(a *Matchings) bool {
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

// better reports whether a response for all points is to be preferred to the one before.
func (s *Search) better(a, before *Matchings) bool {
	if enough := a.enough(s.Request); enough != before.enough(s.Request) {
		return enough
	}
	if a.Whole() != before.Whole() {
		return a.Whole()
	}
	return a.matched() >= before.matched()
}
