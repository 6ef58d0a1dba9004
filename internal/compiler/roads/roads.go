// Package roads collects the roads of extracts, with barriers and traffic signals at their nodes and with turn
// restrictions. Package profile says what tags mean, and package network compiles the roads into the network that
// package roadgraph reads. Begin at Consumer and batch.
package roads

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/profile"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Consumer collects roads, and writes their sections. It implements osm.Consumer.
type Consumer struct {
	Counts // after Finish

	dir     *scratch.Dir
	special *scratch.Array[special]
	turns   []turn
	areas   map[int64]pedestrianArea // by the ids of their ways
	// conditional has details of ways by id: the restrictions from them that apply at certain times.
	conditional map[int64][]byte
	nodes       *osm.Nodes
	used        *scratch.Ranks   // the numbers of the nodes of roads
	ways        *scratch.Records // roads by the ids of their ways; see someRoads.read
	row         []byte
	data        *network.Data
}

// Counts is how many roads and restrictions there are.
type Counts struct {
	Roads, Restrictions int64
	// SkippedRestrictions have a form that is not understood, or members that are missing or do not meet end to end.
	SkippedRestrictions int64
}

// special is a node with a barrier or a control, by its id.
type special struct {
	id int64
	network.Special
}

// pedestrianArea is an outer way of a multipolygon relation that is a square, a platform or the like. People walk along
// it, and it needs no tags of its own.
type pedestrianArea struct {
	id, way int64
	road    *profile.Road
}

// New makes a consumer with temporary files in dir.
func New(dir *scratch.Dir) (*Consumer, error) {
	data, err := network.NewData(dir)
	return &Consumer{dir: dir, data: data, special: scratch.NewArray[special](dir, "road-special-nodes"),
		areas: map[int64]pedestrianArea{}, conditional: map[int64][]byte{}, used: scratch.NewRanks(dir, "road-nodes"),
		ways: scratch.NewRecords(dir, "road-ways")}, err
}

// NewBatch implements osm.Consumer.
func (c *Consumer) NewBatch() osm.Batch { return &batch{c: c} }

// Take implements osm.Consumer.
func (c *Consumer) Take(of osm.Batch) error {
	b := of.(*batch)
	c.SkippedRestrictions += b.skipped
	c.turns = append(c.turns, b.turns...)
	for _, s := range b.areas {
		// Of several areas that share a way, the one with the lowest id counts.
		if before, ok := c.areas[s.way]; !ok || s.id < before.id {
			c.areas[s.way] = s
		}
	}
	if err := c.special.Append(b.special...); err != nil {
		return err
	}
	for i := range b.ways {
		if err := c.takeWay(&b.ways[i]); err != nil {
			return err
		}
	}
	clear(b.ways) // which keep texts of blocks in memory
	*b = batch{c: c, special: b.special[:0], ways: b.ways[:0], bytes: b.bytes[:0]}
	return nil
}

func (c *Consumer) takeWay(w *foundWay) error {
	c.row = c.row[:0]
	for _, text := range [...]string{w.name, w.ref, string(w.details)} {
		n, err := c.data.Texts.Add(text)
		if err != nil {
			return err
		}
		c.row = binary.AppendUvarint(c.row, uint64(n))
	}
	c.row = append(c.row, w.rest...)
	return c.ways.Add(uint64(w.id), c.row)
}

// Located implements osm.Consumer.
func (c *Consumer) Located(_ context.Context, nodes *osm.Nodes) error {
	c.nodes = nodes
	for i := range c.turns {
		c.keepText(&c.turns[i])
	}
	return c.used.Init(nodes.Len())
}

// Finish implements osm.Consumer.
func (c *Consumer) Finish(ctx context.Context) error {
	for _, step := range []func(context.Context) error{c.ways.Sort, c.placeNodes, c.placeRoads} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	c.placeTurns()
	c.Roads, c.Restrictions = int64(c.data.Roads.Len()), int64(len(c.data.Restrictions))
	c.nodes, c.areas, c.conditional, c.turns = nil, nil, nil, nil
	return errors.Join(c.special.Free(), c.used.Free(), c.ways.Free())
}

// placeNodes fills data.Nodes and data.Special.
func (c *Consumer) placeNodes(ctx context.Context) error {
	n, err := c.used.Finish()
	if err != nil {
		return err
	}
	nodes, err := c.data.Nodes.Extend(n)
	if err != nil {
		return err
	}
	if err := c.used.Each(ctx, func(rank uint32, number uint64) {
		at := c.nodes.At(number)
		nodes[rank] = network.Node{Lat: at.Lat, Lon: at.Lon}
	}); err != nil {
		return err
	}
	for _, s := range c.special.Slice() {
		if s.Node = c.rankOf(s.id); s.Node != network.NoNode {
			if err := c.data.Special.Append(s.Special); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(c.data.Special.Slice(), func(a, b network.Special) int { return cmp.Compare(a.Node, b.Node) })
	return nil
}

// rankOf returns the index of a node in data.Nodes, or NoNode.
func (c *Consumer) rankOf(id int64) uint32 {
	if number, ok := c.nodes.Find(id); ok {
		if rank, ok := c.used.Of(number); ok {
			return rank
		}
	}
	return network.NoNode
}

// someWays is how many ways one goroutine reads at a time.
const someWays = 4096

// placeRoads fills data.Roads and data.RoadNodes.
func (c *Consumer) placeRoads(ctx context.Context) error {
	d := c.data
	return pipeline.Ranges(ctx, c.ways.Len(), someWays, func(from, to int) (*someRoads, error) {
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

// Write compiles the roads and adds their sections to a region file. It reports three stages to the bar. It returns the
// junctions as network.Write does.
func (c *Consumer) Write(ctx context.Context, w *region.Writer, bar *pipeline.Bar) (*scratch.Array[uint32], error) {
	junctions, err := network.Write(ctx, w, c.data, c.dir, bar)
	return junctions, errors.Join(err, c.data.Free())
}
