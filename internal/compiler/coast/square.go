package coast

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

// square is the ground of a tile.
type square struct{ x, y, size int32 }

// squareOf is the ground of a tile of a zoom.
func squareOf(z uint8, x, y uint32) square {
	size := int32(mercator.World >> z)
	return square{int32(x) * size, int32(y) * size, size}
}

// cellSquare is the ground of a cell.
func cellSquare(cell uint32) square { return squareOf(cellZoom, cell>>cellZoom, cell&(1<<cellZoom-1)) }

func (s square) middle() mercator.Point { return mercator.Point{X: s.x + s.size/2, Y: s.y + s.size/2} }

// place is how far along the border a position is from the north-western corner, counterclockwise on the screen: down
// the west side, along the south side, up the east side and back. It is negative for what is not on the border.
func (s square) place(p mercator.Point) int64 {
	east, south, size := s.x+s.size, s.y+s.size, int64(s.size)
	switch {
	case p.X == s.x:
		return int64(p.Y - s.y)
	case p.Y == south:
		return size + int64(p.X-s.x)
	case p.X == east:
		return 2*size + int64(south-p.Y)
	case p.Y == s.y:
		return 3*size + int64(east-p.X)
	}
	return -1
}

// appendCorners appends the corners that are passed on the way along the border from one place to another.
func (s square) appendCorners(points []mercator.Point, from, to int64) []mercator.Point {
	size := int64(s.size)
	if to < from {
		to += 4 * size
	}
	for c := from/size + 1; c*size < to; c++ {
		points = append(points, s.corner(int(c&3)))
	}
	return points
}

// corner is the corner where a side begins: west, south, east or north.
func (s square) corner(side int) mercator.Point {
	p := mercator.Point{X: s.x, Y: s.y}
	if side == 1 || side == 2 {
		p.Y += s.size
	}
	if side == 2 || side == 3 {
		p.X += s.size
	}
	return p
}

func (s square) ring() geom.Ring {
	return geom.Ring{s.corner(0), s.corner(3), s.corner(2), s.corner(1)}
}

// onward is where a straight line that came from one position to another reaches the border; in the north if it has no
// direction.
func (s square) onward(from, at mercator.Point) mercator.Point {
	dx, dy := float64(at.X-from.X), float64(at.Y-from.Y)
	side := func(v, low int32, d float64) (side int32, steps float64) {
		if side = low; d > 0 {
			side += s.size
		}
		if d == 0 {
			return side, math.Inf(1)
		}
		return side, float64(side-v) / d
	}
	moved := func(v, low int32, by float64) int32 { return max(low, min(v+int32(math.Round(by)), low+s.size)) }
	x, stepsX := side(at.X, s.x, dx)
	y, stepsY := side(at.Y, s.y, dy)
	switch {
	case stepsY < stepsX:
		return mercator.Point{X: moved(at.X, s.x, stepsY*dx), Y: y}
	case dx != 0:
		return mercator.Point{X: x, Y: moved(at.Y, s.y, stepsX*dy)}
	}
	return mercator.Point{X: at.X, Y: s.y}
}
