package matching

import (
	"math"
	"slices"
)

// run is Viterbi's algorithm over the points in use: it finds the best drive to every candidate of a point.
func (s *scratch) run() error {
	s.steps, s.bounds, s.before, s.skippedCost = s.steps[:0], s.bounds[:0], s.before[:0], 0
	s.nodes, s.alternatives = append(s.nodes[:0], routeNode{}), append(s.alternatives[:0], alternative{})
	for i, point := range s.used {
		if err := s.advance(point, i); err != nil {
			return err
		}
	}
	return nil
}

// advance takes the next point, the n-th in use. It looks for roads nearby first, and farther away while none fits.
func (s *scratch) advance(point int32, n int) error {
	spacing := s.measure(point)
	s.costs = s.mode.routeCosts(spacing)
	lowest := lowestCost(s.before)
	for radius := min(max(s.radius, nearby*s.sigma[point]), s.maxRadius); ; radius = min(2*radius, s.maxRadius) {
		s.findCandidates(point, radius)
		if err := s.spend(workPerPoint + len(s.hits)/hitsPerWork + workPerCandidate*len(s.candidates)); err != nil {
			return err
		}
		if err := s.connect(point, spacing); err != nil {
			return err
		}
		found := lowestCost(s.candidates) < lowest+poorFit(spacing)
		if len(s.before) == 0 {
			found = len(s.candidates) > 0
		}
		if found || radius >= s.maxRadius {
			break
		}
	}
	leave := s.outlierCost * rising(nearOutlierShare, s.gap(n))
	s.restart(point, leave)
	s.carryOver(leave)
	s.skippedCost += leave
	return s.keep()
}

// gap returns how close together, in metres, the points around the n-th in use are:
//
//	max(|n-1, n+1| / 2, min(|n-2, n-1|, |n+1, n+2|))
//
// The second term counts where the drive turns back at n.
func (s *scratch) gap(n int) float64 {
	last := len(s.used) - 1
	between := func(i, k int) float64 {
		return pointDistance(&s.points[s.used[max(i, 0)]], &s.points[s.used[min(k, last)]])
	}
	around := math.Inf(1)
	if n >= 2 {
		around = between(n-2, n-1)
	}
	if n+2 <= last {
		around = min(around, between(n+1, n+2))
	}
	if math.IsInf(around, 1) { // at most three points
		around = min(between(n-1, n), between(n, n+1))
	}
	return max(between(n-1, n+1)/2, around)
}

// nearby is where the search for roads starts, in sigma: one road in 2000 is farther away.
const nearby = 4

// poorFit returns the cost of a point from which on roads farther away are tried. Between points close together it is
// that of a detour into a side street on which an inexact point happens to lie; between distant ones detours are usual.
func poorFit(spacing float64) float64 { return min(15, 5+spacing/36) }

// measure sets straight of the earlier candidates, and returns the distance from the latest of their points in metres.
// Their errors make two points lie farther apart than they were; straight is less by that much.
func (s *scratch) measure(point int32) (distance float64) {
	latest := int32(-1)
	for i := range s.before {
		st := &s.before[i]
		if i > 0 && st.point == s.before[i-1].point {
			st.straight = s.before[i-1].straight
			continue
		}
		d := pointDistance(&s.points[st.point], &s.points[point])
		st.straight = math.Sqrt(max(0, d*d-2*(s.sigma[point]*s.sigma[point]+s.sigma[st.point]*s.sigma[st.point])))
		if st.point > latest {
			latest, distance = st.point, d
		}
	}
	return distance
}

func lowestCost(list []candidate) float64 {
	lowest := math.Inf(1)
	for i := range list {
		lowest = min(lowest, list[i].cost)
	}
	return lowest
}

// restart lets the drive begin at the new point, which makes all earlier ones outliers. If no candidate can be reached
// from an earlier one, the drive has a gap and begins anew as well.
func (s *scratch) restart(point int32, leave float64) {
	cost, previous := s.skippedCost, int32(-1)
	if len(s.before) > 0 && math.IsInf(lowestCost(s.candidates), 1) {
		best := 0
		for i := range s.before {
			if s.before[i].cost < s.before[best].cost {
				best = i
			}
		}
		cost, previous = s.before[best].cost+leave, s.place(best)
	}
	for i := range s.candidates {
		st := &s.candidates[i]
		if c := cost + s.emission(point, st.distance); c < st.cost && st.state == st.arc {
			st.cost, st.step = c, step{move: moveBegin, previous: previous}
		}
	}
}

// place returns the index in steps of a candidate in before.
func (s *scratch) place(i int) int32 { return int32(len(s.steps) - len(s.before) + i) }

// carryOver keeps the earlier candidates, in case the new point is an outlier.
func (s *scratch) carryOver(leave float64) {
	lowest := lowestCost(s.candidates)
	for i := range s.before {
		st := s.before[i]
		if st.cost+leave < lowest+carryOverMargin {
			st.cost += leave
			st.step = step{move: moveOutlier, previous: s.place(i)}
			s.candidates = append(s.candidates, st)
		}
	}
}

// fewestKept is how many candidates of a point are kept at least.
const fewestKept = 64

// keepUpTo returns the greatest cost and number of candidates to keep. Long traces among many roads keep fewer for each
// point, so that there is room for all points.
func (s *scratch) keepUpTo() (limit float64, most int) {
	limit, most = lowestCost(s.candidates)+margin, max(fewestKept, maxSteps/len(s.used))
	if len(s.candidates) <= most {
		return limit, most
	}
	s.numbers = s.numbers[:0]
	for i := range s.candidates {
		s.numbers = append(s.numbers, s.candidates[i].cost)
	}
	slices.Sort(s.numbers)
	return min(limit, s.numbers[most-1]), most
}

// keep ends the point: the candidates that still have a chance become before, and their steps are kept.
func (s *scratch) keep() error {
	if len(s.candidates) == 0 {
		return nil
	}
	limit, most := s.keepUpTo()
	s.before = s.before[:0]
	for i := range s.candidates {
		st := &s.candidates[i]
		if st.cost > limit || math.IsInf(st.cost, 1) || len(s.before) == most {
			continue
		}
		st.step.state, st.step.offset, st.step.point, st.step.cost = st.state, float32(st.offset), st.point, float32(st.cost)
		s.before = append(s.before, *st)
		s.steps = append(s.steps, st.step)
	}
	if s.withConfidence {
		s.updateShares()
	}
	if len(s.steps) > maxSteps || len(s.nodes) > maxNodes {
		return ErrWork
	}
	return nil
}
