// Package routing finds routes on the roads of a region: the fastest route, matrices, and what can be reached.
//
// It is a multi-level overlay (Delling, Goldberg, Pajor, Werneck 2017, "Customizable Route Planning in Road Networks")
// over the arcs of package roadgraph. Four steps make it:
//
//   - partition: the compiler divides the junctions into cells, which do not depend on costs;
//   - overlay: what crosses the borders of cells (format.go, overlay.go);
//   - customize: the costs from each entry of a cell to each exit (customize.go);
//   - search: a bidirectional search over the overlay (search.go).
//
// It knows neither HTTP nor Caddy. Start with Router in routing.go, which remote services implement as well.
package routing
