package places

import (
	"math"
	"math/bits"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// square is a cell: its south-west corner, counted from the south pole and the antimeridian, and the logarithm of its
// width, all in 1e-7 degrees.
type square struct {
	x, y uint32
	bits int
}

func (s *square) child(i int) square {
	half := uint32(1) << (s.bits - 1)
	return square{s.x + uint32(i)&1*half, s.y + uint32(i)>>1*half, s.bits - 1}
}

// minX and minY are the corner's position.
func (s *square) minX() int64 { return int64(s.x) - geometry.HalfTurn }
func (s *square) minY() int64 { return int64(s.y) - geometry.HalfTurn/2 }

// middle is the position in the middle.
func (s *square) middle() orb.Point {
	half := float64(int64(1) << s.bits / 2)
	return orb.Point{(float64(s.minX()) + half) / geometry.UnitsPerDegree,
		(float64(s.minY()) + half) / geometry.UnitsPerDegree}
}

// An openSet has the areas whose outlines come into a square, with the parts of the outlines that do: the parts of a
// smaller square are among those of the one that it is a part of, so that however many parts an outline has, a cell
// looks at few.
//
// For each area it is known whether a point in the square is inside: the anchor, half a unit from the square's corner,
// where no vertex is. The anchor of a smaller square is inside as well if the way there crosses the outline an even
// number of times.
type openSet struct {
	anchor anchor
	areas  []openArea
	parts  []outlinePart // of all areas
}

// openArea is an area of the tree of areas.
type openArea struct {
	item   uint32
	to     uint32 // its parts end here, and begin where those of the one before end
	inside bool   // the anchor is
	// endless says that the outline is not closed, as around a pole. What is inside it only rays to the east tell.
	endless bool
}

// outlinePart is a part of an outline, of level 0, or one of the boxes over the parts; see geometry.Parts.
type outlinePart struct {
	node  uint32
	level int8
}

// anchor is a position in half units, which is odd, so that it is on no vertex's meridian or parallel.
type anchor struct{ x, y int64 }

func (s *square) anchor() anchor { return anchor{2*s.minX() + 1, 2*s.minY() + 1} }

// nowhere is an anchor outside of every area.
var nowhere = anchor{-2*geometry.HalfTurn - 1, -geometry.HalfTurn - 1}

// whole takes on an area with all of its outline. The anchor is outside of it.
func (s *openSet) whole(item uint32, g *geometry.Geometry) {
	p := g.Parts()
	s.parts = append(s.parts, outlinePart{0, int8(p.Top())})
	s.areas = append(s.areas, openArea{item: item, to: uint32(len(s.parts)), endless: !closed(g)})
}

// closed tells whether the lines of an outline make rings: each of their ends is an end of another one.
func closed(g *geometry.Geometry) bool {
	var open uint64 // the hashes of ends that have been seen an odd number of times
	for line := range g.Lines {
		for _, end := range [...]geometry.Coord{line[0], line[len(line)-1]} {
			h := (uint64(uint32(end.X))<<32 | uint64(uint32(end.Y))) * 0x9e3779b97f4a7c15
			open ^= (h ^ h>>29) * 0xbf58476d1ce4e5b9
		}
	}
	return open == 0
}

// meets tells whether a line may come into a square.
func meets(line []geometry.Coord, square *boxtree.Box) bool {
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if a.X < square.MinX && b.X < square.MinX || a.X > square.MaxX && b.X > square.MaxX ||
			a.Y < square.MinY && b.Y < square.MinY || a.Y > square.MaxY && b.Y > square.MaxY {
			continue
		}
		// All corners on one side of the edge's line, by more than the products can be wrong by: it passes by.
		ax, ay, dx, dy := float64(a.X), float64(a.Y), float64(b.X)-float64(a.X), float64(b.Y)-float64(a.Y)
		south, north := dx*(float64(square.MinY)-ay), dx*(float64(square.MaxY)-ay)
		west, east := dy*(float64(square.MinX)-ax), dy*(float64(square.MaxX)-ax)
		least, most := min(south, north)-max(west, east), max(south, north)-min(west, east)
		if wrong := 1e-15 * (math.Abs(dx) + math.Abs(dy)) * geometry.FullTurn; least <= wrong && most >= -wrong {
			return true
		}
	}
	return false
}

// narrow fills a set with what of another one comes into a smaller square, and calls around with the areas that contain
// all of it. steps are how many boxes and edges were looked at.
func (s *openSet) narrow(of *openSet, sq *square, shape func(item uint32) geometry.Geometry, around func(item uint32)) (
	steps int64) {
	s.anchor, s.areas, s.parts = sq.anchor(), s.areas[:0], s.parts[:0]
	v := newOutlineVisit(sq, of.anchor)
	from := uint32(0)
	for _, a := range of.areas {
		parts := of.parts[from:a.to]
		from = a.to
		g := shape(a.item)
		v.parts = g.Parts()
		before := len(s.parts)
		for _, p := range parts {
			if !a.endless && v.crossedIn(p) {
				a.inside = !a.inside
			}
			s.parts = v.appendParts(s.parts, p)
		}
		if a.to = uint32(len(s.parts)); len(s.parts) > before {
			s.areas = append(s.areas, a)
			continue
		}
		if a.endless {
			o := geometry.NewOrigin(sq.middle())
			a.inside = g.Contains(&o)
			v.steps += g.Steps()
		}
		if a.inside {
			around(a.item)
		}
	}
	return v.steps
}

