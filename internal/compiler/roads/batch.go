package roads

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/paulmach/orb/geo"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/profile"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// batch is what was found among some objects.
type batch struct {
	c       *Consumer
	special []special
	turns   []turn
	skipped int64 // restrictions
	squares []square
	ways    []foundWay
	bytes   []byte // details and rows of ways
}

// foundWay is a way that is a road. In bytes are its details and then, from row on, what else is in its record.
type foundWay struct {
	id            int64
	name, ref     string
	from, row, to int
}

// Node implements osm.Batch.
func (b *batch) Node(n *osm.Node) (note bool) {
	s := special{id: n.ID, Special: network.Special{Stops: profile.Stops(n.Tags)}}
	if control, ok := profile.ControlOf(n.Tags); ok {
		s.Control = controls[control.Kind()]
		if control.Forward() {
			s.Control |= roadgraph.Along
		}
		if control.Backward() {
			s.Control |= roadgraph.Against
		}
	}
	if s.Stops != 0 || s.Control != 0 {
		b.special = append(b.special, s)
	}
	return false
}

var controls = map[profile.Control]roadgraph.ControlFlags{
	profile.TrafficSignals: roadgraph.Signals, profile.Stop: roadgraph.Stop, profile.GiveWay: roadgraph.GiveWay,
	profile.Crossing: roadgraph.Crossing,
}

// Relation implements osm.Batch.
func (b *batch) Relation(r *osm.Relation) (wantArea bool) {
	if t, ok := profile.TurnOf(r.Tags); ok {
		b.addTurn(r, t)
		return false
	}
	road, ok := profile.AreaRoadOf(r.Tags)
	if !ok {
		return false
	}
	road.Name, road.Ref = strings.Clone(road.Name), strings.Clone(road.Ref)
	s := square{id: r.ID, road: road}
	for _, m := range r.Members {
		if m.Kind == mapdata.KindWay && m.Role != "inner" {
			s.ways = append(s.ways, m.ID)
		}
	}
	b.squares = append(b.squares, s)
	return false
}

// Area implements osm.Batch.
func (b *batch) Area(*osm.Area) {}

// Way implements osm.Batch. A way that says itself that it is a road, or that it is closed, is what it says; of the
// others those are roads that are outlines of squares.
func (b *batch) Way(w *osm.Way) {
	road, ok := w.Road()
	if !ok {
		of := b.c.outline(w.ID)
		if of == nil || w.Tags.Has(tags.Highway) || profile.IsOutOfUse(w.Tags) {
			return
		}
		road = of
	}
	found := foundWay{id: w.ID, name: road.Name, ref: road.Ref, from: len(b.bytes)}
	profile.Details(w.Tags, func(key tags.Key, value string) {
		b.bytes = roadgraph.AppendDetail(b.bytes, key.String(), value)
	})
	found.row = len(b.bytes)
	if road.Takes > 0 && w.Lacks == 0 {
		timed := *road // others ask the way too
		road = &timed
		timeCrossing(road, w.Coords)
	}
	b.appendRoad(road)
	for from, to := range w.Parts {
		b.appendNodes(w.Numbers[from:to])
	}
	b.bytes = append(b.bytes, 0) // no more parts
	found.to = len(b.bytes)
	b.ways = append(b.ways, found)
}

// fastestCrossing is the greatest speed of a ferry or a shuttle train, in km/h.
const fastestCrossing = 200

// timeCrossing gives a road of which the tags tell how long it takes the speed that comes to. The duration is that of
// the whole way, so one of which the extract lacks a part keeps the usual speed.
func timeCrossing(r *profile.Road, line []osm.Coord) {
	length := 0.0
	for i := range line[1:] {
		length += geo.DistanceHaversine(line[i].Point(), line[i+1].Point())
	}
	speed := uint8(math.Round(min(max(length/float64(r.Takes)*3.6, 1), fastestCrossing)))
	r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed = speed, speed, speed, speed
}

// appendRoad writes what a road is, after the numbers of its name, its number and its details. The order is that of
// someRoads.read.
func (b *batch) appendRoad(r *profile.Road) {
	flags := roadgraph.Flags(0)
	for _, f := range [...]struct {
		set  bool
		flag roadgraph.Flags
	}{
		{r.Roundabout, roadgraph.Roundabout}, {r.Link, roadgraph.Link}, {r.Tunnel, roadgraph.Tunnel},
		{r.Bridge, roadgraph.Bridge}, {r.Toll, roadgraph.Toll}, {r.Ferry, roadgraph.Ferry},
	} {
		if f.set {
			flags |= f.flag
		}
	}
	b.bytes = append(b.bytes, byte(r.Class), byte(r.Forward), byte(r.Backward), byte(r.DestinationForward),
		byte(r.DestinationBackward), byte(r.PrivateForward), byte(r.PrivateBackward),
		r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed, byte(r.Layer), byte(flags>>roadgraph.RoadFlags))
}

// appendNodes writes a part of a way: how many nodes it has, and their numbers, each less the one before. It marks them
// as used.
func (b *batch) appendNodes(numbers []uint64) {
	b.bytes = binary.AppendUvarint(b.bytes, uint64(len(numbers)))
	before := uint64(0)
	for _, n := range numbers {
		b.bytes = binary.AppendVarint(b.bytes, int64(n-before))
		b.c.used.add(n)
		before = n
	}
}

// someWays is how many ways one goroutine reads at a time.
const someWays = 4096

// someRoads are the roads of some ways. Where their nodes begin counts from the first of these.
type someRoads struct {
	roads []network.Road
	nodes []uint32
}

// read reads the record of the i-th way. One whose nodes are partly beyond the extract becomes several roads, each with
// the nodes between two gaps, since nobody knows how it runs there.
func (s *someRoads) read(c *Consumer, i int) {
	d := c.ways.Read(i)
	r := network.Road{Way: int64(c.ways.Key(i))}
	r.Name, r.Ref, r.Details = uint32(d.Uvarint()), uint32(d.Uvarint()), uint32(d.Uvarint())
	r.Class = mapdata.RoadClass(d.Byte())
	r.Forward, r.Backward = mapdata.Modes(d.Byte()), mapdata.Modes(d.Byte())
	r.DestinationForward, r.DestinationBackward = mapdata.Modes(d.Byte()), mapdata.Modes(d.Byte())
	r.PrivateForward, r.PrivateBackward = mapdata.Modes(d.Byte()), mapdata.Modes(d.Byte())
	r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed = d.Byte(), d.Byte(), d.Byte(), d.Byte()
	r.Layer, r.Flags = int8(d.Byte()), roadgraph.Flags(d.Byte())<<roadgraph.RoadFlags
	for n := d.Uvarint(); n > 0; n = d.Uvarint() {
		r.FirstNode = uint64(len(s.nodes))
		at := uint64(0)
		for range n {
			at += uint64(d.Varint())
			rank, _ := c.used.of(at)
			s.nodes = append(s.nodes, rank)
		}
		s.roads = append(s.roads, r)
	}
}
