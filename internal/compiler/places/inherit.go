package places

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// onOutline is how near, in metres, a position is to an outline that it is a node of.
const onOutline = 0.05

// fromBuilding gives a feature the address of the building that it is in, or of which it is a node, such as an
// entrance; and a building the one address that stands at its entrances or in it. What the feature says itself stays,
// and where it names another street than the building does, it takes nothing.
func (v *deriver) fromBuilding(e *entry, n uint32, own *address) {
	other, found := v.building(e)
	if !found && own.HouseNumber == 0 && e.shape == geometry.Area {
		other, found = v.door(e, n)
	}
	if !found {
		return
	}
	a := &v.store.addresses.Slice()[other]
	if own.HouseNumber != 0 && own.HouseNumber != a.HouseNumber || own.Place != 0 && own.Place != a.Place ||
		own.Street != 0 && own.number != a.number {
		return
	}
	own.HouseNumber, own.Street, own.Place, own.number, own.on = a.HouseNumber, a.Street, a.Place, a.number, a.on
	own.Suburb, own.Hamlet = cmp.Or(own.Suburb, a.Suburb), cmp.Or(own.Hamlet, a.Hamlet)
	own.City, own.County, own.State = cmp.Or(own.City, a.City), cmp.Or(own.County, a.County), cmp.Or(own.State, a.State)
	own.buildingPostcode = v.reader.OnePostcode(a.Postcode)
}

// building returns the smallest area with a house number that a feature is in.
func (v *deriver) building(e *entry) (best uint32, found bool) {
	o, here := geometry.NewOrigin(e.middle.Point()), e.middle.Box()
	bounds := v.store.bounds.Slice()
	for _, x := range [...]*streets.Index[uint32]{v.survey.buildings, v.survey.numbered} {
		x.Each(&here, func(item *uint32) {
			n := *item
			b := v.store.entry(n)
			if !bounds[n].Overlaps(&here) || b == e || e.extent > b.extent || found && !v.smaller(n, best) {
				return
			}
			if g := v.store.geometry(n); g.Contains(&o) || hasNode(&g, &o) {
				best, found = n, true
			}
		})
	}
	return best, found
}

// smaller tells whether an entry is smaller than another one; of equal ones, whether it comes first in the extract.
func (v *deriver) smaller(n, than uint32) bool {
	a, b := v.store.entry(n), v.store.entry(than)
	return a.extent < b.extent || a.extent == b.extent && placefile.CompareRefs(a.ref, b.ref) < 0
}

// hasNode tells whether the origin is on an outline.
func hasNode(g *geometry.Geometry, o *geometry.Origin) bool {
	limit := geometry.HaversineWithin(onOutline)
	h, _ := g.Closest(o, limit)
	return h <= limit
}

// door returns a house number that is a node of an area's outline or, in a building, inside, if all of these have the
// same address.
func (v *deriver) door(e *entry, n uint32) (first uint32, found bool) {
	g := v.store.geometry(n)
	wide := streets.Around(g.Box, onOutline)
	bounds, addresses := v.store.bounds.Slice(), v.store.addresses.Slice()
	same := true
	v.survey.doors.Each(&wide, func(door *uint32) {
		d := *door
		if !bounds[d].Overlaps(&wide) || !same {
			return
		}
		o := geometry.NewOrigin(v.store.entry(d).middle.Point())
		if !hasNode(&g, &o) && !(e.is(isBuilding) && g.Contains(&o)) {
			return
		}
		if found {
			a, b := &addresses[first], &addresses[d]
			same = a.HouseNumber == b.HouseNumber && a.Street == b.Street
		}
		if !found || placefile.CompareRefs(v.store.entry(d).ref, v.store.entry(first).ref) < 0 {
			first, found = d, true
		}
	})
	return first, found && same
}
