package roads

import (
	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/build/scratch"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// newNetwork lays the roads of an extract out in flat arrays.
func newNetwork(d *extract.Data, dir *scratch.Dir) (*network, error) {
	texts, err := scratch.NewTexts(dir, "road-names")
	if err != nil {
		return nil, err
	}
	n := &network{texts: texts, restrictions: d.Restrictions, cost: d.Cost, nodes: make([]node, len(d.Nodes)),
		roads: make([]road, 0, len(d.Roads)+1)}
	for i := range d.Nodes {
		n.nodes[i] = node{d.Nodes[i].Lat, d.Nodes[i].Lon}
		if b := d.Nodes[i].Barrier; b != 0 {
			n.barriers = append(n.barriers, barrier{uint32(i), b})
		}
	}
	for i := range d.Roads {
		r := &d.Roads[i]
		if r.Forward|r.Backward == 0 {
			continue
		}
		out := road{Way: r.Way, FirstNode: uint64(len(n.refs)), Forward: r.Forward, Backward: r.Backward,
			LocalForward: r.DestinationForward, LocalBackward: r.DestinationBackward, Class: r.Class, Layer: r.Layer,
			Speeds: [4]uint8{r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed}, Flags: flagsOf(r)}
		if out.Name, err = texts.Add(r.Name); err != nil {
			return nil, err
		}
		if out.Ref, err = texts.Add(r.Ref); err != nil {
			return nil, err
		}
		n.roads = append(n.roads, out)
		for _, node := range r.Nodes {
			n.refs = append(n.refs, uint32(node))
		}
	}
	n.roads = append(n.roads, road{FirstNode: uint64(len(n.refs))})
	return n, nil
}

func flagsOf(r *extract.Road) uint8 {
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
	return uint8(flags >> roadgraph.RoadFlags)
}
