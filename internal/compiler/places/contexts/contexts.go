// Package contexts finds for each tile of a grid the areas that contain all of it, and those whose outlines come
// through it. It keeps no more in memory than one row of tiles.
package contexts

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// Raster takes areas on, and then tells what is in each row of tiles.
type Raster struct {
	grid  *grid
	marks *scratch.Sorter[mark]

	last mark // of the area that is being added
	left int  // how many more marks it may have
}

// mark is something that an area does in a row of tiles.
type mark struct {
	area     uint32
	row      uint16
	from, to uint16 // the columns that its outline comes through, the last one included
	// crosses says that the outline crosses the middle of the row, east of the middles of the columns before from.
	crosses bool
}

// maxMarks is how many marks an area may have. The largest countries have a tenth as many. One that would have more is
// taken to come through all tiles of its box.
const maxMarks = 1 << 22

// New makes a Raster that sorts in some bytes of memory.
func New(dir *scratch.Dir, memory int64) *Raster {
	return &Raster{grid: newGrid(), marks: scratch.NewSorter(dir, "contexts", memory, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.area, b.area), cmp.Compare(a.from, b.from),
			cmp.Compare(a.to, b.to))
	})}
}

// Add takes an area on, with a number of its own.
func (r *Raster) Add(area uint32, g *geometry.Geometry) (err error) {
	r.last, r.left = mark{area: area, from: 1}, maxMarks // nothing is between columns 1 and 0
	for line := range g.Lines {
		for i := 1; i < len(line) && err == nil && r.left > 0; i++ {
			err = r.edge(line[i-1], line[i])
		}
	}
	west, east := r.grid.column(float64(g.Box.MinX)), r.grid.column(float64(g.Box.MaxX))
	if r.left <= 0 {
		for row := r.grid.row(g.Box.MaxY); row <= r.grid.row(g.Box.MinY); row++ {
			err = cmp.Or(err, r.touch(row, west, east))
		}
	}
	for _, end := range openEnds(g) { // what is inside is another thing above them than below
		err = cmp.Or(err, r.touch(r.grid.row(end.Y), west, east))
	}
	return err
}

// openEnds returns where the outline of an area is not closed, as around a pole: the positions at which an odd number
// of its lines end.
func openEnds(g *geometry.Geometry) []geometry.Coord {
	var sum geometry.Coord // of all ends, in which those that come in pairs leave nothing
	for line := range g.Lines {
		for _, c := range [...]geometry.Coord{line[0], line[len(line)-1]} {
			hash := (uint64(uint32(c.X))<<32 | uint64(uint32(c.Y))) * 0x9e3779b97f4a7c15
			sum.X, sum.Y = sum.X^int32(hash>>32), sum.Y^int32(hash)
		}
	}
	if sum == (geometry.Coord{}) {
		return nil
	}
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
	ends := make([]geometry.Coord, 0, len(odd))
	for c := range odd {
		ends = append(ends, c)
	}
	return ends
}

// edge marks the tiles that an edge comes through, and where it crosses the middles of rows.
func (r *Raster) edge(a, b geometry.Coord) (err error) {
	if a.Y < b.Y {
		a, b = b, a
	}
	at := func(y float64) float64 { // the longitude at a latitude between the ends
		if a.Y == b.Y {
			return float64(a.X)
		}
		return float64(a.X) + (float64(b.X)-float64(a.X))*((float64(a.Y)-y)/(float64(a.Y)-float64(b.Y)))
	}
	for row, last := r.grid.row(a.Y), r.grid.row(b.Y); row <= last && err == nil && r.left > 0; row++ {
		// Rows end between two units, and longitudes are rounded: one more on each side is none too few.
		north, south := float64(r.grid.lats[row]), float64(r.grid.lats[row+1])
		from, to := at(min(north+1, float64(a.Y))), at(max(south-1, float64(b.Y)))
		if a.Y == b.Y {
			to = float64(b.X)
		}
		err = r.touch(row, r.grid.column(min(from, to)-1), r.grid.column(max(from, to)+1))
		if middle := (north+south)/2 + 0.25; float64(a.Y) > middle && float64(b.Y) < middle { // no vertex is there
			err = cmp.Or(err, r.cross(row, at(middle)))
		}
	}
	return err
}

// touch marks tiles that the outline comes through, unless the mark before has them already.
func (r *Raster) touch(row, from, to int) error {
	m := mark{area: r.last.area, row: uint16(row), from: uint16(from), to: uint16(to)}
	if m.row == r.last.row && m.from >= r.last.from && m.to <= r.last.to {
		return nil
	}
	r.last = m
	r.left--
	return r.marks.Add(m)
}

