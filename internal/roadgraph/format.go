package roadgraph

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// The sections of a road network.
const (
	BaseEdgesSection = "roads.edges"  // of BaseEdge, one more than there are
	ShapeSection     = "roads.shape"  // of uint32; see AppendShape
	TurnsSection     = "roads.turns"  // of uint32; see AppendTurn
	StatesSection    = "roads.copies" // of State, one more than there are; by mode, then arc
	RoadsSection     = "roads.ways"   // of Road
	KindsSection     = "roads.kinds"  // of Kind
	NamesSection     = "roads.names"  // of bytes; see Graph.Text

	ControlsSection   = "roads.controls"    // of Control, by base edge and point
	DetailsSection    = "roads.details"     // of Details, by road
	DetailTextSection = "roads.detail.text" // of bytes, like the names; see AppendDetail
)

// Index names the sections of a snapping index.
type Index struct {
	Leaves string // of Leaf
	Groups string // of uint32, for each geo.TreeFanout leaves: the base edge that theirs are counted from
	Boxes  string // of geo.Box: of each group of leaves, then of the levels above
}

// Indexes are the snapping indexes: of the base edges that cars may travel, and of all others. Cars skip the second
// one, which has most of the paths.
var Indexes = [2]Index{{"roads.leaves", "roads.groups", "roads.boxes"},
	{"roads.paths.leaves", "roads.paths.groups", "roads.paths.boxes"}}

// BaseEdge is what a region stores of the roads: up to MaxBaseEdgeSegments segments of one way, between two junctions
// of any mode. The section ends with one more, for no mode: shape and turns of base edge i end where those of i+1
// begin.
type BaseEdge struct {
	Lat, Lon int32 // of its first node, in 1e-7 degrees
	// EndNorth and EndEast lead from there to its last node, in 1e-7 degrees. EndNorth is FarEnd where they do not fit.
	EndNorth, EndEast int16
	FirstShape        uint32
	FirstTurn         uint32 // the turns at its end come first, then those at its beginning
	Length            uint32 // millimetres
	Road              uint32
	Flags             BaseEdgeFlags
}

// FarEnd says that only the shape tells where a base edge ends.
const FarEnd = math.MinInt16

// BaseEdgeFlags are sets of modes, of three bits each, then Reversed, then what WithTurns adds.
type BaseEdgeFlags uint32

// The first bit of each set of modes in BaseEdgeFlags.
const (
	OpenForwardSet             = 3 * iota // modes that may travel it forward
	OpenBackwardSet                       // and backward
	DestinationOnlyForwardSet             // of these, the modes with destination-only access
	DestinationOnlyBackwardSet            // the same backward
	BeginsEdgeSet                         // modes of which an edge begins here
	HasStatesSet                          // modes for which an arc of that edge has more than one state
	PrivateForwardSet                     // of DestinationOnlyForwardSet, the modes that need a permission as well
	PrivateBackwardSet                    // the same backward
	setBits
)

// Reversed says that a base edge runs against its way.
const Reversed BaseEdgeFlags = 1 << setBits

// The bits of BaseEdgeFlags above Reversed.
const (
	wordsAt   = setBits + 1 // how many words of the turns are those at the end
	manyWords = 0x1f        // that number, where there are as many or more and they have to be counted
	turnsBack = wordsAt + 5 // whether the end has the usual U-turn, and above that the beginning
)

// WithTurns adds how many words of the turns are those at the end, and which ends, the last one and the first, have the
// usual U-turn: open to all modes that may travel both ways. No word says so.
func (f BaseEdgeFlags) WithTurns(words int, back [2]bool) BaseEdgeFlags {
	for i, usual := range back {
		if usual {
			f |= 1 << (turnsBack + i)
		}
	}
	return f | BaseEdgeFlags(min(words, manyWords))<<wordsAt
}

// backWord returns the word of the usual U-turn at the end of an arc, 0 where it has none. It follows all other turns.
func (f BaseEdgeFlags) backWord(backward uint32) uint32 {
	both := f.Modes(OpenForwardSet) & f.Modes(OpenBackwardSet)
	if f>>turnsBack>>backward&1 == 0 || both == 0 {
		return 0
	}
	return turningBack | uint32(both)<<turnModes
}

// FlagsOf returns flags with only one set of modes.
func FlagsOf(set int, modes region.Modes) BaseEdgeFlags { return BaseEdgeFlags(modes) << set }

// Modes returns a set of modes.
func (f BaseEdgeFlags) Modes(set int) region.Modes { return region.Modes(f>>set) & allModes }

const allModes = region.Car | region.Bicycle | region.Foot

// Open returns the modes that may travel in either direction.
func (f BaseEdgeFlags) Open() region.Modes {
	return f.Modes(OpenForwardSet) | f.Modes(OpenBackwardSet)
}

// Road is what the base edges of one way have in common.
type Road struct {
	WayLow, WayHigh uint32 // of the way's id
	Name            uint32 // see Graph.Text
	Kind            uint32
}

// Way is the id of the OpenStreetMap way.
func (r *Road) Way() int64 { return int64(uint64(r.WayHigh)<<32 | uint64(r.WayLow)) }

