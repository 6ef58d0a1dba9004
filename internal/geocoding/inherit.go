package geocoding

import "cmp"

// onOutline is how near, in metres, a position is to an outline that it is a node of.
const onOutline = 0.05

// fromBuilding gives a feature the address of the building that it is in, or of which it is a node, such as an
// entrance; and a building the one address that stands at its entrances or in it. What the feature says itself stays,
// and where it names another street than the building does, it takes nothing.
func (v *deriver) fromBuilding(e *entry) {
	from := v.building(e)
	if from == nil && e.address.houseNumber == "" && e.geometry.shape == shapeArea {
		from = v.door(e)
	}
	if from == nil {
		return
	}
	a, own := &from.address, &e.address
	if own.houseNumber != "" && own.houseNumber != a.houseNumber || own.place != "" && own.place != a.place ||
		own.street != "" && streetKey(own.street) != streetKey(a.street) {
		return
	}
	own.houseNumber, own.street, own.place, e.onRoad, e.on = a.houseNumber, a.street, a.place, from.onRoad, from.on
	own.suburb, own.hamlet = cmp.Or(own.suburb, a.suburb), cmp.Or(own.hamlet, a.hamlet)
	own.city, own.county, own.state = cmp.Or(own.city, a.city), cmp.Or(own.county, a.county), cmp.Or(own.state, a.state)
	e.buildingPostcode = onePostcode(a.postcode)
}

// building returns the smallest area with a house number that a feature is in.
func (v *deriver) building(e *entry) *entry {
	middle := e.middle()
	items, steps := v.buildings.near(nil, middle.box())
	var best *entry
	o := newOrigin(middle.point())
	for _, i := range items {
		b := &v.b.entries[i]
		if b == e || e.extent > b.extent || best != nil && best.extent <= b.extent {
			continue
		}
		if !v.work(2 * b.geometry.steps()) {
			return nil
		}
		if b.geometry.contains(&o) || b.geometry.hasNode(&o) {
			best = b
		}
	}
	if !v.work(steps) {
		return nil
	}
	return best
}

// hasNode tells whether the origin is on an outline.
func (g *geometry) hasNode(o *origin) bool {
	limit := haversineWithin(onOutline)
	h, _ := g.nearest(o, limit)
	return h <= limit
}

// door returns a house number that is a node of an area's outline or, in a building, inside, if all of these have the
// same address.
func (v *deriver) door(e *entry) *entry {
	items, steps := v.doors.near(nil, e.geometry.box.widened(onOutline))
	inside := e.is("building")
	var found *entry
	for _, i := range items {
		d := &v.b.entries[i]
		o := newOrigin(d.middle().point())
		if !v.work(2 * e.geometry.steps()) {
			return nil
		}
		if !e.geometry.hasNode(&o) && !(inside && e.geometry.contains(&o)) {
			continue
		}
		if found != nil && (found.address.houseNumber != d.address.houseNumber || found.address.street != d.address.street) {
			found = nil
			break
		}
		found = d
	}
	if !v.work(steps) {
		return nil
	}
	return found
}
