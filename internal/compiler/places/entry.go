package places

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// entry is a feature being compiled. Its lists are ranges of the compiler's arrays.
type entry struct {
	ref        uint64
	order      uint64 // see geo.Box.Order
	extent     float64
	geometry   uint64         // first byte
	nGeometry  uint32         // bytes
	box        geo.Box        // of the geometry
	middle     geometry.Coord // inside it, if it takes an address
	name       uint32         // text
	pairs      uint32         // the first of its kinds and names
	entrances  uint32         // the first of its entrances
	area       uint32         // index + 1 of its area, or 0
	access     uint32         // index + 1 of the road without a name that leads to it, or 0
	nNames     uint16
	nDoors     uint16
	nKinds     uint8
	shape      geometry.Shape
	road       placefile.RoadKind
	place      classes.PlaceKind
	group      uint8
	importance uint8
	features   featureFlags

	// Its address:
	classes.OwnTags
	streetNumber     uint32 // of the street's name
	on               uint32 // index + 1 of the street that was inferred, or 0
	buildingPostcode uint32 // text
}

type featureFlags uint8

const (
	isUnnamed      featureFlags = 1 << iota // its name is its house number and street
	isBuilding                              // has the key building
	isInterpolated                          // a house between two others
	foundNumber                             // a building that took the number of a door
	takesAddress                            // gets an address if it has none
)

// is reports whether a feature has all of some flags.
func (e *entry) is(f featureFlags) bool { return e.features&f == f }

// isSettlement reports whether the feature is a settlement that can be an answer.
func (e *entry) isSettlement() bool {
	return e.place&classes.PlaceSettlement != 0 && e.nKinds > 0 && e.shape != geometry.Line
}

// smaller reports whether an entry is smaller than another one or, if they are equal, first in the extract.
func (e *entry) smaller(than *entry) bool {
	return e.extent < than.extent || e.extent == than.extent && placefile.CompareRefs(e.ref, than.ref) < 0
}

// The groups by which features are sorted. A large box among small ones would make their common box large.
const (
	groupSmall = iota
	groupLarge
	groupSpecial
)

// largeBox is the least size of the box of a large feature, in 1e-7 degrees.
const largeBox = 200_000

// groupOf returns the group of a feature.
func groupOf(c *classes.Class, kinds int, b geo.Box) uint8 {
	switch {
	case !c.General || kinds == 0:
		return groupSpecial
	case int64(b.MaxX)-int64(b.MinX) > largeBox || int64(b.MaxY)-int64(b.MinY) > largeBox:
		return groupLarge
	}
	return groupSmall
}

func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.order, b.order), cmp.Compare(a.ref, b.ref),
		cmp.Compare(a.pairs, b.pairs)) // for houses of one line
}

// entry returns an entry.
func (c *compiler) entry(n uint32) *entry { return &c.entries.Slice()[n] }

// geometryOf returns the geometry of an entry.
func (c *compiler) geometryOf(e *entry) geometry.Geometry {
	return geometry.Restore(e.shape, e.box, c.shapes.Slice()[e.geometry:e.geometry+uint64(e.nGeometry)])
}

// kindsOf returns the kinds of an entry.
func (c *compiler) kindsOf(e *entry) []classes.Pair {
	return c.pairs.Slice()[e.pairs : e.pairs+uint32(e.nKinds)]
}
