package network

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/profile"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Data is the roads of extracts. Apart from the restrictions, it is in temporary files.
type Data struct {
	Nodes   *scratch.Array[Node]    // of roads
	Special *scratch.Array[Special] // sorted by node
	// Roads are sorted by way id. A way with missing nodes has a road for each part without a gap.
	Roads *scratch.Array[Road]
	// RoadNodes are the nodes of all roads, as indexes into Nodes. See NodesOf.
	RoadNodes    *scratch.Array[uint32]
	Restrictions []Restriction
	Texts        *scratch.Texts // names and details of roads
}

// Node is a node of a road, in 1e-7 degrees.
type Node struct{ Lat, Lon int32 }

// Special is a node with a barrier or a control.
type Special struct {
	Node    uint32
	Stops   region.Modes // those that cannot pass
	Control roadgraph.ControlFlags
	_       [2]uint8
}

// Road is a way, or a part of one, that some mode may travel.
type Road struct {
	Way int64
	// FirstNode is the index of its first node in Data.RoadNodes. The next road's nodes follow its own.
	FirstNode          uint64
	Name, Ref, Details uint32 // numbers of Data.Texts; see roadgraph.AppendDetail
	profile.Attributes
}

// Restriction is a turn restriction: from a way, over a node or ways, to a way.
type Restriction struct {
	From, To int64  // ids of ways in Data.Roads, as ViaWays
	ViaNode  uint32 // an index into Data.Nodes, or NoNode when ViaWays is set
	ViaWays  []int64
	Only     bool         // an only_ restriction: the turn is mandatory, otherwise forbidden
	Modes    region.Modes // to which it applies
}

// NoNode means no node. Data has fewer nodes.
const NoNode = math.MaxUint32

// NewData makes empty Data with files in dir.
func NewData(dir *scratch.Dir) (*Data, error) {
	texts, err := scratch.NewTexts(dir, "road-texts")
	return &Data{
		Nodes: scratch.NewArray[Node](dir, "road-places"), Special: scratch.NewArray[Special](dir, "road-special"),
		Roads: scratch.NewArray[Road](dir, "roads"), RoadNodes: scratch.NewArray[uint32](dir, "road-nodes"), Texts: texts,
	}, err
}

// NodesOf returns the nodes of a road as indexes into Nodes. There are at least two.
func (d *Data) NodesOf(road uint32) []uint32 {
	roads, nodes := d.Roads.Slice(), d.RoadNodes.Slice()
	if int(road)+1 < len(roads) {
		return nodes[roads[road].FirstNode:roads[road+1].FirstNode]
	}
	return nodes[roads[road].FirstNode:]
}

// FirstOf returns the first road of a way, or the index at which it would be.
func (d *Data) FirstOf(way int64) uint32 {
	i, _ := slices.BinarySearchFunc(d.Roads.Slice(), way, func(r Road, way int64) int { return cmp.Compare(r.Way, way) })
	return uint32(i)
}

// Free removes the files.
func (d *Data) Free() error {
	return errors.Join(d.Nodes.Free(), d.Special.Free(), d.Roads.Free(), d.RoadNodes.Free(), d.Texts.Free())
}
