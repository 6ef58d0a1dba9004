package routes

import (
	"cmp"
	"context"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/routing"
)

// writeMode writes the sections of a mode.
func (b *builder) writeMode(ctx context.Context, mode region.Modes) error {
	names := routing.SectionsOf(mode)
	boundary := scratch.NewArray[routing.BoundaryArc](b.dir, "route-boundary")
	if err := b.findBoundary(mode, boundary); err != nil {
		return err
	}
	cells, err := b.writeCells(&names, boundary.Slice())
	if err := cmp.Or(err, direct(b.w, names.Boundary, boundary.Slice()), boundary.Free()); err != nil {
		return err
	}
	return b.writeWeights(ctx, mode, cells)
}

// findBoundary finds the arcs and further states of a mode that lead from one leaf cell into another.
func (b *builder) findBoundary(mode region.Modes, to *scratch.Array[routing.BoundaryArc]) error {
	found := scratch.NewSorter(b.dir, "route-crossing", b.dir.SortMemory(), func(x, y routing.BoundaryArc) int {
		return cmp.Or(cmp.Compare(x.To, y.To), cmp.Compare(x.State, y.State))
	})
	add := func(state, arc, last uint32) error {
		first, end := b.ends(arc>>1, last)
		switch {
		case first == end:
			return nil
		case arc&1 == 1:
			first, end = end, first
		}
		return found.Add(routing.BoundaryArc{State: state, From: first, To: end})
	}
	for base := range b.baseEdges() {
		last, flags, ok := b.runOf(mode, base)
		if !ok {
			continue
		}
		for way, set := range [...]int{roadgraph.OpenForwardSet, roadgraph.OpenBackwardSet} {
			if arc := 2*base + uint32(way); flags.Modes(set)&mode != 0 {
				if err := add(arc, arc, last); err != nil {
					return err
				}
			}
		}
	}
	for i := range b.states.Len() - 1 {
		if s := b.states.At(i); s.Mode == uint32(mode) {
			last, _, _ := b.runOf(mode, s.Arc>>1)
			if err := add(uint32(len(b.junctions)+i), s.Arc, last); err != nil {
				return err
			}
		}
	}
	return found.Each(func(a *routing.BoundaryArc) error { return to.Append(*a) })
}

// writeCells writes the cells of a mode, with their entries and exits, and returns them: their matrices are still to be
// filled in. They stay in a temporary file until the region is complete.
func (b *builder) writeCells(names *routing.Sections, boundary []routing.BoundaryArc) ([]routing.Cell, error) {
	total := 0
	for _, n := range b.counts {
		total += n
	}
	cells := scratch.NewArray[routing.Cell](b.dir, "route-cells")
	exits := scratch.NewArray[uint32](b.dir, "route-exits") // how many each cell has, then where the next one goes
	arcs := scratch.NewArray[uint32](b.dir, "route-arcs")
	all, err := cells.Extend(total + 1)
	outward, failed := exits.Extend(total)
	if err := cmp.Or(err, failed); err != nil {
		return nil, err
	}
	b.eachBorder(boundary, func(_ uint32, from, to int) {
		outward[from]++
		all[to].Form++ // entries
	})
	sum := uint32(0)
	for i := range outward {
		entries := all[i].Form
		all[i] = routing.Cell{Arcs: sum} // its entries are counted again
		outward[i], sum = sum+entries, sum+entries+outward[i]
	}
	all[total].Arcs = sum
	list, err := arcs.Extend(int(sum))
	if err != nil {
		return nil, err
	}
	b.eachBorder(boundary, func(i uint32, from, to int) {
		list[outward[from]] = i
		outward[from]++
		list[all[to].Arcs+all[to].Form] = i
		all[to].Form++
	})
	region.Add(b.w, names.Cells, all)
	return all, cmp.Or(direct(b.w, names.Arcs, list), exits.Free(), arcs.Free())
}

// eachBorder calls do with each arc of a boundary and the cells that it leaves and enters, on each level on which these
// differ.
func (b *builder) eachBorder(boundary []routing.BoundaryArc, do func(i uint32, from, to int)) {
	for i := range boundary {
		from, to := boundary[i].From, boundary[i].To
		do(uint32(i), int(from), int(to))
		first := b.counts[0]
		for level := 1; level < routing.Levels; level++ {
			x, y := b.leaves[from].Parents[level-1], b.leaves[to].Parents[level-1]
			if x == y {
				break // larger cells have both
			}
			do(uint32(i), first+int(x), first+int(y))
			first += b.counts[level]
		}
	}
}
