package geo_test

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// A hundred things in a row, and those of them that a box overlaps: from the top of the tree down to the things.
func ExampleTree() {
	things := make([]geo.Box, 100)
	for i := range things {
		x := int32(10 * i)
		things[i] = geo.Box{MinX: x, MaxX: x + 5, MaxY: 5}
	}
	tree := geo.NewTree(uint32(len(things)))
	boxes := geo.AppendTreeLevels(nil, things)
	wanted := geo.Box{MinX: 422, MinY: 1, MaxX: 441, MaxY: 2}

	looked := 0
	var descend func(level int, from, to uint32)
	descend = func(level int, from, to uint32) {
		for i := from; i < to; i++ {
			looked++
			box := &things[i]
			if level > 0 {
				box = &boxes[tree.First[level]+i]
			}
			switch {
			case !box.Overlaps(&wanted):
			case level == 0:
				fmt.Println("thing", i)
			default:
				below, end := tree.Children(level, i)
				descend(level-1, below, end)
			}
		}
	}
	descend(tree.Height, 0, tree.Count[tree.Height])
	fmt.Println("looked at", looked, "boxes")
	// Output:
	// thing 42
	// thing 43
	// thing 44
	// looked at 23 boxes
}
