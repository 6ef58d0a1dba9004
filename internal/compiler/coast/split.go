package coast

import "github.com/mapsedge/caddy-maps/internal/mercator"

// splitter cuts lines at the borders of a grid's squares. Each crossing becomes a point of the line, once and for both
// squares, so what was cut fits together again.
type splitter struct {
	shift uint  // the size of the squares: 2^shift units
	last  int32 // column and row
	// yield gets the pieces of a line in their order. A piece is valid during the call.
	yield func(x, y int32, piece []mercator.Point)

	x, y  int32
	piece []mercator.Point
}

// line cuts a line.
func (s *splitter) line(points []mercator.Point) {
	s.piece = s.piece[:0]
	for i := 1; i < len(points); i++ {
		s.columns(points[i-1], points[i])
	}
	s.flush()
}

// columns cuts a segment at the meridians of the grid.
func (s *splitter) columns(a, b mercator.Point) {
	at := a
	for x := next(a.X, b.X, s.shift); x != b.X; x = next(x, b.X, s.shift) {
		p := mercator.Point{X: x, Y: a.Y + part(b.Y-a.Y, x-a.X, b.X-a.X)}
		s.rows(at, p)
		at = p
	}
	s.rows(at, b)
}

// rows cuts a segment at the parallels of the grid.
func (s *splitter) rows(a, b mercator.Point) {
	at := a
	for y := next(a.Y, b.Y, s.shift); y != b.Y; y = next(y, b.Y, s.shift) {
		p := mercator.Point{X: a.X + part(b.X-a.X, y-a.Y, b.Y-a.Y), Y: y}
		s.segment(at, p)
		at = p
	}
	s.segment(at, b)
}

// next is the next multiple of 2^shift on the way from one number to another, or else the latter.
func next(from, to int32, shift uint) int32 {
	switch {
	case from < to:
		return min((from>>shift+1)<<shift, to)
	case from > to:
		return max((from-1)>>shift<<shift, to)
	}
	return to
}

// part is whole * of/all, rounded.
func part(whole, of, all int32) int32 {
	n, d := int64(whole)*int64(of), int64(all)
	if d < 0 {
		n, d = -n, -d
	}
	q := (2*n + d) / (2 * d)
	if (2*n+d)%(2*d) < 0 {
		q--
	}
	return int32(q)
}

// segment adds a segment that lies in one square. One on a border belongs to the square in the east or the south, and
// one on the outermost border to the square within.
func (s *splitter) segment(a, b mercator.Point) {
	if a == b {
		return
	}
	x := max(0, min((a.X+b.X)>>(s.shift+1), s.last))
	y := max(0, min((a.Y+b.Y)>>(s.shift+1), s.last))
	if x != s.x || y != s.y {
		s.flush()
	}
	if len(s.piece) == 0 {
		s.x, s.y, s.piece = x, y, append(s.piece, a)
	}
	s.piece = append(s.piece, b)
}

func (s *splitter) flush() {
	if len(s.piece) > 0 {
		s.yield(s.x, s.y, s.piece)
		s.piece = s.piece[:0]
	}
}
