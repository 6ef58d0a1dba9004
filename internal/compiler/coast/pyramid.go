package coast

import (
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

// zooms tells at each zoom which tiles have cells that are known.
type zooms [cellZoom + 1][]uint64

func newZooms(known *extract.Tiles) *zooms {
	var s zooms
	for z := range s {
		s[z] = make([]uint64, (1<<(2*z)+63)/64)
	}
	for _, cell := range known.Sorted() {
		for z := cellZoom; z >= 0; z-- {
			i := bitOf(uint8(z), cell>>cellZoom>>(cellZoom-z), cell&(1<<cellZoom-1)>>(cellZoom-z))
			if s[z][i/64]>>(i%64)&1 != 0 {
				break
			}
			s[z][i/64] |= 1 << (i % 64)
		}
	}
	return &s
}

func bitOf(z uint8, x, y uint32) uint32 { return x<<z | y }

func (s *zooms) has(z uint8, x, y uint32) bool {
	i := bitOf(z, x, y)
	return s[z][i/64]>>(i%64)&1 != 0
}

// outlines is the coast of the outlines of countries in a tile.
func outlines(z uint8, x, y uint32) *tile {
	t := squareOf(z, x, y)
	var pieces [][]mercator.Point
	last := int32(1)<<z - 1
	s := splitter{shift: mercator.Bits - uint(z), maxX: last, maxY: last,
		yield: func(atX, atY int32, piece []mercator.Point) error {
			if atX == int32(x) && atY == int32(y) {
				pieces = append(pieces, slices.Clone(piece))
			}
			return nil
		}}
	var points []mercator.Point
	country.Coast(orb.Bound{Min: t.corner(1).Degrees(), Max: t.corner(3).Degrees()}, func(line []orb.Point) bool {
		points = points[:0]
		for _, p := range line {
			points = append(points, mercator.Project(p))
		}
		_ = s.line(points) // yield does not fail
		return true
	})
	cut := settle(t, pieces)
	if len(cut.lines) == 0 {
		around := cut.around()
		cut.land = around > 0 || around == 0 && outlined(t.middle())
	}
	return cut
}

// build makes a tile: of its quarters, and keeps it, where something is known in it, and of the outlines' coast in it
// otherwise.
func (m *Map) build(z uint8, x, y uint32, outlines *tile) (*tile, error) {
	if !m.zooms.has(z, x, y) {
		return outlines.simplify(z), nil
	}
	if z == cellZoom {
		return m.cell(x<<cellZoom | y), nil
	}
	var children [4]*tile
	for i, quarter := range outlines.quarter() {
		var err error
		if children[i], err = m.build(z+1, 2*x+uint32(i&1), 2*y+uint32(i>>1), quarter); err != nil {
			return nil, err
		}
	}
	t := merge(squareOf(z, x, y), &children).simplify(z)
	return t, m.pyramid.add(z, x, y, t)
}

// cell is the coast of a known cell.
func (m *Map) cell(cell uint32) *tile {
	t := m.cells.tile(cell)
	if len(t.lines) == 0 {
		t.land = m.land.Has(cell)
	}
	return t
}

const (
	// tolerance is by how much a coast is moved at most, in steps of a tile's grid: half a pixel where tiles are drawn
	// 512 pixels wide.
	tolerance = 4
	// mostTilePoints is how many points a tile should have at most. Beyond, coasts are moved by more.
	mostTilePoints = 1 << 18
)

// simplify returns a tile without what nobody could see at a zoom.
func (t *tile) simplify(z uint8) *tile {
	if z >= cellZoom {
		return t
	}
	for by := int32(tolerance) << (mercator.Bits - 12 - z); ; by *= 2 {
		if out, points := t.simplifyBy(by); points <= mostTilePoints || by >= t.size {
			return out
		}
	}
}

// simplifyBy returns a tile whose coast is moved by some units at most, and how many points that has. By as much as the
// tile is wide, lines become straight.
func (t *tile) simplifyBy(units int32) (out *tile, points int) {
	out = &tile{square: t.square, land: t.land}
	for _, l := range t.lines {
		if l = geom.SimplifyLine(l, units); units >= t.size {
			l = geom.Line{l[0], l[len(l)-1]}
		}
		out.lines, points = append(out.lines, l), points+len(l)
	}
	for _, r := range t.rings {
		if r = geom.SimplifyRing(r, units); r != nil {
			out.rings, points = append(out.rings, r), points+len(r)
		}
	}
	return out, points
}
