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
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// batch collects the roads of some objects.
type batch struct {
	c       *Consumer
	special []special
	turns   []turn
	skipped int64 // restrictions
	areas   []pedestrianArea
	ways    []foundWay
	bytes   []byte // of the ways
}

// foundWay is a way that is a road.
type foundWay struct {
	id            int64
	name, ref     string
	details, rest []byte // rest is its record after the numbers of name, ref and details
}

// Node implements osm.Batch.
func (b *batch) Node(n *osm.Node) (note bool) {
	s := network.Special{Stops: profile.Stops(n.Tags), Control: profile.ControlOf(n.Tags)}
	if s.Stops != 0 || s.Control != 0 {
		b.special = append(b.special, special{n.ID, s})
	}
	return false
}

// Relation implements osm.Batch.
func (b *batch) Relation(r *osm.Relation) (wantArea bool) {
	if r.Tags.Is(tags.Type, "restriction") {
		b.addTurn(r)
	} else if r.Tags.Is(tags.Type, "multipolygon") && r.Tags.Has(tags.Highway) {
		road, ok := profile.RoadOf(r.Tags)
		road.Name, road.Ref = strings.Clone(road.Name), strings.Clone(road.Ref)
		for _, m := range r.Members {
			if ok && m.Kind == region.KindWay && m.Role != "inner" {
				b.areas = append(b.areas, pedestrianArea{r.ID, m.ID, &road})
			}
		}
	}
	return false
}

// Area implements osm.Batch.
func (b *batch) Area(*osm.Area) {}

// Way implements osm.Batch. A way's own highway and access tags take precedence. Without them, the outline of a
// pedestrian area is a road.
func (b *batch) Way(w *osm.Way) {
	road, ok := w.Road()
	if !ok {
		of, ok := b.c.areas[w.ID]
		if !ok || w.Tags.Has(tags.Highway) || profile.IsOutOfUse(w.Tags) {
			return
		}
		road = of.road
	}
	from := len(b.bytes)
	profile.Details(w.Tags, func(key tags.Key, value string) {
		b.bytes = roadgraph.AppendDetail(b.bytes, key.String(), value)
	})
	b.bytes = append(b.bytes, b.c.conditional[w.ID]...)
	rest := len(b.bytes)
	a := road.Attributes
	if road.Takes > 0 && w.Lacks == 0 {
		timeCrossing(&a, road.Takes, w.Coords)
	}
	// The order is that of someRoads.read.
	b.bytes = append(b.bytes, byte(a.Class), byte(a.Forward), byte(a.Backward), byte(a.DestinationForward),
		byte(a.DestinationBackward), byte(a.PrivateForward), byte(a.PrivateBackward),
		a.SpeedForward, a.SpeedBackward, a.BicycleSpeed, a.FootSpeed, byte(a.Layer), byte(a.Flags>>roadgraph.RoadFlags))
	for from, to := range w.Parts {
		b.appendNodes(w.Numbers[from:to])
	}
	b.bytes = append(b.bytes, 0) // no further part
	b.ways = append(b.ways, foundWay{w.ID, road.Name, road.Ref, b.bytes[from:rest], b.bytes[rest:]})
}

// timeCrossing sets the speeds of a ferry or shuttle train from its duration in seconds: from 1 to 200 km/h.
func timeCrossing(a *profile.Attributes, takes int32, line []osm.Coord) {
	length := 0.0
	for i := range line[1:] {
		length += geo.DistanceHaversine(line[i].Point(), line[i+1].Point())
	}
	speed := uint8(math.Round(min(max(length/float64(takes)*3.6, 1), 200)))
	a.SpeedForward, a.SpeedBackward, a.BicycleSpeed, a.FootSpeed = speed, speed, speed, speed
}

// appendNodes appends a part of a way: the count of its nodes, and their numbers as differences. It marks them as used.
func (b *batch) appendNodes(numbers []uint64) {
	b.bytes = binary.AppendUvarint(b.bytes, uint64(len(numbers)))
	before := uint64(0)
	for _, n := range numbers {
		b.bytes = binary.AppendVarint(b.bytes, int64(n-before))
		b.c.used.Add(n)
		before = n
	}
}

// someRoads is the roads of some ways. FirstNode is an index into its nodes.
type someRoads struct {
	roads []network.Road
	nodes []uint32
}

// read reads the record of the i-th way. If the extract lacks some of its nodes, each part without a gap becomes a
// road.
func (s *someRoads) read(c *Consumer, i int) {
	d := c.ways.Read(i)
	r := network.Road{Way: int64(c.ways.Key(i))}
	r.Name, r.Ref, r.Details = uint32(d.Uvarint()), uint32(d.Uvarint()), uint32(d.Uvarint())
	r.Class = region.RoadClass(d.Byte())
	r.Forward, r.Backward = region.Modes(d.Byte()), region.Modes(d.Byte())
	r.DestinationForward, r.DestinationBackward = region.Modes(d.Byte()), region.Modes(d.Byte())
	r.PrivateForward, r.PrivateBackward = region.Modes(d.Byte()), region.Modes(d.Byte())
	r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed = d.Byte(), d.Byte(), d.Byte(), d.Byte()
	r.Layer, r.Flags = int8(d.Byte()), roadgraph.Flags(d.Byte())<<roadgraph.RoadFlags
	for n := d.Uvarint(); n > 0; n = d.Uvarint() {
		r.FirstNode = uint64(len(s.nodes))
		number := uint64(0)
		for range n {
			number += uint64(d.Varint())
			rank, _ := c.used.Of(number)
			s.nodes = append(s.nodes, rank)
		}
		s.roads = append(s.roads, r)
	}
}
