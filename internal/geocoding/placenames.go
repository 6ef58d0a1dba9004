package geocoding

import "slices"

// maxPlaceDistance is how far, in metres, the settlement may be that addr:place names.
const maxPlaceDistance = 15_000

// settlePlaces puts what addr:place says into the field of the address that the settlement of this name belongs into;
// what is no settlement of the extract's counts as a hamlet.
func (v *deriver) settlePlaces() {
	named := map[string][]uint32{}
	for i := range v.b.entries {
		if e := &v.b.entries[i]; e.isSettlement() {
			named[e.name] = append(named[e.name], uint32(i))
		}
	}
	for i := range v.b.entries {
		e := &v.b.entries[i]
		a := &e.address
		if a.place == "" {
			continue
		}
		nearest, place := float64(maxPlaceDistance), ""
		settlements := named[a.place]
		if !v.work(int64(len(settlements))) {
			return
		}
		for _, n := range settlements {
			s := &v.b.entries[n]
			if d := distance(e.middle(), s.middle()); d < nearest {
				nearest, place = d, s.place
			}
		}
		field := &a.hamlet
		switch {
		case slices.Contains(cityNodes, place) || place == "municipality":
			field = &a.city
		case slices.Contains(suburbPlaces, place):
			field = &a.suburb
		}
		if *field == "" && a.place != a.city {
			*field = a.place
		}
	}
}
