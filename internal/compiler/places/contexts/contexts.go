// Package contexts finds for each tile of a grid the areas that contain all of it, and those whose outlines come
// through it. What it notes of them is sorted on disk, so that it keeps hardly anything in memory.
package contexts

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

const across = 1 << placefile.ContextZoom

// edges are where the rows of tiles end in the north, in 1e-7 degrees: the first latitude above. The last row ends at
// the pole, which it holds.
var edges = sync.OnceValue(func() *[across + 1]int32 {
	e := &[across + 1]int32{0: geometry.HalfTurn/2 + 1, across: -geometry.HalfTurn / 2}
	for i := 1; i < across; i++ {
		lat := math.Atan(math.Sinh(math.Pi * (1 - 2*float64(i)/across)))
		e[i] = int32(math.Ceil(lat / geometry.RadiansPerUnit))
	}
	return e
})

// Raster takes areas on, and then tells what is in each row of tiles.
type Raster struct {
	marks *scratch.Sorter[mark]
	edges *[across + 1]int32
	row   int  // of the last position
	last  mark // that touch made
}

// mark is something that an area does in a row of tiles.
type mark struct {
	area     uint32
	row      uint16
	from, to uint16 // the columns that its outline comes through, the last one included
	// crosses says that the outline crosses the middle of the row in column from.
	crosses bool
}

// New makes a Raster that sorts in some bytes of memory.
func New(dir *scratch.Dir, memory int64) *Raster {
	marks := scratch.NewSorter(dir, "contexts", memory, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.from, b.from))
	})
	return &Raster{marks: marks, edges: edges(), last: mark{from: 1}} // nothing is between columns 1 and 0
}

// Add takes an area on, with a number of its own.
func (r *Raster) Add(area uint32, g *geometry.Geometry) (err error) {
	if !closed(g) {
		for row := r.rowOf(g.Box.MaxY); row <= r.rowOf(g.Box.MinY); row++ {
			err = cmp.Or(err, r.touch(area, row, float64(g.Box.MinX), float64(g.Box.MaxX)))
		}
		return err
	}
	for line := range g.Lines {
		for i := 1; i < len(line) && err == nil; i++ {
			err = r.edge(area, line[i-1], line[i])
		}
	}
	return err
}

// closed tells whether an outline is closed: an even number of its lines end at each position. One around a pole is
// not: its lines end at the antimeridian, and only a test can tell what is inside.
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

// edge marks the tiles that an edge comes through, and where it crosses the middles of rows.
func (r *Raster) edge(area uint32, a, b geometry.Coord) error {
	first, last := r.rowOf(a.Y), r.rowOf(b.Y)
	if a.Y < b.Y {
		a, b, first, last = b, a, last, first
	}
	ax, ay, bx, by := float64(a.X), float64(a.Y), float64(b.X), float64(b.Y)
	at := func(y float64) float64 { return ax + (bx-ax)*((ay-y)/(ay-by)) }
	for row := first; row <= last; row++ {
		// Rows end between two units, and longitudes are rounded: one more on each side is none too few.
		north, south := float64(r.edges[row]), float64(r.edges[row+1])
		from, to := ax, bx
		if row > first {
			from = at(min(north+1, ay))
		}
		if row < last {
			to = at(max(south-1, by))
		}
		err := r.touch(area, row, min(from, to)-1, max(from, to)+1)
		if middle := (north+south)/2 + 0.25; ay > middle && by < middle { // no vertex is there
			err = cmp.Or(err, r.marks.Add(mark{area: area, row: uint16(row), from: column(at(middle)), crosses: true}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// touch marks tiles that the outline comes through, unless the mark before has them already.
func (r *Raster) touch(area uint32, row int, west, east float64) error {
	m := mark{area: area, row: uint16(row), from: column(west), to: column(east)}
	if m.area == r.last.area && m.row == r.last.row && m.from >= r.last.from && m.to <= r.last.to {
		return nil
	}
	r.last = m
	return r.marks.Add(m)
}

// column is that of a longitude, which rounding may have put beyond the antimeridian.
func column(x float64) uint16 {
	return uint16(min(max(math.Floor((x+geometry.HalfTurn)/geometry.FullTurn*across), 0), across-1))
}

// rowOf is the row of a latitude, which is most often near that of the one before.
func (r *Raster) rowOf(y int32) int {
	for ; y >= r.edges[r.row]; r.row-- {
	}
	for ; y < r.edges[r.row+1]; r.row++ {
	}
	return r.row
}

// Each yields runs of tiles, row by row: all columns from one up to another that have the same areas around them, and
// the same whose outlines come through. The areas are in the order of their numbers. What is in no area is left out.
func (r *Raster) Each(yield func(row, from, to uint32, around, crossing []uint32) error) error {
	s := &sweep{yield: yield}
	err := r.marks.Each(func(m *mark) (err error) {
		if s.row != uint32(m.row) {
			err = s.advance(across)
			s.areas, s.row, s.column = s.areas[:0], uint32(m.row), 0
		}
		err = cmp.Or(err, s.advance(uint32(m.from)))
		s.take(m)
		return err
	})
	return cmp.Or(err, s.advance(across))
}

// sweep goes through the rows from west to east.
type sweep struct {
	row, column      uint32
	areas            []state // in the order of their numbers
	around, crossing []uint32
	yield            func(row, from, to uint32, around, crossing []uint32) error
}

// state is where the sweep is in an area.
type state struct {
	area    uint32
	touched uint32 // the column from which its outline does not come through
	inside  bool   // beyond that
}

// take takes a mark in the sweep's column.
func (s *sweep) take(m *mark) {
	i, has := slices.BinarySearchFunc(s.areas, m.area, func(a state, n uint32) int { return cmp.Compare(a.area, n) })
	if !has {
		s.areas = slices.Insert(s.areas, i, state{area: m.area})
	}
	if a := &s.areas[i]; m.crosses {
		a.inside = !a.inside
	} else {
		a.touched = max(a.touched, uint32(m.to)+1)
	}
}

// advance goes up to a column.
func (s *sweep) advance(column uint32) error {
	for s.column < column {
		next := column
		s.around, s.crossing = s.around[:0], s.crossing[:0]
		for _, a := range s.areas {
			switch {
			case a.touched > s.column:
				s.crossing = append(s.crossing, a.area)
				next = min(next, a.touched)
			case a.inside:
				s.around = append(s.around, a.area)
			}
		}
		if len(s.around)+len(s.crossing) > 0 {
			if err := s.yield(s.row, s.column, next, s.around, s.crossing); err != nil {
				return err
			}
		}
		s.column = next
		s.areas = slices.DeleteFunc(s.areas, func(a state) bool { return !a.inside && a.touched <= next })
	}
	return nil
}
