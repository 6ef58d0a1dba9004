package contexts

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

const across = 1 << placefile.ContextZoom

// edges are where the rows of tiles end in the north, and where the columns begin in the west, in 1e-7 degrees. The
// last ones end at the poles and the antimeridian, which they hold.
type edges struct{ lats, lons [across + 1]int32 }

// tileEdges finds the edges by asking placefile.ContextTile itself, so that no rounding makes a difference.
var tileEdges = sync.OnceValue(func() *edges {
	e := new(edges)
	e.lats[0], e.lats[across] = geometry.HalfTurn/2+1, -geometry.HalfTurn/2
	e.lons[0], e.lons[across] = -geometry.HalfTurn, geometry.HalfTurn+1
	first := func(near float64, holds func(int32) bool) int32 {
		from := int32(near) - 3
		return from + int32(sort.Search(8, func(i int) bool { return holds(from + int32(i)) }))
	}
	tile := func(lon, lat int32) uint32 {
		return placefile.ContextTile(geometry.Coord{X: lon, Y: lat}.Point())
	}
	for i := uint32(1); i < across; i++ {
		part := float64(i) / across
		e.lons[i] = first((part-0.5)*geometry.FullTurn, func(lon int32) bool { return tile(lon, 0)%across >= i })
		lat := math.Atan(math.Sinh(math.Pi*(1-2*part))) * 180 / math.Pi * geometry.UnitsPerDegree
		e.lats[i] = first(lat, func(lat int32) bool { return tile(0, lat)/across < i })
	}
	return e
})

// grid tells which tiles positions are in.
type grid struct {
	*edges
	lastRow int
}

func newGrid() *grid { return &grid{edges: tileEdges()} }

// column is that of a longitude, which rounding may have put beyond the antimeridian.
func (g *grid) column(x float64) int {
	c := int32(min(max(math.Floor(x), -geometry.HalfTurn), geometry.HalfTurn))
	i := min(int((int64(c)+geometry.HalfTurn)*across/geometry.FullTurn), across-1)
	for i > 0 && g.lons[i] > c {
		i--
	}
	for i < across-1 && g.lons[i+1] <= c {
		i++
	}
	return i
}

// middle is the longitude of the middle of a column.
func (g *grid) middle(column int) float64 {
	return (float64(g.lons[column]) + float64(g.lons[column+1])) / 2
}

// row is that of a latitude, which is most often that of the one before.
func (g *grid) row(y int32) int {
	if r := g.lastRow; y < g.lats[r] && y >= g.lats[r+1] {
		return r
	}
	i, _ := slices.BinarySearchFunc(g.lats[:], y, func(edge, y int32) int { return -cmp.Compare(edge, y) })
	g.lastRow = max(min(i-1, across-1), 0)
	return g.lastRow
}
