package roadgraph

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// A region has one road network for each mode of travel, each complete in itself: were there one network for all, every
// footpath that meets a street would cut the street in two, and cars would search several times as many arcs. Only names
// are shared.
//
// NamesSection is the section of the names.
const NamesSection = "roads.names"

// Sections are the names of a network's sections.
type Sections struct{ Segments, Points, Ways, Arcs, Turns, Copies, Leaves, Boxes string }

// SectionsOf returns the names of the sections of the network for one mode of travel.
func SectionsOf(mode mapdata.Modes) Sections {
	prefix := map[mapdata.Modes]string{
		mapdata.Car: "roads.car.", mapdata.Bicycle: "roads.bicycle.", mapdata.Foot: "roads.foot.",
	}[mode]
	return Sections{
		Segments: prefix + "segments", Points: prefix + "points", Ways: prefix + "ways",
		Arcs: prefix + "arcs", Turns: prefix + "turns",
		Copies: prefix + "copies", Leaves: prefix + "leaves", Boxes: prefix + "boxes",
	}
}

// Segment is a stretch of road between two junctions, or between a junction and a change of name, class, speed or other
// properties. One more segment, empty, stands after the last, so that the points of segment i end where those of i+1 begin.
type Segment struct {
	FirstPoint uint32 // of its shape
	Length     uint32 // millimetres
	Name, Ref  uint32 // see Graph.Text
	Class      mapdata.RoadClass
	Flags      Flags
	Layer      int8
	_          uint8
}

// Flags are properties of a segment.
type Flags uint16

// The flags. Forward and Backward say in which directions the network's mode may travel.
const (
	Forward Flags = 1 << iota
	Backward
	Roundabout
	Link
	Tunnel
	Bridge
	Toll
	Ferry
	HasCopies // one of its arcs is in the list of copies
	// DestinationForward and DestinationBackward say that only those may travel so whose way begins or ends here.
	DestinationForward
	DestinationBackward
)

// Has reports whether all of the given flags are set.
func (f Flags) Has(flags Flags) bool { return f&flags == flags }

// Point is a point of a segment's shape.
type Point struct {
	Lat, Lon int32  // 1e-7 degrees
	Offset   uint32 // millimetres from the segment's first point, along the shape
}

// WayRun says of which OpenStreetMap way the shapes are from a point on, up to the next run: a segment may be of
// several ways that continue each other, so its number alone does not tell. Runs are in the order of their points, and
// the first begins at point 0.
type WayRun struct {
	Point     uint32
	low, high uint32 // of the way's id
}

// NewWayRun returns the run of a way from a point on.
func NewWayRun(point uint32, way int64) WayRun {
	return WayRun{Point: point, low: uint32(way), high: uint32(uint64(way) >> 32)}
}

// Way is the id of the run's OpenStreetMap way.
func (r *WayRun) Way() int64 { return int64(uint64(r.high)<<32 | uint64(r.low)) }

// Arc is a segment in one direction. Arc 2i travels segment i forward, arc 2i+1 backward; both exist even where only one
// is open. After them come copies: an arc that is part of a turn restriction over ways is there once more for each
// beginning of such a restriction, so that which copy a route stands on says what it may no longer do. One more arc,
// empty, stands after the last, so that the turns of arc i end where those of i+1 begin.
type Arc struct {
	FirstTurn uint32
	Length    uint32 // millimetres
	Duration  uint32 // milliseconds, at the road's free speed
	Base      uint32 // the arc that this one is a copy of; itself where it is none
	// EndLat and EndLon, in 1e-7 degrees, are where the arc ends. The shape says so, too, but a search that is aimed at a
	// position needs it for every arc.
	EndLat, EndLon int32
}

// Turn is a way to go on at an arc's end. What is not allowed is not there.
type Turn struct {
	To    uint32 // arc
	Angle int8   // to the right, in units of 180/128 degrees; 0 where no other road meets; TurningBack
	// Enters is 1 where the turn leads into a road that is only for those who have a destination there, from one that
	// is for all; else 0. It follows from the flags of the two segments, and spares a search to look at them.
	Enters uint8
	_      uint16
}

// TurningBack is the angle of turning round on the same road.
const TurningBack = math.MinInt8

// Box is a bounding box in 1e-7 degrees.
type Box struct{ MinLat, MinLon, MaxLat, MaxLon int32 }

// Leaf is an entry of the snapping index: up to LeafPieces pieces of a segment's shape.
type Leaf struct {
	Box
	Segment uint32
	Point   uint32 // where the first piece begins
}

const (
	// LeafPieces: a street of a few pieces is one leaf, while a long winding road is several with boxes that are still small.
	LeafPieces = 8
	// FanOut is the number of boxes below one box of the index.
	FanOut = 16
)
