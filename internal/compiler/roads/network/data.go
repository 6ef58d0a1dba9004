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

// Data are the roads of one or more extracts. What grows with the extracts is in scratch files, apart from the
// restrictions.
type Data struct {
	Nodes   *scratch.Array[Node]    // those that roads use
	Special *scratch.Array[Special] // by node, one for each
	// Roads are by way id; several for a way of which the extract lacks nodes, one for each part without a gap.
	Roads *scratch.Array[Road]
	// RoadNodes are indexes into Nodes: those of each road, one road after the other. See NodesOf.
	RoadNodes    *scratch.Array[uint32]
	Restrictions []Restriction
	Texts        *scratch.Texts // names and details of roads
}

// Node is a node of a road, in 1e-7 degrees.
type Node struct{ Lat, Lon int32 }

// Special is what a node has that matters to who passes it.
type Special struct {
	Node    uint32
	Stops   region.Modes // those who cannot pass
	Control roadgraph.ControlFlags
	_       [2]uint8
}

// Road is a way, or a part of one, that somebody may travel.
type Road struct {
	Way int64
	// FirstNode is where its nodes begin in Data.RoadNodes. They end where the next road's begin.
	FirstNode          uint64
	Name, Ref, Details uint32 // numbers of Data.Texts; see roadgraph.AppendDetail
	profile.Attributes
}

// Restriction is a turn restriction: from a way, over a node or ways, to a way.
type Restriction struct {
	From, To int64  // ids of ways, as ViaWays; all of them are in Data.Roads
	ViaNode  uint32 // an index into Data.Nodes, or NoNode when ViaWays is set
	ViaWays  []int64
	Only     bool         // only_…: the turn that must be made; otherwise the one that must not
	Modes    region.Modes // to whom it applies
}

// NoNode stands for no node: Data has one less than would be numbered so.
const NoNode = math.MaxUint32

// NewData makes Data of nothing, whose files are in dir.
func NewData(dir *scratch.Dir) (*Data, error) {
	texts, err := scratch.NewTexts(dir, "road-texts")
	return &Data{
		Nodes: scratch.NewArray[Node](dir, "road-places"), Special: scratch.NewArray[Special](dir, "road-special"),
		Roads: scratch.NewArray[Road](dir, "roads"), RoadNodes: scratch.NewArray[uint32](dir, "road-nodes"), Texts: texts,
	}, err
}

// NodesOf returns the nodes of a road as indexes into Nodes, at least two.
func (d *Data) NodesOf(road uint32) []uint32 {
	roads, nodes := d.Roads.Slice(), d.RoadNodes.Slice()
	if int(road)+1 < len(roads) {
		return nodes[roads[road].FirstNode:roads[road+1].FirstNode]
	}
	return nodes[roads[road].FirstNode:]
}

// FirstOf returns the first road of a way, or where it would be.
func (d *Data) FirstOf(way int64) uint32 {
	i, _ := slices.BinarySearchFunc(d.Roads.Slice(), way, func(r Road, way int64) int { return cmp.Compare(r.Way, way) })
	return uint32(i)
}

// Free removes the files.
func (d *Data) Free() error {
	return errors.Join(d.Nodes.Free(), d.Special.Free(), d.Roads.Free(), d.RoadNodes.Free(), d.Texts.Free())
}
