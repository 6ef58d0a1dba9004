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
	return content
}

// id is the id of a node of the grid.
func (c *content) id(node uint32) int64 {
	n := c.data.Nodes.Slice()[node]
	return int64(n.Lat/100_000*10 + n.Lon/100_000)
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
