// Package network compiles roads into the network that package roadgraph reads.
//
// Roads are joined to chains where they continue one another, the chains are sorted along a curve over the Earth, and
// each is cut into edges. Everything that grows with the extract is in flat arrays in temporary files; see package
// scratch. Junctions, edges, turns and restrictions are one package, since all of them work on the same arrays.
package network

import (
	"context"
	"errors"

	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// memoryShare is the part of the build's memory that one sorter of roads may take.
const memoryShare = 16

// builder compiles a network.
type builder struct {
	data    *Data
	nodes   []Node
	roads   []Road
	special []Special

	dir    *scratch.Dir
	bar    *progress.Bar
	memory int64 // bytes, of a sorter
	w      *region.Writer

	flags    *scratch.Array[nodeFlags]
	partners *scratch.Array[uint32] // of the ends of roads; see linkRoads
	edges    *scratch.Array[roadgraph.Edge]
	// edgeCount is how many there will be.
	edgeCount int
	usedAs    *scratch.Array[uint32]              // for each road its number in the file, and 1
	roadOf    *scratch.Array[uint32]              // for each road of the file its number
	ends      *scratch.Array[edgeEnd]             // of edges, by node
	firstEnd  *scratch.Array[uint32]              // for each end of an edge where those at its node begin in ends, and 1
	turns     *scratch.Array[roadgraph.EdgeFlags] // of edges: what WithTurns adds

	restricted *restricted
	line       []uint32 // nodes of an edge
}

// Write compiles roads and adds them to a region file. The same input gives the same bytes. The positions of nodes are
// freed when they are not needed any more.
func Write(ctx context.Context, w *region.Writer, d *Data, dir *scratch.Dir, bar *progress.Bar) error {
	if d.Roads.Len() == 0 {
		return nil
	}
	b := &builder{data: d, nodes: d.Nodes.Slice(), roads: d.Roads.Slice(), special: d.Special.Slice(),
		dir: dir, bar: bar, memory: dir.Memory / memoryShare, w: w,
		flags:    scratch.NewArray[nodeFlags](dir, "road-node-flags"),
		partners: scratch.NewArray[uint32](dir, "road-partners"),
		edges:    scratch.NewArray[roadgraph.Edge](dir, "road-edges"),
		usedAs:   scratch.NewArray[uint32](dir, "road-numbers"),
		roadOf:   scratch.NewArray[uint32](dir, "road-sources"),
		ends:     scratch.NewArray[edgeEnd](dir, "road-edge-ends"),
		firstEnd: scratch.NewArray[uint32](dir, "road-first-ends"),
		turns:    scratch.NewArray[roadgraph.EdgeFlags](dir, "road-turn-words"),
	}
	return errors.Join(b.write(ctx), b.free())
}

func (b *builder) write(ctx context.Context) error {
	b.bar.Start("junctions", 1)
	if err := b.markJunctions(); err != nil {
		return err
	}
	chains, err := b.findChains()
	if err != nil {
		return err
	}
	b.findRestricted()
	b.bar.Finish()
	if err := b.makeEdges(ctx, chains); err != nil {
		return err
	}
	if err := b.makeTurns(ctx); err != nil {
		return err
	}
	if err := errors.Join(b.ends.Free(), b.firstEnd.Free(), b.flags.Free(), b.turns.Free()); err != nil {
		return err
	}
	return errors.Join(direct(b.w, roadgraph.EdgesSection, b.edges.Slice()), b.edges.Free(), b.writeRoads())
}

// free removes the temporary files.
func (b *builder) free() error {
	return errors.Join(b.flags.Free(), b.partners.Free(), b.edges.Free(), b.usedAs.Free(), b.roadOf.Free(), b.ends.Free(),
		b.firstEnd.Free(), b.turns.Free())
}

// bits is a set of small numbers.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

func (b bits) has(i uint32) bool { return b[i/64]>>(i%64)&1 != 0 }
func (b bits) add(i uint32)      { b[i/64] |= 1 << (i % 64) }
