package roadgraph

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// A region has one road network for all modes of travel. Its ways are cut into edges where the network of any mode
// has a junction. Were edges all there is, each footpath that meets a street would cut the street in two, and cars
// would search several times as many arcs; so each mode sees segments, runs of edges that follow one another in the
// file, and an edge says for which modes a segment begins with it. The number of a segment is that of its first edge.

// The sections of a road network.
const (
	EdgesSection  = "roads.edges"  // of Edge, one more than there are
	ShapeSection  = "roads.shape"  // of uint32; see AppendShape
	TurnsSection  = "roads.turns"  // of uint32; see AppendTurn
	CopiesSection = "roads.copies" // of Copy, one more than there are; by mode, then arc
	RoadsSection  = "roads.ways"   // of Road
	KindsSection  = "roads.kinds"  // of Kind
	NamesSection  = "roads.names"  // of bytes; see Graph.Text

	ControlsSection   = "roads.controls"    // of Control, by edge and point
	DetailsSection    = "roads.details"     // of Details, by road
	DetailTextSection = "roads.detail.text" // of bytes, as the names; see AppendDetail
)

// Index is the names of the sections of an index to snap by.
type Index struct {
	Leaves string // of Leaf
	Groups string // of uint32, for each geo.TreeFanout leaves: what the edges of these are counted from
	Boxes  string // of geo.Box: of each group of leaves, then of the levels above
}

// Indexes are those of the edges that cars may travel, and of the others: where there are many paths, those who are
// in a car do not look at them.
var Indexes = [2]Index{{"roads.leaves", "roads.groups", "roads.boxes"},
	{"roads.paths.leaves", "roads.paths.groups", "roads.paths.boxes"}}

// Edge is a stretch of one way, of at most MaxEdgeShape pieces. One more edge, for no mode, stands after the last, so
// that shape and turns of edge i end where those of i+1 begin.
type Edge struct {
	Lat, Lon int32 // where it begins, in 1e-7 degrees
	// EndNorth and EndEast are where it ends from there, in 1e-7 degrees; EndNorth is FarEnd where that does not fit.
	EndNorth, EndEast int16
	FirstShape        uint32
	FirstTurn         uint32 // of those at its end first, then of those at its beginning
	Length            uint32 // millimetres
	Road              uint32
	Flags             EdgeFlags
}

// FarEnd says that an edge's end is to be found by its shape.
const FarEnd = math.MinInt16

// EdgeFlags are sets of modes, of three bits each, Reversed, and in the highest bits what WithTurns adds.
type EdgeFlags uint32

// Where each set of modes is in EdgeFlags.
const (
	OpenForward   = 3 * iota // those who may travel it forward
	OpenBackward             // and backward
	LocalForward             // those of them who may only where their way begins or ends there
	LocalBackward            // the same backward
	Begins                   // those whose segments begin with it
	Copied                   // those for whom an arc of the segment that begins with it has copies
	OwnedForward             // those of LocalForward who need to be let in, too
	OwnedBackward            // the same backward
	setBits
)

// Reversed says that an edge runs against its way.
const Reversed EdgeFlags = 1 << setBits

// What is in EdgeFlags above Reversed.
const (
	wordsAt   = setBits + 1 // how many words of the turns are those at the edge's end
	manyWords = 0x1f        // there: as many or more, and they are to be counted
	turnsBack = wordsAt + 5 // whether its end has the usual turn back, and above that its beginning
)

// WithTurns adds how many words of an edge's turns are those at its end, and which of its ends, the last one and the
// first, have the usual turn back: all who may travel the edge both ways may turn there, and no word says so.
func (f EdgeFlags) WithTurns(words int, back [2]bool) EdgeFlags {
	for i, usual := range back {
		if usual {
			f |= 1 << (turnsBack + i)
		}
	}
	return f | EdgeFlags(min(words, manyWords))<<wordsAt
}

// backWord is the usual turn back of an arc that travels the edge as its last one: 0 where it has none. It comes after
// all other turns.
func (f EdgeFlags) backWord(backward uint32) uint32 {
	both := f.Modes(OpenForward) & f.Modes(OpenBackward)
	if f>>turnsBack>>backward&1 == 0 || both == 0 {
		return 0
	}
	return turningBack | uint32(both)<<turnModes
}

// FlagsOf returns flags with a set of modes in its place.
func FlagsOf(set int, modes region.Modes) EdgeFlags { return EdgeFlags(modes) << set }

