package matching

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/trace"
)

// Confidence is the share of the drive that is expected to be right. Two things can be wrong: a point may belong to
// another road, and between two points the driver may have taken another route. The constants are calibrated: the
// evaluation finds as much right as promised, on drives with and without outliers and stops.
//
// The probability of a point's road comes from the candidates of the next few points. Each has a probability, and its
// best drive leads over one road of the point; the road's probability is the sum over the drives that use it.

// lag is the number of following points considered. Most wrong roads have become impossible by then.
const lag = 12

const (
	// unseen is the scale in metres of gaps over which the route is a guess, beyond what alternatives tell.
	unseen = 20_000.0
	// oddCost, in nats, is where a way becomes odd, with a logistic transition of oddSpread. Of odd ways oddShare are
	// wrong.
	oddCost   = 12.0
	oddSpread = 2.0
	oddShare  = 0.1
	// knownHalf is how many points left out in a row make it as likely as not that the drive was elsewhere; logistic with
	// knownSpread.
	knownHalf   = 4.0
	knownSpread = 1.0
	// fitHalf is the distance in sigma at which a point is as likely as not on another road; logistic with fitSpread.
	fitHalf   = 5.0
	fitSpread = 0.5
	// alternativeBias, in nats: a little less than half of the drivers take an alternative of equal cost.
	alternativeBias = 0.2
	// alternativeLimit is the excess cost, in nats, from which on no one takes an alternative.
	alternativeLimit = 4.0
)

// updateShares sets the probabilities of the current candidates, and sums them up along their best drives over the
// steps of the last lag points.
func (s *scratch) updateShares() {
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

// confidence returns the mean over the ways from each matched point to the next, weighted by length. Ways between
// points left out count as unknown.
func (s *scratch) confidence() float64 {
	total, weights := 0.0, 0.0
	stretch := func(sure, metres float64) {
		total += metres * sure
		weights += metres
	}
	s.estimateFit()
	left := s.leftOut()
	last := int32(-1) // in steps
	for _, at := range s.bestSteps {
		step := &s.steps[at]
		if step.move == moveOutlier {
			continue
		}
		sure := float64(step.share) * fits(s.misfit(step.point))
		if last < 0 {
			n, walked := left.before(step.point)
			stretch(known(n), walked)
			stretch(sure, 1)
		} else {
			before := &s.steps[last]
			gap := pointDistance(&s.points[before.point], &s.points[step.point])
			n, walked := left.before(step.point)
			sure *= unseenWay(gap) * oddWay(float64(step.cost-before.cost)) * s.onlyWay(step, gap)
			stretch(sure*known(n), max(gap, walked)+1)
		}
		last = at
	}
	n, walked := left.before(int32(len(s.points)))
	stretch(known(n), walked)
	return total / weights
}

// leftOut iterates over the points that are not matched.
type leftOut struct {
	*scratch
	next int32 // point
}

func (s *scratch) leftOut() *leftOut { return &leftOut{scratch: s} }

// before counts the unmatched points from next to another point, and how far they lead in metres.
func (l *leftOut) before(point int32) (n int, walked float64) {
	from := max(l.next-1, 0)
	for ; l.next < point; l.next++ {
		if l.located[l.next].piece < 0 {
			n++
		}
	}
	if n > 0 {
		for i := from + 1; i <= min(point, int32(len(l.points)-1)); i++ {
			walked += pointDistance(&l.points[i-1], &l.points[i])
		}
	}
	l.next = max(l.next, point+1)
	return n, walked
}

// known returns the probability that n points left out in a row are outliers and not a part of the drive elsewhere.
func known(n int) float64 {
	if n == 0 {
		return 1
	}
	return 1 / (1 + math.Exp((float64(n)-knownHalf)/knownSpread))
}

// misfit returns how far a matched point is from its place, in the sigma of the better fitting points: a part of a
// trace far from all roads makes the noise look greater than it is.
func (s *scratch) misfit(point int32) float64 { return s.distance(point) / min(s.fit, s.sigma[point]) }

// distance returns the distance of a matched point from its place, in metres.
func (s *scratch) distance(point int32) float64 {
	p := s.located[point]
	at := trace.Point{Location: s.at(s.drive[p.piece].arc, p.offset)}
	return pointDistance(&s.points[point], &at)
}

const (
	lowerThird = 0.43 // sigma: a third of normally distributed errors are smaller
	fewPoints  = 8    // fewer are no sample
)

// estimateFit fills fit.
func (s *scratch) estimateFit() {
	s.numbers = s.numbers[:0]
	for i := range s.points {
		if s.located[i].piece >= 0 {
			s.numbers = append(s.numbers, s.distance(int32(i)))
		}
	}
	if s.fit = math.Inf(1); len(s.numbers) >= fewPoints {
		slices.Sort(s.numbers)
		s.fit = max(leastSigma, s.numbers[len(s.numbers)/3]/lowerThird)
	}
}

// fits returns the probability that a point belongs to its road, by its misfit.
func fits(x float64) float64 { return 1 / (1 + math.Exp((x-fitHalf)/fitSpread)) }

// onlyWay returns the probability of a step's route over a gap in metres, beside alternatives that cost hardly more.
func (s *scratch) onlyWay(step *step, gap float64) float64 {
	sure := 1.0
	if step.move != moveRoute {
		return sure
	}
	for node := step.route; node != 0; node = s.nodes[node].parent {
		if r := s.alternatives[node]; r.cost < alternativeLimit {
			sure *= 1 - min(1, float64(r.metres)/(gap+1))/(1+math.Exp(float64(r.cost)+alternativeBias))
		}
	}
	return sure
}

// unseenWay returns the probability of the way that was found over a gap in metres.
func unseenWay(gap float64) float64 { return math.Exp(-(gap / unseen) * (gap / unseen)) }

// oddWay returns the probability of a way by the cost in nats of the way and its end.
func oddWay(cost float64) float64 { return 1 - oddShare/(1+math.Exp((oddCost-cost)/oddSpread)) }
