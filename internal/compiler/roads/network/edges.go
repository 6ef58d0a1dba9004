package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/mapsedge/caddy-maps/internal/compiler/inorder"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// emitter puts together the edges of all chains, with their shapes, their controls and the leaves of the index.
type emitter struct {
	*builder
	shape, controls *region.SectionWriter
	leaves          [len(roadgraph.Indexes)]*leafWriter
	meets           *scratch.Sorter[meeting]
	made            int       // edges
	free            sync.Pool // of pieces
}

const (
	// maxEdges is how many edges there may be: arcs have numbers of 32 bits, and copies need some.
	maxEdges = 1<<31 - 1<<24
	// someChains and someEdges are how many one goroutine works on at a time.
	someChains = 512
	someEdges  = 4096
)

// makeEdges makes the edges of chains in their order, and lists where they meet.
func (b *builder) makeEdges(ctx context.Context, chains *scratch.Sorter[chain]) error {
	e := &emitter{builder: b, free: sync.Pool{New: func() any { return new(pieces) }}}
	e.shape = b.w.Direct(roadgraph.ShapeSection, sizeOf[uint32]())
	e.controls = b.w.Spool(roadgraph.ControlsSection, sizeOf[roadgraph.Control]())
	for i := range e.leaves {
		e.leaves[i] = newLeafWriter(b.w, b.dir, &roadgraph.Indexes[i])
	}
	if len(b.roads) >= maxEdges || b.edgeCount >= maxEdges {
		return fmt.Errorf("the extract has too many roads: %d edges", b.edgeCount)
	}
	_, err := b.edges.Extend(b.edgeCount + 1)
	if _, failed := b.usedAs.Extend(len(b.roads)); err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	e.meets = scratch.NewSorter(b.dir, "road-meetings", b.memory, func(x, y meeting) int {
		if x.Key != y.Key {
			return cmp.Compare(x.Key, y.Key)
		}
		return cmp.Compare(x.End, y.End)
	})
	b.bar.Start("edges", int64(chains.Len()))
	var failed error
	err = inorder.Run(ctx, func(give func([]chain) bool) { failed = e.source(chains, give) },
		func(some []chain) (*pieces, error) {
			p := e.free.Get().(*pieces)
			p.chains = len(some)
			for i := range some {
				p.chain(b, &some[i])
			}
			return p, nil
		}, e.take)
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	b.bar.Finish()
	b.edges.Slice()[e.made] = roadgraph.Edge{FirstShape: e.points()}
	if err := e.shape.Close(); err != nil {
		return err
	}
	for _, l := range e.leaves {
		if err := l.finish(); err != nil {
			return err
		}
	}
	slices.SortFunc(b.restricted.edges, func(x, y viaEdge) int { return x.compare(y.at) })
	// What is no longer needed goes before the lists of ends are made.
	if err := errors.Join(b.data.Nodes.Free(), b.data.Special.Free(), b.partners.Free(), b.usedAs.Free()); err != nil {
		return err
	}
	return b.listEnds(e.meets)
}

// source gives all chains, some at a time.
func (e *emitter) source(chains *scratch.Sorter[chain], give func([]chain) bool) error {
	var some []chain
	err := chains.Each(func(c *chain) error {
		if some = append(some, *c); len(some) < someChains {
			return nil
		}
		given := some
		some = make([]chain, 0, someChains)
		if !give(given) {
			return context.Canceled
		}
		return nil
	})
	if len(some) > 0 {
		give(some)
	}
	return err
}

// points is how many words of shapes there are so far.
func (e *emitter) points() uint32 { return uint32(e.shape.Len() / 4) }

// take adds the edges that were made of some chains.
func (e *emitter) take(p *pieces) error {
	e.bar.Add(int64(p.chains))
	first, points := uint32(e.made), e.points()
	if int64(points)+int64(len(p.shape)) > math.MaxUint32-3*roadgraph.MaxEdgeShape {
		return fmt.Errorf("the extract has too many roads: %d points of %d edges", points, e.edgeCount)
	}
	edges := e.edges.Slice()[e.made:]
	for i, edge := range p.edges {
		used, err := e.use(edge.Road)
		if err != nil {
			return err
		}
		edge.Road = used
		edge.FirstShape += points
		edges[i] = edge
	}
	e.made += len(p.edges)
	for i := range p.leaves {
		for _, l := range p.leaves[i] {
			l.edge += first
			if err := e.leaves[i].add(l); err != nil {
				return err
			}
		}
	}
	for _, m := range p.meets {
		m.End += 2 * first
		if err := e.meets.Add(m); err != nil {
			return err
		}
	}
	for i := range p.controls {
		p.controls[i].Edge += first
	}
	for _, v := range p.via {
		v.end += 2 * first
		e.restricted.edges = append(e.restricted.edges, v)
	}
	err := cmp.Or(region.Append(e.shape, p.shape...), region.Append(e.controls, p.controls...))
	p.reset()
	e.free.Put(p)
	return err
}

