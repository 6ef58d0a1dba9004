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
	EdgesSection     = "routes.edges"     // of EdgeInfo, by base edge
	CrossingsSection = "routes.crossings" // of Crossing; see EdgeInfo
	LeavesSection    = "routes.leaves"    // of Leaf, one more than there are
	MembersSection   = "routes.members"   // of bytes: the base edges of leaf cells; see AppendMembers
)

// Sections are the sections of one mode.
type Sections struct {
	Boundary string // of BoundaryArc, by the leaf cell that they enter, then by state
	Cells    string // of Cell, by level, then number; one more than there are
	Arcs     string // of uint32: the entries and exits of cells, as indexes into Boundary
	Weights  string // of uint16: the matrices of cells, by row
}

// SectionsOf returns the sections of a mode.
func SectionsOf(mode region.Modes) Sections {
	prefix := "routes." + map[region.Modes]string{region.Car: "car", region.Bicycle: "bicycle", region.Foot: "foot"}[mode]
	return Sections{prefix + ".boundary", prefix + ".cells", prefix + ".arcs", prefix + ".weights"}
}

// Levels is the number of levels of cells. Cells of level i have at most LeafSize << (3*i) junctions.
const (
	Levels   = 4
	LeafSize = 64
)

// EdgeInfo is what routes need of a base edge. Bits 0 to 26 are the leaf cell of both of its ends, or the index of a
// Crossing where these differ (isCrossing). Three bits above are the modes for which its edge is isolated: in a part of
// the network that is small, or that one cannot both enter and leave.
type EdgeInfo uint32

// The bits of EdgeInfo.
const (
	cellBits     = 27
	isolatedBits = 27 // the first one
	controlled   = EdgeInfo(1) << 30
	isCrossing   = EdgeInfo(1) << 31
)

// Crossing is the leaf cells of the first and the last node of a base edge.
type Crossing struct{ First, Last uint32 }

// NewEdgeInfo returns an EdgeInfo. number is a leaf cell, or the index of a Crossing if crossing is set. hasControls
// says that the base edge has a roadgraph.Control.
func NewEdgeInfo(number uint32, crossing bool, isolated region.Modes, hasControls bool) EdgeInfo {
	e := EdgeInfo(number) | EdgeInfo(isolated)<<isolatedBits
	if crossing {
		e |= isCrossing
	}
	if hasControls {
		e |= controlled
	}
	return e
}

// Isolated returns the modes for which the edge of a base edge is isolated.
func (e EdgeInfo) Isolated() region.Modes { return region.Modes(e>>isolatedBits) & 7 }

// HasControls reports whether a base edge has a roadgraph.Control.
func (e EdgeInfo) HasControls() bool { return e&controlled != 0 }

// Leaf is a leaf cell.
type Leaf struct {
	// Members is where its base edges begin in MembersSection. They end where those of the next leaf cell begin.
	Members uint32
	// Parents are the numbers of the cells of levels 1 to 3 that it is in.
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
	Arcs    uint32
	Entries uint32 // how many of them are entries
	// Weights is where its matrix begins in Sections.Weights: entries × exits elements of one uint16, or of two (the lower
	// half first) if Wide is 1. All ones means that there is no way.
	Weights uint64
	Wide    uint32
	_       uint32
}

// A member of a leaf cell is a base edge with one end or both in the cell: the difference from the member before, or
// from 0, shifted left by two, with these bits.
const (
	FirstInside = 1 << iota // its first node is in the cell
	LastInside              // its last node is
)
