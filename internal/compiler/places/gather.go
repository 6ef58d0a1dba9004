package places

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// gather makes entries of the features and a map of the streets.
func (c *compiler) gather() error {
	for _, r := range c.data.Features.All {
		class := c.reader.Classify(r)
		if c.texts.Err != nil {
			return c.texts.Err
		}
		if len(c.reader.Kinds) == 0 && !class.Serves {
			continue
		}
		ref := placefile.NewRef(r.Kind, r.ID)
		err := c.add(entry{ref: ref}, &class, c.reader.Kinds, c.reader.Names, &r.Geometry, r.Entrances)
		if class.Road > placefile.OnlyRoad {
			s := streets.Street{Ref: ref, Name: class.Name, Number: c.reader.Street(class.Name),
				Postcode: class.Postcode, Kind: class.Road}
			err = cmp.Or(err, c.streets.Add(s, &r.Geometry))
		}
		if err != nil {
			return err
		}
	}
	return c.streets.Seal()
}

// add adds an entry.
func (c *compiler) add(e entry, class *classes.Class, kinds, names []classes.Pair, g *geometry.Geometry,
	entrances []geometry.Coord) error {
	if c.order.Len() == math.MaxUint32-1 {
		return fmt.Errorf("the extract has more than %d features, the limit of a region: leave some out",
			uint32(math.MaxUint32-1))
	}
	e.OwnTags, e.name, e.road, e.place = class.Address, class.Name, class.Road, class.Place
	e.importance = class.Importance
	e.streetNumber = c.reader.Street(e.Street)
	e.box, e.order, e.shape, e.extent = g.Box, g.Box.Order(), g.Shape, g.Extent()
	e.geometry, e.nGeometry = uint64(c.shapes.Len()), uint32(len(g.Bytes()))
	e.pairs, e.nKinds, e.nNames = uint32(c.pairs.Len()), uint8(len(kinds)), uint16(len(names))
	e.entrances, e.nDoors = uint32(c.entrances.Len()), uint16(min(len(entrances), math.MaxUint16))
	err := cmp.Or(c.shapes.Append(g.Bytes()...), c.pairs.Append(kinds...), c.pairs.Append(names...),
		c.entrances.Append(entrances[:e.nDoors]...))
	for _, k := range kinds {
		c.reader.Word(k.Key)
		c.reader.Word(k.Value)
		if c.reader.IsBuilding(k.Key) {
			e.features |= isBuilding
		}
	}
	if class.Unnamed {
		e.features |= isUnnamed
	}
	if c.takesAddress(&e, kinds) {
		e.features |= takesAddress
	}
	if e.is(takesAddress) || e.isSettlement() || e.HouseNumber != 0 || e.Place != 0 {
		e.middle = geometry.NewCoord(g.Inner())
	}
	if class.Serves {
		err = cmp.Or(err, c.areas.Append(newArea(&e, class, g)))
		e.area = uint32(c.areas.Len())
	}
	e.group = groupOf(class, len(kinds), g.Box)
	return cmp.Or(err, c.texts.Err, c.order.Add(e))
}

// wild are the keys of features of the landscape, which have no address.
var wild = []string{"natural", "landuse", "place", "boundary", "waterway", "geological", "mountain_pass", "aerialway",
	"power"}

// maxLot is the greatest size of an area that gets an address, in square metres. A campus or a park has several streets
// around it.
const maxLot = 50_000

// takesAddress reports whether a feature gets an address if it has none.
func (c *compiler) takesAddress(e *entry, kinds []classes.Pair) bool {
	switch {
	case len(kinds) == 0 || e.road != placefile.NoStreet || e.shape == geometry.Line:
		return false
	case e.HouseNumber != 0 || e.HouseName != 0:
		return true
	}
	return e.extent <= maxLot && !slices.Contains(c.wild, kinds[0].Key)
}

// sort puts the entries into their final order.
func (c *compiler) sort() error {
	err := c.order.Each(func(e *entry) error {
		err := cmp.Or(c.nameArea(e), c.look(uint32(c.entries.Len()), e))
		if street := c.ends[e.ref]; street != 0 && !e.OnStreet() {
			e.Street, e.streetNumber = street, c.reader.Street(street)
		}
		return cmp.Or(err, c.entries.Append(*e))
	})
	return cmp.Or(err, c.buildings.Seal(), c.doors.Seal(), c.houses.Seal())
}

// look indexes what an entry has by itself.
func (c *compiler) look(n uint32, e *entry) (err error) {
	if e.isSettlement() {
		err = c.settlements.Append(n)
	}
	if e.HouseNumber == 0 || e.is(isInterpolated) {
		return err
	}
	switch {
	case e.shape == geometry.Point:
		err = cmp.Or(err, c.doors.Add(n, e.box))
	case e.shape == geometry.Area && (e.is(isBuilding) || e.extent <= maxLot):
		err = cmp.Or(err, c.buildings.Add(n, e.box))
	}
	h := neighbour{at: e.middle, street: e.streetNumber, postcode: c.reader.OnePostcode(e.Postcode), ref: e.ref}
	if h.street != 0 || h.postcode != 0 {
		err = cmp.Or(err, c.houses.Add(h, h.at.Box()))
	}
	return err
}
