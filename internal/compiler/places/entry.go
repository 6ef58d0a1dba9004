package places

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
)

// entry is a feature on its way into the region. What it has several of are runs of the store's arrays.
type entry struct {
	ref       uint64
	extent    float64
	geometry  uint64         // first byte
	nGeometry uint32         // bytes
	middle    geometry.Coord // inside it; of those that take an address
	name      uint32         // text
	kinds     uint32         // first pair
	names     uint32         // first pair
	doors     uint32         // first of its entrances, of a building: those that people use
	area      uint32         // index + 1 of its area; 0 for what serves no addresses
	access    uint32         // index + 1 of the road without a name that leads to it; 0 for none
	nNames    uint16
	nDoors    uint16
	nKinds    uint8
	shape     geometry.Shape
	road      tagging.RoadKind
	place     classes.PlaceKind
	group     uint8
	features  featureFlags
	_         [2]uint8
}

type featureFlags uint8

const (
	isUnnamed      featureFlags = 1 << iota // its name is its house number and street
	isBuilding                              // one of its keys is building
	isInterpolated                          // a house between two others
	foundNumber                             // a building that took the number of a door
	takesAddress                            // it has an address, though it may not say one
)

// The groups that features are sorted by. A large box among small ones would make their common box large.
const (
	groupSmall = iota
	groupLarge
	groupSpecial
)

// largeBox is how far, in 1e-7 degrees, the box of a large feature reaches.
const largeBox = 200_000

// groupOf is the group of a feature.
func groupOf(c *classes.Class, kinds int, b boxtree.Box) uint8 {
	switch {
	case !c.General || kinds == 0:
		return groupSpecial
	case int64(b.MaxX)-int64(b.MinX) > largeBox || int64(b.MaxY)-int64(b.MinY) > largeBox:
		return groupLarge
	}
	return groupSmall
}

// store has the entries in their final order, with all that they are made of, in scratch files.
type store struct {
	entries     *scratch.Array[entry]
	addresses   *scratch.Array[address]     // of each entry
	bounds      *scratch.Array[boxtree.Box] // of each entry
	shapes      *scratch.Array[byte]
	kinds       *scratch.Array[classes.Pair]
	names       *scratch.Array[classes.Pair]
	doors       *scratch.Array[geometry.Coord]
	areas       *scratch.Array[placefile.Area] // of those that serve addresses; the postcode is a text
	postcodes   *scratch.Array[uint32]         // of each area: a text
	settlements *scratch.Array[uint32]         // entries
}

func newStore(dir *scratch.Dir) *store {
	return &store{
		entries:     scratch.NewArray[entry](dir, "entries"),
		addresses:   scratch.NewArray[address](dir, "addresses"),
		bounds:      scratch.NewArray[boxtree.Box](dir, "bounds"),
		shapes:      scratch.NewArray[byte](dir, "shapes"),
		kinds:       scratch.NewArray[classes.Pair](dir, "kinds"),
		names:       scratch.NewArray[classes.Pair](dir, "names"),
		doors:       scratch.NewArray[geometry.Coord](dir, "doors"),
		areas:       scratch.NewArray[placefile.Area](dir, "areas"),
		postcodes:   scratch.NewArray[uint32](dir, "postcodes"),
		settlements: scratch.NewArray[uint32](dir, "settlements"),
	}
}

// entry returns an entry.
func (s *store) entry(n uint32) *entry { return &s.entries.Slice()[n] }

// geometry returns the geometry of an entry.
func (s *store) geometry(n uint32) geometry.Geometry {
	e := s.entry(n)
	return geometry.Restore(e.shape, s.bounds.Slice()[n], s.shapes.Slice()[e.geometry:e.geometry+uint64(e.nGeometry)])
}

// kindsOf returns what an entry is.
func (s *store) kindsOf(e *entry) []classes.Pair {
	return s.kinds.Slice()[e.kinds : e.kinds+uint32(e.nKinds)]
}

// addGeometry adds a geometry, and notes where.
func (s *store) addGeometry(e *entry, g *geometry.Geometry) error {
	e.shape, e.geometry, e.nGeometry = g.Shape, uint64(s.shapes.Len()), uint32(len(g.Bytes()))
	return cmp.Or(s.bounds.Append(g.Box), s.shapes.Append(g.Bytes()...))
}

// addKinds adds what an entry is. Neighbours are often the same.
func (s *store) addKinds(e *entry, kinds []classes.Pair) error {
	e.nKinds = uint8(len(kinds))
	have := s.kinds.Slice()
	if n := len(have) - len(kinds); n >= 0 && slices.Equal(have[n:], kinds) {
		e.kinds = uint32(n)
		return nil
	}
	e.kinds = uint32(len(have))
	return s.kinds.Append(kinds...)
}

// addNames adds names in other languages.
func (s *store) addNames(e *entry, names []classes.Pair) error {
	e.names, e.nNames = uint32(s.names.Len()), uint16(len(names))
	return s.names.Append(names...)
}

// addDoors adds entrances.
func (s *store) addDoors(e *entry, doors []geometry.Coord) error {
	e.doors, e.nDoors = uint32(s.doors.Len()), uint16(min(len(doors), math.MaxUint16))
	return s.doors.Append(doors[:e.nDoors]...)
}

// address is what is known of an entry's address.
type address struct {
	classes.OwnTags
	number uint32 // of the street's name
	// What deriver finds:
	on               uint32 // street + 1: the address's street is that of a road, which is this one; 0 for none
	buildingPostcode uint32 // text
}

// is tells whether a feature has some flags.
func (e *entry) is(f featureFlags) bool { return e.features&f != 0 }

// isSettlement tells whether the feature can be the answer to where a place is.
func (e *entry) isSettlement() bool {
	return e.place&classes.PlaceSettlement != 0 && e.nKinds > 0 && e.shape != geometry.Line
}

// free removes all files.
func (s *store) free() error {
	return cmp.Or(s.entries.Free(), s.addresses.Free(), s.bounds.Free(), s.shapes.Free(), s.kinds.Free(), s.names.Free(),
		s.doors.Free(), s.areas.Free(), s.postcodes.Free(), s.settlements.Free())
}
