package places

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// survey is what entries say themselves, for others to find.
type survey struct {
	areas, postal, buildings, numbered, doors *entryIndex
	houses                                    *houseMap
	settlements                               *scratch.Sorter[settlement]
}

// entryIndex finds some of the entries.
type entryIndex struct {
	*boxIndex
	items *scratch.Array[uint32]
}

func newEntryIndex(dir *scratch.Dir, name string) *entryIndex {
	return &entryIndex{newBoxIndex(dir, name), scratch.NewArray[uint32](dir, name)}
}

func (x *entryIndex) add(n uint32, b boxtree.Box) error {
	return cmp.Or(x.items.Append(n), x.boxIndex.add(b))
}

func (x *entryIndex) free() error { return cmp.Or(x.items.Free(), x.boxIndex.free()) }

// gather makes the entries.
func (c *compiler) gather() error {
	dir := c.dir
	c.survey = survey{
		areas: newEntryIndex(dir, "areas"), postal: newEntryIndex(dir, "postal"),
		buildings: newEntryIndex(dir, "buildings"), numbered: newEntryIndex(dir, "numbered"),
		doors: newEntryIndex(dir, "doors"), houses: newHouseMap(dir),
		settlements: scratch.NewSorter(dir, "settlements", sortMemory(dir), compareSettlements),
	}
	var r extract.FeatureRecord
	err := c.order.Each(func(o *ordered) error {
		if o.source&isHouse != 0 {
			h := &c.houses.Slice()[o.source&^isHouse]
			class := class{general: true, unnamed: true, address: c.ranges.Slice()[h.line]}
			class.address.houseNumber = h.number
			return c.add(o, &class, c.house, &geometry.Geometry{Box: h.at.Box()}, nil)
		}
		c.data.Features.Read(o.source, &r)
		class := c.lexicon.classify(&r)
		return c.add(o, &class, c.lexicon.kinds, c.geometry(&r), r.Entrances)
	})
	s := &c.survey
	return cmp.Or(err, c.houses.Free(), c.ranges.Free(), s.areas.seal(), s.postal.seal(), s.buildings.seal(),
		s.doors.seal(), s.houses.index.seal())
}

// add adds the next entry.
func (c *compiler) add(o *ordered, class *class, kinds []textPair, g *geometry.Geometry, doors []extract.Coord) error {
	n := uint32(c.store.entries.Len())
	if n == math.MaxUint32-1 {
		return fmt.Errorf("the extract has more than %d features, which is what a region holds: leave some out", n)
	}
	number, err := c.numbers.number(class.address.street)
	a := address{ownTags: class.address, number: number}
	e := entry{ref: o.ref, extent: g.Extent(), name: class.name, road: class.road, place: class.place, group: o.group}
	e.setFlags(class, o)
	if slices.ContainsFunc(kinds, func(k textPair) bool { return k.key == c.lexicon.numbers[keyBuilding] }) {
		e.features |= isBuilding
	}
	if c.takesAddress(&e, kinds, g, &a) {
		e.features |= takesAddress
	}
	err = cmp.Or(err, c.store.addKinds(&e, kinds), c.store.addNames(&e, c.names(o)), c.store.addDoors(&e, doors),
		c.store.addGeometry(&e, g))
	if e.is(takesAddress) || e.isSettlement() || a.houseNumber != 0 || a.place != 0 {
		e.middle = geometry.NewCoord(g.Inner())
	}
	if class.serves {
		err = cmp.Or(err, c.addArea(n, &e, class, g))
	}
	err = cmp.Or(err, c.look(n, &e, &a, g))
	if len(c.ends) > 0 && !a.onStreet() && o.ref&3 == uint64(mapdata.KindNode) {
		err = cmp.Or(err, c.end(&e, &a))
	}
	return cmp.Or(err, c.texts.err, c.store.entries.Append(e), c.store.addresses.Append(a))
}

// names are the names in other languages of the object that was read last.
func (c *compiler) names(o *ordered) []textPair {
	if o.source&isHouse != 0 {
		return nil
	}
	return c.lexicon.names
}

// setFlags notes what an entry is.
func (e *entry) setFlags(class *class, o *ordered) {
	if class.unnamed {
		e.features |= isUnnamed
	}
	if o.source&isHouse != 0 {
		e.features |= isInterpolated
	}
}

// look notes what an entry says.
func (c *compiler) look(n uint32, e *entry, a *address, g *geometry.Geometry) (err error) {
	s := &c.survey
	if e.isSettlement() {
		e.settlement = uint32(c.store.settlements.Len()) + 1
		err = cmp.Or(c.store.settlements.Append(n), s.settlements.Add(settlement{name: e.name, entry: n, ref: e.ref}))
	}
	if a.houseNumber == 0 || e.is(isInterpolated) {
		return err
	}
	switch {
	case e.shape == geometry.Point:
		err = cmp.Or(err, s.doors.add(n, g.Box))
	case e.shape == geometry.Area && (e.is(isBuilding) || e.extent <= maxLot):
		err = cmp.Or(err, s.buildings.add(n, g.Box))
	}
	return cmp.Or(err, s.houses.add(&neighbour{at: e.middle, street: a.number, postcode: c.lexicon.onePostcode(a.postcode),
		ref: e.ref}))
}

// wild are the keys of what has no address: it lies in the landscape.
var wild = []string{"natural", "landuse", "place", "boundary", "waterway", "geological", "mountain_pass", "aerialway",
	"power"}

// maxLot is how large an area may be, in square metres, that has one address though it does not say one: a campus or a
// park has several streets around it.
const maxLot = 50_000

// takesAddress tells whether a feature has an address, though it may not say one.
func (c *compiler) takesAddress(e *entry, kinds []textPair, g *geometry.Geometry, a *address) bool {
	switch {
	case len(kinds) == 0 || e.road != tagging.NoStreet || g.Shape == geometry.Line:
		return false
	case a.houseNumber != 0:
		return true
	}
	return e.extent <= maxLot && !slices.Contains(c.wild, kinds[0].key)
}

// onePostcode is a postcode, and nothing where it is a list of several: these are of some part each.
func (l *lexicon) onePostcode(code uint32) uint32 {
	if code != 0 && bytes.ContainsAny(l.texts.bytes(code), ",;") {
		return 0
	}
	return code
}
