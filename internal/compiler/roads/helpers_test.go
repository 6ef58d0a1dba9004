package roads

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

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
func read(t testing.TB, s osmtest.Sketch) *content {
	t.Helper()
	c, err := New(osmtest.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	s.Read(t, c)
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

// id is the id of a node of the grid.
func (c *content) id(node uint32) int64 {
	n := c.data.Nodes.Slice()[node]
	return int64(n.Lat/100_000*10 + n.Lon/100_000)
}

// check checks what package network relies on.
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

// modesOf writes modes as "cbf": car, bicycle, foot.
func modesOf(m region.Modes) (text string) {
	for i, letter := range "cbf" {
		if m&(1<<i) != 0 {
			text += string(letter)
		}
	}
	return text
}
