package roads

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/build/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// node is where a node of a road is, in 1e-7 degrees.
type node struct{ Lat, Lon int32 }

// road is a way that somebody may travel along.
type road struct {
	Way       int64
	FirstNode uint64 // in the list of nodes; they end where the next road's begin
	Name, Ref uint32 // numbers of texts
	// Forward and Backward say who may travel along the way and against it, LocalForward and LocalBackward who of them
	// may only where their way begins or ends there.
	Forward, Backward, LocalForward, LocalBackward mapdata.Modes
	Class                                          mapdata.RoadClass
	Flags                                          uint8 // as roadgraph.Road has them
	Layer                                          int8
	Speeds                                         [4]uint8 // as roadgraph.Road has them
}

// modes are those that may travel a road at all.
func (r *road) modes() mapdata.Modes { return r.Forward | r.Backward }

// barrier is a node that some modes cannot pass.
type barrier struct {
	Node  uint32
	Modes mapdata.Modes
}

// network is what an extract has of roads, in flat arrays.
type network struct {
	nodes        []node // by id
	roads        []road // by way; one more, without nodes, stands at the end
	refs         []uint32
	barriers     []barrier // by node
	texts        *scratch.Texts
	restrictions []extract.Restriction
	cost         *extract.Budget
}

// count is the number of roads.
func (n *network) count() int { return len(n.roads) - 1 }

// nodesOf are the nodes of a road.
func (n *network) nodesOf(road uint32) []uint32 {
	return n.refs[n.roads[road].FirstNode:n.roads[road+1].FirstNode]
}

// find returns the first road of a way, if the mode may travel it.
func (n *network) find(way int64, mode mapdata.Modes) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(n.roads[:n.count()], way, func(r road, way int64) int { return cmp.Compare(r.Way, way) })
	return uint32(i), ok && n.roads[i].modes()&mode != 0
}

// endsAt reports whether a node is the first or the last of a road.
func (n *network) endsAt(road, node uint32) bool {
	nodes := n.nodesOf(road)
	return nodes[0] == node || nodes[len(nodes)-1] == node
}

// blocked are the modes that cannot pass a node.
func (n *network) blocked(node uint32) mapdata.Modes {
	i, ok := slices.BinarySearchFunc(n.barriers, node, func(b barrier, node uint32) int { return cmp.Compare(b.Node, node) })
	if !ok {
		return 0
	}
	return n.barriers[i].Modes
}

// modes are all of them, in the order in which they have their say where they differ.
var modes = [...]mapdata.Modes{mapdata.Car, mapdata.Bicycle, mapdata.Foot}

// properties are what the edges of a segment of one mode have in common.
type properties struct {
	name, ref                   uint32
	class                       mapdata.RoadClass
	flags                       uint8
	layer                       int8
	speed                       [2]uint8
	forward, backward           bool
	localForward, localBackward bool
}

// properties of a road for a mode, travelled along it or against it.
func (r *road) properties(mode mapdata.Modes, along bool) properties {
	p := properties{name: r.Name, ref: r.Ref, class: r.Class, flags: r.Flags, layer: r.Layer,
		forward: r.Forward&mode != 0, backward: r.Backward&mode != 0,
		localForward: r.LocalForward&mode != 0, localBackward: r.LocalBackward&mode != 0}
	switch mode {
	case mapdata.Car:
		p.speed = [2]uint8{r.Speeds[0], r.Speeds[1]}
	case mapdata.Bicycle:
		p.speed = [2]uint8{r.Speeds[2], r.Speeds[2]}
	case mapdata.Foot:
		p.speed = [2]uint8{r.Speeds[3], r.Speeds[3]}
	}
	if !along {
		p.forward, p.backward = p.backward, p.forward
		p.localForward, p.localBackward = p.localBackward, p.localForward
		p.speed[0], p.speed[1] = p.speed[1], p.speed[0]
	}
	return p
}
