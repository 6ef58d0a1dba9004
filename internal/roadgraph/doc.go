// Package roadgraph reads the road network of a region: edges with their geometry, every allowed turn, an index of the
// roads near a position, and shortest paths. It reads in place from the mapped file that compiler/roads writes, and
// changes nothing. It knows no traces and no instructions: see package matching. Start with Graph and Search.
//
// Its words:
//
//	node       a point of a way
//	segment    the straight line between two neighbouring nodes of a way
//	junction   a node where roads meet, or where a property of the road changes
//	edge       the segments between two junctions, for one mode of travel
//	base edge  what the file stores: part of an edge, cut at the junctions of all modes
//	arc        an edge in one direction
//	state      an arc plus what a via-way restriction remembers of the arcs before it
//	turn       an allowed step from one state to the next
//
// All modes share the base edges. If they shared the edges too, each footpath that meets a street would cut the street
// in two, and cars would search several times as many arcs. So an edge of a mode is a run of base edges that follow one
// another in the file, and has the number of the first one.
//
// Routes are sequences of states, not of junctions: what may follow an arc depends on the arcs before it (turn
// restrictions, barriers, U-turns).
//
// It imports region, geo and base.
package roadgraph
