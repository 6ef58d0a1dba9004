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
	"cmp"
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/maptile/mapfile"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

const (
	cellZoom  = mapfile.CellZoom
	cellShift = mercator.Bits - cellZoom
	// longest is the longest segment of a coast. Nobody maps a coast that is straight for 600 kilometres; a longer
	// segment is a mistake, and a gap.
	longest = 64 << cellShift
)

// cellTile is the cell with a number, as osm.Tiles have them.
func cellTile(cell uint32) mapfile.Tile {
	return mapfile.Tile{Z: cellZoom, X: cell >> cellZoom, Y: cell & (1<<cellZoom - 1)}
}

// piece is a piece of the coast in one cell. The order is that of the cells, then that of the ways.
type piece struct {
	cell, n uint32
	way     int64
	at      uint64 // among the points
}

func comparePieces(a, b piece) int {
	return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.way, b.way), cmp.Compare(a.at, b.at))
}

// Consumer gathers the coast. It is an osm.Consumer.
type Consumer struct {
	dir    *scratch.Dir
	points *scratch.Array[mercator.Point]
	sorter *scratch.Sorter[piece]
	pieces *scratch.Array[piece] // when all is there, in order
}

// New makes a Consumer whose temporary files are in dir.
func New(dir *scratch.Dir) *Consumer {
	return &Consumer{dir: dir, points: scratch.NewArray[mercator.Point](dir, "coast"),
		sorter: scratch.NewSorter(dir, "coast-pieces-sort", dir.SortMemory(), comparePieces),
		pieces: scratch.NewArray[piece](dir, "coast-pieces")}
}

// batch has the pieces of the coast of some ways.
type batch struct {
	line   []mercator.Point
	pieces []piece // by where they are among the points of the batch
	points []mercator.Point
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
			p := mercator.ProjectE7(at.Lat, at.Lon)
			if n := len(b.line); n > 0 && distance(b.line[n-1], p) > longest {
				b.cut(w.ID)
			}
			b.line = append(b.line, p)
		}
		b.cut(w.ID)
	}
}

// cut cuts the line, which is a part of a way, and empties it.
func (b *batch) cut(way int64) {
	split(b.line, cellZoom, func(cell mapfile.Tile, p []mercator.Point) {
		b.pieces = append(b.pieces, piece{cell.X<<cellZoom | cell.Y, uint32(len(p)), way, uint64(len(b.points))})
		b.points = append(b.points, p...)
	})
	b.line = b.line[:0]
}

// Take implements osm.Consumer.
func (c *Consumer) Take(of osm.Batch) error {
	b := of.(*batch)
	before := uint64(c.points.Len())
	for _, p := range b.pieces {
		p.at += before
		if err := c.sorter.Add(p); err != nil {
			return err
		}
	}
	err := c.points.Append(b.points...)
	b.pieces, b.points = b.pieces[:0], b.points[:0]
	return err
}

// Located implements osm.Consumer.
func (c *Consumer) Located(context.Context, *osm.Nodes) error { return nil }

// Finish implements osm.Consumer. It sorts the pieces.
func (c *Consumer) Finish(context.Context) error {
	return c.sorter.Each(func(p *piece) error { return c.pieces.Append(*p) })
}

// tile is the coast of a cell. Where no coast reaches its border, what is around is unknown to it.
func (c *Consumer) tile(cell uint32) *tile {
	all, points := c.pieces.Slice(), c.points.Slice()
	i, _ := slices.BinarySearchFunc(all, cell, func(p piece, cell uint32) int { return cmp.Compare(p.cell, cell) })
	var pieces []geom.Line
	for ; i < len(all) && all[i].cell == cell; i++ {
		p := points[all[i].at:][:all[i].n:all[i].n]
		if !slices.ContainsFunc(pieces, func(o geom.Line) bool { return slices.Equal(o, p) }) { // some are there twice
			pieces = append(pieces, p)
		}
	}
	return settle(cellTile(cell).Rect(), pieces)
}
