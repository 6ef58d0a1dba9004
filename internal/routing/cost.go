package routing

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Cost is the time of a route in tenths of a second, plus enterCost for each turn from a road open to all into one with
// destination-only access. Such a route is the last resort: no other one takes that long.
type Cost = uint32

const (
	enterCost Cost = 1 << 22
	// noWay is more than any cost.
	noWay Cost = math.MaxUint32
)

// Model is what routes of a profile cost. It is immutable.
type Model struct {
	costs Costs
}

// NewModel returns the model for some costs.
func NewModel(c Costs) *Model { return &Model{c} }

// Arcs returns the costs of an edge in both directions, noWay where it is closed. controls are those of the edge's
// shape, which has some points.
func (m *Model) Arcs(g *roadgraph.Graph, number uint32, e *roadgraph.Edge, controls []roadgraph.Control, points int) (costs [2]Cost) {
	for i, open := range [2]roadgraph.Flags{roadgraph.Forward, roadgraph.Backward} {
		if costs[i] = noWay; e.Flags.Has(open) {
			costs[i] = (e.Arcs[i].Duration + 50) / 100
		}
	}
	return costs
}

// Turn returns the cost of a turn from one edge into another, or noWay. deadEnd says that the only turn there leads
// back; left that vehicles drive on the left.
func (m *Model) Turn(t roadgraph.Turn, from, to *roadgraph.Edge, deadEnd, left bool) (cost Cost) {
	if t.Angle == roadgraph.TurningBack && !deadEnd {
		cost += 200
	}
	if t.DestinationOnly {
		cost += enterCost
	}
	return cost
}

// seconds returns the duration of a route.
func seconds(c Cost) float64 { return float64(c%enterCost) / 10 }
