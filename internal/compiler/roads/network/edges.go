package network

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// edgeEnd is an end of a base edge at a junction. Its number is twice the base edge's, plus 1 for the last node. This
// is also the number of the arc that leaves the node there. Next is the end with the next greater number at the same
// node, and after the last one the first.
type edgeEnd struct {
	Next    uint32
	Bearing uint32       // of the base edge as it leaves the node; see bearing
	Two     region.Modes // those with exactly two segments there
	Blocked region.Modes // those that cannot pass the node
	// Restricted says that turn restrictions involve the node.
	Restricted bool
	_          uint8
}

// emitter writes the base edges of all chains, with their shapes, controls and leaves of the index.
type emitter struct {
	*builder
	shape, controls *region.SectionWriter
	leaves          [len(roadgraph.Indexes)]*leafWriter
	made            int       // base edges
	unused          sync.Pool // of edge batches
}

const (
	// maxEdges limits the base edges: arcs have numbers of 32 bits, and states need some.
	maxEdges = 1<<31 - 1<<24
	// someChains and someEdges are how many one goroutine processes at a time.
	someChains = 512
	someEdges  = 4096
)

// makeEdges makes the base edges of chains in order, and finds where they meet.
func (b *builder) makeEdges(ctx context.Context, chains *scratch.Sorter[chain]) error {
	e := &emitter{builder: b, shape: b.w.Direct(roadgraph.ShapeSection, sizeOf[uint32]()),
		controls: b.w.Spool(roadgraph.ControlsSection, sizeOf[roadgraph.Control]()),
		unused:   sync.Pool{New: func() any { return &edgeBatch{into: map[cursor]uint32{}} }}}
	for i := range e.leaves {
		e.leaves[i] = newLeafWriter(b.w, b.dir, &roadgraph.Indexes[i])
	}
	b.edges = zeros[roadgraph.BaseEdge](b, "road-edges", b.edgeCount+1) // one for the end
	b.edgeFlags = zeros[roadgraph.BaseEdgeFlags](b, "road-edge-flags", b.edgeCount+1)
	b.ends = zeros[edgeEnd](b, "road-edge-ends", 2*b.edgeCount)
	if b.failed != nil {
		return b.failed
	}
	b.bar.Start("edges", int64(b.edgeCount))
	var failed error
	err := pipeline.Run(ctx, func(give func([]chain) bool) {
		var some []chain
		failed = chains.Each(func(c *chain) error {
			if some = append(some, *c); len(some) == someChains {
				if !give(some) {
					return context.Canceled
				}
				some = nil
			}
			return nil
		})
		give(some)
	}, func(some []chain) (*edgeBatch, error) {
		p := e.unused.Get().(*edgeBatch)
		for i := range some {
			p.chain(b, &some[i])
		}
		return p, nil
	}, e.take)
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	b.bar.Finish()
	b.edges[e.made].FirstShape = e.points()
	return cmp.Or(e.shape.Close(), e.leaves[0].finish(), e.leaves[1].finish())
}

// points returns the number of words of shapes so far.
func (e *emitter) points() uint32 { return uint32(e.shape.Len() / 4) }

// take adds the base edges of some chains.
func (e *emitter) take(p *edgeBatch) error {
	e.bar.Add(int64(len(p.edges)))
	first, points := uint32(e.made), e.points()
	if e.edgeCount >= maxEdges || int64(points)+int64(len(p.shape)) > math.MaxUint32-3*roadgraph.MaxBaseEdgeSegments {
		return fmt.Errorf("the extract has too many roads: %d points of %d edges", points, e.edgeCount)
	}
	for i := range p.edges {
		edge := &p.edges[i]
		used := &e.usedAs[edge.Road]
		if *used == 0 { // roads are in the order of their first base edges
			if err := e.roadOf.Append(edge.Road); err != nil {
				return err
			}
			*used = uint32(e.roadOf.Len())
		}
		edge.Road = *used - 1
		edge.FirstShape += points
		e.edgeFlags[e.made] = edge.Flags
		e.edges[e.made] = *edge
		e.made++
	}
	for i := range p.leaves {
		for _, l := range p.leaves[i] {
			l.edge += first
			if err := e.leaves[i].add(l); err != nil {
				return err
			}
		}
	}
	for i, m := range p.meets {
		if m.node != NoNode {
			e.join(2*first+uint32(i), m)
		}
	}
	for i := range p.controls {
		p.controls[i].BaseEdge += first
	}
	for at, end := range p.into {
		e.into[at] = 2*first + end
	}
	err := cmp.Or(region.Append(e.shape, p.shape...), region.Append(e.controls, p.controls...))
	p.reset()
	e.unused.Put(p)
	return err
}

// join adds an end of a base edge to those at its node. Its number is the greatest so far.
func (b *builder) join(end uint32, m meeting) {
	ends, last := b.ends, &b.lastEnd[m.node]
	m.Next = end
	if *last != 0 {
		m.Next, ends[*last-1].Next = ends[*last-1].Next, end
	}
	ends[end] = m.edgeEnd
	*last = end + 1
}
