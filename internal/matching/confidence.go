package matching

import "math"

// Confidence is the share of the drive that is expected to be right. Two things can be wrong: a point may belong to
// another road, and between two points the driver may have taken another route. The constants are those with which the
// evaluation finds as much right as is promised, on drives with and without outliers and stops.
//
// How probable the road of a point is, is what the hypotheses of the next few points say: each has a probability, and a
// best drive that leads to it over some road of that point. Those that lead over the road that was chosen in the end are
// on its side.

// lag is the number of points after a point that are asked. Most wrong roads have become impossible by then.
const lag = 12

const (
	// unseen is the distance in metres over which a driver's choice of the route shows nowhere: at so many, the route is as
	// likely another one.
	unseen = 7000.0
	// A way that costs much more than usual is an odd one: from oddCost on, within some oddSpread, a share of oddShare of such
	// ways is wrong.
	oddCost   = 12.0
	oddSpread = 2.0
	oddShare  = 0.25
)

// vote gives the probabilities of the current hypotheses to those before that they come from.
func (s *scratch) vote() {
	s.bounds = append(s.bounds, int32(len(s.steps)-len(s.before)))
	total, lowest := 0.0, lowestCost(s.before)
	for i := range s.before {
		total += math.Exp(lowest - s.before[i].cost)
	}
	for i := range s.before {
		s.steps[s.place(i)].share = float32(math.Exp(lowest-s.before[i].cost) / total)
	}
	end := int32(len(s.steps))
	for k := len(s.bounds) - 1; k > 0 && k > len(s.bounds)-1-lag; k-- {
		for i := s.bounds[k-1]; i < s.bounds[k]; i++ {
			s.steps[i].share = 0
		}
		for i := s.bounds[k]; i < end; i++ {
			if p := s.steps[i].previous; p >= 0 {
				s.steps[p].share += s.steps[i].share
			}
		}
		end = s.bounds[k]
	}
}

// confidence is the mean over the points of the best drive, each weighed by the distance from the one before.
func (s *scratch) confidence() float64 {
	total, weights := 0.0, 0.0
	last := int32(-1) // in steps
	for _, at := range s.chain {
		step := &s.steps[at]
		if step.move == skip {
			continue
		}
		sure, weight := float64(step.share), 1.0
		if last >= 0 {
			before := &s.steps[last]
			gap := apart(&s.points[before.point], &s.points[step.point])
			sure *= unseenWay(gap) * oddWay(float64(step.cost-before.cost))
			weight += gap
		}
		last = at
		total += weight * sure
		weights += weight
	}
	return total / weights
}

// unseenWay is how probable it is that a drive took the way that was found over a gap in metres.
func unseenWay(gap float64) float64 { return math.Exp(-(gap / unseen) * (gap / unseen)) }

// oddWay is the same by what the way and its end cost.
func oddWay(cost float64) float64 { return 1 - oddShare/(1+math.Exp((oddCost-cost)/oddSpread)) }
