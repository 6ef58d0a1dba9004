package extract

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/osm"
)

// entrance is a node where people enter a building.
type entrance struct {
	node int64 // its id, and its number from numberEntrances on
	kind entranceKind
}

type entranceKind uint8

const (
	noEntrance entranceKind = iota
	otherEntrance
	mainEntrance
)

// entranceOf tells what entrance a node is. An address is at none that is there for emergencies, goods or cars.
func entranceOf(tags osm.Tags) entranceKind {
	switch tags.Find("entrance") {
	case "main":
		return mainEntrance
	case "", "no", "emergency", "exit", "service", "garage", "secondary":
		return noEntrance
	}
	return otherEntrance
}

// numberEntrances prepares for looking up: by the numbers of the nodes, of which each is there once.
func (c *collector) numberEntrances() error {
	all := c.entrances.Slice()
	kept := all[:0]
	for _, e := range all {
		if n, ok := c.locations.find(e.node, 0); ok {
			kept = append(kept, entrance{int64(n), e.kind})
		}
	}
	slices.SortFunc(kept, func(a, b entrance) int {
		return cmp.Or(cmp.Compare(a.node, b.node), -cmp.Compare(a.kind, b.kind))
	})
	kept = slices.CompactFunc(kept, func(a, b entrance) bool { return a.node == b.node })
	c.entrances.Truncate(len(kept))
	return nil
}

// entranceFinder gathers where people enter what has some ways as its outline: by its main entrances, if it has any.
type entranceFinder struct {
	best   entranceKind
	points []orb.Point
}

// look looks at the nodes of one of the ways.
func (f *entranceFinder) look(c *collector, nodes []uint64) {
	for _, n := range nodes {
		if n == noNode {
			continue
		}
		at := c.locations.place(n)
		if at&specialNode == 0 {
			continue
		}
		all := c.entrances.Slice()
		i, ok := slices.BinarySearchFunc(all, int64(n), func(e entrance, node int64) int { return cmp.Compare(e.node, node) })
		if !ok || all[i].kind < f.best {
			continue
		}
		if all[i].kind > f.best {
			f.best, f.points = all[i].kind, f.points[:0]
		}
		if p := at.point(); !slices.Contains(f.points, p) {
			f.points = append(f.points, p)
		}
	}
}
