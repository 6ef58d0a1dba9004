// Package osmtest helps to test what is made of extracts. Sketch is a small map in text, Message and Block build PBF
// files, well formed or not, and Recorder is a consumer that keeps all objects, to compare them.
package osmtest

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Dir opens a directory for scratch files until the end of the test, with little memory, so that what can be sorted on
// disk is.
func Dir(t testing.TB) *scratch.Dir {
	t.Helper()
	d, err := scratch.Open(t.TempDir(), "out.region", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// WriteFile writes a file of a name and returns its path.
func WriteFile(t testing.TB, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// File writes an extract in XML, of which the content of <osm> is given, and returns its path.
func File(t testing.TB, content string) string {
	t.Helper()
	return WriteFile(t, "extract.osm", []byte(`<osm version="0.6">`+content+`</osm>`))
}

// Read hands the objects of extracts to consumers.
func Read(t testing.TB, paths []string, consumers ...osm.Consumer) *osm.Extracts {
	t.Helper()
	e, err := osm.Read(t.Context(), Dir(t), paths, nil, consumers...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// ReadXML hands the objects of an extract in XML, of which the content of <osm> is given, to consumers.
func ReadXML(t testing.TB, content string, consumers ...osm.Consumer) *osm.Extracts {
	t.Helper()
	return Read(t, []string{File(t, content)}, consumers...)
}

// Recorder is a consumer that keeps all objects.
type Recorder struct {
	// Notes says which nodes are noted (nil: none), and Wants which relations are wanted (nil: all with a main key).
	Notes func(*osm.Node) bool
	Wants func(*osm.Relation) bool

	Nodes     []osm.Node
	Ways      []osm.Way
	Relations []osm.Relation
	Areas     []osm.Area
	// NotedOf has the ids of the noted nodes of each way. Way.NodeNoted works only while the extract is read.
	NotedOf map[int64][]int64
}

// recorded is what a batch has gathered.
type recorded struct {
	r  *Recorder
	of Recorder
}

// NewBatch implements osm.Consumer.
func (r *Recorder) NewBatch() osm.Batch {
	return &recorded{r, Recorder{NotedOf: make(map[int64][]int64)}}
}

// Take implements osm.Consumer.
func (r *Recorder) Take(b osm.Batch) error {
	of := b.(*recorded).of
	r.Nodes, r.Ways = append(r.Nodes, of.Nodes...), append(r.Ways, of.Ways...)
	r.Relations, r.Areas = append(r.Relations, of.Relations...), append(r.Areas, of.Areas...)
	if r.NotedOf == nil {
		r.NotedOf = make(map[int64][]int64)
	}
	maps.Copy(r.NotedOf, of.NotedOf)
	b.(*recorded).of = Recorder{NotedOf: make(map[int64][]int64)}
	return nil
}

// Located implements osm.Consumer.
func (r *Recorder) Located(context.Context, *osm.Nodes) error { return nil }

// Finish implements osm.Consumer.
func (r *Recorder) Finish(context.Context) error { return nil }

func (b *recorded) Node(n *osm.Node) bool {
	b.of.Nodes = append(b.of.Nodes, osm.Node{ID: n.ID, At: n.At, Tags: tags.Of(n.Tags.OSM())})
	return b.r.Notes != nil && b.r.Notes(n)
}

func (b *recorded) Relation(r *osm.Relation) bool {
	b.of.Relations = append(b.of.Relations,
		osm.Relation{ID: r.ID, Tags: tags.Of(r.Tags.OSM()), Members: slices.Clone(r.Members)})
	return b.r.Wants == nil && r.Tags.HasAny(tags.Main) || b.r.Wants != nil && b.r.Wants(r)
}

func (b *recorded) Way(w *osm.Way) {
	c := *w
	c.Tags = tags.Of(w.Tags.OSM())
	c.Nodes, c.Numbers, c.Coords = slices.Clone(w.Nodes), slices.Clone(w.Numbers), slices.Clone(w.Coords)
	b.of.Ways = append(b.of.Ways, c)
	if !w.Noted {
		return
	}
	var noted []int64
	for i, id := range w.Nodes {
		if w.NodeNoted(i) {
			noted = append(noted, id)
		}
	}
	b.of.NotedOf[w.ID] = noted
}

func (b *recorded) Area(a *osm.Area) {
	c := *a
	c.Tags, c.Noted, c.Polygons = tags.Of(a.Tags.OSM()), slices.Clone(a.Noted), nil
	for _, polygon := range a.Polygons {
		var rings osm.Polygon
		for _, ring := range polygon {
			rings = append(rings, slices.Clone(ring))
		}
		c.Polygons = append(c.Polygons, rings)
	}
	b.of.Areas = append(b.of.Areas, c)
}

// Way returns a way by its id, or nil.
func (r *Recorder) Way(id int64) *osm.Way {
	if i := slices.IndexFunc(r.Ways, func(w osm.Way) bool { return w.ID == id }); i >= 0 {
		return &r.Ways[i]
	}
	return nil
}

// Area returns an area by kind and id, or nil.
func (r *Recorder) Area(kind region.Kind, id int64) *osm.Area {
	if i := slices.IndexFunc(r.Areas, func(a osm.Area) bool { return a.Kind == kind && a.ID == id }); i >= 0 {
		return &r.Areas[i]
	}
	return nil
}

// Objects describes all objects in their order, a line each, with their tags last.
func (r *Recorder) Objects() (all []string) {
	add := func(kind region.Kind, id int64, set *tags.Set, parts ...string) {
		line := append([]string{fmt.Sprintf("%c%d", "nwr"[kind], id)}, append(parts, Text(set))...)
		all = append(all, strings.Join(slices.DeleteFunc(line, func(s string) bool { return s == "" }), " "))
	}
	known := func(is bool, format string, args ...any) string {
		if !is {
			return ""
		}
		return "[" + fmt.Sprintf(format, args...) + "]"
	}
	for _, n := range r.Nodes {
		add(region.KindNode, n.ID, n.Tags, fmt.Sprint(n.At.Lon, " ", n.At.Lat))
	}
	for _, o := range r.Relations {
		var members []string
		for _, m := range o.Members {
			members = append(members, fmt.Sprintf("%c%d:%s", "nwr"[m.Kind], m.ID, m.Role))
		}
		add(region.KindRelation, o.ID, o.Tags, members...)
	}
	for _, w := range r.Ways {
		noted := r.NotedOf[w.ID]
		add(region.KindWay, w.ID, w.Tags, strings.Trim(fmt.Sprint(w.Nodes), "[]"), known(w.Lacks > 0, "lacks %d", w.Lacks),
			known(w.Member, "member"), known(len(noted) > 0, "noted %v", noted),
			known(w.Outline != nil, "outline of %s", Text(w.Outline)))
	}
	for i := range r.Areas {
		a := &r.Areas[i]
		add(a.Kind, a.ID, a.Tags, Rings(a.Polygons), known(len(a.Noted) > 0, "%d noted", len(a.Noted)),
			known(a.OldStyle, "old style"), known(a.Outline != nil, "outline of %s", Text(a.Outline)),
			known(a.Shared != nil, "with r%d: %s", a.Relation, Text(a.Shared)))
	}
	return all
}

// T is a test that may fail: of package testing or of rapid.
type T interface {
	Helper()
	Errorf(string, ...any)
}

// Check checks what holds for all objects of any extract.
func (r *Recorder) Check(t T) {
	t.Helper()
	for i := range r.Nodes {
		if n := &r.Nodes[i]; n.Tags.Len() == 0 {
			t.Errorf("node %d has no tags", n.ID)
		}
	}
	for i := range r.Ways {
		w := &r.Ways[i]
		if len(w.Nodes) < 2 || len(w.Numbers) != len(w.Nodes) || len(w.Coords) != len(w.Nodes) {
			t.Errorf("way %d: %d nodes, %d numbers, %d positions", w.ID, len(w.Nodes), len(w.Numbers), len(w.Coords))
			continue
		}
		lacks := 0
		for k, n := range w.Numbers {
			if n == osm.Missing {
				lacks++
			}
			if k > 0 && w.Nodes[k] == w.Nodes[k-1] {
				t.Errorf("way %d: node %d twice in a row", w.ID, w.Nodes[k])
			}
			if first := slices.Index(w.Nodes, w.Nodes[k]); w.Numbers[first] != n || w.Coords[first] != w.Coords[k] {
				t.Errorf("way %d: node %d has two positions", w.ID, w.Nodes[k])
			}
		}
		if lacks != w.Lacks || w.IsArea != osm.IsArea(w.Tags) {
			t.Errorf("way %d lacks %d nodes, not %d; area: %v", w.ID, lacks, w.Lacks, w.IsArea)
		}
	}
	for i := range r.Areas {
		a := &r.Areas[i]
		if len(a.Polygons) == 0 {
			t.Errorf("area %d/%d is empty", a.Kind, a.ID)
		}
		CheckRings(t, Multi(a.Polygons))
	}
}

// Multi returns polygons in degrees.
func Multi(polygons []osm.Polygon) orb.MultiPolygon {
	mp := make(orb.MultiPolygon, len(polygons))
	for i, p := range polygons {
		for _, r := range p {
			ring := make(orb.Ring, len(r))
			for k, c := range r {
				ring[k] = c.Point()
			}
			mp[i] = append(mp[i], ring)
		}
	}
	return mp
}

// CheckRings fails if rings are open or run the wrong way round.
func CheckRings(t T, mp orb.MultiPolygon) {
	t.Helper()
	for i, polygon := range mp {
		for k, r := range polygon {
			if !r.Closed() || (r.Orientation() == orb.CCW) != (k == 0) {
				t.Errorf("polygon %d, ring %d is open, or runs the wrong way round: %v", i, k, r)
			}
		}
	}
}
