package basemap

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/coast"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/tiles"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

// maxRecords limits the records of a tile, in bytes. If there are more, those shown from the last zooms are left out.
// The densest cells of the world have a few megabytes.
const maxRecords = 16 << 20

// maker makes tiles from their records, and from land and ocean.
type maker struct {
	sea         *coast.Map
	renderers   *tiles.Renderers
	land, ocean uint64 // the offsets of their classes in the string table
}

// job is a tile with its records, or with the finished tile.
type job struct {
	tile mapfile.Tile
	data []byte
}

// output is two sections of tiles, which are in temporary files until the region is committed.
type output struct {
	index *scratch.Array[mapfile.Entry]
	data  *scratch.Array[byte]
}

// Write adds the map to a region. nodes are the tiles of region.CoverageZoom with a node.
func (c *Consumer) Write(ctx context.Context, w *region.Writer, nodes *osm.Tiles, bar *pipeline.Bar) error {
	land, errLand := c.texts.AddText(schema.Land().Encode())
	ocean, errOcean := c.texts.AddText(schema.Ocean().Encode())
	if err := cmp.Or(errLand, errOcean, c.texts.FreeIndex()); err != nil {
		return err
	}
	for _, tile := range nodes.Sorted() {
		c.cells.Add(tile)
	}
	sea, err := c.coast.Map(ctx, c.cells)
	if err != nil {
		return fmt.Errorf("coast: %w", err)
	}
	cells := output{scratch.NewArray[mapfile.Entry](c.dir, "map-cells"), scratch.NewArray[byte](c.dir, "map-records")}
	lower := output{scratch.NewArray[mapfile.Entry](c.dir, "map-tiles"), scratch.NewArray[byte](c.dir, "map-pyramid")}
	m := maker{sea: sea, renderers: tiles.NewRenderers(c.texts), land: land, ocean: ocean}
	tiles := tilesOf(c.cells)
	bar.Start("tiles", int64(len(tiles)))
	var failed error
	err = pipeline.Run(ctx, func(give func(job) bool) { failed = c.gather(tiles, give) }, m.make, func(j job) error {
		bar.Add(1)
		if j.tile.Z == mapfile.CellZoom {
			return cells.add(j)
		}
		return lower.add(j)
	})
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	bar.Finish()
	region.Add(w, mapfile.SectionCells, cells.index.Slice())
	region.Add(w, mapfile.SectionRecords, cells.data.Slice())
	region.Add(w, mapfile.SectionText, c.texts.Bytes())
	region.Add(w, mapfile.SectionTiles, lower.index.Slice())
	region.Add(w, mapfile.SectionPyramid, lower.data.Slice())
	return cmp.Or(c.pieces.Free(), sea.Free())
}

// add adds a tile, unless it is empty.
func (o *output) add(j job) error {
	if len(j.data) == 0 {
		return nil
	}
	e := mapfile.Entry{ID: uint32(j.tile.ID()), Length: uint32(len(j.data)), Offset: uint64(o.data.Len())}
	return cmp.Or(o.data.Append(j.data...), o.index.Append(e))
}

// gather gives a job for each tile, with its records in order. It leaves out the pieces of other tiles, which have them
// only in their buffers.
func (c *Consumer) gather(tiles []uint32, give func(job) bool) error {
	pieces := c.pieces.Slice()
	var records []byte // of the next tile
	giveUntil := func(id uint64) error {
		for ; len(tiles) > 0 && uint64(tiles[0]) < id; tiles = tiles[1:] {
			if !give(job{mapfile.TileOf(uint64(tiles[0])), records}) {
				return context.Canceled
			}
			records = nil
		}
		return nil
	}
	err := c.order.Each(func(p *placed) error {
		id := p.key >> 8
		if err := giveUntil(id); err != nil {
			return err
		}
		length, n := binary.Uvarint(pieces[p.offset:])
		record := pieces[p.offset:][:uint64(n)+length]
		if len(tiles) > 0 && uint64(tiles[0]) == id && len(records)+len(record) <= maxRecords {
			records = append(records, record...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return giveUntil(math.MaxUint64)
}

// make makes a cell, or renders a tile.
func (m *maker) make(j job) (_ job, err error) {
	j.data = append(m.surfaces(j.tile), j.data...)
	if j.tile.Z < mapfile.CellZoom {
		j.data, err = m.renderers.Render(nil, j.data, j.tile, j.tile)
	}
	return j, err
}

// surfaces returns the records of land and ocean in a tile. Land that reaches the tile's border extends to the end of
// its buffer. Ocean is the whole tile with its buffer: rendering subtracts the land, so that rounding leaves no gap.
func (m *maker) surfaces(t mapfile.Tile) (records []byte) {
	land, ocean := m.sea.Tile(t)
	add := func(class uint64, rings []clip.Ring) {
		records = mapfile.AppendRecord(records, t, 0, t.Buffered(), mapfile.AppendBody(nil, class, nil),
			mapfile.AppendShape(nil, t, &mapfile.Shape{Rings: rings}))
	}
	if len(land) > 0 {
		var rings []clip.Ring
		for _, p := range land {
			rings = append(rings, clip.Extrude(p, t.Rect(), t.Margin())...)
		}
		add(m.land, rings)
	}
	if len(ocean) > 0 {
		add(m.ocean, []clip.Ring{t.Buffered().Ring()})
	}
	return records
}

// tilesOf returns the IDs of the cells and of all tiles that contain one, in order.
func tilesOf(cells *osm.Tiles) []uint32 {
	level := cells.Sorted()
	for i, number := range level {
		t := mapfile.Tile{Z: mapfile.CellZoom, X: number >> region.CoverageZoom, Y: number % (1 << region.CoverageZoom)}
		level[i] = uint32(t.ID())
	}
	slices.Sort(level)
	all := slices.Clone(level)
	for z := mapfile.CellZoom; z > 0; z-- {
		for i, id := range level {
			level[i] = uint32(mapfile.TileOf(uint64(id)).Parent(uint8(z - 1)).ID())
		}
		level = slices.Compact(level) // sorted, since the descendants of a tile are consecutive
		all = append(all, level...)
	}
	slices.Sort(all)
	return all
}
