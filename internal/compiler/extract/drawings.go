package extract

import (
	"encoding/binary"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Drawings are what a map shows, one after the other in a scratch file: by kind (node, way, relation), then id. What is
// shown of one object may be several, as the parts of a way of which the extract lacks nodes.
//
// Any number of goroutines may read at a time, when nothing is added.
type Drawings struct {
	bytes *scratch.Array[byte]
	n     int
	row   []byte
}

// Drawing is something that a map shows. One that was read is filled anew by the next reading into it.
type Drawing struct {
	Kind mapdata.Kind
	ID   int64
	// Classes are the numbers of texts: those of encoded classes (schema.DecodeClass). There is at least one. Those of an
	// area may ask for a point inside of it.
	Classes []uint32
	// Names are name and name:xx, by the numbers of their texts.
	Names []TagNumbers
	// Geometry is a point, a line or an area, whose outer rings are counter-clockwise and whose holes are clockwise; rings
	// are closed.
	Geometry
}

// NewDrawings makes an empty list.
func NewDrawings(dir *scratch.Dir) *Drawings {
	return &Drawings{bytes: scratch.NewArray[byte](dir, "drawings")}
}

// Len is how many drawings there are.
func (s *Drawings) Len() int { return s.n }

// Free removes the file.
func (s *Drawings) Free() error { return s.bytes.Free() }

// begin begins a drawing: its geometry is to be written behind, and it is given to end.
func (s *Drawings) begin(kind mapdata.Kind, id int64, classes []uint32, names []TagNumbers) spoolWriter {
	row := binary.AppendVarint(append(s.row[:0], byte(kind)), id)
	return spoolWriter{row: appendNumbers(appendClasses(row, classes), names)}
}

// end adds a drawing.
func (s *Drawings) end(p *spoolWriter) error {
	s.row = p.row
	s.n++
	return s.bytes.Append(s.row...)
}

// line writes the line through some nodes.
func (c *collector) line(p *spoolWriter, shape Shape, nodes []uint64) {
	p.row = append(p.row, byte(shape))
	if shape == Polygon {
		p.row = append(p.row, 1) // ring
	}
	p.row = binary.AppendUvarint(p.row, uint64(len(nodes)))
	for _, n := range nodes {
		p.coord(c.coord(n))
	}
}

func (c *collector) coord(node uint64) Coord {
	lat, lon := c.locations.place(node).unpack()
	return Coord{Lon: lon, Lat: lat}
}

func appendClasses(row []byte, classes []uint32) []byte {
	row = binary.AppendUvarint(row, uint64(len(classes)))
	for _, n := range classes {
		row = binary.AppendUvarint(row, uint64(n))
	}
	return row
}

// Read fills a record with the drawing that begins at an offset, and returns where the next one begins. The first
// begins at 0, and Size is where the last one ends.
func (s *Drawings) Read(offset uint64, r *Drawing) (next uint64) {
	d := spoolReader{bytes: s.bytes.Slice()[offset:]}
	size := len(d.bytes)
	r.Kind = mapdata.Kind(d.byte())
	r.ID = d.varint()
	r.Classes = d.numbers(r.Classes[:0])
	r.Names = d.tags(r.Names[:0])
	d.geometry(&r.Geometry)
	return offset + uint64(size-len(d.bytes))
}

// Size is how many bytes the drawings take.
func (s *Drawings) Size() uint64 { return uint64(s.bytes.Len()) }

// Records yields all drawings in their order. All are read into the same record.
func (s *Drawings) Records(yield func(r *Drawing) bool) {
	var r Drawing
	for offset := uint64(0); offset < s.Size(); {
		if offset = s.Read(offset, &r); !yield(&r) {
			return
		}
	}
}

// Coast is the coastline, in the parts that the ways of an extract have of it: in the order of their ids, each as it
// was mapped, with land to the left and water to the right.
type Coast struct {
	bytes *scratch.Array[byte]
	n     int
	row   []byte
}

// NewCoast makes an empty list.
func NewCoast(dir *scratch.Dir) *Coast {
	return &Coast{bytes: scratch.NewArray[byte](dir, "coast")}
}

// Len is how many lines there are.
func (s *Coast) Len() int { return s.n }

// Free removes the file.
func (s *Coast) Free() error { return s.bytes.Free() }

// Add adds a line of at least two positions.
func (s *Coast) Add(line []Coord) error {
	p := spoolWriter{row: binary.AppendUvarint(s.row[:0], uint64(len(line)))}
	for _, at := range line {
		p.coord(at)
	}
	s.row = p.row
	s.n++
	return s.bytes.Append(s.row...)
}

// Lines yields the lines in their order. Each is valid until the next one: their memory is the same.
func (s *Coast) Lines(yield func(line []Coord) bool) {
	var line []Coord
	for rest := s.bytes.Slice(); len(rest) > 0; {
		d := spoolReader{bytes: rest}
		line = d.line(line[:0])
		if rest = d.bytes; !yield(line) {
			return
		}
	}
}

// parts yields the parts of a way between the nodes that the extract lacks, without repetitions of the same node in a
// row. Their memory is the same.
func (w *way) parts(yield func(nodes []uint64) bool) {
	part := w.part[:0]
	defer func() { w.part = part }()
	for _, n := range w.nodes {
		switch {
		case n == noNode:
			if len(part) > 1 && !yield(part) {
				return
			}
			part = part[:0]
		case len(part) == 0 || part[len(part)-1] != n:
			part = append(part, n)
		}
	}
	if len(part) > 1 {
		yield(part)
	}
}

// ring returns the nodes of a way that is an area, counter-clockwise; nil if it encloses none, or if some are missing.
func (c *collector) ring(w *way) []uint64 {
	nodes := w.known()
	if w.missing > 0 || len(nodes) < 4 {
		return nil
	}
	ring := orb.Ring(c.pointsOf(nodes))
	switch area := signedArea(ring); {
	case area == 0:
		return nil
	case area < 0:
		slices.Reverse(nodes)
	}
	return nodes
}
