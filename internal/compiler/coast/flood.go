package coast

import (
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// flood decides which cells are land of those that the extracts cover and no coast crosses (flood fill).
type flood struct {
	known, land *osm.Tiles
	// crossed has the cells that the coast crosses, each with its votes about its neighbours in the west, south, east and
	// north: 1 for land, -1 for ocean, 0 where a coast reaches that side.
	crossed map[uint32][4]int8
	// around has the votes of rings for their own cells, in which no coast reaches the border. A ring that was mapped the
	// wrong way round would flood all around it, so these count only if there are no others.
	around map[uint32]int8
}

// clearMajority is how many of ten votes must agree.
const clearMajority = 9

// flood decides about the covered cells and those with a coast.
func (c *Consumer) flood(ctx context.Context, covered *osm.Tiles) (*flood, error) {
	known := *covered
	f := &flood{&known, new(osm.Tiles), map[uint32][4]int8{}, map[uint32]int8{}}
	for i := range c.pieces.Len() {
		cell := uint32(c.pieces.Key(i))
		if f.hasCoast(cell) {
			continue // another piece of the same cell
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		known.Add(cell)
		if t := c.tile(cell); len(t.Lines) > 0 {
			f.crossed[cell] = t.sides()
		} else {
			f.around[cell] = t.around()
		}
	}
	f.forget()
	f.fill()
	return f, nil
}

// sides returns the votes of a tile about its neighbours; see flood.
func (t *tile) sides() (says [4]int8) {
	events, size := t.events(), t.size()
	for side := range says {
		from := int32(side) * size
		if slices.ContainsFunc(events, func(e event) bool { return e.place > from && e.place < from+size }) {
			continue
		}
		if says[side] = -1; t.landAfter(from, events) {
			says[side] = 1
		}
	}
	return says
}

// beside returns the cell some columns and rows from another one, at most at the border of the world.
func beside(cell uint32, columns, rows int) uint32 {
	const last = 1<<cellZoom - 1
	x, y := int(cell>>cellZoom)+columns, int(cell&last)+rows
	return uint32(max(0, min(x, last))<<cellZoom | max(0, min(y, last)))
}

// neighbours returns the cells in the west, south, east and north.
func neighbours(cell uint32) [4]uint32 {
	return [4]uint32{beside(cell, -1, 0), beside(cell, 0, 1), beside(cell, 1, 0), beside(cell, 0, -1)}
}

// vicinity returns a cell and those that are at most two steps away, some of them repeatedly.
func vicinity(cell uint32) []uint32 {
	all := []uint32{cell}
	for _, n := range neighbours(cell) {
		around := neighbours(n)
		all = append(append(all, n), around[:]...)
	}
	return all
}

// votes counts the votes of its neighbours about a cell.
func (f *flood) votes(cell uint32) (land, ocean int) {
	for side, n := range neighbours(cell) {
		switch f.crossed[n][(side+2)%4] {
		case 1:
			land++
		case -1:
			ocean++
		}
	}
	return land, ocean
}

// forget removes cells at the edge of the extracts that are near the coast of the outlines and far from any coast of
// the extracts. Extracts have nodes beyond their border, for example on ferries, without the coast there.
func (f *flood) forget() {
	if f.noCoast() {
		return
	}
	kept := new(osm.Tiles)
	for _, cell := range f.known.Sorted() {
		all := vicinity(cell)
		if slices.ContainsFunc(all, f.hasCoast) || inOutline(cell) != 0 ||
			!slices.ContainsFunc(all, func(n uint32) bool { return !f.known.Has(n) }) {
			kept.Add(cell)
		}
	}
	f.known = kept
}

func (f *flood) hasCoast(cell uint32) bool {
	_, crossed := f.crossed[cell]
	_, rings := f.around[cell]
	return crossed || rings
}

func (f *flood) noCoast() bool { return len(f.crossed)+len(f.around) == 0 }

// open reports whether a cell is known and no coast crosses it.
func (f *flood) open(cell uint32) bool {
	_, crossed := f.crossed[cell]
	return f.known.Has(cell) && !crossed
}

// fill decides about each part of the known cells. A part is a connected set of cells that no coast crosses.
func (f *flood) fill() {
	var part []uint32
	seen := new(osm.Tiles)
	reach := func(cell uint32) {
		if !seen.Has(cell) && f.open(cell) {
			seen.Add(cell)
			part = append(part, cell)
		}
	}
	for _, cell := range f.known.Sorted() {
		part = part[:0]
		reach(cell)
		for i := 0; i < len(part); i++ {
			for _, n := range neighbours(part[i]) {
				reach(n)
			}
		}
		f.decide(part)
	}
}

// decide decides about a part by the votes of its neighbours, if a clear majority agrees. If not, as around the border
// of an extract where the coast ends, each cell follows the nearest votes (spread).
func (f *flood) decide(part []uint32) {
	var land, ocean, weak int
	for _, cell := range part {
		l, o := f.votes(cell)
		land, ocean = land+l, ocean+o
		weak += int(f.around[cell])
	}
	switch all := land + ocean; {
	case f.noCoast():
		land = 1
	case max(land, ocean)*10 < all*clearMajority:
		f.spread(part)
		return
	case all == 0 && weak != 0:
		land = weak
	case all == 0:
		for _, cell := range part {
			if outlined(cellTile(cell)) {
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
}

// spread decides about a part cell by cell, beginning at those with votes. If the votes are equal, the outlines of
// countries decide.
func (f *flood) spread(part []uint32) {
	votes := make(map[uint32]int) // about the next cells
	for _, cell := range part {
		if land, ocean := f.votes(cell); land+ocean > 0 {
			votes[cell] = land - ocean
		} else if in := inOutline(cell); in != 0 {
			votes[cell] = in
		}
	}
	settled := new(osm.Tiles)
	for len(votes) > 0 {
		for cell, sum := range votes {
			settled.Add(cell)
			if sum > 0 || sum == 0 && outlined(cellTile(cell)) {
				f.land.Add(cell)
			}
		}
		further := make(map[uint32]int)
		for cell := range votes {
			for _, n := range neighbours(cell) {
				switch {
				case settled.Has(n) || !f.open(n):
				case f.land.Has(cell):
					further[n]++
				default:
					further[n]--
				}
			}
		}
		votes = further
	}
}

// outlined reports whether the middle of a tile is in the outlines of a country.
func outlined(t mapfile.Tile) bool {
	from, half := t.Origin(), t.Size()/2
	_, ok := country.Lookup(geo.Projected{X: from.X + half, Y: from.Y + half}.Degrees())
	return ok
}

// inOutline returns 1 for a cell that is far inside a country, -1 for one far out at sea, and 0 for one near the coast
// of the outlines.
func inOutline(cell uint32) int {
	const far = 2 // cells
	land := 0
	for i := range 9 {
		if outlined(cellTile(beside(cell, (i%3-1)*far, (i/3-1)*far))) {
			land++
		}
	}
	switch land {
	case 9:
		return 1
	case 0:
		return -1
	}
	return 0
}
