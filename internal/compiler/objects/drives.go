package objects

import (
	"context"
	"encoding/binary"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Node is a node of a drive, in 1e-7 degrees.
type Node struct{ Lat, Lon int32 }

// Road is a drive, which is a minor road without a name, or a road with one that drives lead to.
type Road struct {
	Way int64
	// FirstNode is where its nodes begin in Data.RoadNodes; they end where the next road's begin.
	FirstNode uint64
	// Named says that it has a name. It has those nodes only that drives have too.
	Named uint32
	_     uint32
}

// NodesOf returns the nodes of the i-th road as indexes into Nodes.
func (d *Data) NodesOf(i int) []uint32 {
	roads, nodes := d.Roads.Slice(), d.RoadNodes.Slice()
	if i+1 < len(roads) {
		return nodes[roads[i].FirstNode:roads[i+1].FirstNode]
	}
	return nodes[roads[i].FirstNode:]
}

// addDrive adds a way that is a drive, or a street that drives may lead to.
func (b *objectBatch) addDrive(w *osm.Way) {
	road, ok := w.Road()
	switch {
	case !ok:
	case road.Name == "" && road.Class >= mapdata.Unclassified && road.Class <= mapdata.Track:
		for _, n := range w.Numbers {
			if n != osm.Missing {
				b.data.driveNodes.Add(n)
			}
		}
		for from, to := range w.Parts {
			b.addNodes(toDrives, w.ID, w.Numbers[from:to])
		}
	case isFeature(w.Tags):
		for from, to := range w.Parts {
			b.addNodes(toStreetNodes, w.ID, w.Numbers[from:to])
		}
	}
}

func (b *objectBatch) addNodes(to store, way int64, numbers []uint64) {
	b.rows = binary.AppendUvarint(b.rows, uint64(len(numbers)))
	before := uint64(0)
	for _, n := range numbers {
		b.rows = binary.AppendVarint(b.rows, int64(n-before))
		before = n
	}
	b.end(to, mapdata.KindWay, way)
}

// assembleDrives fills Nodes, Roads and RoadNodes.
func (d *Data) assembleDrives(ctx context.Context) error {
	n, err := d.driveNodes.Finish()
	if err != nil {
		return err
	}
	nodes, err := d.Nodes.Extend(n)
	if err != nil {
		return err
	}
	if err := d.driveNodes.Each(ctx, func(rank uint32, number uint64) {
		at := d.nodes.At(number)
		nodes[rank] = Node{Lat: at.Lat, Lon: at.Lon}
	}); err != nil {
		return err
	}
	for named, records := range []*scratch.Records{d.drives, d.streetNodes} {
		if err := records.Sort(ctx); err != nil {
			return err
		}
		for i := range records.Len() {
			if err := d.addRoad(records, i, uint32(named)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Data) addRoad(records *scratch.Records, i int, named uint32) error {
	r := records.Read(i)
	r.Byte() // it has no tags
	first, number := d.RoadNodes.Len(), uint64(0)
	for range r.Uvarint() {
		number += uint64(r.Varint())
		if rank, ok := d.driveNodes.Of(number); ok {
			if err := d.RoadNodes.Append(rank); err != nil {
				return err
			}
		}
	}
	if d.RoadNodes.Len() == first {
		return nil
	}
	_, id := objectOf(records.Key(i))
	return d.Roads.Append(Road{Way: id, FirstNode: uint64(first), Named: named})
}
