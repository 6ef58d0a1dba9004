package coast

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// tile is the coast in a square.
type tile struct {
	clip.Rect
	// The lines of the shape lead from border to border, with land to their left. Counterclockwise along the border (on
	// the screen), there is land from a line's end to the next line's start, and ocean from a start to the next end. Rings
	// have land to their left too, so that an island has a negative area.
	mapfile.Shape
	// land says whether all of the border is land, if there are no lines.
	land bool
}

func (t *tile) size() int32 { return t.Max.X - t.Min.X }

// place returns the distance of a position along the border from the north-western corner, counterclockwise on the
// screen: west, south, east, north. It is negative if the position is not on the border.
func (t *tile) place(p geo.Projected) int32 {
	switch {
	case p.X == t.Min.X:
		return p.Y - t.Min.Y
	case p.Y == t.Max.Y:
		return t.size() + p.X - t.Min.X
	case p.X == t.Max.X:
		return 2*t.size() + t.Max.Y - p.Y
	case p.Y == t.Min.Y:
		return 3*t.size() + t.Max.X - p.X
	}
	return -1
}

// event is the start or the end of a line on the border.
type event struct {
	at    geo.Projected
	place int32
	end   bool
}

// events returns the starts and ends of lines in their order along the border.
func (t *tile) events() []event {
	events := make([]event, 0, 2*len(t.Lines))
	for _, l := range t.Lines {
		first, last := l[0], l[len(l)-1]
		events = append(events, event{first, t.place(first), false}, event{last, t.place(last), true})
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.place, b.place) })
	return events
}

// along returns the line along the border from one event to another.
func (t *tile) along(from, to event) clip.Line {
	line, corners, size := clip.Line{from.at}, t.Ring(), t.size()
	if to.place < from.place {
		to.place += 4 * size
	}
	for c := from.place/size + 1; c*size < to.place; c++ {
		line = append(line, corners[-c&3]) // those of a rectangle go clockwise
	}
	return append(line, to.at)
}

// landAfter reports whether there is land right after a place of the border.
func (t *tile) landAfter(place int32, events []event) bool {
	if len(events) == 0 {
		return t.land
	}
	i, _ := slices.BinarySearchFunc(events, place+1, func(e event, at int32) int { return cmp.Compare(e.place, at) })
	return !events[i%len(events)].end
}

// appendSeam appends coasts along the line between two squares where one of them has land and the other has not. The
// first square is the eastern or the northern one. Its border leads from north to south, or from west to east, there.
func appendSeam(pieces []clip.Line, a, b *tile) []clip.Line {
	seam := clip.Rect{
		Min: geo.Projected{X: max(a.Min.X, b.Min.X), Y: max(a.Min.Y, b.Min.Y)},
		Max: geo.Projected{X: min(a.Max.X, b.Max.X), Y: min(a.Max.Y, b.Max.Y)},
	}
	eventsA, eventsB := a.events(), b.events()
	cuts := []geo.Projected{seam.Min, seam.Max}
	for _, e := range slices.Concat(eventsA, eventsB) {
		if seam.Contains(e.at) {
			cuts = append(cuts, e.at)
		}
	}
	slices.SortFunc(cuts, func(p, q geo.Projected) int { return cmp.Compare(p.X+p.Y, q.X+q.Y) })
	for i, to := range cuts[1:] {
		from := cuts[i]
		inA, inB := a.landAfter(a.place(from), eventsA), b.landAfter(b.place(to), eventsB)
		switch {
		case from == to || inA == inB:
		case inA:
			pieces = append(pieces, clip.Line{from, to})
		default:
			pieces = append(pieces, clip.Line{to, from})
		}
	}
	return pieces
}

// merge makes a tile of four squares: north-west, north-east, south-west, south-east.
func merge(r clip.Rect, quarters *[4]*tile) *tile {
	var pieces []clip.Line
	var rings []clip.Ring
	for _, q := range quarters {
		pieces = append(pieces, q.Lines...)
		rings = append(rings, q.Rings...)
	}
	for _, pair := range [...][2]int{{1, 0}, {3, 2}, {0, 2}, {1, 3}} {
		pieces = appendSeam(pieces, quarters[pair[0]], quarters[pair[1]])
	}
	t := settle(r, pieces)
	t.Rings = append(t.Rings, rings...)
	if len(t.Lines) == 0 { // all of the border is land, or ocean
		t.land = quarters[0].landAfter(0, quarters[0].events())
	}
	return t
}

// polygons returns the land of a tile, and the rest as ocean. A ring is an island in the ocean and a lagoon on land, in
// either direction.
func (t *tile) polygons() (land, ocean []clip.Polygon) {
	closed := tile{Shape: mapfile.Shape{Rings: slices.Clone(t.Rings)}}
	if len(t.Lines) == 0 && t.land {
		closed.Rings = append(closed.Rings, t.Ring())
	}
	pieces, events := slices.Clone(t.Lines), t.events()
	for i, e := range events {
		if e.end {
			pieces = append(pieces, t.along(e, events[(i+1)%len(events)]))
		}
	}
	closed.join(pieces)
	land = clip.Simple(closed.Rings)
	rest := []clip.Ring{t.Ring()}
	for _, p := range land {
		rest = append(rest, p...)
	}
	return land, clip.Simple(rest)
}

// around returns the vote of a tile's largest ring about what surrounds the rings: 1 for land, -1 for ocean.
func (t *tile) around() int8 {
	greatest := int64(0)
	for _, r := range t.Rings {
		if a := clip.Area2(r); max(a, -a) > max(greatest, -greatest) {
			greatest = a
		}
	}
	return int8(cmp.Compare(greatest, 0))
}

// tolerance is how far simplification may move a coast, in steps of a tile's grid: half a pixel of a tile with 512
// pixels.
const tolerance = 4

// simplify removes details too small to see at a zoom.
func (t *tile) simplify(z uint8) *tile {
	if z < cellZoom {
		t.Shape = t.Simplify(tolerance << (geo.WorldBits - 12 - z))
	}
	return t
}
