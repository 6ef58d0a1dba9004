package routing

import (
	"cmp"
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Overlay is the cells of one mode. It is safe for concurrent use. Its methods read the region file: callers outside
// the engines recover with region.Recover.
type Overlay struct {
	Graph *roadgraph.Graph

	mode     region.Modes
	edges    region.View[EdgeInfo]
	pairs    region.View[Ends]
	blocks   region.View[uint32]
	leaves   region.View[Leaf]
	members  region.View[byte]
	boundary region.View[BoundaryArc]
	cells    region.View[Cell]
	arcs     region.View[uint32]
	weights  region.View[byte]
	first    [Levels + 1]int // where the cells of each level begin in cells
}

// OpenOverlay finds the cells of a mode on its graph. It returns nil if the region has none.
func OpenOverlay(f *region.File, g *roadgraph.Graph, mode region.Modes) (*Overlay, error) {
	o := &Overlay{Graph: g, mode: mode}
	names := SectionsOf(mode)
	if err := cmp.Or(open(f, EdgesSection, &o.edges), open(f, EndsSection, &o.pairs), open(f, BlocksSection, &o.blocks),
		open(f, LeavesSection, &o.leaves), open(f, MembersSection, &o.members), open(f, names.Boundary, &o.boundary),
		open(f, names.Cells, &o.cells), open(f, names.Arcs, &o.arcs), open(f, names.Weights, &o.weights)); err != nil {
		return nil, err
	}
	leaves := o.NumLeaves()
	if leaves == 0 || o.cells.Len() == 0 {
		return nil, nil
	}
	last := o.leaves.At(leaves - 1)
	o.first[1] = leaves
	for level := 1; level < Levels; level++ {
		o.first[level+1] = o.first[level] + int(last.Parents[level-1]) + 1
	}
	if o.edges.Len() != g.NumBaseEdges() || o.cells.Len() != o.first[Levels]+1 {
		return nil, fmt.Errorf("%s is damaged: its cells do not fit its roads", f.Path())
	}
	return o, nil
}

func open[T any](f *region.File, name string, v *region.View[T]) (err error) {
	*v, err = region.Section[T](f, name)
	return err
}

// NumLeaves returns the number of leaf cells.
func (o *Overlay) NumLeaves() int { return max(o.leaves.Len()-1, 0) }

// ends returns the leaf cells of the first and the last node of an edge.
func (o *Overlay) ends(edge uint32) (first, last uint32) {
	first, _ = o.leavesOf(edge)
	_, last = o.leavesOf(o.Graph.LastBaseEdge(edge))
	return first, last
}

// leavesOf returns the leaf cells of the first and the last node of a base edge.
func (o *Overlay) leavesOf(base uint32) (first, last uint32) {
	e := o.pairs.At(int(*o.blocks.At(int(base / EdgeBlock))) + o.edges.At(int(base)).Ends())
	return e.First, e.Last
}

// isolated reports whether an edge is isolated.
func (o *Overlay) isolated(edge uint32) bool { return o.edges.At(int(edge)).Isolated()&o.mode != 0 }

// cellOf returns the index in cells of the cell of a level that has a leaf cell.
func (o *Overlay) cellOf(level int, leaf uint32) int {
	if level == 0 {
		return int(leaf)
	}
	return o.first[level] + int(o.leaves.At(int(leaf)).Parents[level-1])
}

// border is the entries and exits of a cell, as indexes into boundary, in ascending order.
type border struct{ entries, exits []uint32 }

func (o *Overlay) borderOf(cell int) border {
	c := o.cells.At(cell)
	arcs := o.arcs.Range(int(c.Arcs), int(o.cells.At(cell+1).Arcs))
	return border{arcs[:c.Entries()], arcs[c.Entries():]}
}

// indexOf returns the index of an arc in a list of a border.
func indexOf(arcs []uint32, arc uint32) int {
	i, j := 0, len(arcs)
	for i < j {
		if h := int(uint(i+j) >> 1); arcs[h] < arc {
			i = h + 1
		} else {
			j = h
		}
	}
	return i
}
