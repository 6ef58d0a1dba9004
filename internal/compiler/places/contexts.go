package places

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

const across = 1 << placefile.ContextZoom

// edges are the borders of the tiles in 1e-7 degrees: the first longitude of each column, and the first latitude north
// of each row. The last column and row include the antimeridian and the pole.
type edges struct{ lons, lats [across + 1]int32 }

var tileEdges = sync.OnceValue(func() *edges {
	e := new(edges)
	for i := range across {
		part := float64(i) / across
		e.lons[i] = int32(math.Ceil(part*geometry.FullTurn - geometry.HalfTurn))
		e.lats[i] = int32(math.Ceil(math.Atan(math.Sinh(math.Pi*(1-2*part))) / geometry.RadiansPerUnit))
	}
	e.lons[across], e.lats[0], e.lats[across] = geometry.HalfTurn+1, geometry.HalfTurn/2+1, -geometry.HalfTurn/2
	return e
})

// Raster takes areas on, and then tells what is in each row of tiles.
type Raster struct {
	marks *scratch.Sorter[mark]
	*edges
}

// mark is a range of tiles [from, to) of a row that an area contains, or that its outline crosses.
type mark struct {
	area          uint32
	row, from, to uint16
	crossing      bool
}

// newContexts makes a Raster that sorts in some bytes of memory.
func newContexts(dir *scratch.Dir, memory int64) *Raster {
	return &Raster{scratch.NewSorter(dir, "contexts", memory, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.from, b.from), cmp.Compare(a.area, b.area))
	}), tileEdges()}
}

// Add takes an area on, with a number of its own. An outline that is open is taken to be everywhere: only a test can
// tell what is inside.
func (r *Raster) Add(area uint32, g *geometry.Geometry) (err error) {
	if closed(g) {
		return r.divide(area, g, 0, 0, across)
	}
	for row := range across {
		if r.lats[row] > g.Box.MinY && r.lats[row+1] <= g.Box.MaxY {
			err = cmp.Or(err, r.marks.Add(mark{area, uint16(row), 0, across, true}))
		}
	}
	return err
}

// closed reports whether an outline is closed: an even number of its lines end at each position. One around a pole is
// not, since its lines end at the antimeridian.
func closed(g *geometry.Geometry) bool {
	odd := map[geometry.Coord]bool{}
	for line := range g.Lines {
		for _, c := range [...]geometry.Coord{line[0], line[len(line)-1]} {
			if odd[c] {
				delete(odd, c)
			} else {
				odd[c] = true
			}
		}
	}
	return len(odd) == 0
}

// divide marks the tiles of a square, down to the tiles that the area's outline crosses.
func (r *Raster) divide(area uint32, g *geometry.Geometry, column, row, size int) (err error) {
	box := geo.Box{MinX: r.lons[column], MinY: r.lats[row+size], MaxX: r.lons[column+size], MaxY: r.lats[row]}
	wide := geo.Box{MinX: box.MinX - 1, MinY: box.MinY, MaxX: box.MaxX, MaxY: box.MaxY}
	if !g.Box.Overlaps(&wide) {
		return nil
	}
	crossing := comesThrough(g, &box, &wide)
	if crossing && size > 1 {
		for i := range 4 {
			err = cmp.Or(err, r.divide(area, g, column+i%2*size/2, row+i/2*size/2, size/2))
		}
		return err
	}
	middle := geometry.Coord{X: box.MinX/2 + box.MaxX/2, Y: box.MinY/2 + box.MaxY/2}
	if o := geometry.NewOrigin(middle.Point()); crossing || g.Contains(&o) {
		for i := range size {
			err = cmp.Or(err, r.marks.Add(mark{area, uint16(row + i), uint16(column), uint16(column + size), crossing}))
		}
	}
	return err
}

// comesThrough reports whether an outline crosses a box, or comes as near as rounding may have moved it.
func comesThrough(g *geometry.Geometry, box, wide *geo.Box) bool {
	for line := range g.LinesIn(wide) {
		for i := 1; i < len(line); i++ {
			a, b := line[i-1], line[i]
			if a.Y < b.Y {
				a, b = b, a
			}
			if a.Y < box.MinY || b.Y >= box.MaxY {
				continue
			}
			// at returns the longitude at a latitude between the ends.
			at := func(y int32) float64 {
				return float64(a.X) + float64(int64(b.X)-int64(a.X))*(float64(a.Y-y)/float64(a.Y-b.Y))
			}
			from, to := float64(a.X), float64(b.X)
			if a.Y >= box.MaxY {
				from = at(min(box.MaxY+1, a.Y))
			}
			if b.Y < box.MinY {
				to = at(max(box.MinY-1, b.Y))
			}
			if math.Floor(min(from, to))-1 < float64(box.MaxX) && math.Floor(max(from, to))+1 >= float64(box.MinX) {
				return true
			}
		}
	}
	return false
}

// Each yields runs of tiles, row by row: ranges of columns [from, to) with the same areas around them, and the same
// areas whose outlines cross them. Areas are in the order of their numbers. Tiles without areas are left out.
func (r *Raster) Each(yield func(row, from, to uint32, around, crossing []uint32) error) error {
	s := &sweep{yield: yield}
	err := r.marks.Each(func(m *mark) (err error) {
		if s.row != m.row {
			err = s.advance(across)
			s.row, s.column = m.row, 0
		}
		err = cmp.Or(err, s.advance(m.from))
		i, _ := slices.BinarySearchFunc(s.here, m.area, func(a mark, n uint32) int { return cmp.Compare(a.area, n) })
		s.here = slices.Insert(s.here, i, *m)
		return err
	})
	return cmp.Or(err, s.advance(across))
}

// sweep goes through the rows from west to east.
type sweep struct {
	row, column      uint16
	here             []mark // at the column, in the order of their areas
	around, crossing []uint32
	yield            func(row, from, to uint32, around, crossing []uint32) error
}

// advance yields the runs up to a column.
func (s *sweep) advance(column uint16) error {
	for s.column < column {
		next := column
		s.around, s.crossing = s.around[:0], s.crossing[:0]
		for _, m := range s.here {
			next = min(next, m.to)
			if m.crossing {
				s.crossing = append(s.crossing, m.area)
			} else {
				s.around = append(s.around, m.area)
			}
		}
		if len(s.here) > 0 {
			err := s.yield(uint32(s.row), uint32(s.column), uint32(next), s.around, s.crossing)
			if err != nil {
				return err
			}
		}
		s.column = next
		s.here = slices.DeleteFunc(s.here, func(m mark) bool { return m.to <= next })
	}
	return nil
}
