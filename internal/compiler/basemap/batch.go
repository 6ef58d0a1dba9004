package basemap

import (
	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/maptile/mapfile"
	"github.com/mapsedge/caddy-maps/internal/maptile/schema"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

// batch is some drawings that are cut at a time.
type batch struct {
	drawings []drawing
	coords   []extract.Coord
	points   []mercator.Point // as coords, on the map
	// numbers and names are those of the drawings, one after the other.
	numbers []uint32
	names   []extract.TagNumbers
}

// newBatch makes an empty batch, with room for about as much as comes.
func newBatch() *batch {
	return &batch{drawings: make([]drawing, 0, batchCoords/8), coords: make([]extract.Coord, 0, batchCoords*5/4),
		numbers: make([]uint32, 0, batchCoords/4), names: make([]extract.TagNumbers, 0, batchCoords/8)}
}

// drawing is one that is being cut.
type drawing struct {
	classes, rings []uint32
	names          []extract.TagNumbers
	shape          extract.Shape
	from, to       int // its positions in the batch
	pieces         []piece
}

// piece is what a tile has of a drawing.
type piece struct {
	class  uint32 // number of the text
	tile   mapfile.Tile
	zoom   uint8 // from which it is shown
	bounds geom.Rect
	shape  []byte // see mapfile.AppendShape
}

// within reports whether a piece is in the tile itself, and not only in its buffer.
func (p *piece) within() bool {
	r, b := p.tile.Rect(), &p.bounds
	return b.Min.X < r.Max.X && b.Max.X >= r.Min.X && b.Min.Y < r.Max.Y && b.Max.Y >= r.Min.Y
}

// add takes a drawing on, which is valid during the call.
func (b *batch) add(r *extract.Drawing) {
	from := len(b.coords)
	b.coords = append(b.coords, r.Coords...)
	d := drawing{shape: r.Shape, from: from, to: len(b.coords)}
	b.numbers, d.classes = keep(b.numbers, r.Classes)
	b.numbers, d.rings = keep(b.numbers, r.Rings)
	b.names, d.names = keep(b.names, r.Names)
	b.drawings = append(b.drawings, d)
}

// keep adds elements to all others, and returns both.
func keep[T any](all, added []T) (_, kept []T) {
	from := len(all)
	all = append(all, added...)
	return all, all[from:len(all):len(all)]
}

// cut makes the pieces of a batch.
func (c *compiler) cut(b *batch) (*batch, error) {
	b.points = make([]mercator.Point, len(b.coords))
	for i, at := range b.coords {
		b.points[i] = mercator.ProjectE7(at.Lat, at.Lon)
	}
	s := splitter{cost: c.data.Cost}
	classes := map[uint32]schema.Class{}
	for i := range b.drawings {
		d := &b.drawings[i]
		points := b.points[d.from:d.to]
		for _, number := range d.classes {
			class, known := classes[number]
			if !known {
				var err error
				if class, err = schema.DecodeClass(c.data.Texts.Text(number)); err != nil {
					return nil, err
				}
				classes[number] = class
			}
			s.drawing, s.class = d, number
			if s.cut(&class, points); s.err != nil {
				return nil, s.err
			}
		}
	}
	b.coords, b.points = nil, nil
	return b, nil
}

// lines returns the parts of a drawing: its line, or its rings.
func (d *drawing) lines(points []mercator.Point) [][]mercator.Point {
	if d.shape < extract.Polygon {
		return [][]mercator.Point{points}
	}
	parts := make([][]mercator.Point, 0, len(d.rings))
	from := uint32(0)
	for _, to := range d.rings {
		parts = append(parts, points[from:to])
		from = to
	}
	return parts
}

// rings are the rings of an area, without the first position at their ends.
func (d *drawing) areaRings(points []mercator.Point) []geom.Ring {
	rings := make([]geom.Ring, 0, len(d.rings))
	for _, part := range d.lines(points) {
		if n := len(part); n > 1 && part[0] == part[n-1] {
			part = part[:n-1]
		}
		if len(part) > 2 {
			rings = append(rings, part)
		}
	}
	return rings
}
