package objects

import (
	"encoding/binary"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Features is a list of features in a temporary file.
type Features struct{ *scratch.Records }

// Feature is an object with a name, an address, or a part in administrative divisions.
type Feature struct {
	Kind     region.Kind
	ID       int64
	Tags     Tags
	Geometry geometry.Geometry
	// Entrances are the positions of a building's main entrances, or else of all its entrances for people.
	Entrances []geometry.Coord
}

// Add adds a feature.
func (s Features) Add(f *Feature) error {
	return s.Records.Add(keyOf(f.Kind, f.ID), f.append(appendTags(nil, f.Tags)))
}

// Read fills f with the i-th feature. Its geometry is valid until a feature is added.
func (s Features) Read(i int, f *Feature) {
	f.Kind, f.ID = objectOf(s.Key(i))
	row := s.Records.Read(i)
	f.Tags = readTags(&row, f.Tags[:0])
	shape, x, y := geometry.Shape(row.Byte()), row.Varint(), row.Varint()
	box := geo.Box{MinX: int32(x), MinY: int32(y), MaxX: int32(x + row.Varint()), MaxY: int32(y + row.Varint())}
	f.Geometry = geometry.Restore(shape, box, row.Text())
	f.Entrances = f.Entrances[:0]
	for range row.Uvarint() {
		f.Entrances = append(f.Entrances, geometry.Coord{X: int32(row.Varint()), Y: int32(row.Varint())})
	}
}

// All yields all features in order with their indexes. It reads all into the same Feature.
func (s Features) All(yield func(i int, f *Feature) bool) {
	var f Feature
	for i := range s.Len() {
		if s.Read(i, &f); !yield(i, &f) {
			return
		}
	}
}

// append appends the part of a record after the tags.
func (f *Feature) append(row []byte) []byte {
	x, y := int64(f.Geometry.Box.MinX), int64(f.Geometry.Box.MinY)
	row = append(row, byte(f.Geometry.Shape))
	for _, v := range [...]int64{x, y, int64(f.Geometry.Box.MaxX) - x, int64(f.Geometry.Box.MaxY) - y} {
		row = binary.AppendVarint(row, v)
	}
	row = scratch.AppendText(row, f.Geometry.Bytes())
	row = binary.AppendUvarint(row, uint64(len(f.Entrances)))
	for _, c := range f.Entrances {
		row = binary.AppendVarint(binary.AppendVarint(row, int64(c.X)), int64(c.Y))
	}
	return row
}

// join adds the polygons of another area.
func (f *Feature) join(other *Feature) {
	var s geometry.Shaper
	for _, g := range []*geometry.Geometry{&f.Geometry, &other.Geometry} {
		for line := range g.Lines {
			for _, c := range line {
				s.Vertex(c)
			}
			s.End(false)
		}
	}
	f.Geometry, _ = s.Geometry(geometry.Area)
	f.Entrances = append(f.Entrances, other.Entrances...)
}

func coordOf(c osm.Coord) geometry.Coord { return geometry.Coord{X: c.Lon, Y: c.Lat} }
