// Package coast makes the land and ocean of a map. OpenStreetMap has no areas of either: it has coastlines, with land
// to their left and water to their right, and an extract has only some of them. Begin at Consumer and Map.
//
//   - Coastlines are cut into pieces at the borders of the cells of zoom 12.
//   - In each cell, polygons of land and ocean are closed along the border (settle.go, tile.go).
//   - Cells without a coastline take land or ocean from their neighbours (flood.go).
//   - Outside the extracts, the outlines of countries are the coast, so that the map of a city lies in the world.
//   - Tiles of lower zooms are merged from their quarters, and simplified (map.go).
package coast

import (
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

const (
	cellZoom  = mapfile.CellZoom
	cellShift = geo.WorldBits - cellZoom
	// longest is the longest segment of a coast, some 600 kilometres at the equator. A longer one is a mistake, and
	// becomes a gap.
	longest = 64 << cellShift
)

// cellTile returns the cell with a number of osm.Tiles.
func cellTile(cell uint32) mapfile.Tile {
	return mapfile.Tile{Z: cellZoom, X: cell >> cellZoom, Y: cell & (1<<cellZoom - 1)}
}

// Consumer collects the coast. It is an osm.Consumer.
type Consumer struct {
	dir    *scratch.Dir
	pieces *scratch.Records // of positions, by the number of the cell
}

// New makes a Consumer with temporary files in dir.
func New(dir *scratch.Dir) *Consumer { return &Consumer{dir, scratch.NewRecords(dir, "coast")} }

// batch is the coast of some ways.
type batch struct {
	line   []geo.Projected
	pieces []piece
	rows   []byte
}

// piece is a part of the coast in one cell. Its record, written by mapfile.AppendShape, ends at end in the batch's
// rows.
type piece struct {
	cell uint32
	end  int
}

// NewBatch implements osm.Consumer.
func (c *Consumer) NewBatch() osm.Batch { return new(batch) }

// Node implements osm.Batch.
func (b *batch) Node(*osm.Node) bool { return false }

// Relation implements osm.Batch.
func (b *batch) Relation(*osm.Relation) bool { return false }

// Area implements osm.Batch.
func (b *batch) Area(*osm.Area) {}

// Way implements osm.Batch. It cuts a coastline into pieces.
func (b *batch) Way(w *osm.Way) {
	if !w.Tags.Is(tags.Natural, "coastline") {
		return
	}
	for from, to := range w.Parts {
		b.line = b.line[:0]
		for _, at := range w.Coords[from:to] {
			p := geo.ProjectE7(at.Lat, at.Lon)
			if n := len(b.line); n > 0 && distance(b.line[n-1], p) > longest {
				b.cut()
			}
			b.line = append(b.line, p)
		}
		b.cut()
	}
}

// cut cuts the line into pieces and empties it.
func (b *batch) cut() {
	split(b.line, cellZoom, func(cell mapfile.Tile, p []geo.Projected) {
		b.rows = mapfile.AppendShape(b.rows, cell, &mapfile.Shape{Points: p})
		b.pieces = append(b.pieces, piece{cell.X<<cellZoom | cell.Y, len(b.rows)})
	})
	b.line = b.line[:0]
}

// Take implements osm.Consumer.
func (c *Consumer) Take(of osm.Batch) error {
	b := of.(*batch)
	from := 0
	for _, p := range b.pieces {
		if err := c.pieces.Add(uint64(p.cell), b.rows[from:p.end]); err != nil {
			return err
		}
		from = p.end
	}
	b.pieces, b.rows = b.pieces[:0], b.rows[:0]
	return nil
}

// Located implements osm.Consumer.
func (c *Consumer) Located(context.Context, *osm.Nodes) error { return nil }

// Finish implements osm.Consumer. It sorts the pieces.
func (c *Consumer) Finish(ctx context.Context) error { return c.pieces.Sort(ctx) }

// tile returns the coast of a cell. If no coast reaches the cell's border, it does not tell what is around.
func (c *Consumer) tile(cell uint32) *tile {
	at := cellTile(cell)
	var pieces []clip.Line
	for i, _ := c.pieces.Find(uint64(cell)); i < c.pieces.Len() && c.pieces.Key(i) == uint64(cell); i++ {
		r := mapfile.NewReader(at, c.pieces.Read(i).Rest)
		p := r.Points(nil)
		if !slices.ContainsFunc(pieces, func(o clip.Line) bool { return slices.Equal(o, p) }) { // some are mapped twice
			pieces = append(pieces, p)
		}
	}
	return settle(at.Rect(), pieces)
}
