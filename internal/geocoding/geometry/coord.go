package geometry

import (
	"github.com/mapsedge/caddy-maps/internal/geo"
)

// Box is the box of a position.
func (c Coord) Box() geo.Box { return geo.Box{MinX: c.X, MinY: c.Y, MaxX: c.X, MaxY: c.Y} }

// Coord is a position in 1e-7 degrees.
type Coord struct{ X, Y int32 }

// Shape says what a feature's geometry is.
type Shape uint8

const (
	Point Shape = iota // the box's corner
	Line
	Area
)
