package matching_test

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// cross is four streets of 200 m that meet in the middle.
func cross(town *roadgraphtest.Town) {
	mid := town.Node(0, 0)
	town.Road("west", town.Node(-200, 0), mid)
	town.Road("east", mid, town.Node(200, 0))
	town.Road("north", mid, town.Node(0, 200))
	town.Road("south", mid, town.Node(0, -200))
}

// block is four streets around a square of 200 m, with one street that leads to its lower left corner and one that goes
// on from the upper left one.
func block(town *roadgraphtest.Town) {
	corner := []uint32{town.Node(0, 0), town.Node(200, 0), town.Node(200, 200), town.Node(0, 200)}
	for i, name := range []string{"bottom", "right", "top", "left"} {
		town.Road(name, corner[i], corner[(i+1)%4])
	}
	town.Road("in", town.Node(-200, 0), corner[0])
	town.Road("up", corner[3], town.Node(0, 400))
}

// forbidTurn forbids to turn from a street to another one at the node that both have.
func forbidTurn(town *roadgraphtest.Town, from, to string) {
	find := func(name string) *roadgraphtest.Road {
		i := slices.IndexFunc(town.Data.Roads, func(r roadgraphtest.Road) bool { return r.Name == name })
		return &town.Data.Roads[i]
	}
	a, b := find(from), find(to)
	for _, node := range a.Nodes {
		if slices.Contains(b.Nodes, node) {
			town.Data.Restrictions = append(town.Data.Restrictions,
				roadgraphtest.Restriction{From: a.Way, To: b.Way, ViaNode: node, Modes: region.Car})
		}
	}
}

// pair is two one-way streets in opposite directions, a number of metres apart, that are joined at their ends.
func pair(town *roadgraphtest.Town, spacing float64) {
	a, b, c, d := town.Node(0, 0), town.Node(1000, 0), town.Node(1000, spacing), town.Node(0, spacing)
	town.OneWay("eastbound", a, b)
	town.OneWay("westbound", c, d)
	town.Road("east end", b, c)
	town.Road("west end", d, a)
}

// around is a one-way street with another one that leads from its end back to its beginning.
func around(town *roadgraphtest.Town) {
	a, b := town.Node(0, 0), town.Node(500, 0)
	town.OneWay("straight", a, b)
	town.OneWay("round", b, town.Node(500, 60), town.Node(0, 60), a)
}

// ladder is two streets a number of metres apart, joined at both ends and halfway.
func ladder(town *roadgraphtest.Town, spacing float64) {
	var lower, upper []uint32
	for x := 0.0; x <= 1000; x += 500 {
		lower, upper = append(lower, town.Node(x, 0)), append(upper, town.Node(x, spacing))
	}
	town.Road("lower", lower...)
	town.Road("upper", upper...)
	for i := range lower {
		town.Road("rung", lower[i], upper[i])
	}
}

// roundabout has four streets, 20 m from its middle to each of them. Traffic keeps to the right.
func roundabout(town *roadgraphtest.Town) {
	ring := []uint32{town.Node(-20, 0), town.Node(0, -20), town.Node(20, 0), town.Node(0, 20)}
	town.OneWay("ring", append(slices.Clone(ring), ring[0])...).Flags |= roadgraph.Roundabout
	far := []uint32{town.Node(-200, 0), town.Node(0, -200), town.Node(200, 0), town.Node(0, 200)}
	for i, name := range []string{"west", "south", "east", "north"} {
		town.Road(name, ring[i], far[i])
	}
}

// motorway has a ramp that stays within 16 m of it for half a kilometre.
func motorway(town *roadgraphtest.Town) {
	fork := town.Node(0, 0)
	main := town.OneWay("motorway", town.Node(-1000, 0), fork, town.Node(2000, 0))
	main.Class, main.SpeedForward = region.Motorway, 110
	ramp := town.OneWay("ramp", fork, town.Node(200, -10), town.Node(500, -16), town.Node(600, -60), town.Node(700, -150))
	ramp.Class, ramp.Flags, ramp.SpeedForward = region.Motorway, roadgraph.Link, 60
}

// crossing is a bridge over a road, without a junction.
func crossing(town *roadgraphtest.Town) {
	town.Street("below", 0, -500, 0, 500)
	over := town.Street("bridge", -500, 0, 500, 0)
	over.Flags, over.Layer = roadgraph.Bridge, 1
}
