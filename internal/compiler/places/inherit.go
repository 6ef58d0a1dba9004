package places

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// onOutline is the greatest distance, in metres, between an outline and one of its nodes.
const onOutline = 0.05

// fromBuilding gives a feature the address of the building around it, or of which it is a node, such as an entrance. It
// gives a building the address of its door, if there is only one. The feature keeps its own tags. If it names another
// street than the building, it takes nothing.
func (v *deriver) fromBuilding(e *entry) {
	a := v.building(e)
	if a == nil && e.HouseNumber == 0 && e.shape == geometry.Area {
		a = v.door(e)
	}
	if a == nil || e.HouseNumber != 0 && e.HouseNumber != a.HouseNumber || e.Place != 0 && e.Place != a.Place ||
		e.Street != 0 && e.streetNumber != a.streetNumber {
		return
	}
	e.HouseNumber, e.Street, e.Place, e.streetNumber, e.on = a.HouseNumber, a.Street, a.Place, a.streetNumber, a.on
	e.Suburb, e.Hamlet = cmp.Or(e.Suburb, a.Suburb), cmp.Or(e.Hamlet, a.Hamlet)
	e.City, e.County, e.State = cmp.Or(e.City, a.City), cmp.Or(e.County, a.County), cmp.Or(e.State, a.State)
	e.buildingPostcode = v.reader.OnePostcode(a.Postcode)
}

// building returns the smallest area with a house number around a feature.
func (v *deriver) building(e *entry) (best *entry) {
	o, here := geometry.NewOrigin(e.middle.Point()), e.middle.Box()
	for _, x := range [...]*streets.Index[uint32]{v.buildings, v.numbered} {
		x.Each(&here, func(n *uint32) {
			b := v.entry(*n)
			if !b.box.Overlaps(&here) || b == e || e.extent > b.extent || best != nil && !b.smaller(best) {
				return
			}
			if g := v.geometryOf(b); g.Contains(&o) || hasNode(&g, &o) {
				best = b
			}
		})
	}
	return best
}

// hasNode reports whether the origin is on an outline.
func hasNode(g *geometry.Geometry, o *geometry.Origin) bool {
	limit := geometry.HaversineWithin(onOutline)
	h, _ := g.Closest(o, limit)
	return h <= limit
}

// door returns an entry with a house number on an area's outline or, for a building, inside, if all of these have the
// same address.
func (v *deriver) door(e *entry) (first *entry) {
	g := v.geometryOf(e)
	wide := streets.Around(g.Box, onOutline)
	same := true
	v.doors.Each(&wide, func(n *uint32) {
		d := v.entry(*n)
		if !d.box.Overlaps(&wide) || !same {
			return
		}
		o := geometry.NewOrigin(d.middle.Point())
		if !hasNode(&g, &o) && !(e.is(isBuilding) && g.Contains(&o)) {
			return
		}
		same = first == nil || first.HouseNumber == d.HouseNumber && first.Street == d.Street
		if first == nil || placefile.CompareRefs(d.ref, first.ref) < 0 {
			first = d
		}
	})
	if !same {
		return nil
	}
	return first
}
