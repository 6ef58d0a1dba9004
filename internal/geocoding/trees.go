package geocoding

import (
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// openTree is a tree during a search. Level 1 is the leaves, or the blocks of the general features; the levels above
// are boxes over them.
type openTree struct {
	placefile.Tree
	layout geo.Tree // over the leaves
	number uint32
}

// tree reads a tree; false if it has no items.
func (x *Index) tree(number uint32) (t openTree, ok bool) {
	tree := x.trees.At(int(number))
	if tree.Count == 0 {
		return t, false
	}
	return openTree{*tree, geo.NewTree(tree.LeafCount()), number}, true
}

// boxes returns the boxes of nodes of a level.
func (x *Index) boxes(t *openTree, level int, from, to uint32, buffer *[geo.TreeFanout]geo.Box) []geo.Box {
	if level > 1 {
		first := int(t.Levels) + int(t.layout.First[level-1])
		return x.levels.Range(first+int(from), first+int(to))
	}
	leaves := x.leaves.Range(int(t.Leaves)+int(from), int(t.Leaves)+int(to))
	for i := range leaves {
		buffer[i] = leaves[i].Box
	}
	return buffer[:to-from]
}

// leafCount is how many items a leaf has.
func (t *openTree) leafCount(leaf uint32) int {
	return int(min(t.Count-leaf*placefile.Fanout, placefile.Fanout))
}

// search searches a tree.
func (s *search) search(number uint32) {
	if t, ok := s.x.tree(number); ok {
		s.descend(&t, t.layout.Height+1, 0, t.layout.Count[t.layout.Height])
	}
}

// descend visits nodes of a level and what is below them, the nearest first.
func (s *search) descend(t *openTree, level int, from, to uint32) {
	s.o.Spend(int(to - from))
	var boxes [geo.TreeFanout]geo.Box
	var near [geo.TreeFanout]geometry.Near
	n := s.o.Nearest(&near, s.x.boxes(t, level, from, to, &boxes), s.limit)
	for i := range near[:n] {
		if near[i].Haversine > s.limit {
			return
		}
		if node := from + near[i].Index; level > 1 {
			first, last := t.layout.Children(level-1, node)
			s.descend(t, level-1, first, last)
		} else {
			s.leaf(t, node)
		}
	}
}

// leaf visits the items of a leaf.
func (s *search) leaf(t *openTree, leaf uint32) {
	n := t.leafCount(leaf)
	if t.number != placefile.TreeGeneral && t.number < placefile.FixedTrees {
		var items [placefile.Fanout]*placefile.Settlement
		first := int(t.Items) + int(leaf)*placefile.Fanout
		all := s.x.settlements.Range(first, first+n)
		for i := range all {
			items[i] = &all[i]
		}
		s.among(items[:n])
		return
	}
	s.o.Spend(n)
	var items [placefile.Fanout]uint32
	var boxes [geo.TreeFanout]geo.Box
	if t.number == placefile.TreeGeneral {
		block := s.x.blocks.At(int(leaf))
		for i := range boxes[:n] {
			items[i], boxes[i] = leaf*placefile.Fanout+uint32(i), block.Box(i)
		}
	} else {
		at := int(t.Items) + int(s.x.leaves.At(int(t.Leaves)+int(leaf)).At)
		for i, f := range placefile.ReadItems(slice(&s.x.items, at, placefile.ItemBytes), n, &items) {
			boxes[i] = s.x.blocks.At(int(f / placefile.Fanout)).Box(int(f % placefile.Fanout))
		}
	}
	var near [geo.TreeFanout]geometry.Near
	n = s.o.Nearest(&near, boxes[:n], s.limit)
	for i := range near[:n] {
		if near[i].Haversine > s.limit {
			return
		}
		s.visit(items[near[i].Index&(placefile.Fanout-1)])
	}
}

// runOf returns the run that contains the tile of a position.
func (x *Index) runOf(p orb.Point) placefile.Run {
	tile := placefile.ContextTile(p)
	from, to := 0, x.runs.Len() // the first run after the tile
	for from < to {
		if middle := int(uint(from+to) / 2); x.runs.At(middle).First <= tile {
			from = middle + 1
		} else {
			to = middle
		}
	}
	if from == 0 {
		return placefile.Run{}
	}
	return *x.runs.At(from - 1)
}

// enclose finds the areas that contain the search's origin: those around its whole tile, and those that cross the tile
// and contain the origin.
func (s *search) enclose(context uint32) {
	s.around = placefile.Enclosing{}
	c := placefile.ReadContext(s.x.contexts.String(uint64(context)))
	for n, contains, ok := c.Next(); ok; n, contains, ok = c.Next() {
		s.o.Spend(1)
		block := s.x.blocks.At(int(n / placefile.Fanout))
		if box := block.Box(int(n % placefile.Fanout)); !geometry.Holds(&box, &s.o) {
			continue
		}
		s.o.Spend(visitSteps)
		f := s.x.feature(n)
		if g := s.x.geometry(&f); !contains && !g.Contains(&s.o) {
			continue
		}
		r := s.x.details(&f, placefile.DetailBytes)
		if a, ok := f.ReadArea(&r); ok {
			s.around.Add(n, &a, f.Extent)
		}
	}
}
