package coast

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

// tile is the coast in a square.
type tile struct {
	square
	// lines lead from the border to the border, with land to the left, so that along the border, counterclockwise on
	// the screen, there is land from where a line ends to where the next one begins, and ocean from there to the next
	// end.
	lines []geom.Line
	// rings have land to the left too, so that an island has a negative area.
	rings []geom.Ring
	// land is what the border is all along, where there are no lines.
	land bool
}

// event is where along the border a line begins or ends.
type event struct {
	place int64
	line  int
	end   bool
}

// events are where lines begin and end, along the border.
func (t *tile) events() []event {
	events := make([]event, 0, 2*len(t.lines))
	for i, l := range t.lines {
		events = append(events, event{t.place(l[0]), i, false}, event{t.place(l[len(l)-1]), i, true})
	}
	slices.SortFunc(events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.line, b.line))
	})
	return events
}

// side tells what there is along a side (west, south, east or north): land or not where its coordinate is least, and
// where that changes, in the order of the coordinate.
func (t *tile) side(events []event, side int) (land bool, changes []int32) {
	if len(events) == 0 {
		return t.land, nil
	}
	from := int64(side) * int64(t.size)
	i, _ := slices.BinarySearchFunc(events, from+1, func(e event, at int64) int { return cmp.Compare(e.place, at) })
	land = !events[i%len(events)].end
	for ; i < len(events) && events[i].place < from+int64(t.size); i++ {
		along := int32(events[i].place - from)
		switch side {
		case 0:
			changes = append(changes, t.y+along)
		case 1:
			changes = append(changes, t.x+along)
		case 2:
			changes = append(changes, t.y+t.size-along)
		case 3:
			changes = append(changes, t.x+t.size-along)
		}
	}
	if side >= 2 {
		slices.Reverse(changes)
		land = land != (len(changes)%2 == 1)
	}
	return land, changes
}

// appendSeam appends the coast along the line between two squares, the second of which is in the east or the south of
// the first, where one of them has land and the other has none.
func appendSeam(pieces []geom.Line, a, b *tile, southward bool) []geom.Line {
	sideA, sideB, low := 2, 0, b.y
	at := func(v int32) mercator.Point { return mercator.Point{X: b.x, Y: v} }
	if southward {
		sideA, sideB, low = 1, 3, b.x
		at = func(v int32) mercator.Point { return mercator.Point{X: v, Y: b.y} }
	}
	landA, changesA := a.side(a.events(), sideA)
	landB, changesB := b.side(b.events(), sideB)
	// on tells whether there is land behind a position.
	on := func(land bool, changes []int32, v int32) bool {
		n, _ := slices.BinarySearch(changes, v+1)
		return land != (n%2 == 1)
	}
	cuts := slices.Concat([]int32{low, low + b.size}, changesA, changesB)
	slices.Sort(cuts)
	for i, v := range cuts[1:] {
		from := cuts[i]
		inA, inB := on(landA, changesA, from), on(landB, changesB, from)
		switch {
		case from == v || inA == inB:
		case inA != southward: // north with land in the west, south with land in the east, and so on
			pieces = append(pieces, geom.Line{at(v), at(from)})
		default:
			pieces = append(pieces, geom.Line{at(from), at(v)})
		}
	}
	return pieces
}

// merge joins four squares: north-west, north-east, south-west, south-east.
func merge(s square, children *[4]*tile) *tile {
	var pieces []geom.Line
	var rings []geom.Ring
	for _, c := range children {
		pieces = append(pieces, c.lines...)
		rings = append(rings, c.rings...)
	}
	pieces = appendSeam(pieces, children[0], children[1], false)
	pieces = appendSeam(pieces, children[2], children[3], false)
	pieces = appendSeam(pieces, children[0], children[2], true)
	pieces = appendSeam(pieces, children[1], children[3], true)
	t := settle(s, pieces)
	t.rings = append(t.rings, rings...)
	if len(t.lines) == 0 { // so the border is the same all along
		t.land, _ = children[0].side(children[0].events(), 0)
	}
	return t
}

// polygons returns what of a tile is land, and what that leaves is ocean. A ring is an island in the ocean and a lagoon
// on land, whichever way round it was mapped.
func (t *tile) polygons() (land, ocean []geom.Polygon) {
	rings := t.close()
	if len(t.lines) == 0 && t.land {
		rings = append(rings, t.ring())
	}
	land = geom.Simple(append(rings, t.rings...))
	rest := []geom.Ring{t.ring()}
	for _, p := range land {
		rest = append(rest, p...)
	}
	return land, geom.Simple(rest)
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
