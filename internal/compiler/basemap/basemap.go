// Package basemap compiles the map of a region file: records of all that there is in cells, and the finished tiles of
// the zooms before them. See package mapfile.
//
// What is drawn of an object is cut into pieces as soon as it has been read: one for each tile that it is shown in,
// down to those of the cells. The pieces are sorted by their tiles, and each tile is made of its pieces and of the land
// and the sea in it.
package basemap

import (
	"cmp"
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/coast"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

// memoryShare is the part of the build's memory that the sorter of pieces may take.
const memoryShare = 16

// Consumer gathers what a map shows. It is an osm.Consumer.
type Consumer struct {
	dir   *scratch.Dir
	coast *coast.Consumer
	texts *textTable
	// pieces are records, one after the other, and order says where those of each tile are.
	pieces *scratch.Array[byte]
	order  *scratch.Sorter[placed]
	// cells are the tiles of mapfile.CellZoom that there are: those with a piece, and, in the end, those with a node.
	cells   *osm.Tiles
	borders *scratch.Array[border]
	skipped int64

	names        []mapfile.Name // used again, as these:
	body, record []byte
}

// placed is a piece of a tile. The order is that of tiles, then of the zooms from which pieces are shown, then that of
// the objects: nodes, ways, relations. It depends on the extracts alone.
type placed struct {
	key    uint64 // the tile's ID, and below it in 8 bits the zoom
	object uint64 // the kind, and below it in 60 bits the id
	offset uint64 // among the pieces
}

func comparePlaced(a, b placed) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key) // as for most
	}
	return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.offset, b.offset))
}

// border is a way that is a part of a boundary, and the lowest admin_level among those that it is a part of.
type border struct{ way, level int64 }

// New makes a Consumer whose temporary files are in dir. They must stay until the region is committed. The coast must
// have been read when the map is written.
func New(dir *scratch.Dir, coast *coast.Consumer) (*Consumer, error) {
	texts, err := newTextTable(dir)
	return &Consumer{dir: dir, coast: coast, texts: texts, pieces: scratch.NewArray[byte](dir, "map-pieces"),
		order: scratch.NewSorter(dir, "map-order", max(dir.Memory/memoryShare, 1<<20), comparePlaced),
		cells: new(osm.Tiles), borders: scratch.NewArray[border](dir, "borders")}, err
}

// Skipped is how many drawings were left out because they are too large.
func (c *Consumer) Skipped() int64 { return c.skipped }

// Take implements osm.Consumer. It adds the pieces of a batch.
func (c *Consumer) Take(of osm.Batch) error {
	b := of.(*batch)
	if len(b.borders) > 0 { // when there are none any more, other batches look them up
		if err := c.borders.Append(b.borders...); err != nil {
			return err
		}
	}
	for i := range b.drawings {
		if err := c.take(b, &b.drawings[i]); err != nil {
			return err
		}
	}
	c.skipped += b.skipped
	b.reset()
	return nil
}

// take adds the pieces of a drawing.
func (c *Consumer) take(b *batch, d *drawing) (err error) {
	if d.class.at == 0 {
		if d.class.at, err = c.texts.add(d.class.encoded); err != nil {
			return err
		}
	}
	c.names = c.names[:0]
	for _, n := range b.names[d.names.from:d.names.to] {
		key, errKey := c.texts.add(n.key)
		value, errValue := c.texts.add(n.value)
		if err := cmp.Or(errKey, errValue); err != nil {
			return err
		}
		c.names = append(c.names, mapfile.Name{Key: key, Value: value})
	}
	c.body = mapfile.AppendBody(c.body[:0], d.class.at, c.names)
	for _, p := range b.pieces[d.pieces.from:d.pieces.to] {
		c.record = mapfile.AppendRecord(c.record[:0], p.tile, p.zoom, p.bounds, c.body, b.shapes[p.shape.from:p.shape.to])
		at := uint64(c.pieces.Len())
		if err := cmp.Or(c.order.Add(placed{p.key, d.object, at}), c.pieces.Append(c.record...)); err != nil {
			return err
		}
	}
	return nil
}

// Located implements osm.Consumer. It sorts the borders: all relations have been read.
func (c *Consumer) Located(context.Context, *osm.Nodes) error {
	all := c.borders.Slice()
	slices.SortFunc(all, func(a, b border) int {
		return cmp.Or(cmp.Compare(a.way, b.way), cmp.Compare(a.level, b.level))
	})
	c.borders.Truncate(len(slices.CompactFunc(all, func(a, b border) bool { return a.way == b.way })))
	return nil
}

// boundary is the class of the border that a way is; false if it is none.
func (c *Consumer) boundary(way int64) (schema.Class, bool) {
	all := c.borders.Slice()
	i, ok := slices.BinarySearchFunc(all, way, func(b border, way int64) int { return cmp.Compare(b.way, way) })
	if !ok {
		return schema.Class{}, false
	}
	return schema.Boundary(int(all[i].level))
}

// Finish implements osm.Consumer.
func (c *Consumer) Finish(context.Context) error { return c.borders.Free() }
