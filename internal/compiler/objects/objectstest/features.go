// Package objectstest shows what was collected as tests and evaluations look at it: with the texts of tags, and
// geometries of package orb.
package objectstest

import (
	"cmp"
	"iter"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Feature is an object with a name, an address, or a part in administrative divisions.
type Feature struct {
	Kind mapdata.Kind
	ID   int64
	Tags objects.Tags // sorted by key
	// Geometry is an orb.Point, orb.LineString, orb.Polygon or orb.MultiPolygon. Outer rings are counter-clockwise, holes
	// clockwise, rings closed.
	Geometry  orb.Geometry
	Entrances []orb.Point
}

// Add adds a feature to data.
func Add(d *objects.Data, f *Feature) error {
	r := objects.FeatureRecord{Kind: f.Kind, ID: f.ID, Entrances: coords(nil, f.Entrances)}
	var err error
	if r.Tags, err = f.Tags.Numbers(d.Texts); err != nil {
		return err
	}
	set(&r.Geometry, f.Geometry)
	return d.Features.Add(&r)
}

func set(to *objects.Geometry, g orb.Geometry) {
	switch g := g.(type) {
	case orb.Point:
		to.Coords = coords(nil, orb.LineString{g})
	case orb.LineString:
		to.Shape, to.Coords = objects.Line, coords(nil, g)
	case orb.Polygon:
		set(to, orb.MultiPolygon{g})
		to.Shape = objects.Polygon
	case orb.MultiPolygon:
		to.Shape = objects.MultiPolygon
		for _, polygon := range g {
			for _, ring := range polygon {
				to.Coords = coords(to.Coords, ring)
				to.Rings = append(to.Rings, uint32(len(to.Coords)))
			}
			to.Polygons = append(to.Polygons, uint32(len(to.Rings)))
		}
	}
}

func coords(all []objects.Coord, points []orb.Point) []objects.Coord {
	for _, p := range points {
		all = append(all, osm.CoordOf(p))
	}
	return all
}

// All yields the features of data in their order.
func All(d *objects.Data) iter.Seq[*Feature] {
	return func(yield func(*Feature) bool) {
		for _, r := range d.Features.All {
			f := Feature{Kind: r.Kind, ID: r.ID, Tags: objects.TagsOf(r.Tags, d.Texts), Geometry: geometry(&r.Geometry),
				Entrances: points(r.Entrances)}
			slices.SortFunc(f.Tags, func(a, b objects.Tag) int { return cmp.Compare(a.Key, b.Key) })
			if !yield(&f) {
				return
			}
		}
	}
}

func geometry(g *objects.Geometry) orb.Geometry {
	all := points(g.Coords)
	switch g.Shape {
	case objects.Point:
		return all[0]
	case objects.Line:
		return orb.LineString(all)
	}
	polygons := make(orb.MultiPolygon, 0, len(g.Polygons))
	ring, at := uint32(0), uint32(0)
	for _, end := range g.Polygons {
		var polygon orb.Polygon
		for ; ring < end; ring++ {
			polygon = append(polygon, orb.Ring(all[at:g.Rings[ring]:g.Rings[ring]]))
			at = g.Rings[ring]
		}
		polygons = append(polygons, polygon)
	}
	if g.Shape == objects.Polygon {
		return polygons[0]
	}
	return polygons
}

func points(coords []objects.Coord) (all []orb.Point) {
	for _, c := range coords {
		all = append(all, c.Point())
	}
	return all
}