// cross marks where the outline crosses the middle of a row.
func (r *Raster) cross(row int, x float64) error {
	column := r.grid.column(x)
	if r.grid.middle(column) < x {
		column++
	}
	r.left--
	return r.marks.Add(mark{area: r.last.area, row: uint16(row), from: uint16(column), crosses: true})
}

// span is the columns of a row from one up to another that an area contains, or that its outline comes through.
type span struct {
	from, to uint32
	area     uint32
	crossed  bool
}

// Each yields runs of tiles, row by row: all columns from one up to another that have the same areas around them, and
// the same whose outlines come through. The areas are in the order of their numbers. What is in no area is left out.
// box is that of an area.
func (r *Raster) Each(box func(area uint32) boxtree.Box,
	yield func(row, from, to uint32, around, crossing []uint32) error) error {
	s := &sweep{yield: yield}
	var group []mark // those of one area in a row
	end := func() {
		if len(group) > 0 {
			s.add(group, uint32(r.grid.column(float64(box(group[0].area).MinX))))
			group = group[:0]
		}
	}
	err := r.marks.Each(func(m *mark) error {
		if len(group) > 0 && (group[0].area != m.area || group[0].row != m.row) {
			end()
		}
		var err error
		if s.row != uint32(m.row) {
			err = s.run()
			s.row = uint32(m.row)
		}
		group = append(group, *m)
		return err
	})
	end()
	return cmp.Or(err, s.run())
}

// sweep goes through the rows.
type sweep struct {
	row     uint32
	spans   []span
	touched []span // of an area
	yield   func(row, from, to uint32, around, crossing []uint32) error
}

// add finds the spans of an area, which begins at a column: its tiles are inside where a ray to the east crosses the
// outline an odd number of times.
func (s *sweep) add(marks []mark, west uint32) {
	area := marks[0].area
	var inside []uint32 // from, to, from, to, …
	s.touched = s.touched[:0]
	for _, m := range marks {
		from, to := uint32(m.from), uint32(m.to)+1
		if n := len(s.touched) - 1; m.crosses {
			inside = append(inside, from)
		} else if n >= 0 && from <= s.touched[n].to {
			s.touched[n].to = max(s.touched[n].to, to)
		} else {
			s.touched = append(s.touched, span{from, to, area, true})
		}
	}
	if len(inside)%2 == 1 { // the outline is not closed: only a test can tell
		s.touched = append(s.touched, span{min(west, inside[0]), inside[0], area, true})
		s.touched = merged(s.touched)
		inside = inside[1:]
	}
	s.spans = append(s.spans, s.touched...)
	k := 0
	for i := 0; i < len(inside); i += 2 {
		from, to := inside[i], inside[i+1]
		for ; k < len(s.touched) && s.touched[k].to <= from; k++ {
		}
		for _, t := range s.touched[k:] {
			if t.from >= to {
				break
			}
			if t.from > from {
				s.spans = append(s.spans, span{from, t.from, area, false})
			}
			from = max(from, t.to)
		}
		if from < to {
			s.spans = append(s.spans, span{from, to, area, false})
		}
	}
}

// merged joins spans of one area that overlap.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := spans[:1]
	for _, s := range spans[1:] {
		if last := &out[len(out)-1]; s.from <= last.to {
			last.to = max(last.to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// run yields the runs of the row, and forgets its spans.
func (s *sweep) run() error {
	slices.SortFunc(s.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	ends := make([]uint32, 0, 2*len(s.spans))
	for _, p := range s.spans {
		ends = append(ends, p.from, p.to)
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	var here []span
	var around, crossing []uint32
	next := 0
	for i, from := range ends {
		here = slices.DeleteFunc(here, func(p span) bool { return p.to <= from })
		for ; next < len(s.spans) && s.spans[next].from == from; next++ {
			here = append(here, s.spans[next])
		}
		if len(here) == 0 {
			continue
		}
		around, crossing = around[:0], crossing[:0]
		for _, p := range here {
			if p.crossed {
				crossing = append(crossing, p.area)
			} else {
				around = append(around, p.area)
			}
		}
		slices.Sort(around)
		slices.Sort(crossing)
		if err := s.yield(s.row, from, ends[i+1], around, crossing); err != nil {
			return err
		}
	}
	s.spans = s.spans[:0]
	return nil
}
