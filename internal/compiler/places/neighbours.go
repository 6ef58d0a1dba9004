package places

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// neighbour is a house that says on which street it is, or which postcode it has.
type neighbour struct {
	at       geometry.Coord
	street   uint32 // number of its name, 0 for none
	postcode uint32 // text, 0 for none
	ref      uint64
}

// A house has its number on a street that its neighbours have theirs on: the distance to the nearest that says so
// counts by a share, up to some metres, as does that nobody says so.
const neighbourShare, maxNeighbour = 1. / 3, 100

// housesAround yields the houses within some metres, with how far they are, and a few that are farther.
func (v *deriver) housesAround(at geometry.Coord, metres float64, yield func(h *neighbour, metres float64)) {
	box, ruler := streets.Around(at.Box(), metres), streets.Ruler(at)
	v.survey.houses.Each(&box, func(h *neighbour) {
		if here := h.at.Box(); here.Overlaps(&box) {
			yield(h, ruler(h.at))
		}
	})
}

// support adds to the cost of streets how far the nearest house is that says it is on them.
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

// How far houses may be whose postcodes tell that of another one, in metres, and how many of them are asked. They must
// agree.
const (
	maxSameStreet, maxNeighbourhood = 500, 1000
	askedHouses                     = 5
)

// postcode gives a feature the postcode of its surroundings, in the order that docs/geocoding.md gives.
func (v *deriver) postcode(e *entry, n uint32, a *address) {
	if a.Postcode != 0 {
		return
	}
	if code := v.postalArea(e.middle); code != 0 {
		a.Postcode = code
		return
	}
	onStreet := uint32(0)
	if a.on != 0 {
		onStreet = v.streets.At(a.on - 1).Postcode
	} else if a.Street != 0 {
		onStreet = v.streetPostcode(n, a)
	}
	a.Postcode = cmp.Or(a.buildingPostcode, onStreet, v.agreed(e.middle, a.number))
}

// postalArea returns the postcode of the smallest area with one around a position.
func (v *deriver) postalArea(at geometry.Coord) uint32 {
	codes := v.store.postcodes.Slice()
	var best uint32
	found := false
	v.around(at.Point(), func(e *entry) bool { return codes[e.area-1] != 0 }, func(n uint32, _ *entry) {
		if !found || v.smaller(n, best) {
			best, found = n, true
		}
	})
	if !found {
		return 0
	}
	return codes[v.store.entry(best).area-1]
}

// streetPostcode returns the postcode of the nearest part of the street that a house says it is on.
func (v *deriver) streetPostcode(n uint32, a *address) uint32 {
	g := v.store.geometry(n)
	v.candidates = v.streets.Near(v.candidates[:0], streets.NewOutline(&g, nil), maxStreet)
	if i, has := streets.Find(v.candidates, a.number); has {
		return v.streets.At(v.candidates[i].Street).Postcode
	}
	return 0
}

// agreed returns the postcode of the nearest houses on a street, else of the nearest houses, if all of them have the
// same.
func (v *deriver) agreed(at geometry.Coord, street uint32) uint32 {
	if street != 0 {
		if code := v.postcodeOf(at, maxSameStreet, 1, func(h *neighbour) bool { return h.street == street }); code != 0 {
			return code
		}
	}
	return v.postcodeOf(at, maxNeighbourhood, 2, func(*neighbour) bool { return true })
}

// postcodeOf returns the postcode of the nearest houses within some metres that are asked, if there are enough and they
// agree.
func (v *deriver) postcodeOf(at geometry.Coord, reach float64, enough int, ask func(*neighbour) bool) uint32 {
	type told struct {
		distance float64
		neighbour
	}
	for _, within := range [...]float64{reach / 8, reach} {
		var list []told // the nearest that are asked, in order
		count := 0
		v.housesAround(at, within, func(h *neighbour, d float64) {
			if h.postcode == 0 || d > within || !ask(h) {
				return
			}
			count++
			t := told{d, *h}
			i, _ := slices.BinarySearchFunc(list, t, func(a, b told) int {
				return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.ref, b.ref))
			})
			if i < askedHouses {
				list = slices.Insert(list, i, t)
				list = list[:min(len(list), askedHouses)]
			}
		})
		if count < askedHouses && within < reach {
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
