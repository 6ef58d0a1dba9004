package roadgraph_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// The edges near a position, and where on them it is nearest.
func Example() {
	path, remove := testregion.Village()
	defer remove()
	file, err := region.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Release()

	graph, err := roadgraph.Open(file)
	if err != nil {
		panic(err)
	}
	hits := graph.Near(39.1605, -75.5190, 100, nil)
	slices.SortFunc(hits, func(a, b roadgraph.Hit) int { return cmp.Compare(a.Distance, b.Distance) })
	for _, hit := range hits[:2] {
		edge := graph.Edge(hit.Edge)
		fmt.Printf("%s: %.0f m away, at %.0f of its %.0f m\n", graph.Name(hit.Edge), hit.Distance,
			float64(hit.Offset)/1000, float64(edge.Length)/1000)
	}
	// Output:
	// Main Street: 56 m away, at 86 of its 862 m
	// Oak Street: 86 m away, at 56 of its 1112 m
}
