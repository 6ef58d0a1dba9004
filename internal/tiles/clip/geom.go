// Package clip clips, repairs and simplifies polygons and lines in integers: in units of the world (geo.Projected) or
// on the grid of a tile. Coordinates are from -2^28 to 2^29, so that all computations are exact in 64 bits. It knows no
// tiles and no files. Start with ClipRings, SimplifyRing and Simple.
package clip

import "github.com/mapsedge/caddy-maps/internal/geo"

// Line is a line of at least two positions.
type Line []geo.Projected

// Ring is a ring of at least three positions; the first is not repeated at the end.
type Ring []geo.Projected

// Polygon is an outer ring followed by its holes. As in vector tiles, y grows to the south: the outer ring is clockwise
// on the screen and has a positive area by the surveyor's formula; holes have a negative area.
type Polygon []Ring

// Rect is a rectangle, with its border.
type Rect struct{ Min, Max geo.Projected }

// Contains reports whether a position is in the rectangle or on its border.
func (r Rect) Contains(p geo.Projected) bool {
	return p.X >= r.Min.X && p.X <= r.Max.X && p.Y >= r.Min.Y && p.Y <= r.Max.Y
}

// Covers reports whether all of another rectangle is in this one.
func (r Rect) Covers(o Rect) bool { return r.Contains(o.Min) && r.Contains(o.Max) }

// Meets reports whether the two rectangles have a position in common.
func (r Rect) Meets(o Rect) bool {
	return r.Min.X <= o.Max.X && o.Min.X <= r.Max.X && r.Min.Y <= o.Max.Y && o.Min.Y <= r.Max.Y
}

// Ring returns the rectangle's border, in the direction of an outer ring.
func (r Rect) Ring() Ring {
	return Ring{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
}

// Grow returns the rectangle with its borders moved outwards by a margin.
func (r Rect) Grow(margin int32) Rect {
	r.Min.X -= margin
	r.Min.Y -= margin
	r.Max.X += margin
	r.Max.Y += margin
	return r
}

// Bounds returns the bounding box of at least one position.
func Bounds[L ~[]geo.Projected](points L) Rect {
	b := Rect{points[0], points[0]}
	for _, p := range points[1:] {
		b.Min.X, b.Max.X = min(b.Min.X, p.X), max(b.Max.X, p.X)
		b.Min.Y, b.Max.Y = min(b.Min.Y, p.Y), max(b.Max.Y, p.Y)
	}
	return b
}

// Area2 returns twice the area of a ring by the surveyor's formula: positive where the ring goes clockwise on the
// screen.
func Area2(ring Ring) int64 {
	if len(ring) < 3 {
		return 0
	}
	var sum int64
	for i := 1; i+1 < len(ring); i++ {
		sum += cross(ring[0], ring[i], ring[i+1])
	}
	return sum
}

// cross is positive if c lies on the right of the way from a to b on the screen, negative on the left, 0 on the line.
func cross(a, b, c geo.Projected) int64 {
	return int64(b.X-a.X)*int64(c.Y-a.Y) - int64(b.Y-a.Y)*int64(c.X-a.X)
}

// compare orders positions from west to east, then from north to south.
func compare(a, b geo.Projected) int {
	switch {
	case a == b:
		return 0
	case a.X < b.X || a.X == b.X && a.Y < b.Y:
		return -1
	}
	return 1
}
