package matching

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/trace"
)

// Confidence is the share of the drive that is expected to be right. Two things can be wrong: a point may belong to
// another road, and between two points the driver may have taken another route. The constants are those with which the
// evaluation finds as much right as is promised, on drives with and without outliers and stops.
//
// How probable the road of a point is, is what the hypotheses of the next few points say: each has a probability, and a
// best drive that leads to it over some road of that point. Those that lead over the road that was chosen in the end
// are on its side.

// lag is the number of points after a point that are asked. Most wrong roads have become impossible by then.
const lag = 12

const (
	// unseen is the distance in metres over which a driver's choice of the route shows nowhere: at so many, the route is
	// as likely another one, beside those that rivals know of.
	unseen = 20_000.0
	// A way that costs much more than usual is an odd one: from oddCost on, within some oddSpread, a share of oddShare of
	// such ways is wrong.
	oddCost   = 12.0
	oddSpread = 2.0
	oddShare  = 0.1
	// Of so many points left out in a row it is as likely as not that the drive was elsewhere, within some knownSpread.
	knownHalf   = 4.0
	knownSpread = 1.0
	// A point that is so many sigma from its road is as likely as not on another one, within some fitSpread.
	fitHalf   = 5.0
	fitSpread = 0.5
	// Of another way that costs the same, a little less than half of the drivers know.
	alternativeBias = 0.2
	// rivalLimit is how many nats dearer another way is that nobody takes.
	alternativeLimit = 4.0
)

// vote gives the probabilities of the current hypotheses to those before that they come from.
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

// confidence is the mean over the way from each matched point to the next, weighed by its length. What lies between
// points that were left out counts as a part of the drive that is not known.
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

// leftOut goes through the points that are not matched.
type leftOut struct {
	*scratch
	next int32 // the first point that was not gone through
}

func (s *scratch) leftOut() *leftOut { return &leftOut{scratch: s} }

// before counts the points up to another one that are not matched, and how far they lead, in metres.
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

// known is how much of a way is known where so many of its points were left out: few of them are outliers, more of them
// are a part of the drive that is somewhere else.
func known(n int) float64 {
	if n == 0 {
		return 1
	}
	return 1 / (1 + math.Exp((float64(n)-knownHalf)/knownSpread))
}

// misfit is how far a matched point is from its place, in sigma as the better fitting points of the trace have it: a
// part of a trace that is far from all roads makes the noise look greater than it is.
func (s *scratch) misfit(point int32) float64 { return s.distance(point) / min(s.fit, s.sigma[point]) }

// distance is that of a matched point from its place, in metres.
func (s *scratch) distance(point int32) float64 {
	p := s.located[point]
	at := trace.Point{Location: s.at(s.drive[p.piece].arc, p.offset)}
	return pointDistance(&s.points[point], &at)
}

// A third of the points are nearer than lowerThird, in sigma, where errors are distributed normally.
const (
	lowerThird = 0.43
	fewPoints  = 8 // say nothing about that
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

// fits is how probable it is that a point belongs to its road at all.
func fits(x float64) float64 { return 1 / (1 + math.Exp((x-fitHalf)/fitSpread)) }

// onlyWay is how probable it is that the drive took the route it did over a gap, beside other routes that cost hardly
// more.
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

// unseenWay is how probable it is that a drive took the way that was found over a gap in metres.
func unseenWay(gap float64) float64 { return math.Exp(-(gap / unseen) * (gap / unseen)) }

// oddWay is the same by what the way and its end cost.
func oddWay(cost float64) float64 { return 1 - oddShare/(1+math.Exp((oddCost-cost)/oddSpread)) }
