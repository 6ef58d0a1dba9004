package country

import (
	"math"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// MaxNearest is the greatest distance of Nearest in metres.
const MaxNearest = 500_000

// Nearest returns the country that contains a position, or else the nearest one, and its distance in metres, 0 inside.
// It is false if there is none within maxMetres, or within MaxNearest.
//
// Outlines at 1:10 million leave out piers, spits and many islets. For a position on land outside all countries, take
// the nearest one within 20 to 30 kilometres.
func Nearest(p orb.Point, maxMetres float64) (c Country, metres float64, ok bool) {
	x, y, ok := position(p)
	if !ok {
		return Country{}, 0, false
	}
	if n := number(x, y); n != 0 {
		return countries[n-1], 0, true
	}
	if !(maxMetres > 0) { // also true for NaN
		return Country{}, 0, false
	}
	s := search{from: p, cosLat: math.Cos(p.Lat() * math.Pi / 180), best: math.Min(maxMetres, MaxNearest)}
	s.cells(int(x)>>cellShift, int(y)>>cellShift)
	if s.number == 0 {
		return Country{}, 0, false
	}
	return countries[s.number-1], s.best, true
}

// search is one search for the nearest outline.
type search struct {
	from   orb.Point
	cosLat float64
	best   float64 // metres; nothing farther is of interest
	number int     // the country found at that distance, plus one; 0 for none yet
}

const (
	earthRadius    = 6_371_008.8 // metres, of the sphere with Earth's mean radius
	metresPerDeg   = earthRadius * math.Pi / 180
	degreesPerUnit = 1 / unitsPerDegree
	cellSize       = 1 << cellShift
)

// cells visits the base cells within reach, from the position's cell outwards: near results shorten the reach early.
func (s *search) cells(column, row int) {
	s.row(column, row)
	for d := 1; d < rows; d++ {
		s.row(column, row+d)
		s.row(column, row-d)
		if float64(d)*cellSize*degreesPerUnit*metresPerDeg > s.best {
			return
		}
	}
}

// row visits a row's cells within reach. East and west of the antimeridian are neighbours.
func (s *search) row(column, row int) {
	if row < 0 || row >= rows || s.gap(0, row<<cellShift, worldWidth, cellSize) > s.best {
		return
	}
	for d := 0; d <= columns/2; d++ {
		east, west := (column+d)%columns, (column-d+columns)%columns
		s.visit(uint32(row*columns+east), east<<cellShift, row<<cellShift, cellShift)
		if west != east {
			s.visit(uint32(row*columns+west), west<<cellShift, row<<cellShift, cellShift)
		}
	}
}

// gap returns a lower bound of the distance in metres to a box in units, from its parallels and meridians.
func (s *search) gap(west, south, width, height int) float64 {
	bottom := float64(south)*degreesPerUnit - 90
	toParallel := max(0, bottom-s.from.Lat(), s.from.Lat()-bottom-float64(height)*degreesPerUnit)
	// How far the position is east of the box's west side.
	eastOf := math.Mod(s.from.Lon()+540-float64(west)*degreesPerUnit, 360)
	toMeridian := 0.0
	if degrees := float64(width) * degreesPerUnit; eastOf > degrees {
		// From more than a quarter of the way round, the nearest point of a meridian is a pole.
		angle := min(90, eastOf-degrees, 360-eastOf)
		toMeridian = math.Asin(s.cosLat*math.Sin(angle*math.Pi/180)) * 180 / math.Pi
	}
	return max(toParallel, toMeridian) * metresPerDeg
}

// visit searches the cell of a node, given by its south-west corner and width in units.
func (s *search) visit(index uint32, west, south int, shift uint) {
	size := 1 << shift
	tag, value := node(index)
	if tag == tagWhole && value == 0 || s.gap(west, south, size, size) > s.best {
		return
	}
	if tag == tagBranch {
		half := size / 2
		for child := range 4 {
			s.visit(value+uint32(child), west+child&1*half, south+child>>1*half, shift-1)
		}
		return
	}
	middle := (s.from.Lat() + float64(south+size/2)*degreesPerUnit - 90) / 2
	c := cell{west: west, south: south, size: size, shrink: math.Cos(middle * math.Pi / 180)}
	if tag == tagWhole {
		s.sides(&c, int(value))
		return
	}
	s.leaf(&c, leaf(value))
}

// cell is the cell whose outlines are searched.
type cell struct {
	west, south, size int
	// shrink is how much shorter a degree of longitude is than one of latitude between here and the position.
	shrink float64
}

// leaf searches the areas of a border cell. If the rest of the cell is a country, too, the whole cell is land.
func (s *search) leaf(c *cell, data []byte) {
	r := reader{data: data}
	r.uint() // what lies in no area
	for areas := r.uint(); areas > 0; areas-- {
		n := r.uint()
		for rings := r.uint(); rings > 0; rings-- {
			vertices := r.uint()
			firstX, firstY := r.uint(), r.uint()
			ax, ay := firstX, firstY
			for ; vertices > 1; vertices-- {
				bx, by := ax+r.int(), ay+r.int()
				s.outline(c, n, ax, ay, bx, by)
				ax, ay = bx, by
			}
			s.outline(c, n, ax, ay, firstX, firstY)
		}
	}
}

// outline searches an edge of an area, unless it lies on a side of the cell: there the area is cut, or separate parts
// are joined over the sea.
func (s *search) outline(c *cell, number, ax, ay, bx, by int) {
	if ax == bx && (ax == 0 || ax == c.size) || ay == by && (ay == 0 || ay == c.size) {
		return
	}
	s.edge(c, number, ax, ay, bx, by)
}

// sides searches the four sides of a cell.
func (s *search) sides(c *cell, number int) {
	s.edge(c, number, 0, 0, c.size, 0)
	s.edge(c, number, c.size, 0, c.size, c.size)
	s.edge(c, number, c.size, c.size, 0, c.size)
	s.edge(c, number, 0, c.size, 0, 0)
}

// edge records an edge of a country, relative to the cell's south-west corner, if it is the nearest so far. Its nearest
// point is found on a plane, the distance of that point on the sphere.
func (s *search) edge(c *cell, number, ax, ay, bx, by int) {
	fromLon, fromLat := s.from.Lon(), s.from.Lat()
	lon := math.Remainder(float64(c.west+ax)*degreesPerUnit-180-fromLon, 360) // of a, seen from the position
	lat := float64(c.south+ay)*degreesPerUnit - 90 - fromLat
	stepLon, stepLat := float64(bx-ax)*degreesPerUnit, float64(by-ay)*degreesPerUnit
	flat := stepLon * c.shrink
	t := -(lon*c.shrink*flat + lat*stepLat) / (flat*flat + stepLat*stepLat)
	t = min(1, max(0, t))
	lon, lat = lon+t*stepLon, lat+t*stepLat
	// The tolerance is a tenth more than the plane's error within reach.
	if limit := 1.1 * s.best / metresPerDeg; lon*lon*c.shrink*c.shrink+lat*lat > limit*limit {
		return
	}
	metres := geo.DistanceHaversine(s.from, orb.Point{fromLon + lon, fromLat + lat}) * (earthRadius / orb.EarthRadius)
	if metres < s.best || metres == s.best && s.number == 0 {
		s.number, s.best = number, metres
	}
}
