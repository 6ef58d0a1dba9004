package routing

import (
	"math"
	"math/bits"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Cost is the time of a route in tenths of a second, plus enterCost for each turn from a road open to all into one with
// destination-only access, and into something to avoid. Such a route is the last resort: no other one takes that long.
type Cost = uint32

const (
	enterCost Cost = 1 << 22
	// noWay is more than any cost.
	noWay Cost = math.MaxUint32
)

// seconds returns the duration of a route.
func seconds(c Cost) float64 { return float64(c%enterCost) / 10 }

// tuning is what a mode of travel needs besides its free speed on roads. Times are seconds.
type tuning struct {
	motor bool // reversible roads are closed: nothing tells their direction at the time of the drive
	// share is the speed on roads of each class, of their free speed: drivers slow down for bends, others and themselves.
	share [region.Ferry + 1]float64
	// turn is the time of a turn by 180°, with less for smaller ones, and across what a turn across the oncoming lane
	// takes in addition.
	turn, across float64
	// back is the time of a U-turn where the road goes on, and deadEnd where it ends.
	back, deadEnd                    float64
	signals, stop, giveWay, crossing float64
	// yield is the time to join or cross a larger road without signals, for each class that it is larger, up to three.
	yield float64
	// board is the time to board a ferry or a shuttle train.
	board float64
}

// tunings are the modes in the order of their bits. The times for cars were fitted to drives of taxis in Porto, and the
// shares to the mean of OSRM's and Valhalla's durations in Delaware. Those of bicycles are for quieter routes, not for
// lower speeds: with them, routes take as long as Valhalla's.
var tunings = [...]tuning{
	{motor: true, share: shares(0.92, 0.90, 0.88, 0.88, 0.88, 0.85, 0.85, 0.8), turn: 7.5, across: 2, back: 60, deadEnd: 8,
		signals: 5, stop: 4, giveWay: 2, crossing: 0.5, yield: 1.5, board: 300},
	{share: shares(0.75, 0.75, 0.8, 0.9), turn: 3, across: 1.5, back: 10, deadEnd: 4, signals: 5, stop: 2, giveWay: 1,
		yield: 1.5, board: 180},
	{share: shares(), signals: 8, crossing: 2, board: 120},
}

// shares returns shares for the first classes, and 1 for all others.
func shares(first ...float64) (all [region.Ferry + 1]float64) {
	for i := range all {
		if all[i] = 1; i < len(first) {
			all[i] = first[i]
		}
	}
	return all
}

// Model is what routes of a profile cost. It is immutable.
type Model struct {
	tuning
	avoid Avoid
	// turns are the costs of turns by angle, where vehicles drive on the right.
	turns [256]float64
	// speeds replace those of the map.
	speeds Speeds
}

// NewModel returns the model for some costs. It does not know areas to avoid.
func NewModel(c Costs) *Model {
	m := &Model{tuning: tunings[bits.TrailingZeros8(uint8(max(c.Profile, region.Car)))], avoid: c.Avoid}
	for i := range m.turns {
		angle := float64(int8(i)) / 128 // half turns to the right
		// A gentle bend costs nothing, a right angle about half of a turn back.
		m.turns[i] = m.turn / (1 + math.Exp(6.5-13*math.Abs(angle)))
		if angle < -0.2 {
			m.turns[i] += m.across
		}
	}
	m.turns[0] = 0
	return m
}

// Arcs returns the costs of an edge in both directions, noWay where it is closed, and whether signals, a stop or a
// give-way sign govern its ends. controls are those of the edge's shape, which has some points.
func (m *Model) Arcs(g *roadgraph.Graph, number uint32, e *roadgraph.Edge, controls []roadgraph.Control, points int) (
	costs [2]Cost, governed [2]bool) {
	if m.avoid&Unpaved != 0 && isUnpaved(g, number, e.Class) {
		e.Flags |= unpaved
	}
	for i, open := range [2]roadgraph.Flags{roadgraph.Forward, roadgraph.Backward} {
		if costs[i] = noWay; !e.Flags.Has(open) || e.Flags.Has(roadgraph.Reversible) && m.motor {
			continue
		}
		seconds := float64(e.Arcs[i].Duration) / 1000 / m.share[e.Class]
		if len(m.speeds) > 0 {
			if seconds = m.live(g, number, i == 1, seconds, e.Length); math.IsInf(seconds, 1) {
				continue
			}
		}
		for _, c := range controls {
			if takes, governs := m.control(c, i == 1, points); takes > 0 {
				seconds += takes
				governed[i] = governed[i] || governs
			}
		}
		costs[i] = Cost(math.Round(min(seconds*10, float64(enterCost-1))))
	}
	return costs, governed
}

// live returns the time of an arc with live speeds, infinity where it is closed. usual is the time without.
func (m *Model) live(g *roadgraph.Graph, edge uint32, backward bool, usual float64, length uint32) (seconds float64) {
	for w := range g.Ways(edge) {
		direction := 0
		if w.Reversed != backward {
			direction = 1
		}
		speed := Unchanged
		if both, ok := m.speeds[w.ID]; ok {
			speed = both[direction]
		}
		switch {
		case speed == Unchanged:
			seconds += usual * float64(w.Length) / float64(max(length, 1))
		case speed == 0:
			return math.Inf(1)
		default:
			seconds += float64(w.Length) / 1000 / (float64(speed) / 3.6)
		}
	}
	return seconds
}

// control returns the time that a control takes in one direction, and whether it governs the junction at the end.
func (m *Model) control(c roadgraph.Control, backward bool, points int) (seconds float64, governs bool) {
	at, last := int(c.Point), points-1
	mine, other := roadgraph.Along, roadgraph.Against
	if backward {
		at, mine, other = last-at, roadgraph.Against, roadgraph.Along
	}
	switch {
	case at == 0: // it belongs to the arcs that end there
		return 0, false
	case c.Flags&other != 0 && c.Flags&mine == 0:
		return 0, false
	case c.Flags&roadgraph.Signals != 0:
		return m.signals, 2*at > last
	case c.Flags&(roadgraph.Stop|roadgraph.GiveWay) != 0:
		// A sign without a direction is for those who come to the nearer junction.
		if c.Flags&mine == 0 && at != last && 2*at <= last {
			return 0, false
		}
		if c.Flags&roadgraph.Stop != 0 {
			return m.stop, true
		}
		return m.giveWay, true
	}
	return m.crossing, false
}

// Junction is what a turn has to know of the place where it is taken.
type Junction struct {
	// DeadEnd says that the only turn there leads back.
	DeadEnd bool
	// Left says that vehicles drive on the left.
	Left bool
	// Largest is the class of the largest road there.
	Largest region.RoadClass
	// Governed says that signals or a sign govern it.
	Governed bool
}

// Turn returns the cost of a turn from one edge into another.
func (m *Model) Turn(t roadgraph.Turn, from, to *roadgraph.Edge, at Junction) (cost Cost) {
	seconds := 0.0
	switch {
	case t.Angle != roadgraph.TurningBack:
		angle := t.Angle
		if at.Left {
			angle = -angle
		}
		seconds = m.turns[uint8(angle)]
		if !at.Governed && from.Class <= region.Service && at.Largest < from.Class {
			seconds += m.yield * float64(min(from.Class-at.Largest, 3))
		}
	case at.DeadEnd:
		seconds = m.deadEnd
	default:
		seconds = m.back
	}
	if to.Flags.Has(roadgraph.Ferry) && !from.Flags.Has(roadgraph.Ferry) {
		seconds += m.board
	}
	cost = Cost(math.Round(seconds * 10))
	if t.DestinationOnly || m.avoid != 0 && m.avoids(to) && !m.avoids(from) {
		cost += enterCost
	}
	return cost
}

// avoids reports whether an edge is something to avoid.
func (m *Model) avoids(e *roadgraph.Edge) bool {
	return m.avoid&Toll != 0 && e.Flags.Has(roadgraph.Toll) || m.avoid&Ferry != 0 && e.Flags.Has(roadgraph.Ferry) ||
		m.avoid&Motorway != 0 && e.Class == region.Motorway || m.avoid&Unpaved != 0 && e.Flags.Has(unpaved)
}

// unpaved marks edges that Model.Arcs has found to be unpaved. The road graph does not use this flag.
const unpaved roadgraph.Flags = 1 << 15

// paved are surfaces that are not unpaved.
var paved = map[string]bool{"paved": true, "asphalt": true, "chipseal": true, "concrete": true, "concrete:lanes": true,
	"concrete:plates": true, "paving_stones": true, "sett": true, "cobblestone": true, "unhewn_cobblestone": true,
	"bricks": true, "brick": true, "metal": true, "wood": true, "rubber": true, "tartan": true, "acrylic": true}

// isUnpaved reports whether an edge has an unpaved surface. A track without a surface is unpaved.
func isUnpaved(g *roadgraph.Graph, number uint32, class region.RoadClass) bool {
	for key, surface := range g.Details(g.RoadOf(number)) {
		if key == "surface" {
			return !paved[surface]
		}
	}
	return class == region.Track
}
