package places

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// maxPlaceDistance is how far, in metres, the settlement may be that addr:place names.
const maxPlaceDistance = 15_000

// named are the settlements in the order of their names; those of one name are as in the extract.
func (c *compiler) named() []uint32 {
	list := slices.Clone(c.store.settlements.Slice())
	slices.SortFunc(list, func(a, b uint32) int {
		e, o := c.store.entry(a), c.store.entry(b)
		return cmp.Or(cmp.Compare(e.name, o.name), placefile.CompareRefs(e.ref, o.ref), cmp.Compare(a, b))
	})
	return list
}

// settlePlace puts what addr:place says into the field of the address that the settlement of this name belongs into;
// what is no settlement of the extract's counts as a hamlet.
func (v *deriver) settlePlace(e *entry, a *address) {
	if a.Place == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(v.named, a.Place, func(n, name uint32) int {
		return cmp.Compare(v.store.entry(n).name, name)
	})
	nearest, place := float64(maxPlaceDistance), classes.PlaceKind(0)
	for ; i < len(v.named) && v.store.entry(v.named[i]).name == a.Place; i++ {
		s := v.store.entry(v.named[i])
		if d := geometry.Distance(e.middle, s.middle); d < nearest {
			nearest, place = d, s.place
		}
	}
	field := &a.Hamlet
	switch {
	case place&(classes.PlaceCity|classes.PlaceMunicipality) != 0:
		field = &a.City
	case place&classes.PlaceSuburb != 0:
		field = &a.Suburb
	}
	if *field == 0 && a.Place != a.City {
		*field = a.Place
	}
}
