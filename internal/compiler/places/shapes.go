package places

import (
	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// shapeOf tells the shape of a geometry.
func shapeOf(s objects.Shape) geometry.Shape {
	switch s {
	case objects.Polygon, objects.MultiPolygon:
		return geometry.Area
	case objects.Line:
		return geometry.Line
	default:
		return geometry.Point
	}
}

// trace gives the lines or rings of an object to a shaper.
func trace(s *geometry.Shaper, r *objects.FeatureRecord) {
	if r.Shape == objects.Line {
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

func newCoord(c objects.Coord) geometry.Coord { return geometry.Coord{X: c.Lon, Y: c.Lat} }
