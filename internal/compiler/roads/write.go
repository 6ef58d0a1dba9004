// Package roads compiles the roads of an extract into the network that package roadgraph reads.
//
// Roads are joined to chains where they continue one another, the chains are sorted along a curve over the Earth, and
// each is cut into edges. Everything that grows with the extract is in flat arrays in temporary files; see package
// scratch.
package roads

import (
	"errors"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// memoryShare is the part of the build's memory that one sorter of roads may take.
const memoryShare = 16

// builder compiles a network.
type builder struct {
	*network
	dir    *scratch.Dir
	memory int64 // bytes, of a sorter
	w      *region.Writer

	flags    *scratch.Array[nodeFlags]
	partners *scratch.Array[uint32] // of the ends of roads; see linkRoads
	edges    *scratch.Array[roadgraph.Edge]
	// edgeCount is how many there will be.
	edgeCount int
	usedAs    *scratch.Array[uint32]  // for each road its number in the file, and 1
	roadOf    *scratch.Array[uint32]  // for each road of the file its number
	ends      *scratch.Array[edgeEnd] // of edges, by node
	firstEnd  *scratch.Array[uint32]  // for each end of an edge where those at its node begin in ends, and 1

	restricted *restrictedRoads
	line       []uint32 // nodes of an edge
}

// Write compiles the roads of an extract and adds them to a region file. The same input gives the same bytes.
// The positions of nodes are freed when they are not needed any more.
func Write(w *region.Writer, d *extract.Data, dir *scratch.Dir) error {
	n := newNetwork(d)
	if n.count() == 0 {
		return nil
	}
	b := &builder{network: n, dir: dir, memory: dir.Memory / memoryShare, w: w,
		flags:    scratch.NewArray[nodeFlags](dir, "road-node-flags"),
		partners: scratch.NewArray[uint32](dir, "road-partners"),
		edges:    scratch.NewArray[roadgraph.Edge](dir, "road-edges"),
		usedAs:   scratch.NewArray[uint32](dir, "road-numbers"),
		roadOf:   scratch.NewArray[uint32](dir, "road-sources"),
		ends:     scratch.NewArray[edgeEnd](dir, "road-edge-ends"),
		firstEnd: scratch.NewArray[uint32](dir, "road-first-ends"),
	}
	return errors.Join(b.write(), b.free())
}

func (b *builder) write() error {
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
	if err := b.makeEdges(chains); err != nil {
		return err
	}
	if err := b.makeTurns(); err != nil {
		return err
	}
	if err := errors.Join(b.ends.Free(), b.firstEnd.Free(), b.flags.Free()); err != nil {
		return err
	}
	return errors.Join(direct(b.w, roadgraph.EdgesSection, b.edges.Slice()), b.edges.Free(), b.writeRoads())
}

// free removes the temporary files.
func (b *builder) free() error {
	return errors.Join(b.flags.Free(), b.partners.Free(), b.edges.Free(), b.usedAs.Free(), b.roadOf.Free(), b.ends.Free(),
		b.firstEnd.Free())
}
