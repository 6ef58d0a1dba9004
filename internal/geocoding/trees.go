package geocoding

import (
	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// openTree is a tree that is being searched. Its level 1 is the leaves, or the blocks of the general features; the
// levels above are those of boxes over them.
type openTree struct {
	placefile.Tree
	layout  boxtree.Tree // over the leaves
	general bool         // that of the general features
	fixed   bool         // another one that every region has
}

// tree reads a tree, false where it has no items.
func (x *Index) tree(number uint32) (t openTree, ok bool) {
	tree := x.trees.At(int(number))
	if tree.Count == 0 {
		return t, false
	}
	return openTree{*tree, boxtree.New(tree.LeafCount()), number == placefile.TreeGeneral,
		number != placefile.TreeGeneral && number < placefile.FixedTrees}, true
}

// top is the level of a tree that a search begins with, and how many nodes it has.
func (t *openTree) top() (level int, nodes uint32) {
	return t.layout.Height + 1, t.layout.Count[t.layout.Height]
}

// boxes returns those of nodes of a level.
func (x *Index) boxes(t *openTree, level int, from, to uint32, buffer *[boxtree.Fanout]boxtree.Box) []boxtree.Box {
	if level > 1 {
		first := int(t.Levels) + int(t.layout.First[level-1])
		return x.levels.Range(first+int(from), first+int(to))
	}
	for i := range buffer[:to-from] {
		if node := int(from) + i; t.general {
			buffer[i] = x.blocks.At(node).All()
		} else {
			buffer[i] = x.leaves.At(int(t.Leaves) + node).Box
		}
	}
	return buffer[:to-from]
}

// leafCount is how many items a leaf has.
func (t *openTree) leafCount(leaf uint32) int {
	return int(min(t.Count-leaf*placefile.Fanout, placefile.Fanout))
}

// leafItems returns the features of a leaf of the general tree or that of a term.
func (x *Index) leafItems(t *openTree, leaf uint32, buffer *[placefile.Fanout]uint32) []uint32 {
	n := t.leafCount(leaf)
	if !t.general {
		at := int(t.Items) + int(x.leaves.At(int(t.Leaves)+int(leaf)).At)
		return placefile.ReadItems(slice(&x.items, at, placefile.ItemBytes), n, buffer)
	}
	for i := range buffer[:n] {
		buffer[i] = leaf*placefile.Fanout + uint32(i)
	}
	return buffer[:n]
}

// fixedItems returns the items of a leaf of another tree.
func (x *Index) fixedItems(t *openTree, leaf uint32) []placefile.FixedItem {
	first := (int(t.Leaves) + int(leaf)) * placefile.Fanout
	return x.fixed.Range(first, first+t.leafCount(leaf))
}

// open adds a tree to the search.
func (s *search) open(number uint32) {
	t, ok := s.x.tree(number)
	if !ok {
		return
	}
	s.trees = append(s.trees, t)
	level, nodes := t.top()
	s.expand(uint16(len(s.trees)-1), level, 0, nodes)
}

// expand puts nodes of a level into the queue.
func (s *search) expand(number uint16, level int, from, to uint32) {
	s.o.Spend(int(to - from))
	var boxes [boxtree.Fanout]boxtree.Box
	var bounds [boxtree.Fanout]float64
	near := s.x.boxes(&s.trees[number], level, from, to, &boxes)
	s.o.Bounds(&bounds, near)
	for i, h := range bounds[:len(near)] {
		if h <= s.limit {
			s.queue.Push(h, candidate{from + uint32(i), number, int8(level)})
		}
	}
}

// descend looks at what is below a node of a tree.
func (s *search) descend(c candidate) {
	t := &s.trees[c.tree]
	if c.level > 1 {
		from, to := t.layout.Children(int(c.level)-1, c.node)
		s.expand(c.tree, int(c.level)-1, from, to)
		return
	}
	if !t.fixed {
		var items [placefile.Fanout]uint32
		s.openList(s.x.leafItems(t, c.node, &items))
		return
	}
	var b batch
	items := s.x.fixedItems(t, c.node)
	for i := range items {
		item := &items[i]
		if s.jurisdiction.Settlements &&
			(item.Place == 0 || !s.jurisdiction.Allows(s.x.places.At(int(item.Place-1)))) {
			continue
		}
		b.features[b.n], b.boxes[b.n] = item.Feature, item.Box
		b.n++
	}
	s.flush(&b)
}

// enclose finds the areas that contain the search's origin.
func (s *search) enclose(c *cell) {
	if c.Flags&placefile.CellContext != 0 {
		s.x.surroundings(c, &s.around)
		for _, n := range s.around.Areas {
			s.encloseBy(n)
		}
		return
	}
	s.around.Enclosing = placefile.Enclosing{}
	if t, ok := s.x.tree(placefile.TreeAreas); ok {
		level, nodes := t.top()
		s.encloseIn(&t, level, 0, nodes)
	}
}

// encloseIn finds those below the nodes from, … of a level.
func (s *search) encloseIn(t *openTree, level int, from, to uint32) {
	s.o.Spend(int(to - from))
	var boxes [boxtree.Fanout]boxtree.Box
	near := s.x.boxes(t, level, from, to, &boxes)
	for i := range near {
		if !geometry.Holds(&near[i], &s.o) {
			continue
		}
		node := from + uint32(i)
		if level > 1 {
			below, end := t.layout.Children(level-1, node)
			s.encloseIn(t, level-1, below, end)
			continue
		}
		items := s.x.fixedItems(t, node)
		for k := range items {
			if geometry.Holds(&items[k].Box, &s.o) {
				s.encloseBy(items[k].Feature)
			}
		}
	}
}

// encloseBy takes an area into account if it contains the search's origin.
func (s *search) encloseBy(n uint32) {
	s.o.Spend(visitSteps)
	f := s.x.feature(n)
	if g := s.x.geometry(&f); !g.Contains(&s.o) {
		return
	}
	r := s.x.details(&f, placefile.DetailBytes)
	if a, ok := f.ReadArea(&r); ok {
		s.around.Enclosing.Add(n, &a, f.Extent)
	}
}
