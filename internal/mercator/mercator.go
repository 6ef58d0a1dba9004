// Package mercator has the positions that maps are drawn with: whole numbers on Web Mercator's square of the world
// (EPSG:3857), which vector tiles are cut from without rounding again.
package mercator

import (
	"math"

	"github.com/paulmach/orb"
)

const (
	// Bits is the size of the world: 2^Bits units from its western to its eastern border, and from its northern to its
	// southern one.
	Bits = 28
	// World is the size of the world in units.
	World = 1 << Bits
	// MaxLat is the latitude of the northern border in degrees. What lies beyond is drawn on the border.
	MaxLat = 85.05112877980659
)

// Point is a position on the square of the world: X counts from 180°W to the east, Y from MaxLat to the south, both
// from 0 to World. A unit is 0.15 m at the equator. A tile of zoom z is World>>z units wide; one of its 4096 steps is
// one unit at zoom 16.
type Point struct{ X, Y int32 }

// Project returns the position of a point in degrees, rounded to the nearest. What lies further east is never further
// west on the square, and the same from north to south. Points beyond the borders are moved to them.
func Project(p orb.Point) Point {
	return Point{X: fromLon(p[0]), Y: fromLat(p[1])}
}

// ProjectE7 is Project for a position in 10^-7 degrees, as OpenStreetMap has them.
func ProjectE7(lat, lon int32) Point {
	return Project(orb.Point{float64(lon) / 1e7, float64(lat) / 1e7})
}

// Degrees returns where a position is: a point that Project brings back to the same position.
func (p Point) Degrees() orb.Point {
	lon := float64(p.X)/World*360 - 180
	lat := math.Atan(math.Sinh(math.Pi*(1-2*float64(p.Y)/World))) * 180 / math.Pi
	return orb.Point{lon, lat}
}

func fromLon(lon float64) int32 {
	lon = max(-180, min(lon, 180))
	return int32(math.Round((lon/360 + 0.5) * World))
}

func fromLat(lat float64) int32 {
	lat = max(-MaxLat, min(lat, MaxLat))
	s := math.Sin(lat * math.Pi / 180)
	y := 0.5 - math.Log((1+s)/(1-s))/(4*math.Pi)
	return int32(math.Round(max(0, min(y, 1)) * World)) // at the border y may be off by 1e-16
}
