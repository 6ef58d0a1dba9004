package places

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// maxPlaceDistance is how far, in metres, the settlement may be that addr:place names.
const maxPlaceDistance = 15_000

// settlement is one with a name.
type settlement struct {
	name  uint32 // text
	entry uint32
	ref   uint64
}

func compareSettlements(a, b settlement) int {
	if a.ref == b.ref || a.name != b.name {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.entry, b.entry))
	}
	if before(a.ref, b.ref) {
		return -1
	}
	return 1
}

// settlePlace puts what addr:place says into the field of the address that the settlement of this name belongs into;
// what is no settlement of the extract's counts as a hamlet. The settlements are sorted.
func (v *deriver) settlePlace(e *entry, a *address, settlements []settlement) {
	if a.place == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(settlements, a.place, func(s settlement, name uint32) int {
		return cmp.Compare(s.name, name)
	})
	nearest, place := float64(maxPlaceDistance), placeKind(0)
	for ; i < len(settlements) && settlements[i].name == a.place && v.work(1); i++ {
		s := v.store.entry(settlements[i].entry)
		if d := geometry.Distance(e.middle, s.middle); d < nearest {
			nearest, place = d, s.place
		}
	}
	field := &a.hamlet
	switch {
	case place&(placeCity|placeMunicipality) != 0:
		field = &a.city
	case place&placeSuburb != 0:
		field = &a.suburb
	}
	if *field == 0 && a.place != a.city {
		*field = a.place
	}
}
