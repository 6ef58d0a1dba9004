package coast

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

// vote is what a neighbour with coast says that a cell is: land where it is positive, ocean where it is negative.
type vote struct {
	cell uint32
	weak bool // of rings that do not reach the border: one that was mapped the wrong way round would flood all around it
	land int8
}

// flood decides which of the known cells that no coast crosses are land.
type flood struct {
	known, crossed *extract.Tiles
	land           *extract.Tiles
	votes          *scratch.Array[vote]
	anyCoast       bool
}

// clear majority is at least so many votes of ten.
const clearMajority = 9

// collect takes the votes of the cells with coast, and marks those that it crosses.
func (f *flood) collect(dir *scratch.Dir, c *cells) error {
	sorter := scratch.NewSorter(dir, "coast-votes", dir.Memory/32, func(a, b vote) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.land, b.land))
	})
	err := c.each(func(cell uint32) error {
		f.anyCoast = true
		f.known.Add(cell)
		t := c.tile(cell)
		if len(t.lines) == 0 {
			if around := t.around(); around != 0 {
				return sorter.Add(vote{cell: cell, land: around, weak: true})
			}
			return nil
		}
		f.crossed.Add(cell)
		events := t.events()
		for side, neighbour := range neighbours(cell) {
			land, changes := t.side(events, side)
			if len(changes) > 0 || neighbour == cell {
				continue
			}
			v := vote{cell: neighbour, land: -1}
			if land {
				v.land = 1
			}
			if err := sorter.Add(v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return sorter.Each(func(v *vote) error { return f.votes.Append(*v) })
}

// around is what the greatest of a tile's rings says that is around all of them.
func (t *tile) around() int8 {
	greatest := int64(0)
	for _, r := range t.rings {
		if a := geom.Area2(r); max(a, -a) > max(greatest, -greatest) {
			greatest = a
		}
	}
	return int8(cmp.Compare(greatest, 0))
}

// neighbours are the cells in the west, south, east and north. At the border of the world, and where a neighbour would
// be beyond it, that is the cell itself.
func neighbours(cell uint32) [4]uint32 {
	const last = 1<<cellZoom - 1
	x, y := cell>>cellZoom, cell&last
	at := func(x, y uint32) uint32 { return min(x, last)<<cellZoom | min(y, last) }
	n := [4]uint32{cell, at(x, y+1), at(x+1, y), cell}
	if x > 0 {
		n[0] = at(x-1, y)
	}
	if y > 0 {
		n[3] = at(x, y-1)
	}
	return n
}

// forget forgets those of the known cells at the edge of what is known that have no coast, nor a neighbour with coast,
// and lie about the coast of the outlines. An extract has nodes beyond its border, on ferries for one, without the
// coast that is there.
func (f *flood) forget(c *cells) {
	near := new(extract.Tiles)
	_ = c.each(func(cell uint32) error { // does not fail
		for _, n := range block(cell) {
			near.Add(n)
		}
		return nil
	})
	kept := new(extract.Tiles)
	for _, cell := range f.known.Sorted() {
		if near.Has(cell) || !f.anyCoast || f.inside(cell) || inOutline(cell) != 0 {
			kept.Add(cell)
		}
	}
	f.known = kept
}

// inside says whether all cells around a cell are known.
func (f *flood) inside(cell uint32) bool {
	for _, n := range block(cell) {
		if !f.known.Has(n) {
			return false
		}
	}
	return true
}

// block is a cell with the eight around it, some of them repeated.
func block(cell uint32) []uint32 {
	all := []uint32{cell}
	for _, n := range neighbours(cell) {
		around := neighbours(n)
		all = append(append(all, n), around[:]...)
	}
	return all
}

// fill decides one part of the known cells after the other. A part is what hangs together and no coast crosses.
func (f *flood) fill(dir *scratch.Dir) error {
	part := scratch.NewArray[uint32](dir, "coast-part")
	defer func() { _ = part.Free() }()
	seen := new(extract.Tiles)
	for _, cell := range f.known.Sorted() {
		if seen.Has(cell) || f.crossed.Has(cell) {
			continue
		}
		part.Truncate(0)
		seen.Add(cell)
		if err := part.Append(cell); err != nil {
			return err
		}
		for i := 0; i < part.Len(); i++ {
			for _, n := range neighbours(part.Slice()[i]) {
				if f.known.Has(n) && !f.crossed.Has(n) && !seen.Has(n) {
					seen.Add(n)
					if err := part.Append(n); err != nil {
						return err
					}
				}
			}
		}
		if err := f.decide(dir, part.Slice()); err != nil {
			return err
		}
	}
	return nil
}

// decide decides about a part: as most of its neighbours say, where most of them agree. Where they do not, as around an
// extract's border where the coast ends, each cell follows those that are nearest to it.
func (f *flood) decide(dir *scratch.Dir, part []uint32) error {
	if !f.anyCoast {
		f.set(part, true)
		return nil
	}
	var land, all, weak int
	for _, cell := range part {
		for _, v := range f.votesFor(cell) {
			switch {
			case v.weak:
				weak += int(v.land)
			case v.land > 0:
				land, all = land+1, all+1
			default:
				all++
			}
		}
	}
	switch {
	case all > 0 && (land*10 >= all*clearMajority || (all-land)*10 >= all*clearMajority):
		f.set(part, land*2 > all)
	case all > 0:
		return f.spread(dir, part)
	case weak != 0:
		f.set(part, weak > 0)
	default:
		for _, cell := range part {
			if outlined(middle(cell)) {
				land++
			}
		}
		f.set(part, land*2 > len(part))
	}
	return nil
}

func (f *flood) set(part []uint32, land bool) {
	for _, cell := range part {
		if land {
			f.land.Add(cell)
		}
	}
}

func middle(cell uint32) mercator.Point {
	return squareOf(cellZoom, cell>>cellZoom, cell&(1<<cellZoom-1)).middle()
}

func (f *flood) votesFor(cell uint32) []vote {
	all := f.votes.Slice()
	compare := func(v vote, cell uint32) int { return cmp.Compare(v.cell, cell) }
	from, _ := slices.BinarySearchFunc(all, cell, compare)
	to := from
	for to < len(all) && all[to].cell == cell {
		to++
	}
	return all[from:to]
}

// spread decides about a part from where it is known what it is, cell by cell.
func (f *flood) spread(dir *scratch.Dir, part []uint32) error {
	front, next := scratch.NewArray[uint32](dir, "coast-front"), scratch.NewArray[uint32](dir, "coast-front")
	defer func() { _, _ = front.Free(), next.Free() }()
	reached, settled := new(extract.Tiles), new(extract.Tiles)
	for _, cell := range part {
		sum, votes := 0, 0
		for _, v := range f.votesFor(cell) {
			if !v.weak {
				sum, votes = sum+int(v.land), votes+1
			}
		}
		if votes == 0 {
			if sum = inOutline(cell); sum == 0 {
				continue
			}
		}
		reached.Add(cell)
		f.settle(cell, sum)
		if err := front.Append(cell); err != nil {
			return err
		}
	}
	for front.Len() > 0 {
		next.Truncate(0)
		for _, cell := range front.Slice() {
			settled.Add(cell)
			for _, n := range neighbours(cell) {
				if f.known.Has(n) && !f.crossed.Has(n) && !reached.Has(n) {
					reached.Add(n)
					if err := next.Append(n); err != nil {
						return err
					}
				}
			}
		}
		for _, cell := range next.Slice() {
			sum := 0
			for _, n := range neighbours(cell) {
				if settled.Has(n) && f.land.Has(n) {
					sum++
				} else if settled.Has(n) {
					sum--
				}
			}
			f.settle(cell, sum)
		}
		front, next = next, front
	}
	return nil
}

// settle makes a cell land, or ocean, or what the outlines of countries say where the votes are equal.
func (f *flood) settle(cell uint32, sum int) {
	if sum > 0 || sum == 0 && outlined(middle(cell)) {
		f.land.Add(cell)
	}
}

func outlined(p mercator.Point) bool {
	_, ok := country.Lookup(p.Degrees())
	return ok
}

// inOutline is 1 for a cell that is far inside of a country, -1 for one that is far out at sea, 0 for one that is near
// the coast of the outlines.
func inOutline(cell uint32) int {
	const far = 2 // cells
	land, all := 0, 0
	m := middle(cell)
	for dx := int32(-far); dx <= far; dx += far {
		for dy := int32(-far); dy <= far; dy += far {
			p := mercator.Point{X: m.X + dx<<cellShift, Y: m.Y + dy<<cellShift}
			all++
			if outlined(p) {
				land++
			}
		}
	}
	switch land {
	case all:
		return 1
	case 0:
		return -1
	}
	return 0
}
