// Package placefile is the format of the places in a region file, which compiler/places writes and package geocoding
// reads, and the meaning of tags for searches and addresses. It searches nothing. Start with the sections in format.go,
// and Record.
package placefile

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// The sections of a region file that hold its places. Features are numbered: the general ones first, then the special
// ones, each along a Hilbert curve. What has no fixed size lies in sections of bytes, and is named by where it begins.
const (
	SectionBlocks    = "geo.blocks"    // []Block: of each Fanout features
	SectionRecords   = "geo.records"   // bytes: of each feature, see AppendRecord
	SectionKinds     = "geo.kinds"     // bytes: what features are, see AppendKinds
	SectionAddresses = "geo.addresses" // bytes: what addresses have in common, see AppendAddress
	SectionText      = "geo.text"      // bytes: strings, each with its length before it; the first is the empty one
	SectionTrees     = "geo.trees"     // []Tree: the fixed ones, then one for each term
	SectionTerms     = "geo.terms"     // []Term: sorted by their text
	SectionLeaves    = "geo.leaves"    // []Leaf: of each Fanout items of a tree
	SectionSettled   = "geo.settled"   // []Settlement: of the trees of settlements
	SectionPlaces    = "geo.places"    // []Place: what settlements belong to
	SectionItems     = "geo.items"     // bytes: of each leaf of a term the features, see AppendItems
	SectionLevels    = "geo.levels"    // []boxtree.Box: over the leaves of each tree
	SectionRuns      = "geo.runs"      // []Run: tiles, sorted, with what is around them
	SectionContexts  = "geo.contexts"  // bytes: areas around tiles, see AppendContext, each with its length before it
)

// Fanout is the number of features of a block, and of items of a leaf.
const Fanout = geo.TreeFanout

// NewRef combines the id of an OpenStreetMap object with its kind.
func NewRef(kind region.Kind, id int64) uint64 { return uint64(id)<<2 | uint64(kind) }

// CompareRefs orders references as in extracts: by kind, then id.
func CompareRefs(a, b uint64) int {
	return cmp.Or(cmp.Compare(a&3, b&3), cmp.Compare(int64(a)>>2, int64(b)>>2))
}

// Place is the jurisdiction of a settlement: it is not used for points in another country or state.
type Place struct {
	State   uint32  // feature + 1 of the area of role state; 0 when unknown
	City    uint32  // feature + 1 of the area of role city; 0 when unknown
	Country [3]byte // alpha-3 code; zero when unknown
	_       uint8
}

// Settlement is a leaf entry of the trees of settlements: enough to reject most of them without reading their records.
type Settlement struct {
	Box     geo.Box // exact: one of no size is a position
	Ref     uint64
	Name    uint64 // string
	Extent  float32
	Feature uint32
	Place   uint32 // what it belongs to: index + 1
	_       uint32
}

// Area is the roles of an area in the addresses inside it. A rank is 0 if it has not that role, else lower is better.
type Area struct {
	Country  [3]byte // alpha-3 code of the country it belongs to; zero when unknown
	Flags    areaFlags
	State    uint8
	City     uint8
	Suburb   uint8
	County   uint8
	Postcode uint64 // string
	Name     uint64 // string
}

type areaFlags uint8

const (
	AreaIsCountry areaFlags = 1 << iota // has an ISO 3166-1 code of its own
	AreaIsHamlet                        // a polygon of place=hamlet
	AreaAnswers                         // a named place or administrative area: an answer where no feature is near
)

// Tree is a packed R-tree with a fanout of 16: items in Hilbert order, in leaves. The leaves of the general features
// are their blocks.
type Tree struct {
	Items  uint64 // where those of its first leaf begin
	Leaves uint32 // first of its leaves
	Levels uint32 // first of its boxes over them
	Count  uint32 // of its items
	_      uint32
}

// LeafCount returns the number of leaves.
func (t *Tree) LeafCount() uint32 { return uint32((uint64(t.Count) + Fanout - 1) / Fanout) }

// Leaf is Fanout items of a tree.
type Leaf struct {
	Box geo.Box
	At  uint32 // of its items, from where those of the tree begin
}

// The trees that every region has.
const (
	TreeGeneral     = iota // features that are found without a category
	TreeCities             // settlements that can be an address's city
	TreeSuburbs            // settlements that can be an address's suburb
	TreeSettlements        // what the fallback may answer with
	TreeHamlets            // settlements that can be an address's hamlet
	TreeDwellings          // settlements that are less than a hamlet
	FixedTrees
)

// Term is a word of a category filter: a key or a value in lower case.
type Term struct {
	Text uint64 // string
	Tree uint32
	_    uint32
}

const (
	// MaxString is more than the longest string in bytes: a house number and a street of 255 characters each.
	MaxString = 1 << 14
	// longString is longer than nearly all strings, in bytes. Longer strings are stored once.
	longString = 80
	// MaxNames limits the names in other languages: extracts keep no more tags of an object.
	MaxNames = 1000
	// NameBytes is the most that a name with its language takes.
	NameBytes = 2 * (longString + 2)
)
