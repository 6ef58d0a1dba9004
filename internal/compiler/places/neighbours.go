package places

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// houseMap has the houses that say on which street they are, or which postcode they have.
type houseMap struct {
	houses *scratch.Array[neighbour]
	index  *boxIndex
}

type neighbour struct {
	at       geometry.Coord
	street   uint32 // number of its name, 0 for none
	postcode uint32 // text, 0 for none
	ref      uint64
}

func newHouseMap(dir *scratch.Dir) *houseMap {
	return &houseMap{scratch.NewArray[neighbour](dir, "houses"), newBoxIndex(dir, "houseboxes")}
}

func (m *houseMap) add(h *neighbour) error {
	if h.street == 0 && h.postcode == 0 {
		return nil
	}
	return cmp.Or(m.houses.Append(*h), m.index.add(h.at.Box()))
}

func (m *houseMap) free() error { return cmp.Or(m.houses.Free(), m.index.free()) }

// each yields the houses in a box.
func (m *houseMap) each(b boxtree.Box, yield func(h *neighbour)) (steps int64) {
	houses := m.houses.Slice()
	return boxtree.Fanout * m.index.each(&b, func(from, to int) {
		for i := from; i < to; i++ {
			h := &houses[i]
			if h.at.X >= b.MinX && h.at.X <= b.MaxX && h.at.Y >= b.MinY && h.at.Y <= b.MaxY {
				yield(h)
			}
		}
	})
}

// support adds to the cost of streets how far the nearest house is that says it is on them.
func (m *houseMap) support(list []streetCandidate, at geometry.Coord) (steps int64) {
	near := make([]float64, len(list))
	for i := range near {
		near[i] = maxNeighbour
	}
	p := newPlane(at.Box())
	steps = m.each(widened(at.Box(), maxNeighbour), func(h *neighbour) {
		if h.street == 0 {
			return
		}
		if k, has := indexOf(list, h.street); has {
			near[k] = min(near[k], p.flat(h.at).toSegment(flat{}, flat{}))
		}
	})
	for i := range list {
		list[i].cost += neighbourShare * near[i]
	}
	return 4 * steps
}

// How far houses may be whose postcodes tell that of another one, in metres, and how many of them are asked. They must
// agree.
const (
	maxSameStreet, maxNeighbourhood = 500, 1000
	askedHouses                     = 5
)

// postcode gives a feature the postcode of its surroundings, in the order that docs/geocoding.md gives.
func (v *deriver) postcode(e *entry, n uint32, a *address) {
	if a.postcode != 0 {
		return
	}
	if code := v.postalArea(e.middle); code != 0 {
		a.postcode = code
		return
	}
	onStreet := uint32(0)
	if a.on != 0 {
		onStreet = v.streets.streets.Slice()[a.on-1].postcode
	} else if a.street != 0 {
		onStreet = v.streetPostcode(n, a)
	}
	a.postcode = cmp.Or(a.buildingPostcode, onStreet, v.agreed(e.middle, a.number))
}

// postalArea returns the postcode of the smallest area with one around a position.
func (v *deriver) postalArea(at geometry.Coord) uint32 {
	o := geometry.NewOrigin(at.Point())
	best, found := v.smallest(v.survey.postal, at, func(*entry) bool { return true },
		func(g *geometry.Geometry) bool { return g.Contains(&o) }, 1)
	if !found {
		return 0
	}
	return v.store.postcodes.Slice()[v.store.entry(best).area-1]
}

// streetPostcode returns the postcode of the nearest part of the street that a house says it is on.
func (v *deriver) streetPostcode(n uint32, a *address) uint32 {
	g := v.store.geometry(n)
	v.candidates = v.streets.near(v.candidates[:0], newOutline(&g, nil), maxStreet, v.work)
	if i, has := indexOf(v.candidates, a.number); has {
		return v.streets.streets.Slice()[v.candidates[i].entry].postcode
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
	p := newPlane(at.Box())
	for _, within := range [...]float64{reach / 8, reach} {
		var list []told // the nearest that are asked, in order
		count := 0
		steps := v.survey.houses.each(widened(at.Box(), within), func(h *neighbour) {
			if h.postcode == 0 || !ask(h) {
				return
			}
			d := p.flat(h.at).toSegment(flat{}, flat{})
			if d > within {
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
		if !v.work(steps + 16*int64(count)) {
			return 0
		}
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
