package geocoding

import (
	"cmp"
	"slices"
)

// houseMap has the houses that say on which street they are, or which postcode they have.
type houseMap struct {
	grid   grid
	houses []neighbour
}

type neighbour struct {
	at       coord
	street   uint32 // number of its key + 1, 0 for none
	postcode string
	ref      uint64
}

func (m *houseMap) add(e *entry, streets *streetMap) {
	h := neighbour{at: e.middle(), postcode: e.address.postcode, ref: e.ref}
	if e.address.street != "" {
		h.street = streets.number(e.address.street) + 1
	}
	if h.street != 0 || h.postcode != "" {
		m.grid.add(h.at.box(), uint32(len(m.houses)))
		m.houses = append(m.houses, h)
	}
}

// support adds to the cost of streets how far the nearest house is that says it is on them.
func (m *houseMap) support(list []streetCandidate, at coord) (steps int64) {
	if len(list) < 2 {
		return 0
	}
	near := make([]float64, len(list))
	for i := range near {
		near[i] = maxNeighbour
	}
	items, steps := m.grid.near(nil, at.box().widened(maxNeighbour))
	p := newPlane(at.box())
	for _, i := range items {
		h := &m.houses[i]
		k := slices.IndexFunc(list, func(c streetCandidate) bool { return c.street+1 == h.street })
		if steps++; k >= 0 {
			near[k] = min(near[k], p.flat(h.at).toSegment(flat{}, flat{}))
		}
	}
	for i := range list {
		list[i].cost += neighbourShare * near[i]
	}
	return steps
}

// How far houses may be whose postcodes tell that of another one, in metres, and how many of them are asked. They must
// agree.
const (
	maxSameStreet, maxNeighbourhood = 500, 1000
	askedHouses                     = 5
)

// postcode gives a feature the postcode of its surroundings, in the order that docs/geocoding.md gives.
func (v *deriver) postcode(e *entry) {
	if e.address.postcode != "" {
		return
	}
	at := e.middle()
	if area := v.postalArea(at); area != nil {
		e.address.postcode = area.area.postcode
		return
	}
	onStreet := ""
	if e.onRoad {
		onStreet = v.b.entries[e.on].postcode
	} else if e.address.street != "" {
		onStreet = v.streetPostcode(e)
	}
	e.address.postcode = cmp.Or(e.buildingPostcode, onStreet, v.agreed(at, e.address.street))
}

// postalArea returns the smallest area with a postcode around a position.
func (v *deriver) postalArea(at coord) *entry {
	items, steps := v.postal.near(nil, at.box())
	var best *entry
	o := newOrigin(at.point())
	for _, i := range items {
		a := &v.b.entries[i]
		steps += a.geometry.steps()
		if (best == nil || a.extent < best.extent) && a.geometry.contains(&o) {
			best = a
		}
	}
	if !v.work(steps) {
		return nil
	}
	return best
}

// streetPostcode returns the postcode of the nearest part of the street that a house says it is on.
func (v *deriver) streetPostcode(e *entry) string {
	number, known := v.streets.keys[streetKey(e.address.street)]
	if !known {
		return ""
	}
	list, steps := v.streets.near(newOutline(&e.geometry, nil), maxStreet)
	if v.work(steps) {
		for i := range list {
			if list[i].street == number {
				return v.b.entries[list[i].entry].postcode
			}
		}
	}
	return ""
}

// agreed returns the postcode of the nearest houses on a street, else of the nearest houses, if all of them have the
// same.
func (v *deriver) agreed(at coord, street string) string {
	number, known := uint32(0), false
	if street != "" {
		number, known = v.streets.keys[streetKey(street)]
	}
	if known {
		if code := v.postcodeOf(at, maxSameStreet, 1, func(h *neighbour) bool { return h.street == number+1 }); code != "" {
			return code
		}
	}
	return v.postcodeOf(at, maxNeighbourhood, 2, func(*neighbour) bool { return true })
}

// postcodeOf returns the postcode of the nearest houses within some metres that are asked, if there are enough and they
// agree.
func (v *deriver) postcodeOf(at coord, reach float64, enough int, ask func(*neighbour) bool) string {
	type told struct {
		distance float64
		h        *neighbour
	}
	p := newPlane(at.box())
	for _, within := range [...]float64{reach / 8, reach} {
		items, steps := v.houses.grid.near(nil, at.box().widened(within))
		var list []told
		for _, i := range items {
			h := &v.houses.houses[i]
			if d := p.flat(h.at).toSegment(flat{}, flat{}); h.postcode != "" && d <= within && ask(h) {
				list = append(list, told{d, h})
			}
		}
		if !v.work(steps + 16*int64(len(list))) {
			return ""
		}
		if len(list) < askedHouses && within < reach {
			continue
		}
		slices.SortFunc(list, func(a, b told) int {
			return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.h.ref, b.h.ref))
		})
		list = list[:min(len(list), askedHouses)]
		other := func(t told) bool { return t.h.postcode != list[0].h.postcode }
		if len(list) >= enough && !slices.ContainsFunc(list, other) {
			return list[0].h.postcode
		}
		return ""
	}
	return ""
}
