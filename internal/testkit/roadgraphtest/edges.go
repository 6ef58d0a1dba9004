package roadgraphtest

import (
	"math"

	"github.com/paulmach/orb"
)

// WorldEdge is a place at the edge of a map of longitudes and latitudes, and the tolerance of results there in metres:
// around a pole the straight lines of the map are curved.
type WorldEdge struct {
	Middle   orb.Point
	Rounding float64
}

// WorldEdges returns the edges of the world by name.
func WorldEdges() map[string]WorldEdge {
	return map[string]WorldEdge{
		"the antimeridian":               {orb.Point{180, 52}, 0.1},
		"the antimeridian from the west": {orb.Point{-180, 52}, 0.1},
		"a little east of it":            {orb.Point{-179.999, 52}, 0.1},
		"near the north pole":            {orb.Point{30, 89.9}, 0.3},
		"at the antimeridian near it":    {orb.Point{180, 89.9}, 0.3},
		"at the pole":                    {orb.Point{0, 90}, 0.3},
		"near the south pole":            {orb.Point{-100, -89.9}, 0.3},
	}
}

// Plain is a place far from all edges.
func Plain() orb.Point { return orb.Point{10, 52} }

// Crossing is a town of streets through its middle, with long and short segments, and a ring around it.
func Crossing(middle orb.Point) *Town {
	town := &Town{Middle: &middle}
	mid := town.Node(0, 0)
	for i, name := range []string{"east", "north", "west", "south"} {
		sin, cos := math.Sincos(float64(i)*math.Pi/2 + 0.1)
		nodes := []uint32{mid}
		for _, r := range []float64{3, 20, 60, 61, 250, 600} {
			nodes = append(nodes, town.Node(r*cos, r*sin))
		}
		town.Road(name, nodes...)
	}
	town.Street("past", -300, 40, -2, 35, 2, 35, 300, 40, 310, -20)
	ring := []uint32{}
	for i := range 24 {
		sin, cos := math.Sincos(float64(i) * math.Pi / 12)
		ring = append(ring, town.Node(120*cos, 120*sin))
	}
	town.Road("ring", append(ring, ring[0])...)
	return town
}
