package basemap

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/maptile/mapfile"
	"github.com/mapsedge/caddy-maps/internal/maptile/schema"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

// splitter cuts drawings into pieces.
type splitter struct {
	drawing *drawing
	class   uint32 // number of its text
	zoom    uint8  // from which the pieces are shown
	cost    *extract.Budget
	err     error // that it costs too much; nothing goes on then
	encoded []byte
	room    []byte // where the shapes of the latest pieces are, and of the next ones
}

// roomSize is how many bytes are made for shapes at a time. They are never moved: a hostile drawing has hundreds of
// megabytes of them, which a slice that grows would take several times.
const roomSize = 1 << 16

// clipSteps is what it costs to look at one position of a shape while it is clipped.
const clipSteps = 8

// costPiece is what a piece costs beside its shape, in bytes: until it is in its tile, and then its cell's entry.
const costPiece = 192

// detail is how far, in steps of their tile, lines of the zooms below the cells' may be from where they were: a quarter
// of a pixel on most screens.
const detail = 4

// lastZoom is the zoom by which all areas are shown, however small they are: many servers have no tiles beyond it.
const lastZoom = 14

// cut makes the pieces of a drawing in a class.
func (s *splitter) cut(class *schema.Class, points []mercator.Point) {
	s.zoom = class.MinZoom
	d := s.drawing
	isArea := d.shape >= extract.Polygon
	var rings []geom.Ring
	if isArea {
		if rings = d.areaRings(points); len(rings) == 0 {
			return
		}
		s.zoom = zoomOf(class, rings)
	}
	var shape mapfile.Shape
	switch {
	case class.Geometry == schema.Point && isArea:
		shape.Points = []mercator.Point{labelPoint(rings)}
	case class.Geometry == schema.Point:
		shape.Points = points[:1]
	case class.Geometry == schema.Polygon && isArea:
		shape.Rings = rings
	case class.Geometry == schema.Line && d.shape != extract.Point:
		for _, line := range d.lines(points) {
			shape.Lines = append(shape.Lines, line)
		}
	default:
		return // there is nothing of that kind to draw
	}
	s.start(shape)
}

// zoomOf is the zoom from which an area is large enough to be shown.
func zoomOf(class *schema.Class, rings []geom.Ring) uint8 {
	area := int64(0) // twice the area; holes are negative, or all of it is
	for _, ring := range rings {
		area += geom.Area2(ring)
	}
	area = max(area, -area)
	zoom := class.MinZoom
	for ; zoom < lastZoom; zoom++ {
		const pixelBits = 8 // of a tile
		pixel := float64(int64(1) << (mercator.Bits - pixelBits - zoom))
		if float64(area)/2 >= class.MinArea()*pixel*pixel {
			break
		}
	}
	return zoom
}

// start finds the tiles from where to go on: the first that show the shape, or such before them of which it touches
// only a few.
func (s *splitter) start(shape mapfile.Shape) {
	bounds := boundsOf(&shape)
	for z := min(s.zoom, mapfile.CellZoom); ; z-- {
		size := mapfile.Tile{Z: z}.Size()
		margin := mapfile.Tile{Z: z}.Margin()
		last := int32(1)<<z - 1
		column := func(v int32) uint32 { return uint32(max(0, min(v/size, last))) }
		west, east := column(bounds.Min.X-margin), column(bounds.Max.X+margin)
		north, south := column(bounds.Min.Y-margin), column(bounds.Max.Y+margin)
		if z > 0 && (east-west > 1 || south-north > 1) {
			continue
		}
		for x := west; x <= east; x++ {
			for y := north; y <= south; y++ {
				s.enter(mapfile.Tile{Z: z, X: x, Y: y}, shape, bounds)
			}
		}
		return
	}
}

