package matching

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/trace"
)

// routeNode is a state on a route, linked to the one before it. The state that a route starts from is not part of it.
type routeNode struct {
	state  uint32
	parent int32 // 0: none
}

// The longest route while no end is known: anywhere that a driver may have gone unrecorded.
const (
	longestDetour = 20_000 // metres
	longestFactor = 5      // times the distance
)

// connect finds the best way to each new candidate from the earlier ones.
func (s *scratch) connect(point int32, spacing float64) error {
	if len(s.candidates) == 0 || len(s.before) == 0 {
		return nil
	}
	c := connection{scratch: s, point: point, sigma: s.sigma[point], mean: s.mode.detour(spacing),
		turning: s.mode.turning(spacing), best: math.Inf(1)}
	for i := range s.before {
		st := &s.before[i]
		if st.length > 0 {
			st.perMetre = s.costs.PerMetre + s.costs.PerSecond*st.pace
		}
	}
	c.alongRoads()
	if err := c.byRoutes(spacing); err != nil {
		return err
	}
	for i := range s.candidates {
		if to := &s.candidates[i]; to.step.move == moveStationary && to.step.previous >= 0 {
			to.offset = s.before[to.step.previous-s.place(0)].offset
		}
	}
	return nil
}

// connection is the work of connect.
type connection struct {
	*scratch
	point int32   // the new one
	sigma float64 // of the point
	mean  float64 // see detour

	turning float64 // see travelMode.turning
	best    float64 // lowest cost of a new candidate so far
}

// relax records a way to a new candidate if it is the cheapest so far, and reports whether it is.
func (c *connection) relax(to *candidate, from int, m move, cost float64) bool {
	cost += c.before[from].cost + c.emission(c.point, to.distance)
	c.best = min(c.best, cost)
	if cost >= to.cost {
		return false
	}
	to.cost, to.step, to.backward = cost, step{move: m, previous: c.place(from)}, 0
	return true
}

// alongRoads connects candidates on the same road. The new ones are sorted by road. Earlier ones are sorted by road,
// too; those carried over an outlier follow, sorted the same way.
func (c *connection) alongRoads() {
	first, road := 0, uint32(0)
	for i := range c.before {
		if r := c.before[i].arc >> 1; r < road {
			first, road = 0, r
		} else {
			road = r
		}
		for first < len(c.candidates) && c.candidates[first].arc>>1 < road {
			first++
		}
		for k := first; k < len(c.candidates) && c.candidates[k].arc>>1 == road; k++ {
			c.along(i, &c.candidates[k])
		}
	}
}

// leastAdvance is the least distance in metres driven on a road before a U-turn on it.
const leastAdvance = 1.0

func (c *connection) along(i int, to *candidate) {
	from := &c.before[i]
	ahead := to.offset - from.offset
	switch {
	case to.arc != from.arc:
		// No U-turn right after entering a road: it would bypass turn restrictions.
		if to.state == to.arc && max(from.offset, from.length-to.offset) >= leastAdvance {
			metres := math.Abs(from.length - from.offset - to.offset)
			cost := c.turning + transition(metres*from.perMetre, from.straight, c.mean)
			c.relax(to, i, moveTurnBack, cost+c.speedPenalty(from, to, metres*to.pace))
		}
	case to.state != from.state:
	case ahead >= 0:
		c.relax(to, i, moveForward, transition(ahead*from.perMetre, from.straight, c.mean)+
			c.speedPenalty(from, to, ahead*to.pace))
	case c.allowBackward && -ahead <= maxBackward*c.sigma && c.withinRadius(from, to):
		backward := max(-ahead, from.backward)
		cost := backwardCost(backward, c.sigma) - backwardCost(from.backward, c.sigma) + from.straight/c.mean
		if c.relax(to, i, moveStationary, cost) {
			to.backward = backward
		}
	}
}

