package geometry

import (
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// NewShape tells the shape of a geometry.
func NewShape(g orb.Geometry) Shape {
	switch g.(type) {
	case orb.Polygon, orb.MultiPolygon:
		return Area
	case orb.LineString:
		return Line
	default:
		return Point
	}
}

// NewCoord rounds a position to 1e-7 degrees.
func NewCoord(p orb.Point) Coord {
	return Coord{int32(math.Round(p[0] * UnitsPerDegree)), int32(math.Round(p[1] * UnitsPerDegree))}
}

// New encodes a geometry; false if nothing is left of it.
func New(g orb.Geometry) (Geometry, bool) {
	var s Shaper
	switch g := g.(type) {
	case orb.Point:
		return Geometry{Box: NewCoord(g).Box()}, Finite(g)
	case orb.LineString:
		s.addLine(g, false)
	case orb.Polygon:
		s.addPolygon(g)
	case orb.MultiPolygon:
		for _, p := range g {
			s.addPolygon(p)
		}
	}
	return s.Geometry(NewShape(g))
}

// Finite reports whether a position, longitude and latitude in degrees, is one on Earth.
func Finite(p orb.Point) bool {
	return math.Abs(p[0]) <= 180 && math.Abs(p[1]) <= 90 // false for NaN
}

func (s *Shaper) addPolygon(p orb.Polygon) {
	for _, ring := range p {
		s.addLine(orb.LineString(ring), true)
	}
}

func (s *Shaper) addLine(line orb.LineString, ring bool) {
	for _, p := range line {
		if !Finite(p) {
			return
		}
	}
	for _, p := range line {
		s.Vertex(NewCoord(p))
	}
	s.End(ring)
}

// cutAtAntimeridian cuts lines where an edge jumps from one side of the map to the other, which means that it crosses
// the 180th meridian: boxes and rays know nothing beyond it. The pieces of areas are closed along the meridian, between
// each crossing and the next, so that a ray to the east leaves them.
func cutAtAntimeridian(lines [][]Coord, areas bool) [][]Coord {
	var out [][]Coord
	var crossings []int32 // latitudes
	for _, line := range lines {
		start := 0
		var piece []Coord // what begins at the meridian; nil where the line itself does
		for i := 1; i < len(line); i++ {
			a, b := line[i-1], line[i]
			if d := int64(b.X) - int64(a.X); d <= HalfTurn && d >= -HalfTurn {
				continue
			}
			side := int32(HalfTurn) // that a is on
			if a.X < 0 {
				side = -side
			}
			toEdge, toB := float64(side)-float64(a.X), float64(b.X)+2*float64(side)-float64(a.X)
			y := a.Y
			if toB != 0 {
				y += int32(math.Round(float64(b.Y-a.Y) * toEdge / toB))
			}
			crossings = append(crossings, y)
			out = append(out, slices.Concat(piece, line[start:i], []Coord{{side, y}}))
			piece, start = []Coord{{-side, y}}, i
		}
		if piece != nil {
			out = append(out, append(piece, line[start:]...))
			continue
		}
		out = append(out, line)
	}
	if areas {
		slices.Sort(crossings)
		for pair := range slices.Chunk(crossings, 2) {
			if len(pair) == 2 && pair[0] != pair[1] {
				out = append(out, []Coord{{HalfTurn, pair[0]}, {HalfTurn, pair[1]}}, []Coord{{-HalfTurn, pair[0]}, {-HalfTurn,
					pair[1]}})
			}
		}
	}
	return out
}

// Extent is the size of a geometry for ordering what lies at the same distance: square metres of an area, on the
// sphere. A line counts as a strip of a millimetre, so that lines come before areas.
func (g *Geometry) Extent() float64 {
	switch g.Shape {
	case Line:
		return length(g) / 1000
	case Area:
		// The rings' signed areas add up: holes run against their outlines. The pieces of a chunked outline share their ends,
		// so that the sum over all runs is the sum over all rings.
		sum := 0.0
		for line := range g.Lines {
			sum += signedArea(line)
		}
		return math.Abs(sum)
	}
	return 0
}

// signedArea is the area between a line and the equator, in square metres.
func signedArea(line []Coord) float64 {
	sum, last := 0.0, math.Sin(float64(line[0].Y)*RadiansPerUnit)
	for i := 1; i < len(line); i++ {
		width := float64(int64(line[i].X)-int64(line[i-1].X)) * RadiansPerUnit
		sine := math.Sin(float64(line[i].Y) * RadiansPerUnit)
		sum += width * (last + sine) / 2
		last = sine
	}
	return sum * EarthRadius * EarthRadius
}

// length is that of a line in metres.
func length(g *Geometry) float64 {
	sum := 0.0
	for line := range g.Lines {
		for i := 1; i < len(line); i++ {
			sum += Distance(line[i-1], line[i])
		}
	}
	return sum
}

// Distance is that of two positions in metres.
func Distance(a, b Coord) float64 {
	o := NewOrigin(a.Point())
	return Metres(o.Haversine(o.EastTo(b.X), float64(b.Y)-o.Y))
}

// Point is the position in degrees.
func (c Coord) Point() orb.Point {
	return orb.Point{float64(c.X) / UnitsPerDegree, float64(c.Y) / UnitsPerDegree}
}

// BoxOf is the box of some positions.
func BoxOf(coords []Coord) geo.Box {
	b := geo.EmptyBox
	for _, c := range coords {
		b.ExtendTo(c.X, c.Y)
	}
	return b
}