// outlineVisit goes through outlines with a square and the way to its anchor in mind.
type outlineVisit struct {
	square boxtree.Box // with a margin
	from   anchor
	to     anchor
	across boxtree.Box // of the way, first to the east or west
	along  boxtree.Box // then to the north or south
	parts  geometry.Parts
	run    geometry.Run
	steps  int64
}

// meetMargin, in units, is how near an outline is to a square that comes into it.
const meetMargin = 2

func newOutlineVisit(sq *square, from anchor) *outlineVisit {
	v := &outlineVisit{from: from, to: sq.anchor()}
	unit := func(x int64) int32 { return int32(max(min(x, 1<<31-1), -1<<31)) }
	size := int64(1) << sq.bits
	v.square = boxtree.Box{MinX: unit(sq.minX() - meetMargin), MinY: unit(sq.minY() - meetMargin),
		MaxX: unit(sq.minX() + size + meetMargin), MaxY: unit(sq.minY() + size + meetMargin)}
	down := func(x int64) int32 { return unit(x >> 1) }
	up := func(x int64) int32 { return unit((x + 1) >> 1) }
	v.across, v.along = boxtree.Empty, boxtree.Empty
	if from.x != v.to.x {
		v.across = boxtree.Box{MinX: down(min(from.x, v.to.x)), MinY: down(from.y), MaxX: up(max(from.x, v.to.x)),
			MaxY: up(from.y)}
	}
	if from.y != v.to.y {
		v.along = boxtree.Box{MinX: down(v.to.x), MinY: down(min(from.y, v.to.y)), MaxX: up(v.to.x),
			MaxY: up(max(from.y, v.to.y))}
	}
	return v
}

// appendParts appends what of a part comes into the square: all of it where it is inside as a whole.
func (v *outlineVisit) appendParts(list []outlinePart, p outlinePart) []outlinePart {
	v.steps++
	b := v.parts.Box(int(p.level), p.node)
	switch {
	case !b.Overlaps(&v.square):
		return list
	case b.MinX >= v.square.MinX && b.MaxX <= v.square.MaxX && b.MinY >= v.square.MinY && b.MaxY <= v.square.MaxY:
		return append(list, p)
	case p.level == 0:
		line := v.parts.Line(p.node, &v.run)
		v.steps += int64(len(line))
		if meets(line, &v.square) {
			list = append(list, p)
		}
		return list
	}
	from, to := v.parts.Children(int(p.level), p.node)
	for i := from; i < to; i++ {
		list = v.appendParts(list, outlinePart{i, p.level - 1})
	}
	return list
}

// crossedIn tells whether the way to the anchor crosses a part an odd number of times.
func (v *outlineVisit) crossedIn(p outlinePart) (odd bool) {
	v.steps++
	b := v.parts.Box(int(p.level), p.node)
	if !b.Overlaps(&v.across) && !b.Overlaps(&v.along) {
		return false
	}
	if p.level > 0 {
		from, to := v.parts.Children(int(p.level), p.node)
		for i := from; i < to; i++ {
			odd = odd != v.crossedIn(outlinePart{i, p.level - 1})
		}
		return odd
	}
	line := v.parts.Line(p.node, &v.run)
	v.steps += int64(len(line))
	for i := 1; i < len(line); i++ {
		odd = odd != v.crosses(line[i-1], line[i])
	}
	return odd
}

// crosses tells whether the way to the anchor crosses an edge an odd number of times. A position on the edge counts as
// one a little to the east of it, on both parts of the way.
func (v *outlineVisit) crosses(a, b geometry.Coord) (odd bool) {
	acrossY, alongX := int32(v.from.y>>1), int32(v.to.x>>1)
	across, along := (a.Y > acrossY) != (b.Y > acrossY), (a.X > alongX) != (b.X > alongX)
	if !across && !along {
		return false
	}
	ax, ay, bx, by := 2*int64(a.X), 2*int64(a.Y), 2*int64(b.X), 2*int64(b.Y)
	if ay > by { // from its lower end, so that what is left of it is west
		ax, ay, bx, by = bx, by, ax, ay
	}
	if across {
		west := func(x int64) bool { return compareProducts(x-ax, by-ay, v.from.y-ay, bx-ax) < 0 }
		odd = west(v.from.x) != west(v.to.x)
	}
	if along {
		west := func(y int64) bool { return compareProducts(v.to.x-ax, by-ay, y-ay, bx-ax) < 0 }
		odd = odd != (west(v.from.y) != west(v.to.y))
	}
	return odd
}

// compareProducts compares a·b with c·d, whose factors are less than 2^63.
func compareProducts(a, b, c, d int64) int {
	high, low := product(a, b)
	high2, low2 := product(c, d)
	switch {
	case high < high2 || high == high2 && low < low2:
		return -1
	case high > high2 || low > low2:
		return 1
	}
	return 0
}

func product(a, b int64) (high int64, low uint64) {
	h, l := bits.Mul64(uint64(a), uint64(b))
	if a < 0 {
		h -= uint64(b)
	}
	if b < 0 {
		h -= uint64(a)
	}
	return int64(h), l
}
