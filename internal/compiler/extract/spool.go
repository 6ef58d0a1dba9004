package extract

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Features are features one after the other in a scratch file, in the order in which they were added. Tags are there by
// the numbers of their texts, positions as 1e-7 degrees, each but the first as the difference to the one before.
//
// Any number of goroutines may read at a time, when nothing is added and no text is either.
type Features struct {
	texts *scratch.Texts
	bytes *scratch.Array[byte]
	n     int
	row   []byte
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

// TagNumbers is a tag by the numbers of its texts.
type TagNumbers struct{ Key, Value uint32 }

// Coord is a position in 1e-7 degrees.
type Coord struct{ Lon, Lat int32 }

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
	return &Features{texts: texts, bytes: scratch.NewArray[byte](dir, "features")}
}

// Len is how many features there are.
func (s *Features) Len() int { return s.n }

// Free removes the file.
func (s *Features) Free() error { return s.bytes.Free() }

// Add adds a feature. The error says that it has positions that are none on Earth, or is that of the scratch file.
func (s *Features) Add(f *Feature) error {
	tags, err := numberTags(nil, s.texts, f.Tags)
	if err != nil {
		return err
	}
	return s.add(f.Kind, f.ID, tags, f.Geometry, f.Entrances)
}

// add adds a feature whose tags have numbers already.
func (s *Features) add(kind mapdata.Kind, id int64, tags []TagNumbers, g orb.Geometry, entrances []orb.Point) error {
	row := append(s.row[:0], byte(kind))
	row = binary.AppendVarint(row, id)
	p := spoolWriter{row: appendNumbers(row, tags)}
	p.geometry(g)
	p.line(entrances)
	if s.row = p.row; p.bad {
		return fmt.Errorf("%v %d has a position that is none on Earth", kind, id)
	}
	s.n++
	return s.bytes.Append(s.row...)
}

// numberTags appends tags by the numbers of their texts.
func numberTags(numbers []TagNumbers, texts *scratch.Texts, tags Tags) ([]TagNumbers, error) {
	for i := range tags {
		key, err := texts.Add(tags[i].Key)
		if err != nil {
			return nil, err
		}
		value, err := texts.Add(tags[i].Value)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, TagNumbers{key, value})
	}
	return numbers, nil
}

func appendNumbers(row []byte, tags []TagNumbers) []byte {
	row = binary.AppendUvarint(row, uint64(len(tags)))
	for _, t := range tags {
		row = binary.AppendUvarint(binary.AppendUvarint(row, uint64(t.Key)), uint64(t.Value))
	}
	return row
}

func appendTags(row []byte, texts *scratch.Texts, tags Tags) ([]byte, error) {
	row = binary.AppendUvarint(row, uint64(len(tags)))
	for i := range tags {
		for _, text := range [...]string{tags[i].Key, tags[i].Value} {
			n, err := texts.Add(text)
			if err != nil {
				return row, err
			}
			row = binary.AppendUvarint(row, uint64(n))
		}
	}
	return row, nil
}

// spoolWriter writes positions.
type spoolWriter struct {
	row  []byte
	last Coord
	bad  bool // one of them is none
}

func (p *spoolWriter) geometry(g orb.Geometry) {
	switch g := g.(type) {
	case orb.Point:
		p.row = append(p.row, byte(Point))
		p.position(g)
	case orb.LineString:
		p.row = append(p.row, byte(Line))
		p.line(g)
	case orb.Polygon:
		p.row = append(p.row, byte(Polygon))
		p.polygon(g)
	case orb.MultiPolygon:
		p.row = binary.AppendUvarint(append(p.row, byte(MultiPolygon)), uint64(len(g)))
		for _, polygon := range g {
			p.polygon(polygon)
		}
	default:
		p.bad = true
	}
}

func (p *spoolWriter) polygon(g orb.Polygon) {
	p.row = binary.AppendUvarint(p.row, uint64(len(g)))
	for _, ring := range g {
		p.line(orb.LineString(ring))
	}
}

func (p *spoolWriter) line(line []orb.Point) {
	p.row = binary.AppendUvarint(p.row, uint64(len(line)))
	for _, at := range line {
		p.position(at)
	}
}

func (p *spoolWriter) position(at orb.Point) {
	if !(math.Abs(at[0]) <= 180 && math.Abs(at[1]) <= 90) { // true for NaN
		p.bad = true
		return
	}
	p.coord(Coord{int32(math.Round(at[0] * 1e7)), int32(math.Round(at[1] * 1e7))})
}

func (p *spoolWriter) coord(c Coord) {
	p.row = binary.AppendVarint(p.row, int64(c.Lon)-int64(p.last.Lon))
	p.row = binary.AppendVarint(p.row, int64(c.Lat)-int64(p.last.Lat))
	p.last = c
}

// Read fills a record with the feature that begins at an offset, and returns where the next one begins. The first
// begins at 0.
func (s *Features) Read(offset uint64, r *FeatureRecord) (next uint64) {
	d := spoolReader{bytes: s.bytes.Slice()[offset:]}
	size := len(d.bytes)
	r.Kind = mapdata.Kind(d.byte())
	r.ID = d.varint()
	r.Tags = d.tags(r.Tags[:0])
	d.geometry(&r.Geometry)
	r.Entrances = d.line(r.Entrances[:0])
	return offset + uint64(size-len(d.bytes))
}

// Records yields all features in their order, each with where it begins. All are read into the same record.
func (s *Features) Records(yield func(offset uint64, r *FeatureRecord) bool) {
	var r FeatureRecord
	for offset, end := uint64(0), uint64(s.bytes.Len()); offset < end; {
		next := s.Read(offset, &r)
		if !yield(offset, &r) {
			return
		}
		offset = next
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
		points = append(points, toPoint(c.Lat, c.Lon))
	}
	return points
}
