package basemap

import (
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// splitter cuts a shape into the pieces of a batch.
type splitter struct {
	batch *batch
	zoom  uint8 // from which the shape is shown
	most  int   // pieces in the batch
}

// maxPieces limits the pieces of one shape to half a million. Greenland needs a third of them.
const maxPieces = 1 << 19

// detail is the tolerance of simplification at zooms below the cells', in steps of a tile: a quarter of a pixel on most
// screens.
const detail = 4

// lastZoom is the zoom from which even the smallest areas are shown. It is the usual maxzoom of tilesets.
const lastZoom = 14

// zoomOf returns the zoom from which an area is large enough to be shown.
func zoomOf(class *class, rings []clip.Ring) uint8 {
	area := int64(0) // doubled; holes count negative
	for _, ring := range rings {
		area += clip.Area2(ring)
	}
	area = max(area, -area)
	zoom := class.MinZoom
	for ; zoom < lastZoom; zoom++ {
		const pixelBits = 8 // of a tile
		pixel := float64(int64(1) << (geo.WorldBits - pixelBits - zoom))
		if float64(area)/2 >= class.MinArea()*pixel*pixel {
			break
		}
	}
	return zoom
}

// split begins at the first zoom that shows the shape, or at a lower one at which the shape touches at most four tiles.
func (s *splitter) split(shape mapfile.Shape) {
	bounds := boundsOf(&shape)
	for z := min(s.zoom, mapfile.CellZoom); ; z-- {
		box := bounds.Grow(mapfile.Tile{Z: z}.Margin())
		from, to := mapfile.TileAt(z, box.Min), mapfile.TileAt(z, box.Max)
		if to.X-from.X > 1 || to.Y-from.Y > 1 {
			continue // which ends at zoom 0
		}
		for x := from.X; x <= to.X; x++ {
			for y := from.Y; y <= to.Y; y++ {
				s.enter(mapfile.Tile{Z: z, X: x, Y: y}, shape, bounds)
			}
		}
		return
	}
}

// enter cuts the part of a shape that is in a tile, and goes on with the tiles below.
func (s *splitter) enter(t mapfile.Tile, shape mapfile.Shape, bounds clip.Rect) {
	window := t.Buffered()
	if !window.Meets(bounds) || len(s.batch.pieces) > s.most {
		return
	}
	if !window.Covers(bounds) {
		if shape = clipTo(shape, window); shape.Empty() {
			return
		}
		bounds = boundsOf(&shape)
	}
	if t.Z >= s.zoom || t.Z == mapfile.CellZoom {
		s.emit(t, shape, bounds)
	}
	if t.Z == mapfile.CellZoom {
		return
	}
	for i := range uint32(4) {
		s.enter(mapfile.Tile{Z: t.Z + 1, X: 2*t.X + i&1, Y: 2*t.Y + i>>1}, shape, bounds)
	}
}

// emit adds a piece. It is simplified if its tile is not a cell.
func (s *splitter) emit(t mapfile.Tile, shape mapfile.Shape, bounds clip.Rect) {
	if t.Z < mapfile.CellZoom {
		if shape = shape.Simplify(detail << (mapfile.MaxZoom - t.Z)); shape.Empty() {
			return
		}
	}
	b := s.batch
	from := len(b.shapes)
	b.shapes = mapfile.AppendShape(b.shapes, t, &shape)
	b.pieces = append(b.pieces, piece{t.ID()<<8 | uint64(s.zoom), t, s.zoom, bounds, span{from, len(b.shapes)}})
}

// clipTo returns the part of a shape in a rectangle that does not cover it.
func clipTo(s mapfile.Shape, r clip.Rect) (in mapfile.Shape) {
	for _, p := range s.Points {
		if r.Contains(p) {
			in.Points = append(in.Points, p)
		}
	}
	for _, l := range s.Lines {
		in.Lines = clip.ClipLine(in.Lines, l, r)
	}
	if len(s.Rings) > 0 {
		in.Rings = clip.ClipRings(nil, s.Rings, r)
	}
	return in
}

// boundsOf returns the box around a shape that is not empty.
func boundsOf(s *mapfile.Shape) clip.Rect {
	points := s.Points
	for _, l := range s.Lines {
		b := clip.Bounds(l)
		points = append(points, b.Min, b.Max)
	}
	for _, ring := range s.Rings {
		b := clip.Bounds(ring)
		points = append(points, b.Min, b.Max)
	}
	return clip.Bounds(points)
}
