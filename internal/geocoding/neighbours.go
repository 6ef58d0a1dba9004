package geocoding

import (
	"cmp"
	"slices"
	"strings"
)

// houseMap has the houses that say on which street they are, or which postcode they have.
type houseMap struct {
	grid   grid // those that say their street
	coded  grid // those that say their postcode
	houses []neighbour
}

type neighbour struct {
	at       coord
	street   uint32 // number of its key + 1, 0 for none
	postcode string
	ref      uint64
}

func (m *houseMap) add(e *entry, streets *streetMap) {
	h := neighbour{at: e.middle(), postcode: onePostcode(e.address.postcode), ref: e.ref}
	if e.address.street != "" {
		h.street = streets.number(e.address.street) + 1
	}
	if h.street != 0 {
		m.grid.add(h.at.box(), uint32(len(m.houses)))
	}
	if h.postcode != "" {
		m.coded.add(h.at.box(), uint32(len(m.houses)))
	}
	if h.street != 0 || h.postcode != "" {
		m.houses = append(m.houses, h)
	}
}

// support adds to the cost of streets how far the nearest house is that says it is on them.
func (m *houseMap) support(list []streetCandidate, at coord) (steps int64) {
	near := make([]float64, len(list))
	for i := range near {
		near[i] = maxNeighbour
	}
	p := newPlane(at.box())
	steps = m.grid.each(at.box().widened(maxNeighbour), func(i uint32) {
		h := &m.houses[i]
		if h.street == 0 {
			return
		}
		if k, has := indexOf(list, h.street-1); has {
			near[k] = min(near[k], p.flat(h.at).toSegment(flat{}, flat{}))
		}
	})
	for i := range list {
		list[i].cost += neighbourShare * near[i]
	}
	return 4 * steps
}

// onePostcode is a postcode, and nothing where it is a list of several: these are of some part each.
func onePostcode(code string) string {
	if strings.ContainsAny(code, ",;") {
		return ""
	}
	return code
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
		if !v.work(a.geometry.steps()) {
			return nil
		}
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
	list := v.streets.near(newOutline(&e.geometry, nil), maxStreet, v.work)
	if i, has := indexOf(list, number); has {
		return v.b.entries[list[i].entry].postcode
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
		var list []told
		steps := v.houses.coded.each(at.box().widened(within), func(i uint32) {
			h := &v.houses.houses[i]
			if d := p.flat(h.at).toSegment(flat{}, flat{}); d <= within && ask(h) {
				list = append(list, told{d, h})
			}
		})
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
