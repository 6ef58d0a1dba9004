package sections

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// Trees ends the features and begins the trees. general is the number of general features, which come first.
func (w *Writer) Trees(general uint32) error {
	if rest := w.count % placefile.Fanout; rest > 0 {
		if err := w.flush(rest); err != nil {
			return err
		}
	}
	t := placefile.Tree{Leaves: uint32(w.leaves.Len()), Count: general}
	blocks := w.blocks.Slice()
	for i := range blocks[:t.LeafCount()] { // consecutive boxes are read faster than blocks
		if err := w.leaves.Append(placefile.Leaf{Box: blocks[i].All()}); err != nil {
			return err
		}
	}
	return w.addTree(t)
}

// addTree adds a tree whose leaves have been written, with the boxes over them.
func (w *Writer) addTree(t placefile.Tree) error {
	t.Levels = uint32(w.levels.Len())
	w.trees = append(w.trees, t)
	leaves := w.leaves.Slice()[t.Leaves:]
	if len(leaves) <= placefile.Fanout {
		return nil
	}
	var over []geo.Box // each Fanout leaves
	for group := range slices.Chunk(leaves, placefile.Fanout) {
		b := geo.EmptyBox
		for i := range group {
			b.Extend(group[i].Box)
		}
		over = append(over, b)
	}
	return w.levels.Append(geo.AppendTreeLevels(over, over)...)
}

// Settle adds a settlement to the next tree of Settlements, in the order of their features.
func (w *Writer) Settle(s *placefile.Settlement) error { return w.settled.Append(*s) }

// Settlements adds the tree of the settlements since the last tree.
func (w *Writer) Settlements() (err error) {
	all := w.settled.Slice()[w.treeEnd:]
	t := placefile.Tree{Items: uint64(w.treeEnd), Leaves: uint32(w.leaves.Len()), Count: uint32(len(all))}
	w.treeEnd += len(all)
	for leaf := range slices.Chunk(all, placefile.Fanout) {
		b := geo.EmptyBox
		for i := range leaf {
			b.Extend(leaf[i].Box)
		}
		err = cmp.Or(err, w.leaves.Append(placefile.Leaf{Box: b}))
	}
	return cmp.Or(err, w.addTree(t))
}

// Term adds the tree of a search term. It comes after the fixed trees, in alphabetical order.
func (w *Writer) Term(word string, items []uint32) error {
	text, err := w.Text(word)
	if err != nil {
		return err
	}
	w.terms = append(w.terms, placefile.Term{Text: text, Tree: uint32(len(w.trees))})
	t := placefile.Tree{Items: uint64(w.items.Len()), Leaves: uint32(w.leaves.Len()), Count: uint32(len(items))}
	var encoded []byte
	for leaf := range slices.Chunk(items, placefile.Fanout) {
		at := uint64(w.items.Len()) - t.Items
		if at > math.MaxUint32 || w.leaves.Len() == math.MaxUint32 {
			return fmt.Errorf("%q has too many places", word)
		}
		b := geo.EmptyBox
		for _, n := range leaf {
			b.Extend(w.box(n))
		}
		encoded = placefile.AppendItems(encoded[:0], leaf)
		err := cmp.Or(w.leaves.Append(placefile.Leaf{Box: b, At: uint32(at)}), w.items.Append(encoded...))
		if err != nil {
			return err
		}
	}
	return w.addTree(t)
}

// box returns a box that contains that of a feature.
func (w *Writer) box(n uint32) geo.Box {
	return w.blocks.Slice()[n/placefile.Fanout].Box(int(n % placefile.Fanout))
}
