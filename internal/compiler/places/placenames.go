package places

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// maxPlaceDistance is the greatest distance, in metres, of a settlement that addr:place names.
const maxPlaceDistance = 15_000

// nameSettlements sorts the settlements by name, and those of one name as in the extract.
func (c *compiler) nameSettlements() {
	c.named = slices.Clone(c.settlements.Slice())
	slices.SortFunc(c.named, func(a, b uint32) int {
		e, o := c.entry(a), c.entry(b)
		return cmp.Or(cmp.Compare(e.name, o.name), placefile.CompareRefs(e.ref, o.ref), cmp.Compare(a, b))
	})
}

// settlePlace copies addr:place into the field of the address that fits the nearest settlement of this name: city,
// suburb or hamlet. Without a settlement it counts as a hamlet.
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
