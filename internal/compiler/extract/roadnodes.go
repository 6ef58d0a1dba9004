package extract

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// ranks number the nodes of a set from 0 on, in their order.
type ranks struct {
	words  *scratch.Array[uint64] // a bit for each node
	before *scratch.Array[uint32] // how many nodes of the set come before each word
}

func newRanks(dir *scratch.Dir, nodes int) (*ranks, error) {
	r := &ranks{scratch.NewArray[uint64](dir, "road-nodes-set"), scratch.NewArray[uint32](dir, "road-nodes-ranks")}
	_, err := r.words.Extend(nodes/64 + 1)
	return r, err
}

func (r *ranks) add(node uint64) { r.words.Slice()[node/64] |= 1 << (node % 64) }

// finish counts, and returns how many nodes there are. The error says that they are too many.
func (r *ranks) finish() (n int, err error) {
	before, err := r.before.Extend(r.words.Len())
	if err != nil {
		return 0, err
	}
	for i, word := range r.words.Slice() {
		before[i] = uint32(n)
		n += bits.OnesCount64(word)
	}
	if n > NoNode {
		return 0, fmt.Errorf("the roads have %d nodes, and a region may have %d", n, uint32(NoNode))
	}
	return n, nil
}

// of returns the rank of a node; false if it is not in the set.
func (r *ranks) of(node uint64) (rank uint32, ok bool) {
	word, bit := r.words.Slice()[node/64], uint64(1)<<(node%64)
	return r.before.Slice()[node/64] + uint32(bits.OnesCount64(word&(bit-1))), word&bit != 0
}

// Free removes the files.
func (r *ranks) Free() error { return freeAll(r.words, r.before) }

// eachRoad reads one way after the other that is a road.
func (c *collector) eachRoad(ctx context.Context, bar *progress.Bar, f func(*way) error) error {
	var w way
	return loop(ctx, bar, c.ways.len(), func(i int) error {
		if c.ways.flags(i)&wayIsRoad == 0 {
			return nil
		}
		c.readWay(i, &w)
		return f(&w)
	})
}

// assembleRoads fills Nodes, Barriers, Roads and Restrictions.
func (c *collector) assembleRoads(ctx context.Context, bar *progress.Bar, data *Data) error {
	bar.Start(stageRoads, 2*int64(c.ways.len()))
	numbers, err := newRanks(c.dir, c.locations.len())
	if err != nil {
		return err
	}
	roads, refs := 0, 0
	if err := c.eachRoad(ctx, bar, func(w *way) error {
		for _, n := range w.nodes {
			if n != noNode {
				numbers.add(n)
			}
		}
		roads, refs = roads+1, refs+len(w.nodes)-w.missing
		data.Counts.MissingNodes += int64(w.missing)
		return nil
	}); err != nil {
		return err
	}
	if err := c.assembleNodes(data, numbers); err != nil {
		return err
	}
	// What is left to do needs the nodes of roads alone.
	if err := freeAll(c.locations, c.barriers); err != nil {
		return err
	}
	if err := cmp.Or(data.Roads.Reserve(roads), data.RoadNodes.Reserve(refs)); err != nil {
		return err
	}
	if err := c.eachRoad(ctx, bar, func(w *way) error { return data.addRoad(w, numbers) }); err != nil {
		return err
	}
	data.Counts.Roads = int64(data.Roads.Len())
	if err := freeAll(numbers, c.ways); err != nil {
		return err
	}
	if err := c.assembleRestrictions(data); err != nil {
		return err
	}
	bar.Finish()
	return trimAll(data.Roads, data.RoadNodes, data.Barriers)
}

// assembleNodes fills Nodes and Barriers, and tells the restrictions which nodes theirs are.
func (c *collector) assembleNodes(data *Data, numbers *ranks) error {
	n, err := numbers.finish()
	if err != nil {
		return err
	}
	nodes, err := data.Nodes.Extend(n)
	if err != nil {
		return err
	}
	for i, word := range numbers.words.Slice() {
		for ; word != 0; word &= word - 1 {
			lat, lon := c.locations.place(uint64(i*64 + bits.TrailingZeros64(word))).unpack()
			nodes[0], nodes = Node{Lat: lat, Lon: lon}, nodes[1:]
		}
	}
	rank := func(id int64) uint32 {
		if number, ok := c.locations.find(id, 0); ok {
			if rank, ok := numbers.of(number); ok {
				return rank
			}
		}
		return NoNode
	}
	for _, b := range c.barriers.Slice() {
		if node := rank(b.id); node != NoNode {
			if err := data.Barriers.Append(Barrier{node, b.stops}); err != nil {
				return err
			}
		}
	}
	data.sortBarriers()
	for i := range c.turns {
		t := &c.turns[i]
		if t.via = NoNode; len(t.viaNodes) > 0 {
			t.via = rank(t.viaNodes[0])
		}
	}
	return nil
}

// sortBarriers sorts the barriers by their nodes, and makes one of those at one node, which several files may have.
func (d *Data) sortBarriers() {
	all := d.Barriers.Slice()
	slices.SortFunc(all, func(a, b Barrier) int { return cmp.Compare(a.Node, b.Node) })
	kept := all[:0]
	for _, b := range all {
		if n := len(kept); n > 0 && kept[n-1].Node == b.Node {
			kept[n-1].Stops |= b.Stops
		} else {
			kept = append(kept, b)
		}
	}
	d.Barriers.Truncate(len(kept))
}

// addRoad adds a way as a road. One whose nodes are partly beyond the extract becomes several, each with the nodes
// between two gaps, since nobody knows how it runs there.
func (d *Data) addRoad(w *way, numbers *ranks) error {
	w.timeCrossing(func(node uint64) orb.Point {
		rank, _ := numbers.of(node)
		n := d.Nodes.Slice()[rank]
		return toPoint(n.Lat, n.Lon)
	})
	first := d.RoadNodes.Len()
	end := func() error {
		if d.RoadNodes.Len() < first+2 {
			d.RoadNodes.Truncate(first)
			return nil
		}
		r := w.road
		r.FirstNode = uint64(first)
		first = d.RoadNodes.Len()
		return d.Roads.Append(r)
	}
	last := uint32(NoNode)
	for _, n := range w.nodes {
		if n == noNode {
			if err := end(); err != nil {
				return err
			}
			last = NoNode
			continue
		}
		rank, _ := numbers.of(n)
		if rank == last {
			continue
		}
		if err := d.RoadNodes.Append(rank); err != nil {
			return err
		}
		last = rank
	}
	return end()
}
