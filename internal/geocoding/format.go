package geocoding

import "github.com/mapsedge/caddy-maps/internal/mapdata"

// The sections of a region file that hold its places. All are arrays that are read in place; a number in one of them that
// leads into another is an index, and where a record says "first", its run ends where the next record's begins.
const (
	sectionFeatures  = "geo.features"  // []feature: general ones, then special ones, each along a Hilbert curve; a last one ends the runs
	sectionBoxes     = "geo.boxes"     // []box: of each feature
	sectionCoords    = "geo.coords"    // []coord: of lines and rings
	sectionChunks    = "geo.chunks"    // []chunk: short runs of the outlines of large features
	sectionPairs     = "geo.pairs"     // []pair: what a feature is
	sectionNames     = "geo.names"     // []translation: names in other languages
	sectionAddresses = "geo.addresses" // []ownAddress
	sectionPlaces    = "geo.places"    // []place: what villages, towns and suburbs belong to
	sectionAreas     = "geo.areas"     // []area: of each item of the tree of areas
	sectionTrees     = "geo.trees"     // []tree: the fixed ones, then one for each term
	sectionItems     = "geo.items"     // []uint32: features of the trees
	sectionBranches  = "geo.branches"  // []box: of chunks and of the items of trees, and those over them
	sectionTerms     = "geo.terms"     // []term: sorted by their text
	sectionRoots     = "geo.roots"     // []root: the largest cells, sorted by their keys
	sectionNodes     = "geo.nodes"     // []uint32: how each root is divided
	sectionCells     = "geo.cells"     // []uint32: what each cell knows
	sectionContexts  = "geo.contexts"  // []enclosing: what the areas around cells say
	sectionText      = "geo.text"      // []byte: strings, each with its length before it
)

// coord is a position in 1e-7 degrees.
type coord struct{ X, Y int32 }

// box is a rectangle in 1e-7 degrees, its edges included. It never crosses the antimeridian.
type box struct{ MinX, MinY, MaxX, MaxY int32 }

// shape says what a feature's geometry is.
type shape uint8

const (
	shapePoint shape = iota // the box's corner
	shapeLine
	shapeArea
)

// feature is an object that can be found, or that serves addresses.
type feature struct {
	Ref      uint64  // OSM id shifted left by two, and its kind
	Extent   float32 // square metres; what lies at the same distance is ordered by it
	Name     uint32  // string
	Kind     pair    // the first of its pairs
	Coords   uint32  // first
	Chunks   uint32  // first; a feature without chunks is one line or ring
	Branches uint32  // first of its chunks' boxes, which those over them follow
	Pairs    uint32  // first
	Names    uint32  // first
	Address  uint32  // index + 1; 0 for none
	Place    uint32  // index + 1; 0 for what is no settlement
	Shape    shape
	IsStreet uint8 // 1: its name is the street of its address
	_        [2]uint8
}

func newRef(kind mapdata.Kind, id int64) uint64 { return uint64(id)<<2 | uint64(kind) }

// chunk is a run of consecutive segments of one line or ring: from coordinate First, Segments of them.
type chunk struct {
	First    uint32 // counted from the feature's first coordinate
	Segments uint32
}

// chunkSegments is how many segments share a box. Few make more boxes to look at, many make each visit longer.
const chunkSegments = 12

// pair is a key and a value that say what a feature is; strings.
type pair struct{ Key, Value uint32 }

// translation is a name in another language: name:<Language>=Name; strings.
type translation struct{ Language, Name uint32 }

// ownAddress is what a feature's addr:* tags say, or what was found out for it; strings.
type ownAddress struct{ HouseNumber, Street, Suburb, Hamlet, City, County, State, Postcode uint32 }

// place is what a settlement belongs to, so that none is named for a point of another country or state.
type place struct {
	State   uint32  // feature + 1 of the area of role state; 0 when unknown
	City    uint32  // feature + 1 of the area of role city; 0 when unknown
	Country [4]byte // alpha-3 code; zero when unknown
}

// area is what an area means for the addresses in it. Ranks are 0 for a role that it has not, else the lower the better.
type area struct {
	Country  [3]byte // alpha-3 code of the country it belongs to; zero when unknown
	Flags    areaFlags
	State    uint8
	City     uint8
	Suburb   uint8
	County   uint8
	Postcode uint32 // string
}

type areaFlags uint8

const (
	areaIsCountry areaFlags = 1 << iota // has an ISO 3166-1 code of its own
	areaIsHamlet                        // a polygon of place=hamlet
	areaAnswers                         // a named place or administrative area: an answer where no feature is near
)

// tree is a packed R-tree: items in the order of a Hilbert curve, the boxes of them, of each sixteen of them, of each
// sixteen of those and so on, down to sixteen or fewer.
type tree struct {
	First    uint32 // of its items, or wholeFeatures: item i is feature i, and has the box of it
	Count    uint32 // of its items
	Boxes    uint32 // first of its items' boxes among the branches
	Branches uint32 // first of the boxes over them
}

const wholeFeatures = 1<<32 - 1

// The trees that every region has.
const (
	treeGeneral     = iota // features that are found without a category
	treeAreas              // areas that serve addresses and the fallback
	treeCities             // settlements that can be an address's city
	treeSuburbs            // settlements that can be an address's suburb
	treeSettlements        // what the fallback may answer with
	treeHamlets            // settlements that can be an address's hamlet
	treeDwellings          // settlements that are less than a hamlet
	fixedTrees
)

// term is a word that a category filter can name: a key or a value in lower case.
type term struct{ Text, Tree uint32 }
