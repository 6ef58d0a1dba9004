package extract

import (
	"cmp"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/osm"
)

// entrance is a node where people enter a building.
type entrance struct {
	node int32 // index into collector.locations
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

// endEntrances prepares for looking up.
func (c *collector) endEntrances() {
	slices.SortFunc(c.entrances, func(a, b entrance) int {
		return cmp.Or(cmp.Compare(a.node, b.node), -cmp.Compare(a.kind, b.kind))
	})
	c.entrances = slices.CompactFunc(c.entrances, func(a, b entrance) bool { return a.node == b.node })
}

// entrancesOf returns where people enter what has these ways as its outline: by its main entrances, if it has any.
func (c *collector) entrancesOf(ways ...*wayRecord) []orb.Point {
	if len(c.entrances) == 0 {
		return nil
	}
	best := noEntrance
	var points []orb.Point
	for _, w := range ways {
		for _, ref := range c.refs[w.start:w.end] {
			i, ok := slices.BinarySearchFunc(c.entrances, int32(ref), func(e entrance, node int32) int {
				return cmp.Compare(e.node, node)
			})
			if !ok || c.entrances[i].kind < best {
				continue
			}
			if c.entrances[i].kind > best {
				best, points = c.entrances[i].kind, points[:0]
			}
			if at := c.locations.point(int32(ref)); !slices.Contains(points, at) {
				points = append(points, at)
			}
		}
	}
	return points
}
