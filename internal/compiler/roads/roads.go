// Package roads collects the roads of extracts, with what there is at their nodes and the turns that are restricted.
// Package network compiles them.
package roads

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/inorder"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/profile"
	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Consumer collects roads, and writes their sections. It implements osm.Consumer.
type Consumer struct {
	dir    *scratch.Dir
	counts Counts

	special *scratch.Array[special]
	turns   []turn   // restrictions
	squares []square // until Located
	// outlines are the outer ways of squares, sorted by way.
	outlines []outline

	nodes *osm.Nodes
	used  *ranks           // the nodes that roads use
	ways  *scratch.Records // roads by the ids of their ways; see batch.addRoad
	row   []byte
	data  *network.Data
}

// Counts is what was made of roads.
type Counts struct {
	Roads, Restrictions int64
	// SkippedRestrictions are those of a form that is not understood, and those whose members are missing or do not meet
	// end to end.
	SkippedRestrictions int64
}

// New makes a consumer whose files are in dir.
func New(dir *scratch.Dir) (*Consumer, error) {
	data, err := network.NewData(dir)
	return &Consumer{dir: dir, special: scratch.NewArray[special](dir, "road-special-nodes"),
		used: newRanks(dir), ways: scratch.NewRecords(dir, "road-ways"), data: data}, err
}

// Counts is what was made, when Finish has been called.
func (c *Consumer) Counts() Counts { return c.counts }

// NewBatch implements osm.Consumer.
func (c *Consumer) NewBatch() osm.Batch { return &batch{c: c} }

// Take implements osm.Consumer.
func (c *Consumer) Take(of osm.Batch) error {
	b := of.(*batch)
	c.counts.SkippedRestrictions += b.skipped
	c.turns = append(c.turns, b.turns...)
	c.squares = append(c.squares, b.squares...)
	if err := c.special.Append(b.special...); err != nil {
		return err
	}
	for i := range b.ways {
		if err := c.takeWay(b, &b.ways[i]); err != nil {
			return err
		}
	}
	clear(b.ways) // which refer to texts of blocks
	*b = batch{c: c, special: b.special[:0], ways: b.ways[:0], bytes: b.bytes[:0]}
	return nil
}

func (c *Consumer) takeWay(b *batch, w *foundWay) error {
	c.row = c.row[:0]
	for _, text := range [...]string{w.name, w.ref, string(b.bytes[w.from:w.row])} {
		n, err := c.data.Texts.Add(text)
		if err != nil {
			return err
		}
		c.row = binary.AppendUvarint(c.row, uint64(n))
	}
	c.row = append(c.row, b.bytes[w.row:w.to]...)
	return c.ways.Add(uint64(w.id), c.row)
}

// Located implements osm.Consumer.
func (c *Consumer) Located(_ context.Context, nodes *osm.Nodes) error {
	c.nodes = nodes
	slices.SortFunc(c.squares, func(a, b square) int { return cmp.Compare(a.id, b.id) })
	for i := range c.squares {
		for _, way := range c.squares[i].ways {
			c.outlines = append(c.outlines, outline{way, &c.squares[i].road})
		}
	}
	// Of several squares that share a way the first is meant.
	slices.SortStableFunc(c.outlines, func(a, b outline) int { return cmp.Compare(a.way, b.way) })
	c.squares = nil
	return c.used.init(nodes.Len())
}

// Finish implements osm.Consumer.
func (c *Consumer) Finish(ctx context.Context) error {
	if err := c.ways.Sort(ctx); err != nil {
		return err
	}
	if err := c.placeNodes(ctx); err != nil {
		return err
	}
	if err := c.placeRoads(ctx); err != nil {
		return err
	}
	c.placeTurns()
	c.nodes, c.outlines = nil, nil
	c.counts.Roads, c.counts.Restrictions = int64(c.data.Roads.Len()), int64(len(c.data.Restrictions))
	return errors.Join(c.special.Free(), c.used.free(), c.ways.Free())
}

// placeRoads fills the roads and their nodes.
func (c *Consumer) placeRoads(ctx context.Context) error {
	d := c.data
	return inorder.Ranges(ctx, c.ways.Len(), someWays, func(from, to int) (*someRoads, error) {
		s := new(someRoads)
		for i := from; i < to; i++ {
			s.read(c, i)
		}
		return s, nil
	}, func(s *someRoads) error {
		for i := range s.roads {
			s.roads[i].FirstNode += uint64(d.RoadNodes.Len())
		}
		return errors.Join(d.Roads.Append(s.roads...), d.RoadNodes.Append(s.nodes...))
	})
}

// Write compiles the roads and adds their sections to a region file. The bar has three stages.
func (c *Consumer) Write(ctx context.Context, w *region.Writer, bar *progress.Bar) error {
	return errors.Join(network.Write(ctx, w, c.data, c.dir, bar), c.data.Free())
}

// special is a node that is special wherever roads lead through it, by its id.
type special struct {
	id int64
	network.Special
}

// square is a multipolygon relation that is a square, a platform, …: people walk along its outer ways, which need not
// say anything themselves.
type square struct {
	id   int64
	road profile.Road
	ways []int64
}

// outline is an outer way of a square.
type outline struct {
	way  int64
	road *profile.Road
}

// outline returns the road that a way is as a part of a square's outline, or nil.
func (c *Consumer) outline(way int64) *profile.Road {
	i, ok := slices.BinarySearchFunc(c.outlines, way, func(o outline, way int64) int { return cmp.Compare(o.way, way) })
	if !ok {
		return nil
	}
	return c.outlines[i].road
}
