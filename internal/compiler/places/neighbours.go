package places

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// neighbour is a house with a street or a postcode.
type neighbour struct {
	at       geometry.Coord
	street   uint32 // number of its name, 0 for none
	postcode uint32 // text, 0 for none
	ref      uint64
}

// The cost of a street grows by neighbourShare times the distance to the nearest house with that street, in metres. It
// is at most that of maxNeighbour, also if there is no such house.
const neighbourShare, maxNeighbour = 1. / 3, 100

// housesAround yields the houses within some metres, and a few others, with their distances.
func (v *deriver) housesAround(at geometry.Coord, metres float64, yield func(h *neighbour, metres float64)) {
	box, ruler := streets.Around(at.Box(), metres), streets.Ruler(at)
	v.houses.Each(&box, func(h *neighbour) {
		if here := h.at.Box(); here.Overlaps(&box) {
			yield(h, ruler(h.at))
		}
	})
}

// support adds the distances of neighbours to the costs of streets; see neighbourShare.
func (v *deriver) support(list []streets.Candidate, at geometry.Coord) {
	near := make([]float64, len(list))
	for i := range near {
		near[i] = maxNeighbour
	}
	v.housesAround(at, maxNeighbour, func(h *neighbour, metres float64) {
		if k, has := streets.Find(list, h.street); has && h.street != 0 {
			near[k] = min(near[k], metres)
		}
	})
	for i := range list {
		list[i].Cost += neighbourShare * near[i]
	}
}

// Limits of the houses from which a postcode is inferred: their distance in metres, on the same street and in general,
// and their number. They must agree.
const (
	maxSameStreet, maxNeighbourhood = 500, 1000
	askedHouses                     = 5
)

// postcode gives a feature the postcode of its surroundings, in the order of docs/internals/algorithms.md.
func (v *deriver) postcode(e *entry) {
	if e.Postcode = v.postalArea(e.middle); e.Postcode != 0 {
		return
	}
	onStreet := uint32(0)
	if e.on != 0 {
		onStreet = v.streets.At(e.on - 1).Postcode
	} else if e.Street != 0 {
		onStreet = v.streetPostcode(e)
	}
	e.Postcode = cmp.Or(e.buildingPostcode, onStreet, v.agreed(e.middle, e.streetNumber))
}

// postalArea returns the postcode of the smallest area with one around a position.
func (v *deriver) postalArea(at geometry.Coord) (code uint32) {
	var best *entry
	v.around(at.Point(), func(a *area) bool { return a.postcode != 0 }, func(_ uint32, e *entry, a *area) {
		if best == nil || e.smaller(best) {
			best, code = e, a.postcode
		}
	})
	return code
}

// streetPostcode returns the postcode of the nearest part of a house's street.
func (v *deriver) streetPostcode(e *entry) uint32 {
	g := v.geometryOf(e)
	v.candidates = v.streets.Near(v.candidates[:0], streets.NewOutline(&g, nil), maxStreet)
	if i, has := streets.Find(v.candidates, e.streetNumber); has {
		return v.streets.At(v.candidates[i].Street).Postcode
	}
	return 0
}

// agreed returns the postcode of the nearest houses on a street, or else of the nearest houses, if they agree.
func (v *deriver) agreed(at geometry.Coord, street uint32) (code uint32) {
	if street != 0 {
		code = v.postcodeOf(at, maxSameStreet, 1, func(h *neighbour) bool { return h.street == street })
	}
	if code == 0 {
		code = v.postcodeOf(at, maxNeighbourhood, 2, func(*neighbour) bool { return true })
	}
	return code
}

// postcodeOf returns the postcode of the nearest houses within some metres for which ask returns true, if there are
// enough and they agree.
func (v *deriver) postcodeOf(at geometry.Coord, reach float64, enough int, ask func(*neighbour) bool) uint32 {
	type told struct {
		distance float64
		neighbour
	}
	for _, within := range [...]float64{reach / 8, reach} {
		var list []told // the nearest, in order
		v.housesAround(at, within, func(h *neighbour, d float64) {
			if h.postcode == 0 || d > within || !ask(h) {
				return
			}
			t := told{d, *h}
			i, _ := slices.BinarySearchFunc(list, t, func(a, b told) int {
				return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.ref, b.ref))
			})
			if i < askedHouses {
				list = slices.Insert(list, i, t)
				list = list[:min(len(list), askedHouses)]
			}
		})
		if len(list) < askedHouses && within < reach {
			continue
		}
		other := func(t told) bool { return t.postcode != list[0].postcode }
		if len(list) >= enough && !slices.ContainsFunc(list, other) {
			return list[0].postcode
		}
		return 0
	}
	return 0
}
