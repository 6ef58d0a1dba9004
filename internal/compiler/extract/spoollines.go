package extract

import (
	"encoding/binary"
	"fmt"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// Interpolations are interpolations one after the other in a scratch file, as Features are.
type Interpolations struct {
	texts *scratch.Texts
	bytes *scratch.Array[byte]
	n     int
	row   []byte
}

// NewInterpolations makes an empty list. The texts of tags are added to texts.
func NewInterpolations(dir *scratch.Dir, texts *scratch.Texts) *Interpolations {
	return &Interpolations{texts: texts, bytes: scratch.NewArray[byte](dir, "interpolations")}
}

// Len is how many interpolations there are.
func (s *Interpolations) Len() int { return s.n }

// Add adds an interpolation. The error is as that of Features.Add.
func (s *Interpolations) Add(line *Interpolation) error {
	row := binary.AppendVarint(s.row[:0], line.Way)
	row = binary.AppendVarint(append(row, byte(line.Parity)), int64(line.Step))
	row, err := appendTags(row, s.texts, line.Tags)
	if err != nil {
		return err
	}
	p := spoolWriter{row: row}
	p.line(line.Line)
	if s.row = p.row; p.bad {
		return fmt.Errorf("the interpolation of way %d has a position that is none on Earth", line.Way)
	}
	last := int64(0)
	for i, node := range line.Nodes {
		s.row = binary.AppendVarint(s.row, node-last)
		s.row = binary.AppendVarint(s.row, int64(line.Numbers[i]))
		last = node
	}
	s.n++
	return s.bytes.Append(s.row...)
}

// All yields all interpolations in their order. Each is valid until the next one: their memory is the same.
func (s *Interpolations) All(yield func(*Interpolation) bool) {
	var line Interpolation
	var coords []Coord
	var numbers []TagNumbers
	names := textCache{texts: s.texts}
	for d := (spoolReader{bytes: s.bytes.Slice()}); len(d.bytes) > 0; {
		line.Way = d.varint()
		line.Parity, line.Step = Parity(d.byte()), int32(d.varint())
		numbers = d.tags(numbers[:0])
		line.Tags = names.tags(line.Tags[:0], numbers)
		coords = d.line(coords[:0])
		d.last = Coord{}
		line.Line = orb.LineString(appendPoints(line.Line[:0], coords))
		line.Nodes, line.Numbers = line.Nodes[:0], line.Numbers[:0]
		last := int64(0)
		for range coords {
			last += d.varint()
			line.Nodes, line.Numbers = append(line.Nodes, last), append(line.Numbers, int32(d.varint()))
		}
		if !yield(&line) {
			return
		}
	}
}

// textCache turns numbers of texts into strings. The texts that came first, which are those that most objects share, it
// keeps.
type textCache struct {
	texts *scratch.Texts
	first []string
}

// cachedTexts bounds how many texts are kept: there are no more keys and common values.
const cachedTexts = 1 << 14

func (c *textCache) text(number uint32) string {
	if number >= cachedTexts {
		return c.texts.Text(number)
	}
	for int(number) >= len(c.first) {
		c.first = append(c.first, c.texts.Text(uint32(len(c.first))))
	}
	return c.first[number]
}

func (c *textCache) tags(tags Tags, numbers []TagNumbers) Tags {
	for _, t := range numbers {
		tags = append(tags, Tag{c.text(t.Key), c.text(t.Value)})
	}
	return tags
}

// spoolReader reads what was written by Add: bytes of the program's own, which nobody else has changed.
type spoolReader struct {
	bytes []byte
	last  Coord
}

func (d *spoolReader) byte() byte {
	b := d.bytes[0]
	d.bytes = d.bytes[1:]
	return b
}

func (d *spoolReader) uvarint() uint64 {
	v, n := binary.Uvarint(d.bytes)
	d.bytes = d.bytes[n:]
	return v
}

func (d *spoolReader) varint() int64 {
	v, n := binary.Varint(d.bytes)
	d.bytes = d.bytes[n:]
	return v
}

func (d *spoolReader) text() string {
	n := d.uvarint()
	text := string(d.bytes[:n])
	d.bytes = d.bytes[n:]
	return text
}

func (d *spoolReader) tags(tags []TagNumbers) []TagNumbers {
	for range d.uvarint() {
		tags = append(tags, TagNumbers{uint32(d.uvarint()), uint32(d.uvarint())})
	}
	return tags
}

func (d *spoolReader) position() Coord {
	d.last.Lon += int32(d.varint())
	d.last.Lat += int32(d.varint())
	return d.last
}

func (d *spoolReader) line(coords []Coord) []Coord {
	for range d.uvarint() {
		coords = append(coords, d.position())
	}
	return coords
}

func (d *spoolReader) geometry(g *Geometry) {
	g.Coords, g.Rings, g.Polygons = g.Coords[:0], g.Rings[:0], g.Polygons[:0]
	switch g.Shape = Shape(d.byte()); g.Shape {
	case Point:
		g.Coords = append(g.Coords, d.position())
	case Line:
		g.Coords = d.line(g.Coords)
	case Polygon:
		d.polygon(g)
	case MultiPolygon:
		for range d.uvarint() {
			d.polygon(g)
		}
	}
}

func (d *spoolReader) polygon(g *Geometry) {
	for range d.uvarint() {
		g.Coords = d.line(g.Coords)
		g.Rings = append(g.Rings, uint32(len(g.Coords)))
	}
	g.Polygons = append(g.Polygons, uint32(len(g.Rings)))
}

func (d *spoolReader) numbers(list []uint32) []uint32 {
	for range d.uvarint() {
		list = append(list, uint32(d.uvarint()))
	}
	return list
}
