package coast

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

// Map is the land and the ocean of the whole world. It is safe for use by several goroutines.
type Map struct {
	coast *Consumer
	land  *osm.Tiles // known cells that are land where they have no coast
	zooms zooms
	// pyramid has the tiles of lower zooms than cells in which something is known.
	pyramid *scratch.Records
}

// Map makes the map from the coast that was gathered and from the cells that the extracts cover. Where there is no
// coast at all, all of them are land.
func (c *Consumer) Map(ctx context.Context, covered *osm.Tiles) (*Map, error) {
	f := flood{coast: c, known: new(osm.Tiles), crossed: new(osm.Tiles), land: new(osm.Tiles),
		coasts: scratch.NewArray[coastCell](c.dir, "coast-cells")}
	for _, cell := range covered.Sorted() {
		f.known.Add(cell)
	}
	if err := cmp.Or(f.collect(ctx), f.fill(ctx), f.coasts.Free()); err != nil {
		return nil, err
	}
	m := &Map{c, f.land, newZooms(f.known), scratch.NewRecords(c.dir, "sea")}
	if _, err := m.build(ctx, 0, 0, 0); err != nil {
		return nil, err
	}
	return m, m.pyramid.Sort(ctx)
}

// Tile returns what of a tile is land and what is ocean, in units of the world, neither of them beyond the tile's
// border. Where there is no coast in a tile, it is a square of the one and nothing of the other. The zoom is at most
// region.CoverageZoom.
func (m *Map) Tile(z uint8, x, y uint32) (land, ocean []geom.Polygon) {
	switch {
	case !m.zooms.has(z, x, y):
		return outlines(z, x, y).simplify(z).polygons()
	case z == cellZoom:
		return m.cell(x<<cellZoom | y).polygons()
	}
	return m.kept(z, x, y).polygons()
}

// Free removes the map's temporary files. It cannot be used any more.
func (m *Map) Free() error {
	return errors.Join(m.coast.points.Free(), m.coast.pieces.Free(), m.pyramid.Free())
}

// zooms tells at each zoom which tiles have cells that are known.
type zooms []uint64

func newZooms(known *osm.Tiles) zooms {
	s := make(zooms, bitOf(cellZoom+1, 0, 0)/64+1)
	for _, cell := range known.Sorted() {
		for z := range uint8(cellZoom + 1) {
			i := bitOf(z, cell>>cellZoom>>(cellZoom-z), cell&(1<<cellZoom-1)>>(cellZoom-z))
			s[i/64] |= 1 << (i % 64)
		}
	}
	return s
}

// bitOf numbers all tiles.
func bitOf(z uint8, x, y uint32) uint32 { return (1<<(2*z)-1)/3 + x<<z + y }

func (s zooms) has(z uint8, x, y uint32) bool {
	i := bitOf(z, x, y)
	return s[i/64]>>(i%64)&1 != 0
}

// outlines is the coast of the outlines of countries in a tile.
func outlines(z uint8, x, y uint32) *tile {
	t := squareOf(z, x, y)
	var pieces []geom.Line
	s := splitter{shift: mercator.Bits - uint(z), last: int32(1)<<z - 1}
	s.yield = func(atX, atY int32, piece []mercator.Point) {
		if atX == int32(x) && atY == int32(y) {
			pieces = append(pieces, slices.Clone(piece))
		}
	}
	var points []mercator.Point
	country.Coast(orb.Bound{Min: t.corner(1).Degrees(), Max: t.corner(3).Degrees()}, func(line []orb.Point) bool {
		points = points[:0]
		for _, p := range line {
			points = append(points, mercator.Project(p))
		}
		s.line(points)
		return true
	})
	cut := settle(t, pieces)
	if len(cut.lines) == 0 {
		around := cut.around()
		cut.land = around > 0 || around == 0 && outlined(t.middle())
	}
	return cut
}

// build makes a tile: of its quarters, and keeps it, where something is known in it, and of the outlines' coast in it
// otherwise.
func (m *Map) build(ctx context.Context, z uint8, x, y uint32) (*tile, error) {
	if !m.zooms.has(z, x, y) {
		return outlines(z, x, y).simplify(z), ctx.Err()
	}
	if z == cellZoom {
		return m.cell(x<<cellZoom | y), nil
	}
	var children [4]*tile
	for i := range uint32(4) {
		var err error
		if children[i], err = m.build(ctx, z+1, 2*x+i&1, 2*y+i>>1); err != nil {
			return nil, err
		}
	}
	t := merge(squareOf(z, x, y), &children).simplify(z)
	return t, m.keep(z, x, y, t)
}

// cell is the coast of a known cell.
func (m *Map) cell(cell uint32) *tile {
	t := m.coast.tile(cell)
	if len(t.lines) == 0 {
		t.land = m.land.Has(cell)
	}
	return t
}

func tileKey(z uint8, x, y uint32) uint64 { return uint64(z)<<56 | uint64(x)<<28 | uint64(y) }

// keep adds a tile to the pyramid.
func (m *Map) keep(z uint8, x, y uint32, t *tile) error {
	row := binary.AppendUvarint([]byte{0}, uint64(len(t.lines)))
	if t.land {
		row[0] = 1
	}
	for _, l := range t.lines {
		row = t.appendPoints(row, l)
	}
	row = binary.AppendUvarint(row, uint64(len(t.rings)))
	for _, r := range t.rings {
		row = t.appendPoints(row, r)
	}
	return m.pyramid.Add(tileKey(z, x, y), row)
}

// appendPoints appends some positions in a square, by how far they are from its corner.
func (s square) appendPoints(row []byte, points []mercator.Point) []byte {
	row = binary.AppendUvarint(row, uint64(len(points)))
	for _, p := range points {
		row = binary.AppendUvarint(binary.AppendUvarint(row, uint64(p.X-s.x)), uint64(p.Y-s.y))
	}
	return row
}

func (s square) readPoints(r *scratch.Reader) []mercator.Point {
	points := make([]mercator.Point, r.Uvarint())
	for i := range points {
		points[i] = mercator.Point{X: s.x + int32(r.Uvarint()), Y: s.y + int32(r.Uvarint())}
	}
	return points
}

// kept is a tile of the pyramid.
func (m *Map) kept(z uint8, x, y uint32) *tile {
	i, _ := m.pyramid.Find(tileKey(z, x, y))
	r := m.pyramid.Read(i)
	t := &tile{square: squareOf(z, x, y), land: r.Byte() == 1}
	for range r.Uvarint() {
		t.lines = append(t.lines, t.readPoints(&r))
	}
	for range r.Uvarint() {
		t.rings = append(t.rings, t.readPoints(&r))
	}
	return t
}

// tolerance is by how much a coast is moved at most, in steps of a tile's grid: half a pixel where tiles are drawn 512
// pixels wide.
const tolerance = 4

// simplify returns a tile without what nobody could see at a zoom.
func (t *tile) simplify(z uint8) *tile {
	if z >= cellZoom {
		return t
	}
	out := &tile{square: t.square, land: t.land}
	units := int32(tolerance) << (mercator.Bits - 12 - z)
	for _, l := range t.lines {
		out.lines = append(out.lines, geom.SimplifyLine(l, units))
	}
	for _, r := range t.rings {
		if r = geom.SimplifyRing(r, units); r != nil {
			out.rings = append(out.rings, r)
		}
	}
	return out
}
