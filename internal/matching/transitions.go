package matching

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/trace"
)

// routeNode is an arc of a route, with the node of the arc before it. The arc that a route starts from is not part of
// it.
type routeNode struct {
	state  uint32
	parent int32 // 0: none
}

// How far a route may lead where no better end is known: anywhere that a driver may have gone while nothing was
// recorded.
const (
	longestDetour = 20_000 // metres
	longestFactor = 5      // times the distance
)

// connect finds the best way to each new state from the states before.
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
	sigma float64 // its
	mean  float64 // see detour

	turning float64 // see there
	best    float64 // lowest cost of a new state so far
}

// relax notes a way to a new state, if it is the cheapest so far, and reports that.
func (c *connection) relax(to *candidate, from int, m move, cost float64) bool {
	cost += c.before[from].cost + c.emission(c.point, to.distance)
	c.best = min(c.best, cost)
	if cost >= to.cost {
		return false
	}
	to.cost, to.step, to.backward = cost, step{move: m, previous: c.place(from)}, 0
	return true
}

// alongRoads connects states of the same road. The new ones are in the order of roads; so are those before, except
// that those which waited for several points come after the others, once more in that order.
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

// leastAdvance is how many metres a road is driven before turning round on it.
const leastAdvance = 1.0

func (c *connection) along(i int, to *candidate) {
	from := &c.before[i]
	ahead := to.offset - from.offset
	switch {
	case to.arc != from.arc:
		// Who has just come on to a road does not turn round at once: that would be a way past turn restrictions.
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
		slip := max(-ahead, from.backward)
		if c.relax(to, i, moveStationary, backwardCost(slip, c.sigma)-backwardCost(from.backward, c.sigma)+from.straight/c.mean) {
			to.backward = slip
		}
	}
}

// speedPenalty is the cost of a way that takes some seconds at the roads' free speed, where the trace says that there
// was less time.
func (c *connection) speedPenalty(from, to *candidate, seconds float64) float64 {
	elapsed := c.points[c.point].Time - c.points[from.point].Time
	if !(elapsed > 0) { // unknown, not in order, or rounded: to whole seconds, or to minutes
		return 0
	}
	return speedPenalty(seconds, elapsed, c.mode.maxSpeedFactor, to.pace, c.sigma)
}

// withinRadius reports whether the point of a new state is within maxRadius of the place of one before on the same
// road, which is where it is matched if it stays there.
func (c *connection) withinRadius(from, to *candidate) bool {
	if to.distance+from.offset-to.offset <= c.scratch.maxRadius { // surely
		return true
	}
	at := trace.Point{Location: c.at(from.arc, from.offset)}
	return pointDistance(&c.points[c.point], &at) <= c.scratch.maxRadius
}

// byRoutes connects all states with one search: it starts from all of those before at once, each with the cost of its
// drive, so that the first to arrive at an arc is the one that the best drive comes by.
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

// farthest is the distance in metres from the point to the farthest new state.
func (c *connection) farthest() (distance float64) {
	for i := range c.candidates {
		distance = max(distance, c.candidates[i].distance)
	}
	return distance
}

// arrive connects the state whose arc the search has reached.
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

// rival is another way to the place of a route node.
type alternative struct {
	cost   float32 // nats more; +Inf where there is none
	metres float32 // of the way up to the node, since the two part
}

func (c *connection) alternativeOf(label int32) alternative {
	excess, metres, ok := c.search.Alternative(label, alternativeLimit*c.mean)
	if !ok {
		excess = math.Inf(1)
	}
	return alternative{float32(excess / c.mean), float32(metres)}
}

// node is the route node of a label; the route to it is copied out of the search as far as it has not been before.
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
