package matching

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// The probabilities of the hidden Markov model. All costs are minus the logarithm of a probability, in nats, so that
// the costs of independent things add up; a drive's cost is the sum over its points and the ways between them.
const (
	// gaussian is the distance, in sigma, up to which a position's error is distributed as Newson and Krumm have it.
	// Farther out the probability falls with a power of it, tail: a point 100 m off is improbable, not impossible.
	gaussianLimit = 3.0
	tailPower     = 10.0
	// ownRoad is what it costs more that a point lies on one road and is matched to another one, far away.
	otherRoadCost = 3.0
	// outlier is what a point costs that has no part in the drive.
	outlierCost = 25.0
	// nearOutlier is its share where points are close together, and outlierFar the distance in metres from which on it
	// costs all.
	nearOutlierShare = 0.35
	outlierFar  = 120.0
	// loneOutlier is the same where otherwise hardly a point would be left. It is worth a detour of some kilometres.
	loneOutlierCost = 200.0
	// intrusion is what it costs to go into a road that is only for those who have a destination there. Points recorded
	// there soon pay for it; a route that nothing was recorded of would rather go a few blocks round. It is less than what
	// a search leaves room for, so that such a road is always tried.
	destinationOnlyCost = 8.0
	// margin: a hypothesis that is by this much less probable than the best one at the same point is given up. It leaves
	// room for a wrong ramp beside the right one that fits better for a minute, and then leads far away.
	margin = 45.0
	// waitMargin is the same for those that wait, should the point be an outlier.
	carryOverMargin = 30.0
	// routeMargin is the same for routes, before they are compared with where the point is.
	routeMargin = 8.5
)

// emission is the cost of a point's distance from the road.
func (s *scratch) emission(point int32, distance float64) float64 {
	x := distance / s.sigma[point]
	cost := x * x / 2
	if x > gaussianLimit {
		cost = gaussianLimit*gaussianLimit/2 + tailPower*math.Log(x/gaussianLimit)
		if s.closest < s.sigma[point] {
			cost += otherRoadCost * min(1, x/gaussianLimit-1)
		}
	}
	return cost * s.weight[point]
}

// slipping is the cost of positions that lie behind earlier ones, up to so many metres, although the drive goes
// forward: the difference of two errors. It is paid once for the greatest distance and not for each position, or a
// car that stands still would sooner or later be cheaper turned round.
func backwardCost(distance, sigma float64) float64 { return distance * distance / (4 * sigma * sigma) }

// maxSlip is the largest such distance, in sigma.
const maxBackward = 6.5

const (
	// Routes are measured by length and by time, as drivers do. Between points that are close together the length says
	// all; the farther they are apart, the more a driver's choice of the route shows.
	timeShare     = 0.15
	timeShareMore = 0.5
	timeDistance  = 600.0 // metres at which the share of time is timeShare + timeShareMore
	turnWeight    = 80.0  // metres that a turn right back would cost; one at a right angle costs half of it
)

// nearTurn is the share of what turning round costs where points are close together and show it: there, the way to some
// dead end and back would have been recorded.
const nearTurn = 0.6

// turning is what turning round costs between points of a spacing, in nats.
func (m *travelMode) turning(spacing float64) float64 { return m.turnBack * rising(nearTurn, spacing) }

// rising goes from a share where points are close together up to 1 where they are outlierFar apart.
func rising(share, spacing float64) float64 { return share + (1-share)*min(1, spacing/outlierFar) }

// detour is the mean of the differences between a route and a straight line.
func (m *travelMode) detour(spacing float64) float64 { return m.baseDetour + m.shareDetour*spacing }

// transition is the cost of a route of a length between points whose straight distance is known.
func transition(length, straight, mean float64) float64 { return (length - straight) / mean }

// speedPenaltyMean is what a metre that nobody could have driven in time costs: one nat for so many.
const speedPenaltyMean = 8.0

// speedPenalty is the cost of a way that takes some seconds at the roads' free speed, when so many have elapsed and
// people are up to maxSpeedFactor times as fast. The errors of its two ends may have made it longer than it was.
func speedPenalty(seconds, elapsed, maxSpeedFactor, pace, sigma float64) float64 {
	if seconds <= maxSpeedFactor*elapsed || pace == 0 {
		return 0
	}
	return max(0, (seconds-maxSpeedFactor*elapsed)/pace-3*math.Sqrt2*sigma) / speedPenaltyMean
}

// routeCosts is what routes are measured by between points of a spacing: the length in metres on roads of middling
// speed without turns.
func (m *travelMode) routeCosts(spacing float64) roadgraph.Costs {
	share := timeShare + timeShareMore*math.Min(1, spacing/timeDistance)
	nat := m.detour(spacing) // in metres
	return roadgraph.Costs{PerMetre: 1 - share, PerSecond: share * m.timeSpeed, Turn: &turnCosts,
		TurnBack: m.turning(spacing) * nat, DeadEnd: m.deadEnd * nat, DestinationOnly: destinationOnlyCost * nat}
}

var turnCosts = makeTurnCosts()

func makeTurnCosts() (t [256]float64) {
	for a := range t {
		angle := float64(int8(a)) / 128 * math.Pi
		t[a] = turnWeight * (1 - math.Cos(angle)) / 2
	}
	return t
}
