package geo

import (
	"testing"
)

// TestTreeLayout: the levels that AppendLevels writes are those that New says, each node holds its children, and
// everything is reached from the top.
func TestTreeLayout(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 255, 256, 257, 4096, 4097, 70_000} {
		things := make([]Box, n)
		for i := range things {
			x, y := int32(i*7919%10_007), int32(i*104_729%9973)
			things[i] = Box{x, y, x + int32(i%5), y + int32(i%3)}
		}
		tree := NewTree(uint32(n))
		boxes := AppendTreeLevels([]Box{{1, 2, 3, 4}}, things)[1:]
		if len(boxes) != tree.Boxes() {
			t.Fatalf("%d things: %d boxes, the layout has %d", n, len(boxes), tree.Boxes())
		}
		if tree.Count[tree.Height] > TreeFanout {
			t.Errorf("%d things: %d boxes at the top", n, tree.Count[tree.Height])
		}
		at := func(level int, i uint32) Box {
			if level == 0 {
				return things[i]
			}
			return boxes[tree.First[level]+i]
		}
		reached := 0
		var descend func(level int, i uint32)
		descend = func(level int, i uint32) {
			if level == 0 {
				reached++
				return
			}
			want := EmptyBox
			from, to := tree.Children(level, i)
			for child := from; child < to; child++ {
				want.Extend(at(level-1, child))
				descend(level-1, child)
			}
			if at(level, i) != want {
				t.Errorf("%d things: node %d of level %d is %v, its children are %v", n, i, level, at(level, i), want)
			}
		}
		for i := range tree.Count[tree.Height] {
			descend(tree.Height, i)
		}
		if reached != n {
			t.Errorf("%d of %d things are reached", reached, n)
		}
	}
}

func TestBoxOverlaps(t *testing.T) {
	b := Box{0, 0, 10, 10}
	for _, test := range []struct {
		other Box
		want  bool
	}{
		{Box{10, 10, 20, 20}, true}, {Box{11, 0, 20, 10}, false}, {Box{0, -5, 10, -1}, false}, {Box{2, 2, 3, 3}, true},
		{Box{-5, -5, 15, 15}, true}, {EmptyBox, false},
	} {
		if b.Overlaps(&test.other) != test.want || test.other.Overlaps(&b) != test.want {
			t.Errorf("%v: not %v", test.other, test.want)
		}
	}
}
