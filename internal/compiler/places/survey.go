package places

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// survey is what entries say themselves, for others to find.
type survey struct {
	buildings, numbered, doors *streets.Index[uint32] // entries
	houses                     *streets.Index[neighbour]
}

// gather makes the entries.
func (c *compiler) gather() error {
	dir := c.dir
	c.survey = survey{streets.NewIndex[uint32](dir, "buildings"), streets.NewIndex[uint32](dir, "numbered"),
		streets.NewIndex[uint32](dir, "doors"), streets.NewIndex[neighbour](dir, "houses")}
	var r objects.Feature
	err := c.order.Each(func(o *ordered) error {
		if o.source&isHouse != 0 {
			h := &c.houses.Slice()[o.source&^isHouse]
			class := classes.Class{General: true, Unnamed: true, Address: c.ranges.Slice()[h.line]}
			class.Address.HouseNumber = h.number
			c.reader.Names = nil
			return c.add(o, &class, c.house, &geometry.Geometry{Box: h.at.Box()}, nil)
		}
		c.data.Features.Read(int(o.source), &r)
		class := c.reader.Classify(&r)
		return c.add(o, &class, c.reader.Kinds, &r.Geometry, r.Entrances)
	})
	s := &c.survey
	return cmp.Or(err, c.houses.Free(), c.ranges.Free(), s.buildings.Seal(), s.doors.Seal(), s.houses.Seal())
}

// add adds the next entry.
func (c *compiler) add(o *ordered, class *classes.Class, kinds []classes.Pair, g *geometry.Geometry,
	doors []geometry.Coord) error {
	n := uint32(c.store.entries.Len())
	if n == math.MaxUint32-1 {
		return fmt.Errorf("the extract has more than %d features, which is what a region holds: leave some out", n)
	}
	a := address{OwnTags: class.Address, number: c.reader.Street(class.Address.Street)}
	e := entry{ref: o.ref, extent: g.Extent(), name: class.Name, road: class.Road, place: class.Place, group: o.group}
	if class.Unnamed {
		e.features |= isUnnamed
	}
	if o.source&isHouse != 0 {
		e.features |= isInterpolated
	}
	if slices.ContainsFunc(kinds, func(k classes.Pair) bool { return c.reader.IsBuilding(k.Key) }) {
		e.features |= isBuilding
	}
	if c.takesAddress(&e, kinds, g, &a) {
		e.features |= takesAddress
	}
	err := cmp.Or(c.store.addKinds(&e, kinds), c.store.addNames(&e, c.reader.Names), c.store.addDoors(&e, doors),
		c.store.addGeometry(&e, g))
	if e.is(takesAddress) || e.isSettlement() || a.HouseNumber != 0 || a.Place != 0 {
		e.middle = geometry.NewCoord(g.Inner())
	}
	if class.Serves {
		err = cmp.Or(err, c.addArea(&e, class, g))
	}
	err = cmp.Or(err, c.look(n, &e, &a, g))
	if len(c.ends) > 0 && !a.OnStreet() && o.ref&3 == uint64(mapdata.KindNode) {
		c.end(&e, &a)
	}
	return cmp.Or(err, c.texts.Err, c.store.entries.Append(e), c.store.addresses.Append(a))
}

// look notes what an entry says.
func (c *compiler) look(n uint32, e *entry, a *address, g *geometry.Geometry) (err error) {
	s := &c.survey
	if e.isSettlement() {
		err = c.store.settlements.Append(n)
	}
	if a.HouseNumber == 0 || e.is(isInterpolated) {
		return err
	}
	switch {
	case e.shape == geometry.Point:
		err = cmp.Or(err, s.doors.Add(n, g.Box))
	case e.shape == geometry.Area && (e.is(isBuilding) || e.extent <= maxLot):
		err = cmp.Or(err, s.buildings.Add(n, g.Box))
	}
	h := neighbour{at: e.middle, street: a.number, postcode: c.reader.OnePostcode(a.Postcode), ref: e.ref}
	if h.street != 0 || h.postcode != 0 {
		err = cmp.Or(err, s.houses.Add(h, h.at.Box()))
	}
	return err
}

// wild are the keys of what has no address: it lies in the landscape.
var wild = []string{"natural", "landuse", "place", "boundary", "waterway", "geological", "mountain_pass", "aerialway",
	"power"}

// maxLot is how large an area may be, in square metres, that has one address though it does not say one: a campus or a
// park has several streets around it.
const maxLot = 50_000

// takesAddress tells whether a feature has an address, though it may not say one.
func (c *compiler) takesAddress(e *entry, kinds []classes.Pair, g *geometry.Geometry, a *address) bool {
	switch {
	case len(kinds) == 0 || e.road != tagging.NoStreet || g.Shape == geometry.Line:
		return false
	case a.HouseNumber != 0 || a.HouseName != 0:
		return true
	}
	return e.extent <= maxLot && !slices.Contains(c.wild, kinds[0].Key)
}
