// Package basemap compiles the map of a region file: the records of cells, and the finished tiles of the lower zooms.
// Package mapfile has the format, package schema says what is shown of an object, and package coast adds land and
// ocean. Begin at Consumer and batch.
//
// Objects become map features, which are cut into pieces as soon as an object has been read: one for each tile that
// shows the feature, down to the cells. The pieces are sorted by tile, and each tile is made of its pieces.
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

// memoryShare is the divisor of the build's memory that gives the memory of the sorter of pieces.
const memoryShare = 16

// Consumer collects map features. It is an osm.Consumer.
type Consumer struct {
	dir   *scratch.Dir
	coast *coast.Consumer
	texts *scratch.StringTable
	// pieces are the records of pieces as they were added, and order sorts them by tile.
	pieces *scratch.Array[byte]
	order  *scratch.Sorter[placed]
	// cells are the tiles of mapfile.CellZoom that the map has: those with a piece, and in the end those with a node.
	cells   *osm.Tiles
	borders *scratch.Array[border]
	skipped int64

	names        []mapfile.Name // buffers
	body, record []byte
}

// placed is a piece of a tile. Pieces are sorted by tile, then by the zoom from which they are shown, then by object:
// nodes, ways, relations. The order depends only on the extracts.
type placed struct {
	key    uint64 // the tile's ID, and in the lowest 8 bits the zoom
	object uint64 // the kind, and in the lowest 60 bits the id
	offset uint64 // in pieces
}

func comparePlaced(a, b placed) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key) // as for most
	}
	return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.offset, b.offset))
}

// border is a way that is a part of boundaries, and the lowest admin_level of these.
type border struct{ way, level int64 }

// New makes a Consumer with temporary files in dir, which must stay until the region is committed. The coast must be
// complete when the map is written.
func New(dir *scratch.Dir, coast *coast.Consumer) (*Consumer, error) {
	texts, err := scratch.NewStringTable(dir, "map-text")
	return &Consumer{dir: dir, coast: coast, texts: texts, pieces: scratch.NewArray[byte](dir, "map-pieces"),
		order: scratch.NewSorter(dir, "map-order", max(dir.Memory/memoryShare, 1<<20), comparePlaced),
		cells: new(osm.Tiles), borders: scratch.NewArray[border](dir, "borders")}, err
}

// Skipped returns how many map features were left out because they are too large.
func (c *Consumer) Skipped() int64 { return c.skipped }

// Take implements osm.Consumer.
func (c *Consumer) Take(of osm.Batch) error {
	b := of.(*batch)
	if len(b.borders) > 0 { // later batches look borders up concurrently
		if err := c.borders.Append(b.borders...); err != nil {
			return err
		}
	}
	for i := range b.features {
		if err := c.take(b, &b.features[i]); err != nil {
			return err
		}
	}
	c.skipped += b.skipped
	b.reset()
	return nil
}

// take adds the pieces of a map feature.
func (c *Consumer) take(b *batch, d *feature) (err error) {
	if d.class.at == 0 {
		if d.class.at, err = c.texts.AddText(d.class.encoded); err != nil {
			return err
		}
	}
	c.names = c.names[:0]
	for _, n := range b.names[d.names.from:d.names.to] {
		key, errKey := c.texts.AddText(n.key)
		value, errValue := c.texts.AddText(n.value)
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

// Located implements osm.Consumer. All relations have been read: it sorts the borders.
func (c *Consumer) Located(context.Context, *osm.Nodes) error {
	all := c.borders.Slice()
	slices.SortFunc(all, func(a, b border) int {
		return cmp.Or(cmp.Compare(a.way, b.way), cmp.Compare(a.level, b.level))
	})
	c.borders.Truncate(len(slices.CompactFunc(all, func(a, b border) bool { return a.way == b.way })))
	return nil
}

// boundary returns the class of the border that a way is a part of, or false if there is none.
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
