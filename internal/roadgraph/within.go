package roadgraph

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// Within appends to segments the numbers of those that come into a box of longitudes and latitudes, in order, each
// once. A few that only come near it are among them: boxes in the index are rounded outwards.
func (g *Graph) Within(box geo.Box, segments []uint32) []uint32 {
	first := len(segments)
	s := snapper{g: g, most: math.MaxInt, query: box}
	s.found = func(edge uint32) { segments = append(segments, s.segment(edge, g.edges.At(int(edge)))) }
	for i := range g.index {
		s.index = &g.index[i]
		s.descend(s.index.tree.Height, 0, s.index.tree.Count[s.index.tree.Height])
	}
	found := segments[first:]
	slices.Sort(found)
	return segments[:first+len(slices.Compact(found))]
}
