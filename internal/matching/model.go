package matching

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// The costs of the hidden Markov model are negative logarithms of probabilities, in nats. The cost of a drive is the
// sum over its points and the ways between them.
const (
	// gaussianLimit is the distance, in sigma, up to which a position's error is normally distributed, as in Newson and
	// Krumm. Beyond it the probability falls with the power tailPower: a point 100 m off is improbable, not impossible.
	gaussianLimit = 3.0
	tailPower     = 10.0
	// otherRoadCost is added where a point lies on one road and is matched to another one, far away.
	otherRoadCost = 3.0
	// outlierCost is the cost of a point that is left out.
	outlierCost = 25.0
	// nearOutlierShare is the share of it where points are close together. It rises to 1 at outlierFar metres.
	nearOutlierShare = 0.35
	outlierFar       = 120.0
	// loneOutlierCost replaces outlierCost where hardly a point would be left. It is worth a detour of some kilometres.
	loneOutlierCost = 200.0
	// destinationOnlyCost is the cost of entering a road with destination-only access. A few points recorded there
	// outweigh it; without any, a route rather goes a few blocks round. It is less than routeMargin, so that such roads
	// are tried.
	destinationOnlyCost = 8.0
	// margin: a candidate that is this much less probable than the best one of the same point is dropped. It leaves room
	// for a wrong ramp that fits better than the right one for a minute, and then leads far away.
	margin = 45.0
	// carryOverMargin is the same for candidates carried over an outlier.
	carryOverMargin = 30.0
	// routeMargin is the same for routes, before the emission cost of their end is added.
	routeMargin = 8.5
)

// emission returns the cost of a point's distance in metres from the road.
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

// backwardCost returns the cost of positions that lie up to so many metres behind earlier ones although the drive goes
// forward: the difference of two errors. It is paid once, for the greatest distance. If each position paid, a
// stationary car would become cheaper by turning round.
func backwardCost(distance, sigma float64) float64 { return distance * distance / (4 * sigma * sigma) }

// maxBackward is the largest such distance, in sigma.
const maxBackward = 6.5

const (
	// Routes are weighed by length and time. Between points close together length counts most; the farther apart they are,
	// the more a driver's choice of the fastest route shows.
	timeShare     = 0.15
	timeShareMore = 0.5
	timeDistance  = 600.0 // metres at which the share of time is timeShare + timeShareMore
	turnWeight    = 80.0  // cost in metres of a turn by 180°; one by 90° costs half
)

// nearTurn is the share of the cost of a U-turn where points are close together: they would show a way to a dead end
// and back.
const nearTurn = 0.6

// turning returns the cost in nats of a U-turn between points of a spacing in metres.
func (m *travelMode) turning(spacing float64) float64 { return m.turnBack * rising(nearTurn, spacing) }

// rising interpolates from a share where points are at one place to 1 where they are outlierFar apart.
func rising(share, spacing float64) float64 { return share + (1-share)*min(1, spacing/outlierFar) }

// detour returns the mean difference in metres between a route and the straight line.
func (m *travelMode) detour(spacing float64) float64 { return m.baseDetour + m.shareDetour*spacing }

// transition returns the cost of a route of a length between points at a straight distance, both in metres.
func transition(length, straight, mean float64) float64 { return (length - straight) / mean }

// speedPenaltyMean is how many metres too far to drive in the time cost one nat.
const speedPenaltyMean = 8.0

// speedPenalty returns the cost of a way that takes some seconds at the roads' free speed where fewer have elapsed and
// people are up to maxSpeedFactor times as fast. The errors of its two ends may have made it longer than it was.
func speedPenalty(seconds, elapsed, maxSpeedFactor, pace, sigma float64) float64 {
	if seconds <= maxSpeedFactor*elapsed || pace == 0 {
		return 0
	}
	return max(0, (seconds-maxSpeedFactor*elapsed)/pace-3*math.Sqrt2*sigma) / speedPenaltyMean
}

// routeCosts returns the costs of routes between points of a spacing. Their unit is a metre on a road of timeSpeed
// without turns.
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
