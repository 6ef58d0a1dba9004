package objects

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Feature is an object with a name, an address, or a part in administrative divisions.
type Feature struct {
	Kind mapdata.Kind
	ID   int64
	Tags Tags
	// Geometry is an orb.Point, orb.LineString, orb.Polygon or orb.MultiPolygon. Outer rings are counter-clockwise, holes
	// clockwise, rings closed.
	Geometry orb.Geometry
	// Entrances are where people enter a building with a name or an address: its main entrances, else all that are no
	// emergency exits and no ways in for goods and cars.
	Entrances []orb.Point
}

// Features are features in a scratch file. Any number of goroutines may read at a time, when nothing is added and no
// text is either.
type Features struct {
	texts   *scratch.Texts
	records *scratch.Records
	row     []byte
}

// FeatureRecord is a feature as it is kept. One that was read is filled anew by the next reading into it.
type FeatureRecord struct {
	Kind mapdata.Kind
	ID   int64
	// Tags are the numbers of the texts of keys and values, in the order of the keys.
	Tags []TagNumbers
	Geometry
	Entrances []Coord
}

// Geometry is where something is.
type Geometry struct {
	Shape Shape
	// Coords are the positions of a point, of a line, or of all rings of an area. Rings has for each ring of an area where
	// it ends among them, and Polygons for each polygon where its rings end among the rings: the first is the outer one.
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

// NewFeatures makes an empty list. The texts of tags are added to texts.
func NewFeatures(dir *scratch.Dir, texts *scratch.Texts) *Features {
	return &Features{texts: texts, records: scratch.NewRecords(dir, "features")}
}

// Len is how many features there are.
func (s *Features) Len() int { return s.records.Len() }

// Free removes the files.
func (s *Features) Free() error { return s.records.Free() }

// Add adds a feature. The error says that it has positions that are none on Earth, or is that of the scratch file.
func (s *Features) Add(f *Feature) (err error) {
	r := FeatureRecord{Kind: f.Kind, ID: f.ID}
	if r.Tags, err = numberTags(nil, s.texts, f.Tags); err != nil {
		return err
	}
	ok := r.set(f.Geometry)
	if r.Entrances, ok = appendCoords(nil, f.Entrances, ok); !ok {
		return fmt.Errorf("%v %d has a position that is none on Earth", f.Kind, f.ID)
	}
	return s.put(&r)
}

// put adds a feature as it is kept.
func (s *Features) put(r *FeatureRecord) error {
	s.row = r.append(appendTags(s.row[:0], r.Tags))
	return s.records.Add(keyOf(r.Kind, r.ID), s.row)
}

// replace gives the i-th feature other tags. The record, into which it was read, gets them too.
func (s *Features) replace(i int, r *FeatureRecord, tags Tags) (err error) {
	if r.Tags, err = numberTags(r.Tags[:0], s.texts, tags); err != nil {
		return err
	}
	s.row = r.append(appendTags(s.row[:0], r.Tags))
	return s.records.Replace(i, s.row)
}

// Read fills a record with the i-th feature.
func (s *Features) Read(i uint64, r *FeatureRecord) {
	r.Kind, r.ID = objectOf(s.records.Key(int(i)))
	row := s.records.Read(int(i))
	r.Tags = readTags(&row, r.Tags[:0])
	if r.reset(Shape(row.Byte())); r.Shape >= Polygon {
		r.Rings, r.Polygons = readNumbers(&row, r.Rings), readNumbers(&row, r.Polygons)
	}
	r.Coords, r.Entrances = osm.ReadLine(&row, r.Coords), osm.ReadLine(&row, r.Entrances)
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

// set takes a geometry; false if it has positions that are none on Earth.
func (r *FeatureRecord) set(g orb.Geometry) (ok bool) {
	switch g := g.(type) {
	case orb.Point:
		ok = r.set(orb.LineString{g})
		r.Shape = Point
	case orb.LineString:
		r.Shape = Line
		r.Coords, ok = appendCoords(nil, g, true)
	case orb.Polygon:
		ok = r.set(orb.MultiPolygon{g})
		r.Shape = Polygon
	case orb.MultiPolygon:
		r.Shape, ok = MultiPolygon, true
		for _, polygon := range g {
			for _, ring := range polygon {
				r.Coords, ok = appendCoords(r.Coords, ring, ok)
				r.Rings = append(r.Rings, uint32(len(r.Coords)))
			}
			r.Polygons = append(r.Polygons, uint32(len(r.Rings)))
		}
	}
	return ok
}

// appendCoords appends positions; ok stays true if all are on Earth.
func appendCoords(coords []Coord, points []orb.Point, ok bool) ([]Coord, bool) {
	for _, p := range points {
		ok = ok && math.Abs(p[0]) <= 180 && math.Abs(p[1]) <= 90 // false for NaN
		coords = append(coords, osm.CoordOf(p))
	}
	return coords, ok
}

// Records yields all features in their order, each with its index. All are read into the same record.
func (s *Features) Records(yield func(i uint64, r *FeatureRecord) bool) {
	var r FeatureRecord
	for i := range uint64(s.Len()) {
		if s.Read(i, &r); !yield(i, &r) {
			return
		}
	}
}

// All yields all features in their order. Each is valid until the next one: their memory is the same.
func (s *Features) All(yield func(*Feature) bool) {
	var f Feature
	names := textCache{texts: s.texts}
	for _, r := range s.Records {
		f.Kind, f.ID = r.Kind, r.ID
		f.Tags = names.tags(f.Tags[:0], r.Tags)
		f.Geometry = r.Geometry.orb()
		f.Entrances = appendPoints(nil, r.Entrances)
		if !yield(&f) {
			return
		}
	}
}

func (g *Geometry) orb() orb.Geometry {
	points := appendPoints(make([]orb.Point, 0, len(g.Coords)), g.Coords)
	switch g.Shape {
	case Point:
		return points[0]
	case Line:
		return orb.LineString(points)
	}
	polygons := make(orb.MultiPolygon, 0, len(g.Polygons))
	ring, at := uint32(0), uint32(0)
	for _, end := range g.Polygons {
		polygon := make(orb.Polygon, 0, end-ring)
		for ; ring < end; ring++ {
			polygon = append(polygon, orb.Ring(points[at:g.Rings[ring]:g.Rings[ring]]))
			at = g.Rings[ring]
		}
		polygons = append(polygons, polygon)
	}
	if g.Shape == Polygon {
		return polygons[0]
	}
	return polygons
}

func appendPoints(points []orb.Point, coords []Coord) []orb.Point {
	for _, c := range coords {
		points = append(points, c.Point())
	}
	return points
}
