// Package sea tells what of a map is land and what is ocean. OpenStreetMap has no areas of either, only the coast
// between them, with land to the left of each line and water to the right, and of that an extract has a part, which
// ends somewhere.
//
// The coast is cut into the cells of zoom 12 that the extracts cover. In each, what lies between pieces of coast is
// closed along the cell's border. Cells without coast are what their neighbours say. Where no extract is, the outlines
// of countries are the coast, so that a map of a small part of the world lies in the world. Tiles of lower zooms are
// put together of their quarters, and simplified.
package coast

import (
	"errors"
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
)

// Coast is where coastlines come from, always in the same order. extract.Coast is one.
type Coast interface {
	// Lines yields one line after the other, until yield returns false. A line is valid during the call.
	Lines(yield func(line []extract.Coord) bool)
}

// Map is the land and the ocean of the whole world. It is safe for use by several goroutines.
type Map struct {
	cells   *cells
	land    *extract.Tiles // known cells that are land where they have no coast
	zooms   *zooms
	pyramid *store // tiles of lower zooms than cells, in which something is known
}

// New makes the map from the coast of some extracts and from the cells that they cover, which are sorted numbers as of
// region.CoverageTile. Where there is no coast at all, all of them are land.
func New(dir *scratch.Dir, coast Coast, covered []uint32) (*Map, error) {
	c, err := readCells(dir, coast)
	if err != nil {
		return nil, err
	}
	f := flood{known: new(extract.Tiles), crossed: new(extract.Tiles), land: new(extract.Tiles),
		votes: scratch.NewArray[vote](dir, "coast-votes")}
	for _, cell := range covered {
		f.known.Add(cell)
	}
	if err := f.collect(dir, c); err != nil {
		return nil, err
	}
	f.forget(c)
	if err := f.fill(dir); err != nil {
		return nil, err
	}
	if err := f.votes.Free(); err != nil {
		return nil, err
	}
	m := &Map{c, f.land, newZooms(f.known), newStore(dir, "sea")}
	if _, err := m.build(0, 0, 0, outlines(0, 0, 0)); err != nil {
		return nil, err
	}
	m.pyramid.sort()
	return m, nil
}

// Tile returns what of a tile is land and what is ocean, in units of the world, neither of them beyond the tile's
// border. Where there is no coast in a tile, it is a square of the one and nothing of the other. The zoom is at most
// region.CoverageZoom; it is an error to ask for a tile that is not there.
func (m *Map) Tile(z uint8, x, y uint32) (land, ocean []geom.Polygon, err error) {
	if z > cellZoom || x>>z != 0 || y>>z != 0 {
		return nil, nil, fmt.Errorf("there is no tile %d/%d/%d of land and ocean", z, x, y)
	}
	var t *tile
	switch {
	case !m.zooms.has(z, x, y):
		t = outlines(z, x, y).simplify(z)
	case z == cellZoom:
		t = m.cell(x<<cellZoom | y)
	default:
		t = m.pyramid.get(z, x, y)
	}
	land, ocean = t.polygons()
	return land, ocean, nil
}

// Free removes the map's temporary files. It cannot be used any more.
func (m *Map) Free() error {
	return errors.Join(m.cells.points.Free(), m.cells.pieces.Free(), m.pyramid.free())
}
