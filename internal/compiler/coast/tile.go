package coast

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

// tile is the coast in a square.
type tile struct {
	square
	// lines lead from the border to the border, with land to the left, so that along the border, counterclockwise on the
	// screen, there is land from where a line ends to where the next one begins, and ocean from there to the next end.
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
func appendSeam(pieces [][]mercator.Point, a, b *tile, southward bool) [][]mercator.Point {
	sideA, sideB := 2, 0
	at := func(v int32) mercator.Point { return mercator.Point{X: b.x, Y: v} }
	low, high := b.y, b.y+b.size
	if southward {
		sideA, sideB = 1, 3
		at = func(v int32) mercator.Point { return mercator.Point{X: v, Y: b.y} }
		low, high = b.x, b.x+b.size
	}
	landA, changesA := a.side(a.events(), sideA)
	landB, changesB := b.side(b.events(), sideB)
	for v := low; v < high; {
		end := high
		if len(changesA) > 0 {
			end = min(end, changesA[0])
		}
		if len(changesB) > 0 {
			end = min(end, changesB[0])
		}
		if landA != landB && v < end {
			// North with land in the west, south with land in the east, and so on.
			if landA != southward {
				pieces = append(pieces, []mercator.Point{at(end), at(v)})
			} else {
				pieces = append(pieces, []mercator.Point{at(v), at(end)})
			}
		}
		v = end
		for len(changesA) > 0 && changesA[0] == end {
			landA, changesA = !landA, changesA[1:]
		}
		for len(changesB) > 0 && changesB[0] == end {
			landB, changesB = !landB, changesB[1:]
		}
	}
	return pieces
}

// merge joins four squares: north-west, north-east, south-west, south-east.
func merge(s square, children *[4]*tile) *tile {
	var pieces [][]mercator.Point
	var rings []geom.Ring
	for _, c := range children {
		for _, l := range c.lines {
			pieces = append(pieces, l)
		}
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

// quarter is what of a tile is in each of its four quarters.
func (t *tile) quarter() *[4]*tile {
	var pieces [4][][]mercator.Point
	shift := uint(bits.TrailingZeros32(uint32(t.size / 2)))
	minX, minY := t.x>>shift, t.y>>shift
	s := splitter{shift: shift, minX: minX, minY: minY, maxX: minX + 1, maxY: minY + 1,
		yield: func(x, y int32, piece []mercator.Point) error {
			i := (y-minY)*2 + x - minX
			pieces[i] = append(pieces[i], slices.Clone(piece))
			return nil
		}}
	for _, l := range t.lines {
		_ = s.line(l) // yield does not fail
	}
	for _, r := range t.rings {
		_ = s.line(append(slices.Clone(r), r[0]))
	}
	events := t.events()
	west, _ := t.side(events, 0)
	north, changes := t.side(events, 3)
	east := north != (len(changes)%2 == 1)
	south, changes := t.side(events, 1)
	corners := [4]bool{west, east, south, south != (len(changes)%2 == 1)}
	var quarters [4]*tile
	for i := range quarters {
		quarters[i] = settle(t.child(i), pieces[i])
		quarters[i].land = corners[i]
	}
	return &quarters
}