// speedPenalty returns the cost of a way that takes some seconds at the roads' free speed, if less time has elapsed.
func (c *connection) speedPenalty(from, to *candidate, seconds float64) float64 {
	elapsed := c.points[c.point].Time - c.points[from.point].Time
	if !(elapsed > 0) { // unknown, not in order, or rounded to seconds or minutes
		return 0
	}
	return speedPenalty(seconds, elapsed, c.mode.maxSpeedFactor, to.pace, c.sigma)
}

// withinRadius reports whether the point of a new candidate is within maxRadius of the place of an earlier one on the
// same road, where it is matched if the drive is stationary.
func (c *connection) withinRadius(from, to *candidate) bool {
	if to.distance+from.offset-to.offset <= c.scratch.maxRadius { // surely
		return true
	}
	at := trace.Point{Location: c.at(from.arc, from.offset)}
	return pointDistance(&c.points[c.point], &at) <= c.scratch.maxRadius
}

// byRoutes connects all candidates with one search from all earlier ones at once, each with the cost of its drive. So
// the best drive is the first to arrive at a target.
func (c *connection) byRoutes(spacing float64) error {
	search := &c.search
	search.Reset(c.graph, c.costs)
	at := c.points[c.point].Location
	search.SetPotential(at.Lat(), at.Lon(), c.farthest())
	lowest := math.Inf(1)
	for i := range c.before {
		from := &c.before[i]
		start := from.cost*c.mean - from.straight
		lowest = min(lowest, start)
		rest := from.length - from.offset
		search.AddSourceAt(int32(i), from.state, from.arc, from.head, start+rest*from.perMetre, rest*from.pace)
	}
	for i := range c.candidates {
		search.AddTarget(int32(i), c.candidates[i].state)
	}
	longest := lowest + longestFactor*spacing + longestDetour
	c.routes = c.routes[:0]
	for {
		search.Limit = min(longest, (c.best+routeMargin)*c.mean)
		label, ok := search.Next(c.ctx)
		if !ok {
			break
		}
		c.arrive(label)
	}
	return overloaded(search.Err())
}

// farthest returns the distance in metres from the point to the farthest new candidate.
func (c *connection) farthest() (distance float64) {
	for i := range c.candidates {
		distance = max(distance, c.candidates[i].distance)
	}
	return distance
}

// arrive connects the candidate that the search has reached.
func (c *connection) arrive(label int32) {
	l := *c.search.Label(label)
	from := &c.before[l.Source]
	to := &c.candidates[l.Target]
	travelled := l.Cost - (from.cost*c.mean - from.straight)
	cost := transition(travelled+to.offset*to.perMetre, from.straight, c.mean) +
		c.speedPenalty(from, to, l.Time+to.offset*to.pace)
	if c.relax(to, int(l.Source), moveRoute, cost) {
		to.step.route = c.node(label)
	}
}

// alternative is the second cheapest way to a route node.
type alternative struct {
	cost   float32 // excess in nats; +Inf where there is none
	metres float32 // length of the best way since the two part
}

func (c *connection) alternativeOf(label int32) alternative {
	excess, metres, ok := c.search.Alternative(label, alternativeLimit*c.mean)
	if !ok {
		excess = math.Inf(1)
	}
	return alternative{float32(excess / c.mean), float32(metres)}
}

// node returns the route node of a label. It copies the route out of the search as far as not done before.
func (c *connection) node(label int32) int32 {
	c.labels = c.labels[:0]
	parent := int32(0)
	for at := label; ; {
		for len(c.routes) <= int(at) {
			c.routes = append(c.routes, 0)
		}
		if parent = c.routes[at]; parent != 0 {
			break
		}
		c.labels = append(c.labels, at)
		if at = c.search.Label(at).Parent; c.search.Label(at).Parent < 0 {
			break
		}
	}
	for _, at := range slices.Backward(c.labels) {
		c.nodes = append(c.nodes, routeNode{state: c.search.Label(at).State, parent: parent})
		if c.withConfidence {
			c.alternatives = append(c.alternatives, c.alternativeOf(at))
		}
		parent = int32(len(c.nodes) - 1)
		c.routes[at] = parent
	}
	return parent
}
