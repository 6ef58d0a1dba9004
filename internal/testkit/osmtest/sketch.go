package osmtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	posm "github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
)

// Tags reads "key=value key=value"; a plus stands for a space.
func Tags(text string) *tags.Set { return tags.Of(tagsOf(text)) }

func tagsOf(text string) (list posm.Tags) {
	for field := range strings.FieldsSeq(text) {
		k, v, _ := strings.Cut(field, "=")
		list = append(list, posm.Tag{Key: k, Value: strings.ReplaceAll(v, "+", " ")})
	}
	return list
}

// Sketch is a small map that is written as an extract in XML. Its tags are as Tags reads them.
type Sketch struct {
	Nodes     map[int64][2]float64 // lon, lat
	NodeTags  map[int64]string
	Ways      []SketchWay
	Relations []SketchRelation
}

// SketchWay is a way of a Sketch.
type SketchWay struct {
	ID    int64
	Nodes []int64
	Tags  string
}

// SketchRelation is a relation of a Sketch.
type SketchRelation struct {
	ID      int64
	Members string // w1:outer n2:via
	Tags    string
}

// Grid places node 10*y+x at (x, y) in hundredths of a degree.
func Grid() map[int64][2]float64 {
	nodes := make(map[int64][2]float64)
	for y := range 10 {
		for x := range 10 {
			nodes[int64(10*y+x)] = [2]float64{float64(x) / 100, float64(y) / 100}
		}
	}
	return nodes
}

// Crossing is a small map with a bit of everything.
func Crossing() *Sketch {
	return &Sketch{
		Nodes:    Grid(),
		NodeTags: map[int64]string{5: "name=Cafe amenity=cafe"},
		Ways: []SketchWay{
			{ID: 1, Nodes: []int64{10, 11, 12}, Tags: "highway=residential name=High+Street"},
			{ID: 2, Nodes: []int64{1, 11, 21}, Tags: "highway=service"},
			{ID: 3, Nodes: []int64{33, 34, 44, 43, 33}, Tags: ""},
		},
		Relations: []SketchRelation{
			{ID: 1, Members: "w1:from n11:via w2:to", Tags: "type=restriction restriction=no_left_turn"},
			{ID: 2, Members: "w3:outer", Tags: "type=multipolygon leisure=park name=Park"},
		},
	}
}

// XML is the extract.
func (s *Sketch) XML() string {
	var b strings.Builder
	b.WriteString("<?xml version='1.0' encoding='UTF-8'?>\n<osm version=\"0.6\">\n")
	tags := func(text string) {
		for _, t := range tagsOf(text) {
			fmt.Fprintf(&b, "<tag k=%q v=%q/>", t.Key, t.Value)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Nodes)) {
		fmt.Fprintf(&b, `<node id="%d" version="1" lat="%.7f" lon="%.7f">`, id, s.Nodes[id][1], s.Nodes[id][0])
		tags(s.NodeTags[id])
		b.WriteString("</node>\n")
	}
	for _, w := range s.Ways {
		fmt.Fprintf(&b, `<way id="%d" version="1">`, w.ID)
		for _, n := range w.Nodes {
			fmt.Fprintf(&b, `<nd ref="%d"/>`, n)
		}
		tags(w.Tags)
		b.WriteString("</way>\n")
	}
	kinds := map[byte]string{'n': "node", 'w': "way", 'r': "relation"}
	for _, r := range s.Relations {
		fmt.Fprintf(&b, `<relation id="%d" version="1">`, r.ID)
		for m := range strings.FieldsSeq(r.Members) {
			ref, role, _ := strings.Cut(m, ":")
			fmt.Fprintf(&b, `<member type=%q ref=%q role=%q/>`, kinds[ref[0]], ref[1:], role)
		}
		tags(r.Tags)
		b.WriteString("</relation>\n")
	}
	b.WriteString("</osm>\n")
	return b.String()
}

// File writes the extract and returns its path.
func (s *Sketch) File(t testing.TB) string {
	t.Helper()
	return WriteFile(t, "sketch.osm", []byte(s.XML()))
}

// Read hands the objects to consumers.
func (s *Sketch) Read(t testing.TB, consumers ...osm.Consumer) *osm.Extracts {
	t.Helper()
	return Read(t, []string{s.File(t)}, consumers...)
}