// Modes is a set of modes of an edge.
func (f EdgeFlags) Modes(set int) region.Modes { return region.Modes(f>>set) & allModes }

const allModes = region.Car | region.Bicycle | region.Foot

// Open are the modes that may travel an edge at all.
func (f EdgeFlags) Open() region.Modes { return f.Modes(OpenForward) | f.Modes(OpenBackward) }

// Road is what the edges of one way have in common.
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
	Flags uint8 // those of Flags from Roundabout to Ferry, shifted down to it
	Layer int8
	// Speeds are the free speeds in km/h: a car's along the way and against it, a bicycle's, and on foot.
	Speeds [4]uint8
	_      uint8
}

// Copy is an arc that is part of a turn restriction over ways, once more for each beginning of such a restriction, so
// that which copy a route stands on says what it may no longer do. Copies are numbered as arcs behind those of all
// edges.
type Copy struct {
	Mode      uint32 // of region.Modes
	Arc       uint32 // the arc that it is a copy of
	FirstTurn uint32 // its turns end where those of the next one begin
}

// Flags are properties of a segment for one mode.
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
	// PrivateForward and PrivateBackward say that these need to be let in, too: a matcher accepts it, and a router must
	// not use it unless somebody lives there.
	PrivateForward
	PrivateBackward
)

// RoadFlags is the lowest of the flags that a Road has.
const RoadFlags = 2

// Has reports whether all of the given flags are set.
func (f Flags) Has(flags Flags) bool { return f&flags == flags }

// Leaf is an entry of the snapping index: up to LeafShape pieces of an edge's shape. Its box is in 255ths of that of
// its group of geo.TreeFanout leaves, rounded outwards. Where the next edge is too far from the first one of its group,
// leaves for no mode fill the group.
type Leaf struct {
	Edge                   uint16    // from the group's on
	Skip                   uint8     // words of the edge's shape before the first piece
	About                  LeafAbout // see AboutLeaf
	MinX, MinY, MaxX, MaxY uint8
}

// LeafAbout is how many pieces a leaf has, less one, and above that the modes that may travel the edge.
type LeafAbout uint8

const leafModes = 3

// AboutLeaf is what a leaf of 1 to LeafShape pieces has in About.
func AboutLeaf(pieces int, modes region.Modes) LeafAbout {
	return LeafAbout(pieces-1) | LeafAbout(modes)<<leafModes
}

func (a LeafAbout) pieces() int         { return int(a&(1<<leafModes-1)) + 1 }
func (a LeafAbout) modes() region.Modes { return region.Modes(a >> leafModes) }

// What the compiler makes no more of. A file that has more was not made by it, whatever its checksums say.
const (
	MaxEdgeShape = 64      // pieces of an edge's shape
	MaxShape     = 4096    // points of a segment
	MaxTurns     = 1 << 20 // of an arc
	MaxCopies    = 4096    // of an arc
	// LeafShape: a street of a few pieces is one leaf, while a long winding road is several with boxes that are small.
	LeafShape = 8
)

// Box edges of leaves are this many parts of their group's.
const BoxParts = 255

// TurningBack is the angle of turning round on the same road.
const TurningBack = math.MinInt8

// turningBack is the same in a word.
const turningBack = 0x80

// Turn is a way to go on at an arc's end. What is not allowed is not there.
type Turn struct {
	To    uint32 // arc
	Angle int8   // to the right, in units of 180/128 degrees; 0 where no other road meets; TurningBack
	// Enters says that the turn leads into a road that is only for those who have a destination there, from one that is
	// for all.
	Enters bool
}

// A turn is a word: from the lowest bit its angle, who may take it, whether it is at the beginning of its edge, Enters,
// and its target less its own arc, both as numbers of arcs; or farTurn, and the target is the next word. Its own arc is
// here that by which the edge itself is travelled, of whatever segment it is part. Turning round with a difference of 0
// leads to the segment's other arc.
const (
	turnModes    = 8
	turnBackward = 1 << 11
	turnEnters   = 1 << 12
	turnTarget   = 13
	farTurn      = math.MinInt32 >> turnTarget
)

// AppendTurn appends the words of a turn that some modes may take. A turn to the segment's own other arc has back
// set; its target does not matter.
func AppendTurn(words []uint32, own uint32, t Turn, modes region.Modes, back bool) []uint32 {
	word := uint32(uint8(t.Angle)) | uint32(modes)<<turnModes
	if own&1 == 1 {
		word |= turnBackward
	}
	if t.Enters {
		word |= turnEnters
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
