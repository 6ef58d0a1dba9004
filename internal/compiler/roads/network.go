package roads

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// network is what an extract has of roads, in flat arrays.
type network struct {
	nodes        []extract.Node // by id
	roads        []extract.Road // by way
	refs         []uint32       // nodes of all roads
	barriers     []extract.Barrier
	texts        *scratch.Texts
	restrictions []extract.Restriction
	cost         *extract.Budget
	bar          *progress.Bar
	freeNodes    func() error // where they are: edges know it then
}

func newNetwork(d *extract.Data) *network {
	return &network{nodes: d.Nodes.Slice(), roads: d.Roads.Slice(), refs: d.RoadNodes.Slice(),
		barriers: d.Barriers.Slice(), texts: d.Texts, restrictions: d.Restrictions, cost: d.Cost,
		bar: d.Progress, freeNodes: d.Nodes.Free}
}

// count is the number of roads.
func (n *network) count() int { return len(n.roads) }

// nodesOf are the nodes of a road.
func (n *network) nodesOf(road uint32) []uint32 {
	first := n.roads[road].FirstNode
	if int(road)+1 < len(n.roads) {
		return n.refs[first:n.roads[road+1].FirstNode]
	}
	return n.refs[first:]
}

// find returns the first road of a way, if the mode may travel it.
func (n *network) find(way int64, mode mapdata.Modes) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(n.roads, way, func(r extract.Road, way int64) int { return cmp.Compare(r.Way, way) })
	return uint32(i), ok && n.modes(uint32(i))&mode != 0
}

// modes are those that may travel a road at all.
func (n *network) modes(road uint32) mapdata.Modes {
	return n.roads[road].Forward | n.roads[road].Backward
}

// endsAt reports whether a node is the first or the last of a road.
func (n *network) endsAt(road, node uint32) bool {
	nodes := n.nodesOf(road)
	return nodes[0] == node || nodes[len(nodes)-1] == node
}

// blocked are the modes that cannot pass a node.
func (n *network) blocked(node uint32) mapdata.Modes {
	i, ok := slices.BinarySearchFunc(n.barriers, node, func(b extract.Barrier, node uint32) int {
		return cmp.Compare(b.Node, node)
	})
	if !ok {
		return 0
	}
	return n.barriers[i].Stops
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
func (n *network) properties(road uint32, mode mapdata.Modes, along bool) properties {
	r := &n.roads[road]
	p := properties{name: r.Name, ref: r.Ref, class: r.Class, flags: flagsOf(r), layer: r.Layer,
		forward: r.Forward&mode != 0, backward: r.Backward&mode != 0,
		localForward: r.DestinationForward&mode != 0, localBackward: r.DestinationBackward&mode != 0}
	switch mode {
	case mapdata.Car:
		p.speed = [2]uint8{r.SpeedForward, r.SpeedBackward}
	case mapdata.Bicycle:
		p.speed = [2]uint8{r.BicycleSpeed, r.BicycleSpeed}
	case mapdata.Foot:
		p.speed = [2]uint8{r.FootSpeed, r.FootSpeed}
	}
	if !along {
		p.forward, p.backward = p.backward, p.forward
		p.localForward, p.localBackward = p.localBackward, p.localForward
		p.speed[0], p.speed[1] = p.speed[1], p.speed[0]
	}
	return p
}

// flagsOf are the flags of a road as roadgraph.Road has them.
func flagsOf(r *extract.Road) uint8 {
	flags := roadgraph.Flags(0)
	for _, f := range [...]struct {
		set  bool
		flag roadgraph.Flags
	}{
		{r.Roundabout, roadgraph.Roundabout}, {r.Link, roadgraph.Link}, {r.Tunnel, roadgraph.Tunnel},
		{r.Bridge, roadgraph.Bridge}, {r.Toll, roadgraph.Toll}, {r.Ferry, roadgraph.Ferry},
	} {
		if f.set {
			flags |= f.flag
		}
	}
	return uint8(flags >> roadgraph.RoadFlags)
}