// use is the number of a road in the file: roads are there in the order in which edges are of them.
func (e *emitter) use(road uint32) (uint32, error) {
	at := &e.usedAs.Slice()[road]
	if *at == 0 {
		*at = uint32(e.roadOf.Len()) + 1
		if err := e.roadOf.Append(road); err != nil {
			return 0, err
		}
	}
	return *at - 1, nil
}

// listEnds makes one list of the ends of edges, by node, and notes for each where those of its node begin.
func (b *builder) listEnds(meets *scratch.Sorter[meeting]) error {
	at, err := b.firstEnd.Extend(2 * b.edges.Len())
	if err != nil {
		return err
	}
	ends, err := b.ends.Extend(meets.Len())
	if err != nil {
		return err
	}
	n, first, key := 0, 0, uint64(0)
	err = meets.Each(func(m *meeting) error {
		if n == 0 || m.Key != key {
			if n > 0 {
				ends[n-1].About |= lastEnd
			}
			first, key = n, m.Key
			if node := m.node(); b.flags.Slice()[node]&turnsBit != 0 {
				i, _ := b.restricted.find(node)
				b.restricted.nodes[i].first = uint32(first) + 1
			}
		} else if n-first == maxMeeting {
			at := b.edges.Slice()[m.End>>1]
			return fmt.Errorf("more than %d roads meet near %v, %v", maxMeeting, float64(at.Lat)/1e7, float64(at.Lon)/1e7)
		}
		at[m.End] = uint32(first) + 1
		ends[n] = m.edgeEnd
		n++
		return nil
	})
	if n > 0 {
		ends[n-1].About |= lastEnd
	}
	return err
}

// maxMeeting is how many ends of edges may be at one node: two words for each mode of each are at most what an edge
// has.
const maxMeeting = roadgraph.MaxTurns / 12

// writeRoads writes the roads that edges are of, their names and their details.
func (b *builder) writeRoads() error {
	names, err := newTextWriter(b, roadgraph.NamesSection)
	if err != nil {
		return err
	}
	texts, err := newTextWriter(b, roadgraph.DetailTextSection)
	if err != nil {
		return err
	}
	kinds, err := newKindWriter(b)
	if err != nil {
		return err
	}
	details := b.w.Spool(roadgraph.DetailsSection, sizeOf[roadgraph.Details]())
	out := b.w.Direct(roadgraph.RoadsSection, sizeOf[roadgraph.Road]())
	var records []roadgraph.Road
	for number, road := range b.roadOf.Slice() {
		r := &b.roads[road]
		record := roadgraph.Road{WayLow: uint32(r.Way), WayHigh: uint32(uint64(r.Way) >> 32)}
		kind := roadgraph.Kind{Class: r.Class, Flags: uint8(r.Flags >> roadgraph.RoadFlags), Layer: r.Layer,
			Speeds: [4]uint8{r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed}}
		var failed [4]error
		record.Name, failed[0] = names.add(r.Name)
		kind.Ref, failed[1] = names.add(r.Ref)
		record.Kind, failed[2] = kinds.add(kind)
		if r.Details != 0 {
			var text uint32
			text, failed[3] = texts.add(r.Details)
			err = region.Append(details, roadgraph.Details{Road: uint32(number), Text: text})
		}
		if records = append(records, record); len(records) == someEdges || number == b.roadOf.Len()-1 {
			err = cmp.Or(err, region.Append(out, records...))
			records = records[:0]
		}
		if err := cmp.Or(failed[0], failed[1], failed[2], failed[3], err); err != nil {
			return err
		}
	}
	return cmp.Or(out.Close(), names.free(), texts.free(), kinds.known.Free())
}
