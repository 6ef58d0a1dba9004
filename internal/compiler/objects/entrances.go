package objects

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// entrance is an entrance of a building.
type entrance struct {
	node   int64 // the id of its node, and after numberEntrances the number
	isMain bool
}

// isEntrance reports whether a node is an entrance for people. Those for emergencies, goods and cars have no address.
func isEntrance(set *tags.Set) bool {
	return set.Has(tags.Entrance) &&
		!set.Is(tags.Entrance, "no", "emergency", "exit", "service", "garage", "secondary")
}

// numberEntrances sorts the entrances by the numbers of their nodes.
func (d *Data) numberEntrances() error {
	kept := d.entrances.Slice()[:0]
	for _, e := range d.entrances.Slice() {
		if n, ok := d.nodes.Find(e.node); ok {
			kept = append(kept, entrance{int64(n), e.isMain})
		}
	}
	slices.SortFunc(kept, func(a, b entrance) int { return cmp.Compare(a.node, b.node) })
	d.entrances.Truncate(len(kept))
	return nil
}

// entrancesAt returns the positions of the entrances among some nodes: the main ones, if there are any.
func (d *Data) entrancesAt(numbers []uint64) (found []geometry.Coord) {
	all, isMain := d.entrances.Slice(), false
	for _, number := range numbers {
		i, ok := slices.BinarySearchFunc(all, int64(number), func(e entrance, n int64) int { return cmp.Compare(e.node, n) })
		if ok && all[i].isMain && !isMain {
			isMain, found = true, nil
		}
		if !ok || all[i].isMain != isMain {
			continue
		}
		if at := coordOf(d.nodes.At(number)); !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	return found
}
