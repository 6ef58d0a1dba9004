package places

import (
	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// shapeOf tells the shape of a geometry.
func shapeOf(s extract.Shape) geometry.Shape {
	switch s {
	case extract.Polygon, extract.MultiPolygon:
		return geometry.Area
	case extract.Line:
		return geometry.Line
	default:
		return geometry.Point
	}
}

// trace gives the lines or rings of an object to a shaper.
func trace(s *geometry.Shaper, r *extract.FeatureRecord) {
	if r.Shape == extract.Line {
		for _, c := range r.Coords {
			s.Vertex(newCoord(c))
		}
		s.End(false)
	}
	from := uint32(0)
	for _, to := range r.Rings {
		for _, c := range r.Coords[from:to] {
			s.Vertex(newCoord(c))
		}
		s.End(true)
		from = to
	}
}

func newCoord(c extract.Coord) geometry.Coord { return geometry.Coord{X: c.Lon, Y: c.Lat} }
