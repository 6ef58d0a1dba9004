package places

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// onOutline is how near, in metres, a position is to an outline that it is a node of.
const onOutline = 0.05

// fromBuilding gives a feature the address of the building that it is in, or of which it is a node, such as an
// entrance; and a building the one address that stands at its entrances or in it. What the feature says itself stays,
// and where it names another street than the building does, it takes nothing.
func (v *deriver) fromBuilding(e *entry, n uint32, own *address) {
	other, found := v.building(e, n)
	if !found && own.houseNumber == 0 && e.shape == geometry.Area {
		other, found = v.door(e, n)
	}
	if !found {
		return
	}
	a := &v.store.addresses.Slice()[other]
	if own.houseNumber != 0 && own.houseNumber != a.houseNumber || own.place != 0 && own.place != a.place ||
		own.street != 0 && own.number != a.number {
		return
	}
	own.houseNumber, own.street, own.place, own.number, own.on = a.houseNumber, a.street, a.place, a.number, a.on
	own.suburb, own.hamlet = cmp.Or(own.suburb, a.suburb), cmp.Or(own.hamlet, a.hamlet)
	own.city, own.county, own.state = cmp.Or(own.city, a.city), cmp.Or(own.county, a.county), cmp.Or(own.state, a.state)
	own.buildingPostcode = v.onePostcode(a.postcode)
}

// building returns the smallest area with a house number that a feature is in.
func (v *deriver) building(e *entry, n uint32) (uint32, bool) {
	o := geometry.NewOrigin(e.middle.Point())
	around := func(g *geometry.Geometry) bool { return g.Contains(&o) || hasNode(g, &o) }
	larger := func(b *entry) bool { return b != e && e.extent <= b.extent }
	best, found := v.smallest(v.survey.buildings, e.middle, larger, around, 2)
	if v.withNumbered {
		other, also := v.smallest(v.survey.numbered, e.middle, larger, around, 2)
		if also && (!found || v.smaller(other, best)) {
			best, found = other, true
		}
	}
	return best, found && v.more
}

// smallest returns the smallest of some entries whose boxes hold a position and whose geometry is around it.
func (v *deriver) smallest(x *entryIndex, at geometry.Coord, ask func(*entry) bool,
	around func(*geometry.Geometry) bool, cost int64) (best uint32, found bool) {
	here := at.Box()
	items, bounds := x.items.Slice(), v.store.bounds.Slice()
	steps := x.each(&here, func(from, to int) {
		for _, n := range items[from:to] {
			if !bounds[n].Overlaps(&here) || !ask(v.store.entry(n)) || found && !v.smaller(n, best) || !v.more {
				continue
			}
			g := v.store.geometry(n)
			if v.work(cost*g.Steps()) && around(&g) {
				best, found = n, true
			}
		}
	})
	return best, v.work(steps) && found
}

// smaller tells whether an entry is smaller than another one; of equal ones, whether it comes first in the extract.
func (v *deriver) smaller(n, than uint32) bool {
	a, b := v.store.entry(n), v.store.entry(than)
	return a.extent < b.extent || a.extent == b.extent && before(a.ref, b.ref)
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
	x := v.survey.doors
	g := v.store.geometry(n)
	wide := widened(g.Box, onOutline)
	items, bounds, addresses := x.items.Slice(), v.store.bounds.Slice(), v.store.addresses.Slice()
	same := true
	steps := x.each(&wide, func(from, to int) {
		for _, d := range items[from:to] {
			if !bounds[d].Overlaps(&wide) || !same || !v.work(2*g.Steps()) {
				continue
			}
			o := geometry.NewOrigin(v.store.entry(d).middle.Point())
			if !hasNode(&g, &o) && !(e.is(isBuilding) && g.Contains(&o)) {
				continue
			}
			if found {
				a, b := &addresses[first], &addresses[d]
				same = a.houseNumber == b.houseNumber && a.street == b.street
			}
			if !found || before(v.store.entry(d).ref, v.store.entry(first).ref) {
				first, found = d, true
			}
		}
	})
	return first, v.work(steps) && found && same
}
