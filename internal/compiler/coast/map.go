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
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// Map is the land and ocean of the whole world. It is safe for concurrent use.
type Map struct {
	coast       *Consumer
	known, land *osm.Tiles // see flood
	// pyramid has the tiles of lower zooms that contain known cells.
	pyramid *scratch.Records
}

// Map makes the map from the coast and the cells that the extracts cover. If there is no coast at all, these are land.
func (c *Consumer) Map(ctx context.Context, covered *osm.Tiles) (*Map, error) {
	f, err := c.flood(ctx, covered)
	if err != nil {
		return nil, err
	}
	m := &Map{c, f.known, f.land, scratch.NewRecords(c.dir, "sea")}
	return m, cmp.Or(m.build(ctx), m.pyramid.Sort(ctx))
}

// build makes the pyramid from the highest zoom down. Each tile is merged from its quarters.
func (m *Map) build(ctx context.Context) error {
	level := m.known.Sorted() // by x, and then by y
	for below := uint8(cellZoom); below > 0; below-- {
		z := below - 1
		for i, number := range level {
			x, y := number>>below, number&(1<<below-1)
			level[i] = x>>1<<z | y>>1
		}
		slices.Sort(level)
		level = slices.Compact(level)
		for _, number := range level {
			at := mapfile.Tile{Z: z, X: number >> z, Y: number & (1<<z - 1)}
			var quarters [4]*tile
			for i := range uint32(4) {
				quarters[i] = m.tile(mapfile.Tile{Z: below, X: 2*at.X + i&1, Y: 2*at.Y + i>>1})
			}
			if err := cmp.Or(ctx.Err(), m.keep(at, merge(at.Rect(), &quarters).simplify(z))); err != nil {
				return err
			}
		}
	}
	return nil
}

// Tile returns the land and the ocean in a tile, up to its border, in projected units. A tile without a coast is a
// square of one of them. The zoom is at most mapfile.CellZoom.
func (m *Map) Tile(at mapfile.Tile) (land, ocean []clip.Polygon) { return m.tile(at).polygons() }

// Free removes the temporary files. The map cannot be used any more.
func (m *Map) Free() error { return errors.Join(m.coast.pieces.Free(), m.pyramid.Free()) }

// tile returns the coast of a tile: that of the extracts, or else of the outlines.
func (m *Map) tile(at mapfile.Tile) *tile {
	if cell := at.X<<cellZoom | at.Y; at.Z == cellZoom && m.known.Has(cell) {
		t := m.coast.tile(cell)
		if len(t.Lines) == 0 {
			t.land = m.land.Has(cell)
		}
		return t
	}
	if i, ok := m.pyramid.Find(tileKey(at)); ok {
		return m.kept(i, at)
	}
	return outlines(at).simplify(at.Z)
}

// tileKey returns the key of a tile in the pyramid. Keys are in the order in which tiles are made.
func tileKey(t mapfile.Tile) uint64 { return uint64(cellZoom-t.Z)<<56 | uint64(t.X)<<28 | uint64(t.Y) }

// keep adds a tile to the pyramid.
func (m *Map) keep(at mapfile.Tile, t *tile) error {
	row := binary.AppendUvarint([]byte{0}, uint64(len(t.Lines)))
	if t.land {
		row[0] = 1
	}
	return m.pyramid.Add(tileKey(at), mapfile.AppendShape(row, at, &t.Shape))
}

// kept reads a tile of the pyramid.
func (m *Map) kept(i int, at mapfile.Tile) *tile {
	r := m.pyramid.Read(i)
	t := &tile{Rect: at.Rect(), land: r.Byte() == 1}
	lines := int(r.Uvarint())
	shape := mapfile.NewReader(at, r.Rest)
	for n := range shape.Count() {
		if points := shape.Points(nil); n < lines {
			t.Lines = append(t.Lines, points)
		} else {
			t.Rings = append(t.Rings, points)
		}
	}
	return t
}

// outlines returns the coast of the outlines of countries in a tile.
func outlines(at mapfile.Tile) *tile {
	var pieces []clip.Line
	var points []geo.Projected
	box := at.Rect()
	south, north := geo.Projected{X: box.Min.X, Y: box.Max.Y}, geo.Projected{X: box.Max.X, Y: box.Min.Y}
	country.Coast(orb.Bound{Min: south.Degrees(), Max: north.Degrees()}, func(line []orb.Point) bool {
		points = points[:0]
		for _, p := range line {
			points = append(points, geo.Project(p))
		}
		split(points, at.Z, func(in mapfile.Tile, piece []geo.Projected) {
			if in == at {
				pieces = append(pieces, slices.Clone(piece))
			}
		})
		return true
	})
	t := settle(box, pieces)
	if len(t.Lines) == 0 {
		around := t.around()
		t.land = around > 0 || around == 0 && outlined(at)
	}
	return t
}