// Kind is what many roads have in common.
type Kind struct {
	Ref   uint32 // see Graph.Text
	Class region.RoadClass
	Flags uint8 // those of Flags from Roundabout to Reversible, shifted down
	Layer int8
	// Speeds are the free speeds in km/h: a car's along the way and against it, a bicycle's, and on foot.
	Speeds [4]uint8
	_      uint8
}

// State is an arc with the memory of a via-way restriction. Each state of the restriction's automaton deeper than one
// arc gets a number of its own, behind the arcs of all base edges; its list of turns omits what the restriction forbids
// (OSRM duplicates nodes for the same purpose). An arc itself is the state that remembers nothing.
type State struct {
	Mode      uint32 // of region.Modes
	Arc       uint32
	FirstTurn uint32 // its turns end where those of the next one begin
}

// Flags are properties of an edge for one mode.
type Flags uint16

// The flags of an edge.
const (
	Forward  Flags = 1 << iota // the mode may travel it forward
	Backward                   // and backward
	Roundabout
	Link
	Tunnel
	Bridge
	Toll
	Ferry
	// Reversible marks a road that is open in one direction at a time. A matcher uses both; a router must not use it.
	Reversible
	HasStates // one of its arcs has more than one state; see Graph.StatesOf
	// DestinationOnlyForward and DestinationOnlyBackward mark destination-only access in one direction.
	DestinationOnlyForward
	DestinationOnlyBackward
	// PrivateForward and PrivateBackward mark, of these, the roads that need a permission. A matcher uses them; a router
	// must not pass through.
	PrivateForward
	PrivateBackward
)

// RoadFlags is the lowest of the flags that a Road has.
const RoadFlags = 2

// Has reports whether all of the given flags are set.
func (f Flags) Has(flags Flags) bool { return f&flags == flags }

// Leaf is an entry of the snapping index: up to LeafSegments segments of a base edge. Its box is in BoxSteps of the box
// of its group of geo.TreeFanout leaves, rounded outwards. Where the next base edge is too far from the first one of
// the group, leaves for no mode fill the group.
type Leaf struct {
	BaseEdge               uint16   // counted from the group's
	Skip                   uint8    // words of the shape before the first segment
	Info                   LeafInfo // see NewLeafInfo
	MinX, MinY, MaxX, MaxY uint8
}

// LeafInfo is how many segments a leaf has, less one, and above that the modes that may travel them.
type LeafInfo uint8

const leafModes = 3

// NewLeafInfo returns the LeafInfo of 1 to LeafSegments segments.
func NewLeafInfo(segments int, modes region.Modes) LeafInfo {
	return LeafInfo(segments-1) | LeafInfo(modes)<<leafModes
}

func (a LeafInfo) segments() int       { return int(a&(1<<leafModes-1)) + 1 }
func (a LeafInfo) modes() region.Modes { return region.Modes(a >> leafModes) }

// Limits of the compiler. A file that exceeds one of them is corrupt, even if its checksums are right.
const (
	MaxBaseEdgeSegments = 64      // of a base edge
	MaxShape            = 4096    // points of an edge
	MaxTurns            = 1 << 20 // of a state
	MaxStates           = 4096    // of an arc
	// LeafSegments keeps a short street in one leaf, and makes several small boxes of a long winding road.
	LeafSegments = 8
)

// BoxSteps is the number of steps, in each direction, in which boxes of leaves divide the box of their group.
const BoxSteps = 255

// TurningBack is the angle of a U-turn.
const TurningBack = math.MinInt8

// turningBack is the same in a word.
const turningBack = 0x80

// Turn leads from the end of a state to the next one. Only allowed turns are listed.
type Turn struct {
	To    uint32 // state
	Angle int8   // to the right, in units of 180/128 degrees; 0 where no other road meets; TurningBack
	// DestinationOnly says that the turn leads from a road open to all into one with destination-only access.
	DestinationOnly bool
}

// The bits of a word of a turn:
//
//	0-7    angle
//	8-10   modes that may take it
//	11     set if it is at the beginning of its base edge
//	12     DestinationOnly
//	13-31  target minus own arc, as signed numbers; farTurn if the target is the next word
//
// The own arc is the one by which the base edge itself is travelled, of whichever edge that is part. A U-turn with a
// difference of 0 leads to the opposite arc of the edge.
const (
	turnModes           = 8
	turnBackward        = 1 << 11
	turnDestinationOnly = 1 << 12
	turnTarget          = 13
	farTurn             = math.MinInt32 >> turnTarget
)

// AppendTurn appends the words of a turn that some modes may take. back marks a turn to the opposite arc of the same
// edge, whose target does not matter.
func AppendTurn(words []uint32, own uint32, t Turn, modes region.Modes, back bool) []uint32 {
	word := uint32(uint8(t.Angle)) | uint32(modes)<<turnModes
	if own&1 == 1 {
		word |= turnBackward
	}
	if t.DestinationOnly {
		word |= turnDestinationOnly
	}
	by := int64(t.To) - int64(own)
	switch {
	case back:
		return append(words, word)
	case by <= farTurn || by >= -farTurn || by == 0 && t.Angle == TurningBack:
		far := int32(farTurn) << turnTarget
		return append(words, word|uint32(far), t.To)
	}
	return append(words, word|uint32(int32(by))<<turnTarget)
}
