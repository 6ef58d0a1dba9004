package coast

import "github.com/mapsedge/caddy-maps/internal/maptile/geom"

// polygons returns what of a tile is land, and what that leaves is ocean. A ring is an island in the ocean and a lagoon
// on land, whichever way round it was mapped. A coast that crosses itself so often that nothing can be made of it is
// simplified until something can.
func (t *tile) polygons() (land, ocean []geom.Polygon) {
	land = t.enclosed()
	for _, part := range []int32{4096, 64, 1} {
		if len(land) > 0 || len(t.lines)+len(t.rings) == 0 {
			break
		}
		t, _ = t.simplifyBy(t.size / part)
		land = t.enclosed()
	}
	rest := []geom.Ring{t.ring()}
	for _, p := range land {
		rest = append(rest, p...)
	}
	return land, geom.Simple(rest)
}

// enclosed returns the land that the coast encloses, nothing where that cannot be told.
func (t *tile) enclosed() []geom.Polygon {
	rings := t.close()
	if len(t.lines) == 0 && t.land {
		rings = append(rings, t.ring())
	}
	return geom.Simple(append(rings, t.rings...))
}

// close closes the lines along the border, around land.
func (t *tile) close() []geom.Ring {
	events := t.events()
	ends := make([]int, len(t.lines)) // where in events a line ends
	for i, e := range events {
		if e.end {
			ends[e.line] = i
		}
	}
	var rings []geom.Ring
	done := make([]bool, len(t.lines))
	for first := range t.lines {
		var ring geom.Ring
		for i := first; !done[i]; {
			done[i] = true
			ring = append(ring, t.lines[i]...)
			e := ends[i]
			onward := events[(e+1)%len(events)]
			ring = t.appendCorners(ring, events[e].place, onward.place)
			i = onward.line
		}
		if len(ring) > 0 {
			rings = append(rings, ring)
		}
	}
	return rings
}
