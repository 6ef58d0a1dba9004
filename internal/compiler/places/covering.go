package places

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// cover makes the region cover all tiles that an area touches which serves addresses or the fallback: whoever asks for
// a point in a sea or a desert hears of the country that it is in. Where that costs more than a map of this size can
// need, the areas that are left cover no more than their nodes do.
func (c *compiler) cover() error {
	f := &filler{edges: extract.TileEdges(), tiles: c.data.Tiles, left: c.data.Cost.Share(1)}
	for _, n := range c.survey.areas.items.Slice() {
		g := c.store.geometry(n)
		f.fill(&g)
	}
	return nil
}

// filler adds the tiles that areas touch to a set: those that an outline comes through, and those whose middles are
// inside.
type filler struct {
	edges *extract.Edges
	tiles *extract.Tiles
	left  int64 // steps that may still be taken

	// Of the area that is filled: its columns and rows, the last ones included, and for each row the tiles whose middles
	// are the last ones west of where the outline crosses the row's own middle.
	west, east, north, south int
	crossed                  []uint64
	words                    int // of a row
}

// fill adds the tiles of one area.
func (f *filler) fill(g *geometry.Geometry) {
	f.west, f.east = f.column(g.Box.MinX), f.column(g.Box.MaxX)
	f.north, f.south = f.row(g.Box.MaxY), f.row(g.Box.MinY)
	if f.west == f.east && f.north == f.south {
		f.add(f.west, f.north)
		return
	}
	f.words = (f.east-f.west)/64 + 1
	size := f.words * (f.south - f.north + 1)
	f.crossed = slices.Grow(f.crossed[:0], size)[:size]
	clear(f.crossed)
	f.left -= int64(size) + g.Steps()
	for line := range g.Lines {
		for i := 1; i < len(line) && f.left >= 0; i++ {
			f.edge(line[i-1], line[i])
		}
	}
	for row := f.north; row <= f.south && f.left >= 0; row++ {
		f.fillRow(row)
	}
}

// fillRow adds the tiles of a row from whose middles a ray to the east crosses the outline an odd number of times.
func (f *filler) fillRow(row int) {
	odd := uint64(0) // all bits, as to the east of a word
	words := f.crossed[(row-f.north)*f.words:][:f.words]
	for i, word := range slices.Backward(words) {
		for shift := 1; shift < 64; shift *= 2 {
			word ^= word >> shift
		}
		word ^= odd
		odd = -(word & 1)
		for ; word != 0; word &= word - 1 {
			f.add(f.west+64*i+bits.TrailingZeros64(word), row)
		}
	}
}

// rowSteps is what it takes to find out where an edge comes through a row.
const rowSteps = 16

// edge adds the tiles that an edge comes through, and notes where it crosses the middles of rows.
func (f *filler) edge(a, b geometry.Coord) {
	if a.Y < b.Y {
		a, b = b, a
	}
	first, last := f.row(a.Y), f.row(b.Y)
	f.left -= rowSteps * int64(last-first+1)
	at := func(y float64) float64 { // the longitude at a latitude between the ends
		if a.Y == b.Y {
			return float64(a.X)
		}
		return float64(a.X) + (float64(b.X)-float64(a.X))*((float64(a.Y)-y)/(float64(a.Y)-float64(b.Y)))
	}
	for row := first; row <= last; row++ {
		north, south := float64(f.edges.Lats[row]), float64(f.edges.Lats[row+1])
		from, to := at(min(north, float64(a.Y))), at(max(south, float64(b.Y)))
		if a.Y == b.Y {
			to = float64(b.X)
		}
		for column := f.near(min(from, to) - 1); column <= f.near(max(from, to)+1); column++ {
			f.add(column, row)
		}
		if middle := (north+south)/2 + 0.25; float64(a.Y) > middle && float64(b.Y) < middle {
			f.cross(at(middle), row)
		}
	}
}

// cross notes that an outline crosses the middle of a row.
func (f *filler) cross(x float64, row int) {
	column := f.near(x)
	if (float64(f.edges.Lons[column])+float64(f.edges.Lons[column+1]))/2 >= x {
		column--
	}
	if column = min(column, f.east); column >= f.west {
		i := column - f.west
		f.crossed[(row-f.north)*f.words+i/64] ^= 1 << (i % 64)
	}
}

func (f *filler) add(column, row int) {
	f.left -= 2
	f.tiles.Add(uint32(column)<<region.CoverageZoom | uint32(row))
}

// near is the column of a longitude that rounding may have put beyond the edges of the area.
func (f *filler) near(x float64) int {
	return f.column(int32(min(max(math.Floor(x), -geometry.HalfTurn), geometry.HalfTurn)))
}

func (f *filler) column(x int32) int {
	lons := &f.edges.Lons
	const columns = 1 << region.CoverageZoom
	i := min(int((int64(x)+geometry.HalfTurn)*columns/geometry.FullTurn), columns-1)
	for i > 0 && lons[i] > x { // for the rounding
		i--
	}
	for i < columns-1 && lons[i+1] <= x {
		i++
	}
	return i
}

func (f *filler) row(y int32) int {
	lats := &f.edges.Lats // from the north
	i, _ := slices.BinarySearchFunc(lats[:], y, func(edge, y int32) int { return -cmp.Compare(edge, y) })
	return max(min(i-1, len(lats)-2), 0)
}
