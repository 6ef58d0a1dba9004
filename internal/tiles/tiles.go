package tiles

import (
	"encoding/binary"
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// MaxZoom is the highest zoom of tiles.
const MaxZoom = mapfile.MaxZoom

// Map is the map of an open region file. It is safe for concurrent use while the file is open.
type Map struct {
	path      string
	cells     region.View[mapfile.Entry]
	records   region.View[byte]
	text      text
	tiles     region.View[mapfile.Entry]
	pyramid   region.View[byte]
	renderers *Renderers
}

// Open returns the map of a region file, or nil if it has none: it was built with --no-map, or by a version without
// maps.
func Open(f *region.File) (*Map, error) {
	if !f.Has(mapfile.SectionCells) {
		return nil, nil
	}
	m := &Map{path: f.Path()}
	var err error
	open := func(section func() error) {
		if err == nil {
			err = section()
		}
	}
	open(func() (err error) { m.cells, err = region.Section[mapfile.Entry](f, mapfile.SectionCells); return })
	open(func() (err error) { m.records, err = region.Section[byte](f, mapfile.SectionRecords); return })
	open(func() (err error) { m.text.View, err = region.Section[byte](f, mapfile.SectionText); return })
	open(func() (err error) { m.tiles, err = region.Section[mapfile.Entry](f, mapfile.SectionTiles); return })
	open(func() (err error) { m.pyramid, err = region.Section[byte](f, mapfile.SectionPyramid); return })
	if err != nil {
		return nil, err
	}
	m.renderers = NewRenderers(&m.text)
	return m, nil
}

// Tile appends a tile, compressed by gzip, or nothing if it is empty or does not exist. The same file gives the same
// bytes. The error is a *region.DamageError if the file is corrupt.
func (m *Map) Tile(dst []byte, z uint8, x, y uint32) (tile []byte, err error) {
	t := mapfile.Tile{Z: z, X: x, Y: y}
	if !t.Valid() {
		return dst, nil
	}
	defer func() {
		if err != nil {
			tile = dst
		}
	}()
	defer region.Recover(&err, region.FaultsPanic())
	if z < mapfile.CellZoom {
		if e := find(&m.tiles, t); e != nil {
			dst = append(dst, content(&m.pyramid, e)...)
		}
		return dst, nil
	}
	cell := t.Parent(mapfile.CellZoom)
	e := find(&m.cells, cell)
	if e == nil {
		return dst, nil
	}
	return m.renderers.Render(dst, content(&m.records, e), cell, t)
}

// Has reports whether the map has a tile. From zoom 12 on it has all tiles of a cell of zoom 12 or none, and some of
// them may be empty.
func (m *Map) Has(z uint8, x, y uint32) (has bool, err error) {
	t := mapfile.Tile{Z: z, X: x, Y: y}
	if !t.Valid() {
		return false, nil
	}
	defer region.Recover(&err, region.FaultsPanic())
	if z < mapfile.CellZoom {
		return find(&m.tiles, t) != nil, nil
	}
	return find(&m.cells, t.Parent(mapfile.CellZoom)) != nil, nil
}

// Tiles yields the map's tiles up to a zoom until yield returns false: lower zooms first, and those of a zoom in the
// Hilbert order of PMTiles. See Has.
func (m *Map) Tiles(maxZoom uint8, yield func(z uint8, x, y uint32) bool) (err error) {
	defer region.Recover(&err, region.FaultsPanic())
	for i := range m.tiles.Len() {
		t := mapfile.TileOf(uint64(m.tiles.At(i).ID))
		if t.Z > min(maxZoom, mapfile.CellZoom-1) {
			break
		}
		if !yield(t.Z, t.X, t.Y) {
			return nil
		}
	}
	for z := uint8(mapfile.CellZoom); z <= min(maxZoom, MaxZoom); z++ {
		for i := range m.cells.Len() {
			cell := mapfile.TileOf(uint64(m.cells.At(i).ID))
			if cell.Z != mapfile.CellZoom {
				return m.damaged("a cell has the zoom %d", cell.Z)
			}
			if !cell.Descendants(z, func(t mapfile.Tile) bool { return yield(t.Z, t.X, t.Y) }) {
				return nil
			}
		}
	}
	return nil
}

func (m *Map) damaged(problem string, args ...any) error {
	return &region.DamageError{Path: m.path, Problem: fmt.Sprintf(problem, args...)}
}

// find returns the entry of a tile, nil if there is none.
func find(index *region.View[mapfile.Entry], t mapfile.Tile) *mapfile.Entry {
	id := uint32(t.ID())
	i, j := 0, index.Len()
	for i < j {
		if h := int(uint(i+j) >> 1); index.At(h).ID < id {
			i = h + 1
		} else {
			j = h
		}
	}
	if i == index.Len() || index.At(i).ID != id {
		return nil
	}
	return index.At(i)
}

// content returns the bytes of an entry.
func content(data *region.View[byte], e *mapfile.Entry) []byte {
	if e.Offset > uint64(data.Len()) || uint64(e.Length) > uint64(data.Len())-e.Offset {
		panic(&region.DamageError{Problem: "a tile lies outside of its section"})
	}
	return data.Range(int(e.Offset), int(e.Offset)+int(e.Length))
}

// text is the section of classes and names.
type text struct{ region.View[byte] }

// MaxText is the greatest length of a class or a name in bytes.
const MaxText = 1 << 16

// Text returns the text at an offset. It is a part of the file.
func (t *text) Text(at uint64) []byte {
	if at >= uint64(t.Len()) {
		panic(&region.DamageError{Problem: "a text lies outside of its section"})
	}
	from := int(at)
	length, n := binary.Uvarint(t.Range(from, min(from+binary.MaxVarintLen32, t.Len())))
	if n <= 0 || length > MaxText || length > uint64(t.Len()-from-n) {
		panic(&region.DamageError{Problem: "a text has no end"})
	}
	return t.Range(from+n, from+n+int(length))
}
