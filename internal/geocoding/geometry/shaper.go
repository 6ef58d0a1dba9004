package geometry

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// Shaper makes geometries of lines and rings, vertex by vertex. The zero value is ready.
type Shaper struct {
	coords []Coord
	ends   []int // of the lines that are complete
	lines  [][]Coord
}

// Vertex adds a vertex to a line or ring. One that is where the last one is changes nothing.
func (s *Shaper) Vertex(c Coord) {
	if n := len(s.coords); n == s.begin() || s.coords[n-1] != c {
		s.coords = append(s.coords, c)
	}
}

// begin is where the line begins that is not complete.
func (s *Shaper) begin() int {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

// End ends a line, or a ring, which is closed. A ring that has no area because it has fewer than three vertices is left
// out.
func (s *Shaper) End(ring bool) {
	from := s.begin()
	if ring && len(s.coords) > from {
		s.Vertex(s.coords[from])
	}
	switch n := len(s.coords) - from; {
	case n == 0 || ring && n < 4:
		s.coords = s.coords[:from]
		return
	case n == 1: // all nodes of the way are at one position
		s.coords = append(s.coords, s.coords[from])
	}
	s.ends = append(s.ends, len(s.coords))
}

// Geometry makes one of all lines or rings since the last call, cut at the antimeridian; false if there are none.
func (s *Shaper) Geometry(shape Shape) (Geometry, bool) {
	lines := s.lines[:0]
	from := 0
	for _, to := range s.ends {
		lines = append(lines, s.coords[from:to:to])
		from = to
	}
	s.lines, s.coords, s.ends = lines, s.coords[:0], s.ends[:0]
	if slices.ContainsFunc(lines, jumps) {
		lines = cutAtAntimeridian(lines, shape == Area)
	}
	box := geo.EmptyBox
	for _, line := range lines {
		box.Extend(BoxOf(line))
	}
	if len(lines) == 0 {
		return Geometry{Shape: shape, Box: box}, false
	}
	return Geometry{Shape: shape, Box: box, data: encode(lines, box)}, true
}

// jumps reports whether an edge of a line goes from one side of the map to the other.
func jumps(line []Coord) bool {
	for i := 1; i < len(line); i++ {
		if d := int64(line[i].X) - int64(line[i-1].X); d > HalfTurn || d < -HalfTurn {
			return true
		}
	}
	return false
}
