package geo

import (
	"math"
	"sync"

	"github.com/paulmach/orb"
)

const (
	// WorldBits is the binary logarithm of World.
	WorldBits = 28
	// World is the width and height of the world in units.
	World = 1 << WorldBits
	// MaxLat is the latitude of the northern border in degrees. Positions beyond it are moved to the border.
	MaxLat = 85.05112877980659
)

// Projected is a position in Web Mercator (EPSG:3857) in integers: X counts from 180°W to the east, Y from MaxLat to
// the south, both from 0 to World. A unit is 0.15 m at the equator. A tile of zoom z is World>>z units wide; one of its
// 4096 steps is one unit at zoom 16.
type Projected struct{ X, Y int32 }

// Project projects a point in degrees, rounded to the nearest unit. It is monotonic in both directions. Points beyond
// the borders are moved to them.
func Project(p orb.Point) Projected {
	return Projected{X: fromLon(p[0]), Y: fromLat(p[1])}
}

// ProjectE7 is Project for a position in 1e-7 degrees.
func ProjectE7(lat, lon int32) Projected {
	return Projected{X: fromLon(float64(lon) / 1e7), Y: fromLatE7(lat)}
}

// Degrees returns the point of a position in degrees. Project returns it to the same position.
func (p Projected) Degrees() orb.Point {
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

// parabola approximates Y in a band of 2^bandBits times 1e-7 degrees of latitude.
type parabola struct{ y, slope, curve float64 }

const (
	bandBits = 16
	lastBand = 850_000_000 >> bandBits // of those near the poles little is drawn
	// unsure is more than the error of the parabolas.
	unsure = 1.0 / 256
)

// parabolas are those of the bands from -lastBand to lastBand.
var parabolas = sync.OnceValue(func() *[2*lastBand + 1]parabola {
	all := new([2*lastBand + 1]parabola)
	const unit = math.Pi / 180 / 1e7
	for i := range all {
		middle := (float64(i-lastBand) + 0.5) * (1 << bandBits)
		sin, cos := math.Sincos(middle * unit)
		slope := -World / (2 * math.Pi) / cos * unit
		all[i] = parabola{(0.5 - math.Atanh(sin)/(2*math.Pi)) * World, slope, slope * sin / cos / 2 * unit}
	}
	return all
})

// fromLatE7 is a faster fromLat: it needs a logarithm only where the parabola is too inexact for rounding.
func fromLatE7(lat int32) int32 {
	if band := lat >> bandBits; band >= -lastBand && band <= lastBand {
		p := &parabolas()[band+lastBand]
		off := float64(lat&(1<<bandBits-1)) - 1<<(bandBits-1)
		y := p.y + off*(p.slope+off*p.curve) + 0.5
		if whole := int32(y); y-float64(whole) > unsure && y-float64(whole) < 1-unsure {
			return whole
		}
	}
	return fromLat(float64(lat) / 1e7)
}
