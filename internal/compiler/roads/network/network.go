// Package network compiles roads into the network that package roadgraph reads, which defines its terms: segment, edge,
// base edge, arc, state, turn. Tags and OpenStreetMap's members are no longer known here. Begin at Write, which does
// these steps:
//
//  1. find the junctions of each mode (junctions.go);
//  2. join roads that continue one another to chains, and sort these along a Hilbert curve (chains.go);
//  3. cut the chains into base edges (edgebatch.go, edges.go), with a spatial index (index.go);
//  4. make the automaton of turn restrictions (restrictions.go);
//  5. make the turns where base edges meet (turns.go);
//  6. number the junctions, for the routes (junctions.go);
//  7. write names and details (names.go).
//
// Data that grows with the extract is in flat arrays in temporary files; see package scratch.
package network

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"unsafe"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/profile"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// modes are all modes. Where they differ, the first one takes precedence.
var modes = [...]region.Modes{region.Car, region.Bicycle, region.Foot}

const allModes = region.Car | region.Bicycle | region.Foot

// builder compiles a network.
type builder struct {
	data    *Data
	nodes   []Node
	roads   []Road
	special []Special

	dir *scratch.Dir
	bar *pipeline.Bar
	w   *region.Writer

	// The following fields grow with the extract, and are in temporary files; see zeros.
	free   []func() error // remove the files, any number of times
	failed error

	flags     []nodeFlags
	lastEnd   []uint32 // for each node 1 plus the last end found there: of a road in linkRoads, then of a base edge
	partners  []uint32 // for each end of a road; see linkRoads
	edgeCount int
	edges     []roadgraph.BaseEdge
	edgeFlags []roadgraph.BaseEdgeFlags // of base edges, without those about turns
	ends      []edgeEnd                 // of base edges
	usedAs    []uint32                  // for each road 1 plus its number in the file
	roadOf    *scratch.Array[uint32]    // for each road of the file its number in data

	via  map[uint32]bool   // roads that are via members of restrictions
	into map[cursor]uint32 // the ends of their base edges, by the place where these are entered

	line []uint32 // the nodes of a base edge
}

// Write compiles roads and adds them to a region file. The same input gives the same bytes. It frees the positions of
// nodes when they are no longer needed. It returns the numbers of the junctions at the first and the last node of each
// base edge: in the order in which base edges meet them, from 0 on.
func Write(ctx context.Context, w *region.Writer, d *Data, dir *scratch.Dir, bar *pipeline.Bar) (
	junctions *scratch.Array[uint32], err error) {
	junctions = scratch.NewArray[uint32](dir, "road-junctions")
	if d.Roads.Len() == 0 {
		return junctions, nil
	}
	b := &builder{data: d, nodes: d.Nodes.Slice(), roads: d.Roads.Slice(), special: d.Special.Slice(),
		dir: dir, bar: bar, w: w, roadOf: scratch.NewArray[uint32](dir, "road-sources"),
		via: map[uint32]bool{}, into: map[cursor]uint32{}}
	return junctions, errors.Join(b.write(ctx, junctions), b.roadOf.Free(), release(b.free))
}

func (b *builder) write(ctx context.Context, junctions *scratch.Array[uint32]) error {
	b.bar.Start("junctions", 1)
	b.flags = zeros[nodeFlags](b, "road-node-flags", len(b.nodes))
	b.lastEnd = zeros[uint32](b, "road-last-ends", len(b.nodes))
	b.partners = zeros[uint32](b, "road-partners", 2*len(b.roads))
	b.usedAs = zeros[uint32](b, "road-numbers", len(b.roads))
	if b.failed != nil {
		return b.failed
	}
	b.markJunctions()
	chains, err := b.findChains()
	if err != nil {
		return err
	}
	b.bar.Finish()
	early := append(slices.Clone(b.free), b.data.Nodes.Free, b.data.Special.Free)
	if err := b.makeEdges(ctx, chains); err != nil {
		return err
	}
	restrictions := b.restrictions()
	if err := release(early); err != nil {
		return err
	}
	if err := b.makeTurns(ctx, restrictions); err != nil {
		return err
	}
	return cmp.Or(b.numberJunctions(junctions), direct(b.w, roadgraph.BaseEdgesSection, b.edges), b.writeRoads())
}

// zeros makes an array of zeros in a temporary file. It stores an error in failed.
func zeros[T any](b *builder, name string, n int) []T {
	a := scratch.NewArray[T](b.dir, name)
	data, err := a.Extend(n)
	b.failed = cmp.Or(b.failed, err)
	b.free = append(b.free, a.Free)
	return data
}

// release removes files.
func release(free []func() error) (err error) {
	for _, f := range free {
		err = cmp.Or(err, f())
	}
	return err
}

// direct writes a section at the end of the file.
func direct[T any](w *region.Writer, name string, data []T) error {
	s := w.Direct(name, sizeOf[T]())
	return cmp.Or(region.Append(s, data...), s.Close())
}

func sizeOf[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// modes returns the modes that may travel a road in some direction.
func (b *builder) modes(road uint32) region.Modes {
	return b.roads[road].Forward | b.roads[road].Backward
}

// specialAt returns the data of a special node.
func (b *builder) specialAt(node uint32) Special {
	i, _ := slices.BinarySearchFunc(b.special, node, func(s Special, node uint32) int { return cmp.Compare(s.Node, node) })
	return b.special[i]
}

// reversed returns the attributes of a road in the opposite direction.
func reversed(a profile.Attributes) profile.Attributes {
	a.Forward, a.Backward = a.Backward, a.Forward
	a.DestinationForward, a.DestinationBackward = a.DestinationBackward, a.DestinationForward
	a.PrivateForward, a.PrivateBackward = a.PrivateBackward, a.PrivateForward
	a.SpeedForward, a.SpeedBackward = a.SpeedBackward, a.SpeedForward
	return a
}
