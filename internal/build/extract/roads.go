package extract

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/osm"
)

// road returns a way of such tags as a road without its nodes, or nil if nobody may travel along it.
func (c *collector) road(way int64, tags osm.Tags) *Road {
	h, ok := highwayOf(tags)
	if !ok {
		return nil
	}
	forward, backward := access(tags, h)
	if forward.open|backward.open == 0 {
		return nil
	}
	r := &Road{Way: way, Class: h.class, Link: h.link, Ferry: h.class == mapdata.Ferry,
		Forward: forward.open, DestinationForward: forward.destination,
		Backward: backward.open, DestinationBackward: backward.destination}
	r.SpeedForward, r.SpeedBackward = speeds(tags, h)
	r.BicycleSpeed, r.FootSpeed = slowSpeeds(tags, h)
	for i := range tags {
		value := tags[i].Value
		switch tags[i].Key {
		case "name":
			r.Name = c.strings.intern(value)
		case "ref":
			r.Ref = c.strings.intern(value)
		case "junction":
			r.Roundabout = value == "roundabout" || value == "circular"
		case "tunnel":
			r.Tunnel = value != "no"
		case "bridge":
			r.Bridge = value != "no"
		case "toll":
			r.Toll = value == "yes"
		case "layer":
			if n, err := strconv.ParseInt(value, 10, 8); err == nil {
				r.Layer = int8(n)
			}
		}
	}
	return r
}

// assembleRoads fills Nodes and Roads. A road whose nodes are partly beyond the extract becomes several, each with the
// nodes between two gaps, since nobody knows how it runs there.
func (c *collector) assembleRoads(data *Data) {
	used := make([]int32, len(c.locations.ids)) // 1 for the nodes of roads, then their index in data.Nodes
	roads := 0
	for i := range c.ways {
		if w := &c.ways[i]; w.road != nil {
			roads++
			for _, ref := range c.refs[w.start:w.end] {
				if c.locations.known(int32(ref)) {
					used[ref] = 1
				} else {
					data.Counts.MissingNodes++
				}
			}
		}
	}
	total := 0
	for _, u := range used {
		total += int(u)
	}
	data.Nodes = make([]Node, 0, total)
	for i := range used {
		if used[i] == 0 {
			continue
		}
		used[i] = int32(len(data.Nodes))
		lat, lon := c.locations.at(int32(i))
		data.Nodes = append(data.Nodes, Node{ID: c.locations.ids[i], Lat: lat, Lon: lon})
	}
	for _, b := range c.barriers {
		if i := findNode(data.Nodes, b.id); i >= 0 {
			data.Nodes[i].Barrier |= b.stops
		}
	}
	data.Roads = make([]Road, 0, roads)
	for i := range c.ways {
		w := &c.ways[i]
		if w.road == nil {
			continue
		}
		c.timeCrossing(w)
		var run []int32
		flush := func() {
			if len(run) >= 2 {
				r := *w.road
				r.Nodes = run
				data.Roads = append(data.Roads, r)
			}
			run = nil
		}
		for _, ref := range c.refs[w.start:w.end] {
			if !c.locations.known(int32(ref)) {
				flush()
				continue
			}
			if run == nil {
				run = make([]int32, 0, w.end-w.start)
			}
			if node := used[ref]; len(run) == 0 || run[len(run)-1] != node {
				run = append(run, node)
			}
		}
		flush()
	}
	data.Counts.Roads = int64(len(data.Roads))
}

// findNode returns the index of a node by its id, or -1.
func findNode(nodes []Node, id int64) int32 {
	i, ok := slices.BinarySearchFunc(nodes, id, func(n Node, id int64) int { return cmp.Compare(n.ID, id) })
	if !ok {
		return -1
	}
	return int32(i)
}
