package network

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// find returns the first road of a way, if the mode may travel it.
func (b *builder) find(way int64, mode mapdata.Modes) (uint32, bool) {
	road, ok := b.data.FirstOf(way)
	return road, ok && b.modes(road)&mode != 0
}

// modes are those that may travel a road at all.
func (b *builder) modes(road uint32) mapdata.Modes {
	return b.roads[road].Forward | b.roads[road].Backward
}

// endsAt reports whether a node is the first or the last of a road.
func (b *builder) endsAt(road, node uint32) bool {
	nodes := b.data.NodesOf(road)
	return nodes[0] == node || nodes[len(nodes)-1] == node
}

// specialAt is what there is at a node that is special.
func (b *builder) specialAt(node uint32) Special {
	i, _ := slices.BinarySearchFunc(b.special, node, func(s Special, node uint32) int { return cmp.Compare(s.Node, node) })
	return b.special[i]
}

// modes are all of them, in the order in which they have their say where they differ.
var modes = [...]mapdata.Modes{mapdata.Car, mapdata.Bicycle, mapdata.Foot}

// properties are what the edges of a segment of one mode have in common.
type properties struct {
	name, ref         uint32
	class             mapdata.RoadClass
	flags             roadgraph.Flags
	layer             int8
	forward, backward direction
}

// direction is what they have in common for those who travel in one direction.
type direction struct {
	speed                uint8
	open, local, private bool
}

// properties of a road for a mode, travelled along it or against it.
func (b *builder) properties(road uint32, mode mapdata.Modes, along bool) properties {
	r := &b.roads[road]
	speeds := [2]uint8{r.SpeedForward, r.SpeedBackward}
	switch mode {
	case mapdata.Bicycle:
		speeds = [2]uint8{r.BicycleSpeed, r.BicycleSpeed}
	case mapdata.Foot:
		speeds = [2]uint8{r.FootSpeed, r.FootSpeed}
	}
	p := properties{r.Name, r.Ref, r.Class, r.Flags, r.Layer,
		direction{speeds[0], r.Forward&mode != 0, r.DestinationForward&mode != 0, r.PrivateForward&mode != 0},
		direction{speeds[1], r.Backward&mode != 0, r.DestinationBackward&mode != 0, r.PrivateBackward&mode != 0}}
	if !along {
		p.forward, p.backward = p.backward, p.forward
	}
	return p
}
