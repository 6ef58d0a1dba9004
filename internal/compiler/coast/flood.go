package coast

import (
	"cmp"
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/inorder"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

// flood decides which of the known cells that no coast crosses are land.
type flood struct {
	coast                *Consumer
	known, crossed, land *osm.Tiles
	// coasts are the cells with coast, in order.
	coasts *scratch.Array[coastCell]
}

// coastCell is what a cell with coast says of its neighbours and of itself: positive for land, negative for ocean, 0
// for nothing.
type coastCell struct {
	cell  uint32
	sides [4]int8 // of the neighbours, where no coast reaches the side
	// around is said by rings that do not reach the border. One that was mapped the wrong way round would flood all
	// around it: so it counts only where nothing else is said.
	around int8
}

// clearMajority is how many votes of ten are one at least.
const clearMajority = 9

// collect looks at the cells with coast, marks those that it crosses, and forgets what is not known after all.
func (f *flood) collect(ctx context.Context) error {
	err := inorder.Run(ctx, func(give func(uint32) bool) { f.coast.cells(give) }, f.look, func(c coastCell) error {
		f.known.Add(c.cell)
		return f.coasts.Append(c)
	})
	f.forget()
	return err
}

// look looks at a cell with coast.
func (f *flood) look(cell uint32) (coastCell, error) {
	c := coastCell{cell: cell}
	t := f.coast.tile(cell)
	if len(t.lines) == 0 {
		c.around = t.around()
		return c, nil
	}
	f.crossed.Add(cell)
	events := t.events()
	for side := range c.sides {
		if land, changes := t.side(events, side); len(changes) == 0 && land {
			c.sides[side] = 1
		} else if len(changes) == 0 {
			c.sides[side] = -1
		}
	}
	return c, nil
}

// at is what a cell says, if it has coast.
func (f *flood) at(cell uint32) (c coastCell) {
	all := f.coasts.Slice()
	compare := func(c coastCell, cell uint32) int { return cmp.Compare(c.cell, cell) }
	if i, found := slices.BinarySearchFunc(all, cell, compare); found {
		c = all[i]
	}
	return c
}

// votes counts what the neighbours of a cell say that it is.
func (f *flood) votes(cell uint32) (land, ocean int) {
	for side, n := range neighbours(cell) {
		if n == cell || !f.crossed.Has(n) {
			continue
		}
		c := f.at(n)
		switch c.sides[(side+2)%4] {
		case 1:
			land++
		case -1:
			ocean++
		}
	}
	return land, ocean
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
func (f *flood) forget() {
	near := new(osm.Tiles)
	for _, c := range f.coasts.Slice() {
		for _, n := range block(c.cell) {
			near.Add(n)
		}
	}
	kept := new(osm.Tiles)
	for _, cell := range f.known.Sorted() {
		if near.Has(cell) || f.coasts.Len() == 0 || f.inside(cell) || inOutline(cell) != 0 {
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
func (f *flood) fill(ctx context.Context) error {
	part, seen := scratch.NewArray[uint32](f.coast.dir, "coast-part"), new(osm.Tiles)
	for _, cell := range f.known.Sorted() {
		part.Truncate(0)
		if err := f.reach(part, seen, cell); err != nil {
			return err
		}
		for i := 0; i < part.Len(); i++ {
			around := neighbours(part.Slice()[i])
			if err := cmp.Or(ctx.Err(), f.reach(part, seen, around[:]...)); err != nil {
				return err
			}
		}
		if err := f.decide(part.Slice()); err != nil {
			return err
		}
	}
	return part.Free()
}

// reach adds those of some cells to a queue that were not seen before, are known, and have no coast that crosses them.
func (f *flood) reach(queue *scratch.Array[uint32], seen *osm.Tiles, cells ...uint32) error {
	for _, cell := range cells {
		if seen.Has(cell) || f.crossed.Has(cell) || !f.known.Has(cell) {
			continue
		}
		seen.Add(cell)
		if err := queue.Append(cell); err != nil {
			return err
		}
	}
	return nil
}

// decide decides about a part: as most of its neighbours say, where most of them agree. Where they do not, as around an
// extract's border where the coast ends, each cell follows those that are nearest to it.
func (f *flood) decide(part []uint32) error {
	var land, ocean, weak int
	for _, cell := range part {
		l, o := f.votes(cell)
		land, ocean = land+l, ocean+o
		weak += int(f.at(cell).around)
	}
	switch all := land + ocean; {
	case f.coasts.Len() == 0:
		land = 1
	case all > 0 && max(land, ocean)*10 < all*clearMajority:
		return f.spread(part)
	case all == 0 && weak != 0:
		land = weak
	case all == 0:
		for _, cell := range part {
			if outlined(cellSquare(cell).middle()) {
				land++
			} else {
				ocean++
			}
		}
	}
	if land > ocean {
		for _, cell := range part {
			f.land.Add(cell)
		}
	}
	return nil
}

// spread decides about a part from where it is known what it is, cell by cell.
func (f *flood) spread(part []uint32) error {
	queue, reached, settled := scratch.NewArray[uint32](f.coast.dir, "coast-front"), new(osm.Tiles), new(osm.Tiles)
	for _, cell := range part {
		land, ocean := f.votes(cell)
		sum := land - ocean
		if land+ocean == 0 {
			if sum = inOutline(cell); sum == 0 {
				continue
			}
		}
		f.settle(cell, sum)
		if err := f.reach(queue, reached, cell); err != nil {
			return err
		}
	}
	for from, to := 0, queue.Len(); from < to; from, to = to, queue.Len() {
		for _, cell := range queue.Slice()[from:to] {
			settled.Add(cell)
		}
		for i := from; i < to; i++ {
			around := neighbours(queue.Slice()[i])
			if err := f.reach(queue, reached, around[:]...); err != nil {
				return err
			}
		}
		for _, cell := range queue.Slice()[to:] {
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
	}
	return queue.Free()
}

// settle makes a cell land, or ocean, or what the outlines of countries say where the votes are equal.
func (f *flood) settle(cell uint32, sum int) {
	if sum > 0 || sum == 0 && outlined(cellSquare(cell).middle()) {
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
	m := cellSquare(cell).middle()
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
