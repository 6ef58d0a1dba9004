package matching_test

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/region"
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

// crossed is a town of n streets and n avenues, a number of metres apart, in the middle of its coordinates.
func crossed(town *roadgraphtest.Town, n int, block float64) {
	origin := -float64(n-1) / 2 * block
	for i := range n * n {
		town.Node(origin+block*float64(i%n), origin+block*float64(i/n))
	}
	for i := range n {
		var street, avenue []uint32
		for k := range n {
			street, avenue = append(street, uint32(i*n+k)), append(avenue, uint32(k*n+i))
		}
		town.Road("Street", street...)
		town.Road("Avenue", avenue...)
	}
}
