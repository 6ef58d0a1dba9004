package routing

import (
	"github.com/mapsedge/caddy-maps/internal/region"
)

// The sections for routes. Without them a region has no routes.
//
// The junctions of a region are divided into leaf cells, and these are joined to larger cells on Levels-1 more levels
// (Delling, Goldberg, Pajor, Werneck 2017, "Customizable Route Planning in Road Networks"). All modes share the cells.
// The numbers of cells on each level follow the order of their leaf cells, so that a cell has a range of leaf cells.
//
// For each mode, a boundary arc is an arc, or another state of it, that leads from one leaf cell into another. It is an
// exit of the one cell and an entry of the other, on each level on which these differ. A cell has a matrix: the cost
// from the beginning of each entry to the beginning of each exit, on roads inside the cell.
const (
	EdgesSection   = "routes.edges"   // of EdgeInfo, by base edge
	EndsSection    = "routes.ends"    // of Ends; see EdgeInfo
	BlocksSection  = "routes.blocks"  // of uint32, for each EdgeBlock base edges: where their Ends begin
	LeavesSection  = "routes.leaves"  // of Leaf, one more than there are
	MembersSection = "routes.members" // of bytes: the base edges of leaf cells; see FirstInside
)

// Sections are the sections of one mode.
type Sections struct {
	Boundary string // of BoundaryArc, by the leaf cell that they enter, then by state
	Cells    string // of Cell, by level, then number; one more than there are
	Arcs     string // of uint32: the entries and exits of cells, as indexes into Boundary
	Weights  string // of bytes: the matrices of cells, then WeightsEnd zeros
}

// SectionsOf returns the sections of a mode.
func SectionsOf(mode region.Modes) Sections {
	prefix := "routes." + map[region.Modes]string{region.Car: "car", region.Bicycle: "bicycle", region.Foot: "foot"}[mode]
	return Sections{prefix + ".boundary", prefix + ".cells", prefix + ".arcs", prefix + ".weights"}
}

// Levels is the number of levels of cells. Cells of level i have at most LeafSize << (3*i) junctions.
const (
	Levels   = 5
	LeafSize = 96
)

// EdgeInfo is what routes need of a base edge. Bits 0 to 11 are the index of its Ends, counted from the first ones of
// its block. Three bits above are the modes for which its edge is isolated: in a part of the network that is small, or
// that one cannot both enter and leave.
type EdgeInfo uint16

// EdgeBlock is how many base edges a block has. They have no more different Ends.
const EdgeBlock = 1 << endsBits

// The bits of EdgeInfo.
const (
	endsBits   = 12
	controlled = EdgeInfo(1) << 15
)

// Ends are the leaf cells of the first and the last node of a base edge.
type Ends struct{ First, Last uint32 }

// NewEdgeInfo returns an EdgeInfo. hasControls says that the base edge has a roadgraph.Control.
func NewEdgeInfo(ends int, isolated region.Modes, hasControls bool) EdgeInfo {
	e := EdgeInfo(ends) | EdgeInfo(isolated)<<endsBits
	if hasControls {
		e |= controlled
	}
	return e
}

// Ends returns the index of its Ends, counted from the first ones of its block.
func (e EdgeInfo) Ends() int { return int(e & (EdgeBlock - 1)) }

// Isolated returns the modes for which the edge of a base edge is isolated.
func (e EdgeInfo) Isolated() region.Modes { return region.Modes(e>>endsBits) & 7 }

// HasControls reports whether a base edge has a roadgraph.Control.
func (e EdgeInfo) HasControls() bool { return e&controlled != 0 }

// Leaf is a leaf cell.
type Leaf struct {
	// Members is where its base edges begin in MembersSection. They end where those of the next leaf cell begin.
	Members uint32
	// Parents are the numbers of the cells of the levels above that it is in.
	Parents [Levels - 1]uint32
	// LeftDriving is 1 where vehicles drive on the left.
	LeftDriving uint32
}

// BoundaryArc is an arc, or another state, that leads from one leaf cell into another.
type BoundaryArc struct {
	State    uint32
	From, To uint32 // leaf cells
}

// Cell is a cell of one mode. The cells of level 0 are the leaf cells.
type Cell struct {
	// Arcs is where its entries begin in Sections.Arcs: the entries, then the exits, each in ascending order. They end
	// where those of the next cell begin.
	Arcs uint32
	// Weights is where its matrix begins in Sections.Weights. By row it has entries × exits elements of some bits, the
	// lowest first. All ones means that there is no way.
	Weights uint32
	// Form is how many of its arcs are entries, and above entryBits how many bits each element of the matrix has.
	Form uint32
}

const entryBits = 26

// NewForm returns a Cell.Form.
func NewForm(entries, bits int) uint32 { return uint32(entries) | uint32(bits)<<entryBits }

// Entries returns how many of its arcs are entries.
func (c *Cell) Entries() int { return int(c.Form & (1<<entryBits - 1)) }

func (c *Cell) bits() int { return int(c.Form >> entryBits) }

// WeightsEnd is how many bytes follow the last matrix, so that eight bytes can be read anywhere.
const WeightsEnd = 7

// A member of a leaf cell is a base edge with one end or both in the cell: the difference from the member before, or
// from 0, shifted left by two, with these bits.
const (
	FirstInside = 1 << iota // its first node is in the cell
	LastInside              // its last node is
)
