package roads

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm/osmtest"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

const everyone = mapdata.Car | mapdata.Bicycle | mapdata.Foot

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

// grid places node 10*y+x at (x, y) in hundredths of a degree.
func grid() map[int64][2]float64 {
	nodes := make(map[int64][2]float64)
	for y := range 10 {
		for x := range 10 {
			nodes[int64(10*y+x)] = [2]float64{float64(x) / 100, float64(y) / 100}
		}
	}
	return nodes
}

// xml is the content of <osm>. In tags, "key=value key=value", a plus stands for a space.
func (s *sketch) xml() string {
	var b strings.Builder
	tags := func(text string) {
		for field := range strings.FieldsSeq(text) {
			k, v, _ := strings.Cut(field, "=")
			fmt.Fprintf(&b, "<tag k=%q v=%q/>", k, strings.ReplaceAll(v, "+", " "))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.nodes)) {
		fmt.Fprintf(&b, `<node id="%d" version="1" lat="%.7f" lon="%.7f">`, id, s.nodes[id][1], s.nodes[id][0])
		tags(s.nodeTags[id])
		b.WriteString("</node>\n")
	}
	for _, w := range s.ways {
		fmt.Fprintf(&b, `<way id="%d" version="1">`, w.id)
		for _, n := range w.nodes {
			fmt.Fprintf(&b, `<nd ref="%d"/>`, n)
		}
		tags(w.tags)
		b.WriteString("</way>\n")
	}
	kinds := map[byte]string{'n': "node", 'w': "way", 'r': "relation"}
	for _, r := range s.relations {
		fmt.Fprintf(&b, `<relation id="%d" version="1">`, r.id)
		for m := range strings.FieldsSeq(r.members) {
			ref, role, _ := strings.Cut(m, ":")
			fmt.Fprintf(&b, `<member type=%q ref=%q role=%q/>`, kinds[ref[0]], ref[1:], role)
		}
		tags(r.tags)
		b.WriteString("</relation>\n")
	}
	return b.String()
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
	osmtest.ReadXML(t, s.xml(), c)
	content := &content{counts: c.Counts(), data: c.data}
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
