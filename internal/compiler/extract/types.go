// Package extract reads OpenStreetMap extracts (.osm.pbf, .osm, .osm.gz, .osm.bz2, .osm.zst) into what a region is made
// of: roads with their turn restrictions, and everything that has a name or an address.
package extract

import (
	"math"
	"time"

	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/orb"
)

// Data is the content of one or more extracts. Everything in it is in an order that depends on the input alone. What
// grows with the input is in scratch files, apart from the restrictions; any number of goroutines may read.
type Data struct {
	Nodes    *scratch.Array[Node]    // those that roads use, by id
	Barriers *scratch.Array[Barrier] // by node
	// Roads are by way id; several for a way of which the extract lacks nodes, one for each part without a gap.
	Roads *scratch.Array[Road]
	// RoadNodes are indexes into Nodes: those of each road, one road after the other. See NodesOf.
	RoadNodes    *scratch.Array[uint32]
	Restrictions []Restriction
	// Texts are the names of roads, the tags of features and interpolations, and the classes of drawings, by their
	// numbers.
	Texts    *scratch.Texts
	Features *Features // by kind (node, way, relation), then id
	// Interpolations are the lines of addr:interpolation, by way id.
	Interpolations *Interpolations
	// Drawings are what a map shows, and Coast is the coastline; both nil where no map is asked for.
	Drawings *Drawings
	Coast    *Coast
	Bounds   orb.Bound
	// Tiles are the tiles of zoom 12 that hold any node of the extracts.
	Tiles *Tiles
	// Timestamp is that of the newest extract (replication time or newest object), zero when unknown.
	Timestamp time.Time
	Counts    Counts
	// Cost is what may still be spent on compiling the data; nil where nobody counts.
	Cost *Budget
	// Progress is told how far compiling has come; nil where nobody watches.
	Progress *progress.Bar
}

// NewData makes Data of nothing, whose files are in dir.
func NewData(dir *scratch.Dir) (*Data, error) {
	texts, err := scratch.NewTexts(dir, "texts")
	if err != nil {
		return nil, err
	}
	return &Data{
		Nodes: scratch.NewArray[Node](dir, "nodes"), Barriers: scratch.NewArray[Barrier](dir, "road-barriers"),
		Roads: scratch.NewArray[Road](dir, "roads"), RoadNodes: scratch.NewArray[uint32](dir, "road-nodes"),
		Texts: texts, Features: NewFeatures(dir, texts), Interpolations: NewInterpolations(dir, texts), Tiles: new(Tiles),
	}, nil
}

// NodesOf returns the nodes of the i-th road as indexes into Nodes, at least two.
func (d *Data) NodesOf(i int) []uint32 {
	roads, nodes := d.Roads.Slice(), d.RoadNodes.Slice()
	if i+1 < len(roads) {
		return nodes[roads[i].FirstNode:roads[i+1].FirstNode]
	}
	return nodes[roads[i].FirstNode:]
}

// Counts is what was read and what had to be left out; `maps build` reports it.
type Counts struct {
	Nodes, Ways, Relations     int64
	MissingNodes               int64 // references to nodes that the extract does not have
	BrokenAreas                int64 // multipolygons that could not be closed
	RepairedRings              int64
	SkippedRestrictions        int64 // of a form that is not understood, or with members that are missing
	Roads, Features, Addresses int64
}

// Node is a node of a road.
type Node struct {
	Lat, Lon int32 // 1e-7 degrees
}

// Barrier is a node of a road that stops somebody (a bollard stops cars).
type Barrier struct {
	Node  uint32 // an index into Data.Nodes
	Stops mapdata.Modes
}

// Road is one way that somebody may travel along.
type Road struct {
	Way int64
	// FirstNode is where the road's nodes begin in Data.RoadNodes; they end where the next road's begin.
	FirstNode uint64
	Name, Ref uint32 // numbers of Data.Texts
	Class     mapdata.RoadClass
	// Forward and Backward say who may travel along the way's own direction and against it.
	Forward, Backward mapdata.Modes
	// DestinationForward and DestinationBackward are those among them who may only if their way begins or ends there:
	// the road is no through road for them (access=destination, customers, …).
	DestinationForward, DestinationBackward mapdata.Modes
	// SpeedForward and SpeedBackward are a car's free speed in km/h, from maxspeed or from the class; at least 5, on a
	// ferry at least 1.
	SpeedForward, SpeedBackward uint8
	// BicycleSpeed and FootSpeed are how fast people ride and walk there in both directions, in km/h; at least 1.
	BicycleSpeed, FootSpeed          uint8
	Roundabout, Link, Tunnel, Bridge bool
	Toll, Ferry                      bool
	Layer                            int8
}

// Restriction is a turn restriction: from a way, over a node or ways, to a way.
type Restriction struct {
	Relation int64
	From, To int64  // way ids
	ViaNode  uint32 // an index into Data.Nodes, or NoNode when ViaWays is set
	ViaWays  []int64
	Only     bool          // only_…: the turn that must be made; otherwise the one that must not
	Modes    mapdata.Modes // to whom it applies
}

// NoNode stands for no node: Data has one less than would be numbered so.
const NoNode = math.MaxUint32

// Feature is an object with a name, an address, or a part in administrative divisions.
type Feature struct {
	Kind mapdata.Kind
	ID   int64
	Tags Tags
	// Geometry is an orb.Point, orb.LineString, orb.Polygon or orb.MultiPolygon. Outer rings are counter-clockwise, holes
	// clockwise, rings closed.
	Geometry orb.Geometry
	// Entrances are where people enter a building with a name or an address: its main entrances, else all that are no
	// emergency exits and no ways in for goods and cars.
	Entrances []orb.Point
}

// Tags are key and value pairs, sorted by key: those that a region keeps.
type Tags []Tag

// Tag is one tag.
type Tag struct{ Key, Value string }

// Get returns a tag's value, or "".
func (t Tags) Get(key string) string {
	for _, tag := range t {
		if tag.Key == key {
			return tag.Value
		}
	}
	return ""
}

// Interpolation is a line between two house numbers.
type Interpolation struct {
	Way  int64
	Line orb.LineString
	// Nodes are the ids of the line's nodes, and Numbers the house numbers at them, NoNumber where a node has none;
	// both are as long as Line.
	Nodes   []int64
	Numbers []int32
	// Step is 1 (all), 2 (odd, even) or another whole number.
	Step int32
	// Parity restricts the numbers to odd or even ones, whatever the ends have.
	Parity Parity
	// Tags are the addr:* tags that all of its houses have: the way's own, and those that the houses at its nodes agree
	// on.
	Tags Tags
}

// NoNumber stands for no house number: 0 is one.
const NoNumber = -1

// Parity says which house numbers an interpolation has.
type Parity uint8

// The parities.
const (
	AnyParity Parity = iota
	Odd
	Even
)
