package basemap

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/inorder"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/maptile/mapfile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// maxRecords is how many bytes of records a tile has at most: what is shown from the last zooms is left out where there
// is more. The densest cells of the world have a few megabytes.
const maxRecords = 16 << 20

// job is a tile that is being made.
type job struct {
	tile    mapfile.Tile
	records []byte
	made    []byte
}

// output is what a map is written to: sections that are kept in temporary files until the region is committed.
type output struct {
	cells, tiles     *scratch.Array[mapfile.Entry]
	records, pyramid *scratch.Array[byte]
}

// makeTiles makes all tiles of their pieces, and adds the sections to the region.
func (c *compiler) makeTiles(ctx context.Context, w *region.Writer) error {
	out := output{
		cells:   scratch.NewArray[mapfile.Entry](c.dir, "map-cells"),
		tiles:   scratch.NewArray[mapfile.Entry](c.dir, "map-tiles"),
		records: scratch.NewArray[byte](c.dir, "map-records"),
		pyramid: scratch.NewArray[byte](c.dir, "map-pyramid"),
	}
	tiles := tilesOf(c.cells)
	c.data.Progress.Start("tiles", int64(len(tiles)))
	var failed error
	err := inorder.Run(ctx, func(give func(*job) bool) { failed = c.gather(tiles, give) }, c.make, func(j *job) error {
		c.data.Progress.Add(1)
		return out.add(j)
	})
	if err = cmp.Or(err, failed); err != nil {
		return err
	}
	c.data.Progress.Finish()
	region.Add(w, mapfile.SectionCells, out.cells.Slice())
	region.Add(w, mapfile.SectionRecords, out.records.Slice())
	region.Add(w, mapfile.SectionText, c.texts.bytes.Slice())
	region.Add(w, mapfile.SectionTiles, out.tiles.Slice())
	region.Add(w, mapfile.SectionPyramid, out.pyramid.Slice())
	return nil
}

// add adds a tile that is made.
func (o *output) add(j *job) error {
	index, data := o.tiles, o.pyramid
	if j.tile.Z == mapfile.CellZoom {
		index, data = o.cells, o.records
	}
	if len(j.made) == 0 {
		return nil
	}
	e := mapfile.Entry{ID: uint32(j.tile.ID()), Length: uint32(len(j.made)), Offset: uint64(data.Len())}
	return cmp.Or(data.Append(j.made...), index.Append(e))
}

// gather gives a job of each tile, with its records in their order.
func (c *compiler) gather(tiles []uint32, give func(*job) bool) error {
	pieces := c.pieces.Slice()
	next := 0
	var j *job
	begin := func() {
		j = &job{tile: mapfile.TileOf(uint64(tiles[next]))}
		next++
	}
	errEnded := context.Canceled
	err := c.order.Each(func(p *placed) error {
		id := uint32(p.key >> 8)
		for j == nil || uint32(j.tile.ID()) < id {
			if j != nil && !give(j) {
				return errEnded
			}
			if next == len(tiles) {
				j = nil
				return nil
			}
			begin()
		}
		record := recordAt(pieces, p.offset)
		if uint32(j.tile.ID()) == id && len(j.records)+len(record) <= maxRecords {
			j.records = append(j.records, record...)
		}
		return nil
	})
	for err == nil && (j != nil || next < len(tiles)) {
		if j != nil && !give(j) {
			return errEnded
		}
		if j = nil; next < len(tiles) {
			begin()
		}
	}
	return err
}

// recordAt returns the record that begins somewhere.
func recordAt(pieces []byte, at uint64) []byte {
	length, n := binary.Uvarint(pieces[at:])
	return pieces[at : at+uint64(n)+length]
}

// make makes a cell, or a finished tile.
func (c *compiler) make(j *job) (*job, error) {
	records, err := c.surfaces(j.tile)
	if err != nil {
		return nil, err
	}
	records = append(records, j.records...)
	if j.tile.Z == mapfile.CellZoom {
		j.made = records
		return j, nil
	}
	j.made, err = c.cutters.Cut(nil, records, j.tile, j.tile)
	return j, err
}

// surfaces returns the records of the land and the ocean in a tile. Where land reaches its border it goes on to the end
// of its buffer. Ocean is all of the tile and its buffer, for those who cut tiles to take the land out of it: so there
// is nothing between the two, however they round.
func (c *compiler) surfaces(t mapfile.Tile) (records []byte, err error) {
	land, ocean, err := c.sea.Tile(t.Z, t.X, t.Y)
	if err != nil {
		return nil, err
	}
	add := func(class uint64, rings []geom.Ring) {
		records = mapfile.AppendRecord(records, t, 0, t.Buffered(), mapfile.AppendBody(nil, class, nil),
			mapfile.AppendShape(nil, t, &mapfile.Shape{Rings: rings}))
	}
	if len(land) > 0 {
		var rings []geom.Ring
		for _, p := range land {
			rings = append(rings, geom.Extrude(p, t.Rect(), t.Margin())...)
		}
		add(c.land, rings)
	}
	if len(ocean) > 0 {
		add(c.ocean, []geom.Ring{t.Buffered().Ring()})
	}
	return records, nil
}

// tilesOf returns the IDs, in order, of all tiles that hold a cell, and of the cells.
func tilesOf(cells *extract.Tiles) []uint32 {
	var ids []uint32
	for _, number := range cells.Sorted() {
		t := mapfile.Tile{Z: mapfile.CellZoom, X: number >> region.CoverageZoom, Y: number % (1 << region.CoverageZoom)}
		ids = append(ids, uint32(t.ID()))
	}
	slices.Sort(ids)
	levels := [][]uint32{ids}
	for z := mapfile.CellZoom; z > 0; z-- {
		var parents []uint32 // in order as well: the descendants of a tile follow one another
		for _, id := range levels[len(levels)-1] {
			parents = append(parents, uint32(mapfile.TileOf(uint64(id)).Parent(uint8(z-1)).ID()))
		}
		levels = append(levels, slices.Compact(parents))
	}
	slices.Reverse(levels)
	return slices.Concat(levels...)
}
