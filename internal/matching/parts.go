package matching

import (
	"math"
	"slices"
)

// part is a stretch of the best drive without a gap.
type part struct {
	first, last int // indexes into bestSteps; last is exclusive
	points      int // matched
}

// maxRuns is how often a trace is matched again without the parts that do not fit.
const maxRuns = 8

// solve finds the best drive.
func (s *scratch) solve(details bool) (*Result, error) {
	s.used = s.used[:0]
	for i := range s.points {
		s.used = append(s.used, int32(i))
	}
	if err := s.join(); err != nil {
		return nil, err
	}
	return s.result(details)
}

// join finds the best drive without gaps. Where no route closes a gap, it leaves out the part with the fewest points
// and tries to join those around it.
func (s *scratch) join() error {
	for range maxRuns {
		if err := s.run(); err != nil {
			return err
		}
		s.trace()
		if len(s.parts) == 0 {
			return ErrNoRoute
		}
		if len(s.parts) == 1 {
			return nil
		}
		least := 0
		for i := range s.parts {
			if s.parts[i].points < s.parts[least].points {
				least = i
			}
		}
		s.leaveOut(&s.parts[least])
	}
	s.keepLargest()
	return nil
}

// trace follows the best drive back from its end, and divides it into parts.
func (s *scratch) trace() {
	s.bestSteps, s.parts = s.bestSteps[:0], s.parts[:0]
	at, lowest := int32(-1), math.Inf(1)
	for i := range s.before {
		if s.before[i].cost < lowest {
			at, lowest = s.place(i), s.before[i].cost
		}
	}
	for ; at >= 0; at = s.steps[at].previous {
		s.bestSteps = append(s.bestSteps, at)
	}
	slices.Reverse(s.bestSteps)
	for i, at := range s.bestSteps {
		if s.steps[at].move == moveBegin {
			s.parts = append(s.parts, part{first: i})
		}
		p := &s.parts[len(s.parts)-1]
		p.last = i + 1
		if s.steps[at].move != moveOutlier {
			p.points++
		}
	}
}

// leaveOut removes the points of a part from used.
func (s *scratch) leaveOut(p *part) {
	steps := s.bestSteps[p.first:p.last]
	s.used = slices.DeleteFunc(s.used, func(point int32) bool {
		_, found := slices.BinarySearchFunc(steps, point, func(at, point int32) int {
			return int(s.steps[at].point) - int(point)
		})
		return found
	})
}

// keepLargest cuts the drive down to its largest part.
func (s *scratch) keepLargest() {
	largest := s.parts[0]
	for _, p := range s.parts {
		if p.points > largest.points {
			largest = p
		}
	}
	s.bestSteps = s.bestSteps[largest.first:largest.last]
	s.parts = append(s.parts[:0], part{last: len(s.bestSteps), points: largest.points})
}
