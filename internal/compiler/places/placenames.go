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

// nameSettlements notes the settlements in the order of their names; those of one name are as in the extract.
func (c *compiler) nameSettlements() {
	c.named = slices.Clone(c.settlements.Slice())
	slices.SortFunc(c.named, func(a, b uint32) int {
		e, o := c.entry(a), c.entry(b)
		return cmp.Or(cmp.Compare(e.name, o.name), placefile.CompareRefs(e.ref, o.ref), cmp.Compare(a, b))
	})
}

// settlePlace puts what addr:place says into the field of the address that the settlement of this name belongs into;
// what is no settlement of the extract's counts as a hamlet.
func (v *deriver) settlePlace(e *entry) {
	if e.Place == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(v.named, e.Place, func(n, name uint32) int {
		return cmp.Compare(v.entry(n).name, name)
	})
	nearest, place := float64(maxPlaceDistance), classes.PlaceKind(0)
	for _, n := range v.named[i:] {
		s := v.entry(n)
		if s.name != e.Place {
			break
		}
		if d := geometry.Distance(e.middle, s.middle); d < nearest {
			nearest, place = d, s.place
		}
	}
	field := &e.Hamlet
	switch {
	case place&(classes.PlaceCity|classes.PlaceMunicipality) != 0:
		field = &e.City
	case place&classes.PlaceSuburb != 0:
		field = &e.Suburb
	}
	if *field == 0 && e.Place != e.City {
		*field = e.Place
	}
}
