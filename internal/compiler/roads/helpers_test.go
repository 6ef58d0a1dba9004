package roads

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

const everyone = region.Car | region.Bicycle | region.Foot

// sketch is a small map that is written as an extract in XML.
type sketch struct {
	nodes     map[int64][2]float64 // lon, lat
	nodeTags  map[int64]string
	ways      []sketchWay
	relations []sketchRelation
}

type sketchWay struct {
	id    int64
	nodes []int64
	tags  string
}

type sketchRelation struct {
	id      int64
	members string // w1:outer n2:via
	tags    string
}

// file writes the sketch, and returns the path.
func (s *sketch) file(t testing.TB) string {
	t.Helper()
	full := osmtest.Sketch{Nodes: s.nodes, NodeTags: s.nodeTags}
	for _, w := range s.ways {
		full.Ways = append(full.Ways, osmtest.SketchWay{ID: w.id, Nodes: w.nodes, Tags: w.tags})
	}
	for _, r := range s.relations {
		full.Relations = append(full.Relations, osmtest.SketchRelation{ID: r.id, Members: r.members, Tags: r.tags})
	}
	return full.File(t)
}

// content is what a consumer made of a sketch.
type content struct {
	roads  []road
	counts Counts
	data   *network.Data
}

// road is a road with its texts and the ids of its nodes.
type road struct {
	network.Road
	name, ref, details string
	nodes              []int64
}

// read collects the roads of a sketch.
func (s *sketch) read(t testing.TB) *content {
	t.Helper()
	c, err := New(osmtest.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	osmtest.Read(t, []string{s.file(t)}, c)
	content := &content{counts: c.Counts, data: c.data}
	for i, r := range c.data.Roads.Slice() {
		full := road{Road: r, name: c.data.Texts.Text(r.Name), ref: c.data.Texts.Text(r.Ref),
			details: c.data.Texts.Text(r.Details)}
		full.Name, full.Ref, full.Details, full.FirstNode = 0, 0, 0, 0
		for _, n := range c.data.NodesOf(uint32(i)) {
			full.nodes = append(full.nodes, content.id(n))
		}
		content.roads = append(content.roads, full)
	}
	content.check(t)
	return content
}

// id is what a node is called in a grid.
func (c *content) id(node uint32) int64 {
	n := c.data.Nodes.Slice()[node]
	return int64(n.Lat/100_000*10 + n.Lon/100_000)
}

// check looks at what network relies on.
func (c *content) check(t testing.TB) {
	t.Helper()
	for i, r := range c.roads {
		if i > 0 && c.roads[i-1].Way > r.Way {
			t.Errorf("roads are not sorted")
		}
		if len(r.nodes) < 2 || r.Forward|r.Backward == 0 ||
			min(r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed) < 1 ||
			r.DestinationForward&^r.Forward != 0 || r.DestinationBackward&^r.Backward != 0 ||
			r.PrivateForward&^r.DestinationForward != 0 || r.PrivateBackward&^r.DestinationBackward != 0 {
			t.Errorf("road %+v", r)
		}
	}
	for _, r := range c.data.Restrictions {
		if (r.ViaNode == network.NoNode) == (len(r.ViaWays) == 0) || r.Modes == 0 ||
			r.ViaNode != network.NoNode && int(r.ViaNode) >= c.data.Nodes.Len() {
			t.Errorf("restriction %+v", r)
		}
	}
	for i, s := range c.data.Special.Slice() {
		if int(s.Node) >= c.data.Nodes.Len() || i > 0 && c.data.Special.Slice()[i-1].Node >= s.Node {
			t.Errorf("special node %+v", s)
		}
	}
}
