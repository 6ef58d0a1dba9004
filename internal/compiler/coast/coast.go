// Package coast tells what of a map is land and what is ocean. OpenStreetMap has no areas of either, only the coast
// between them, with land to the left of each line and water to the right, and of that an extract has a part, which
// ends somewhere.
//
// The coast is cut into the cells of zoom 12 that the extracts cover. In each, what lies between pieces of coast is
// closed along the cell's border. Cells without coast are what their neighbours say (flood). Where no extract is, the
// outlines of countries are the coast, so that a map of a small part of the world lies in the world. Tiles of lower
// zooms are put together of their quarters, and simplified (Map).
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
	// longest is the longest segment of a coast. Nobody maps a coast that is straight for 600 kilometres; a longer
	// segment is a mistake, and a gap.
	longest = 64 << cellShift
)

// cellTile is the cell with a number, as osm.Tiles have them.
func cellTile(cell uint32) mapfile.Tile {
	return mapfile.Tile{Z: cellZoom, X: cell >> cellZoom, Y: cell & (1<<cellZoom - 1)}
}

// Consumer gathers the coast. It is an osm.Consumer.
type Consumer struct {
	dir    *scratch.Dir
	pieces *scratch.Records // positions, by the number of the cell
}

// New makes a Consumer whose temporary files are in dir.
func New(dir *scratch.Dir) *Consumer { return &Consumer{dir, scratch.NewRecords(dir, "coast")} }

// batch has the pieces of the coast of some ways.
type batch struct {
	line   []geo.Projected
	pieces []piece
	rows   []byte
}

// piece is a piece of the coast in one cell, and where its row ends. See mapfile.AppendShape.
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

// Way cuts a coastline into the pieces of each cell.
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

// cut cuts the line and empties it.
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

// tile is the coast of a cell. Where no coast reaches its border, what is around is unknown to it.
func (c *Consumer) tile(cell uint32) *tile {
	at := cellTile(cell)
	var pieces []clip.Line
	for i, _ := c.pieces.Find(uint64(cell)); i < c.pieces.Len() && c.pieces.Key(i) == uint64(cell); i++ {
		r := mapfile.NewReader(at, c.pieces.Read(i).Rest)
		p := r.Points(nil)
		if !slices.ContainsFunc(pieces, func(o clip.Line) bool { return slices.Equal(o, p) }) { // some are there twice
			pieces = append(pieces, p)
		}
	}
	return settle(at.Rect(), pieces)
}
