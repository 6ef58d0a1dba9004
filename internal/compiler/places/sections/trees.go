package sections

import (
	"cmp"
	"fmt"
	"iter"
	"math"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// Trees ends the features, the first of which are general, and begins the trees.
func (w *Writer) Trees(general uint32) error {
	if err := w.flush(); err != nil {
		return err
	}
	blocks := w.blocks.Slice()
	t := placefile.Tree{Count: general, Leaves: uint32(w.leaves.Len())}
	var over overLeaves
	for i := range blocks[:t.LeafCount()] { // boxes that lie side by side are read faster than blocks
		l := placefile.Leaf{Box: blocks[i].All()}
		over.add(l.Box)
		if err := w.leaves.Append(l); err != nil {
			return err
		}
	}
	return w.addTree(t, &over)
}

// overLeaves is the boxes over each Fanout leaves.
type overLeaves struct {
	boxes  []boxtree.Box
	leaves int
}

func (o *overLeaves) add(leaf boxtree.Box) {
	if o.leaves%placefile.Fanout == 0 {
		o.boxes = append(o.boxes, boxtree.Empty)
	}
	o.boxes[len(o.boxes)-1].Extend(leaf)
	o.leaves++
}

// addTree adds a tree, whose leaves there are already, with the boxes over them.
func (w *Writer) addTree(t placefile.Tree, over *overLeaves) error {
	t.Levels = uint32(w.levels.Len())
	w.trees = append(w.trees, t)
	if over.leaves <= placefile.Fanout {
		return nil
	}
	if err := w.levels.Append(over.boxes...); err != nil {
		return err
	}
	return w.levels.Append(boxtree.AppendLevels(nil, over.boxes)...)
}

// Settlements adds a tree of settlements, in the order of their features. What a search needs to know of them is kept
// beside each other.
func (w *Writer) Settlements(all iter.Seq[placefile.Settlement]) error {
	t := placefile.Tree{Items: uint64(w.settled.Len()), Leaves: uint32(w.leaves.Len())}
	var over overLeaves
	err := inLeaves(all, func(leaf []placefile.Settlement) error {
		l := placefile.Leaf{Box: boxtree.Empty}
		for i := range leaf {
			l.Box.Extend(leaf[i].Box)
		}
		over.add(l.Box)
		t.Count += uint32(len(leaf))
		return cmp.Or(w.leaves.Append(l), w.settled.Append(leaf...))
	})
	return cmp.Or(err, w.addTree(t, &over))
}

// Term adds the tree of a word, after those of all words before it and after the fixed trees.
func (w *Writer) Term(word string, items iter.Seq[uint32]) error {
	text, err := w.Text(word)
	if err != nil {
		return err
	}
	w.terms = append(w.terms, placefile.Term{Text: text, Tree: uint32(len(w.trees))})
	t := placefile.Tree{Items: uint64(w.items.Len()), Leaves: uint32(w.leaves.Len())}
	var over overLeaves
	var encoded []byte
	err = inLeaves(items, func(leaf []uint32) error {
		at := uint64(w.items.Len()) - t.Items
		if at > math.MaxUint32 || w.leaves.Len() == math.MaxUint32 {
			return fmt.Errorf("%q has more than %d places", word, t.Count)
		}
		l := placefile.Leaf{Box: w.boxOf(leaf), At: uint32(at)}
		over.add(l.Box)
		t.Count += uint32(len(leaf))
		encoded = placefile.AppendItems(encoded[:0], leaf)
		if err := w.leaves.Append(l); err != nil {
			return err
		}
		return w.items.Append(encoded...)
	})
	if err != nil {
		return err
	}
	return w.addTree(t, &over)
}

// inLeaves calls a function with each Fanout items.
func inLeaves[T any](items iter.Seq[T], add func(leaf []T) error) error {
	leaf := make([]T, 0, placefile.Fanout)
	for n := range items {
		if leaf = append(leaf, n); len(leaf) == placefile.Fanout {
			if err := add(leaf); err != nil {
				return err
			}
			leaf = leaf[:0]
		}
	}
	if len(leaf) > 0 {
		return add(leaf)
	}
	return nil
}

func (w *Writer) boxOf(leaf []uint32) boxtree.Box {
	all := boxtree.Empty
	for _, n := range leaf {
		all.Extend(w.box(n))
	}
	return all
}

// box is at least the box of a feature.
func (w *Writer) box(n uint32) boxtree.Box {
	return w.blocks.Slice()[n/placefile.Fanout].Box(int(n % placefile.Fanout))
}
