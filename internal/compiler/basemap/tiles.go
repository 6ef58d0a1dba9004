// Package tiles compiles what extracts draw into the map of a region file: records of all that there is in cells, and
// the finished tiles of the zooms before them. See package mapfile.
//
// Each drawing is cut into pieces: one for each tile that it is shown in, down to those of the cells. The pieces are
// sorted by their tiles, and each tile is made of its pieces and of the land and the sea in it.
package basemap

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/compiler/coast"
	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/inorder"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/maptile"
	"github.com/mapsedge/caddy-maps/internal/maptile/mapfile"
	"github.com/mapsedge/caddy-maps/internal/maptile/schema"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// memoryShare is the part of the build's memory that the sorter of pieces may take.
const memoryShare = 16

// compiler compiles a map.
type compiler struct {
	data  *extract.Data
	dir   *scratch.Dir
	texts *textTable
	// pieces are records, one after the other, and order says where those of each tile are.
	pieces *scratch.Array[byte]
	order  *scratch.Sorter[placed]
	// cells are the tiles of mapfile.CellZoom that there are: those with a node or with a piece.
	cells   *extract.Tiles
	cutters *maptile.Cutters
	sea     *coast.Map
	land    uint64 // where the classes of land and ocean are in the text
	ocean   uint64
}

// placed is a piece of a tile. The order is that of tiles, then of the zooms from which pieces are shown, then that in
// which they were made, which depends on the extracts alone.
type placed struct {
	key    uint64 // the tile's ID, and below it in 8 bits the zoom
	offset uint64 // among the pieces
}

func comparePlaced(a, b placed) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.offset, b.offset))
}

// Write adds the map of an extract to a region. The same data makes the same sections. What grows with the data is kept
// in dir, which must stay until the region is committed. It ends soon after ctx does.
func Write(ctx context.Context, w *region.Writer, d *extract.Data, dir *scratch.Dir) error {
	c := &compiler{data: d, dir: dir, pieces: scratch.NewArray[byte](dir, "map-pieces"), cells: new(extract.Tiles),
		order: scratch.NewSorter(dir, "map-order", max(dir.Memory/memoryShare, 1<<20), comparePlaced)}
	var err error
	if c.texts, err = newTextTable(dir, d.Texts); err != nil {
		return err
	}
	c.cutters = maptile.NewCutters(c.texts)
	if err := cmp.Or(c.cutDrawings(ctx), c.nameSurfaces(), c.texts.freeIndex(), d.Drawings.Free()); err != nil {
		return err
	}
	for _, tile := range d.Tiles.Sorted() {
		c.cells.Add(tile)
	}
	if c.sea, err = coast.New(dir, d.Coast, c.cells.Sorted()); err != nil {
		return fmt.Errorf("coast: %w", err)
	}
	if err := d.Coast.Free(); err != nil {
		return err
	}
	return cmp.Or(c.makeTiles(ctx, w), c.pieces.Free(), c.sea.Free())
}

// nameSurfaces adds the classes of land and ocean to the text.
func (c *compiler) nameSurfaces() (err error) {
	if c.land, err = c.texts.add(schema.Land().Encode()); err != nil {
		return err
	}
	c.ocean, err = c.texts.add(schema.Ocean().Encode())
	return err
}

// batchCoords is about how many positions of drawings are worked on at a time.
const batchCoords = 1 << 12

// cutDrawings makes pieces of all drawings.
func (c *compiler) cutDrawings(ctx context.Context) error {
	c.data.Progress.Start("map", int64(c.data.Drawings.Len()))
	defer c.data.Progress.Finish()
	return inorder.Run(ctx, func(give func(*batch) bool) {
		b := newBatch()
		for r := range c.data.Drawings.Records {
			b.add(r)
			if len(b.coords) < batchCoords {
				continue
			}
			if !give(b) {
				return
			}
			b = newBatch()
		}
		give(b)
	}, c.cut, c.keep)
}

// keep adds the pieces of a batch, in the order of the drawings.
func (c *compiler) keep(b *batch) error {
	c.data.Progress.Add(int64(len(b.drawings)))
	var body, record []byte
	for i := range b.drawings {
		d := &b.drawings[i]
		names, err := c.texts.names(d.names)
		if err != nil {
			return err
		}
		for _, p := range d.pieces {
			class, err := c.texts.number(p.class)
			if err != nil {
				return err
			}
			body = mapfile.AppendBody(body[:0], class, names)
			record = mapfile.AppendRecord(record[:0], p.tile, p.zoom, p.bounds, body, p.shape)
			key := p.tile.ID()<<8 | uint64(p.zoom)
			if err := c.order.Add(placed{key, uint64(c.pieces.Len())}); err != nil {
				return err
			}
			if err := c.pieces.Append(record...); err != nil {
				return err
			}
			if p.tile.Z == mapfile.CellZoom && p.within() {
				c.cells.Add(p.tile.X<<region.CoverageZoom | p.tile.Y)
			}
		}
	}
	return nil
}
