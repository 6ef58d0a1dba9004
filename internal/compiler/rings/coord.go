package rings

import "github.com/paulmach/orb"

// Coord is a position in 1e-7 degrees.
type Coord struct{ Lon, Lat int32 }

// Point returns the position in degrees.
func (c Coord) Point() orb.Point { return orb.Point{float64(c.Lon) / 1e7, float64(c.Lat) / 1e7} }

// Ring is a closed ring: the last position is the first one.
type Ring []Coord

// Polygon is an outer ring, counter-clockwise, and its holes, clockwise.
type Polygon []Ring

// Area returns twice the area in 1e-14 square degrees, positive for counter-clockwise rings.
func (r Ring) Area() float64 {
	sum := 0.0
	x, y := float64(r[0].Lon), float64(r[0].Lat)
	for i := 1; i < len(r); i++ {
		a, b := r[i-1], r[i]
		sum += (float64(a.Lon)-x)*(float64(b.Lat)-y) - (float64(b.Lon)-x)*(float64(a.Lat)-y)
	}
	return sum
}
