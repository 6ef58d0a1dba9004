package objects

import (
	"encoding/binary"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Features are features in a scratch file.
type Features struct{ *scratch.Records }

// FeatureRecord is an object with a name, an address, or a part in administrative divisions. One that was read is
// filled anew by the next reading into it.
type FeatureRecord struct {
	Kind mapdata.Kind
	ID   int64
	Tags []TagNumbers
	Geometry
	// Entrances are where people enter a building: its main entrances, else all that are no emergency exits and no ways
	// in for goods and cars.
	Entrances []Coord
}

// Geometry is where something is.
type Geometry struct {
	Shape Shape
	// Coords are the positions of a point, of a line, or of all rings of an area. Rings has for each ring of an area where
	// it ends among them, and Polygons for each polygon where its rings end among the rings: the first is the outer one.
	// Outer rings are counter-clockwise, holes clockwise, rings closed.
	Coords          []Coord
	Rings, Polygons []uint32
}

// Coord is a position in 1e-7 degrees.
type Coord = osm.Coord

// Shape is what a geometry is.
type Shape uint8

// The shapes. An area with several polygons differs from one with one in nothing but how many it has.
const (
	Point Shape = iota
	Line
	Polygon
	MultiPolygon
)

// Add adds a feature.
func (s Features) Add(r *FeatureRecord) error {
	return s.Records.Add(keyOf(r.Kind, r.ID), r.append(appendTags(nil, r.Tags)))
}

// Read fills a record with the i-th feature.
func (s Features) Read(i int, r *FeatureRecord) {
	r.Kind, r.ID = objectOf(s.Key(i))
	row := s.Records.Read(i)
	r.Tags = readTags(&row, r.Tags[:0])
	if r.reset(Shape(row.Byte())); r.Shape >= Polygon {
		r.Rings, r.Polygons = readNumbers(&row, r.Rings), readNumbers(&row, r.Polygons)
	}
	r.Coords, r.Entrances = osm.ReadLine(&row, r.Coords), osm.ReadLine(&row, r.Entrances)
}

// All yields all features in their order, each with its index. All are read into the same record.
func (s Features) All(yield func(i int, r *FeatureRecord) bool) {
	var r FeatureRecord
	for i := range s.Len() {
		if s.Read(i, &r); !yield(i, &r) {
			return
		}
	}
}

// append appends what is behind the tags of a record.
func (r *FeatureRecord) append(row []byte) []byte {
	if row = append(row, byte(r.Shape)); r.Shape >= Polygon {
		row = appendNumbers(appendNumbers(row, r.Rings), r.Polygons)
	}
	return osm.AppendLine(osm.AppendLine(row, r.Coords), r.Entrances)
}

func appendNumbers(row []byte, list []uint32) []byte {
	row = binary.AppendUvarint(row, uint64(len(list)))
	for _, n := range list {
		row = binary.AppendUvarint(row, uint64(n))
	}
	return row
}

func readNumbers(r *scratch.Reader, list []uint32) []uint32 {
	for range r.Uvarint() {
		list = append(list, uint32(r.Uvarint()))
	}
	return list
}

// reset makes it a feature of a shape that is nowhere. The memory of the lists stays.
func (r *FeatureRecord) reset(shape Shape) {
	r.Geometry = Geometry{shape, r.Coords[:0], r.Rings[:0], r.Polygons[:0]}
	r.Entrances = r.Entrances[:0]
}

// join adds the polygons of another area.
func (r *FeatureRecord) join(other *FeatureRecord) {
	coords, rings := uint32(len(r.Coords)), uint32(len(r.Rings))
	r.Coords = append(r.Coords, other.Coords...)
	for _, end := range other.Rings {
		r.Rings = append(r.Rings, coords+end)
	}
	for _, end := range other.Polygons {
		r.Polygons = append(r.Polygons, rings+end)
	}
	r.Entrances = append(r.Entrances, other.Entrances...)
}
