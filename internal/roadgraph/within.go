package roadgraph

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// Within appends the numbers of the edges in a box of longitudes and latitudes, ascending and without repetition. A few
// that only come near it are among them: boxes in the index are rounded outwards.
func (g *Graph) Within(box geo.Box, edges []uint32) []uint32 {
	first := len(edges)
	s := snapper{g: g, maxVisited: math.MaxInt, query: box}
	s.found = func(base uint32) { edges = append(edges, s.edge(base, g.baseEdges.At(int(base)))) }
	for i := range g.index {
		s.index = &g.index[i]
		s.descend(s.index.tree.Height, 0, s.index.tree.Count[s.index.tree.Height])
	}
	found := edges[first:]
	slices.Sort(found)
	return edges[:first+len(slices.Compact(found))]
}