// enter goes on with what of a shape is in a tile.
func (s *splitter) enter(t mapfile.Tile, shape mapfile.Shape, bounds geom.Rect) {
	window := t.Buffered()
	if s.err != nil || !window.Meets(bounds) {
		return
	}
	if !window.Covers(bounds) {
		if s.err = s.cost.Work(clipSteps * positions(&shape)); s.err != nil {
			return
		}
		shape = clip(shape, window)
		if isEmpty(&shape) {
			return
		}
		bounds = boundsOf(&shape)
	}
	if t.Z >= s.zoom || t.Z == mapfile.CellZoom {
		s.emit(t, shape, bounds)
	}
	if t.Z < mapfile.CellZoom && s.err == nil {
		for i := range uint32(4) {
			s.enter(mapfile.Tile{Z: t.Z + 1, X: 2*t.X + i&1, Y: 2*t.Y + i>>1}, shape, bounds)
		}
	}
}

// emit makes a piece. Below the cells it has no more detail than its tile.
func (s *splitter) emit(t mapfile.Tile, shape mapfile.Shape, bounds geom.Rect) {
	if t.Z < mapfile.CellZoom {
		tolerance := int32(detail) << (mapfile.MaxZoom - t.Z)
		var less mapfile.Shape
		less.Points = shape.Points
		for _, l := range shape.Lines {
			less.Lines = append(less.Lines, geom.SimplifyLine(l, tolerance))
		}
		for _, ring := range shape.Rings {
			if ring = geom.SimplifyRing(ring, tolerance); len(ring) > 2 {
				less.Rings = append(less.Rings, ring)
			}
		}
		if shape = less; isEmpty(&shape) {
			return
		}
	}
	s.encoded = mapfile.AppendShape(s.encoded[:0], t, &shape)
	if n := len(s.encoded); cap(s.room)-len(s.room) < n {
		s.room = make([]byte, 0, max(n, roomSize))
	}
	from := len(s.room)
	s.room = append(s.room, s.encoded...)
	p := piece{class: s.class, tile: t, zoom: s.zoom, bounds: bounds, shape: s.room[from:]}
	s.err = cmp.Or(s.err, s.cost.TakeMemory(int64(len(p.shape))+costPiece))
	s.drawing.pieces = append(s.drawing.pieces, p)
}

func isEmpty(s *mapfile.Shape) bool { return len(s.Points)+len(s.Lines)+len(s.Rings) == 0 }

// clip returns what of a shape is in a rectangle that does not cover it.
func clip(s mapfile.Shape, r geom.Rect) (in mapfile.Shape) {
	for _, p := range s.Points {
		if r.Contains(p) {
			in.Points = append(in.Points, p)
		}
	}
	for _, l := range s.Lines {
		in.Lines = geom.ClipLine(in.Lines, l, r)
	}
	if len(s.Rings) > 0 {
		in.Rings = geom.ClipRings(nil, s.Rings, r)
	}
	return in
}

// positions is how many positions a shape has.
func positions(s *mapfile.Shape) int64 {
	n := len(s.Points)
	for _, l := range s.Lines {
		n += len(l)
	}
	for _, ring := range s.Rings {
		n += len(ring)
	}
	return int64(n)
}

// boundsOf is the box around a shape that is not empty.
func boundsOf(s *mapfile.Shape) geom.Rect {
	if len(s.Points) > 0 {
		return geom.Bounds(s.Points)
	}
	var all geom.Rect
	for i, l := range s.Lines {
		all = join(all, geom.Bounds(l), i == 0)
	}
	for i, ring := range s.Rings {
		all = join(all, geom.Bounds(ring), i == 0)
	}
	return all
}

func join(a, b geom.Rect, first bool) geom.Rect {
	if first {
		return b
	}
	return geom.Rect{Min: mercator.Point{X: min(a.Min.X, b.Min.X), Y: min(a.Min.Y, b.Min.Y)},
		Max: mercator.Point{X: max(a.Max.X, b.Max.X), Y: max(a.Max.Y, b.Max.Y)}}
}
