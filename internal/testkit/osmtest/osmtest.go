// Package osmtest helps to test what is made of extracts.
package osmtest

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

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
	// Notes says which nodes are noted, and Wants which relations are wanted; nil for none and all.
	Notes func(*osm.Node) bool
	Wants func(*osm.Relation) bool

	Nodes     []osm.Node
	Ways      []osm.Way
	Relations []osm.Relation
	Areas     []osm.Area
	// NotedOf are the ids of the noted nodes of ways, which the ways themselves do not know any more.
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

// Node returns a node by its id, or nil.
func (r *Recorder) Node(id int64) *osm.Node {
	return find(r.Nodes, func(n *osm.Node) bool { return n.ID == id })
}

// Way returns a way by its id, or nil.
func (r *Recorder) Way(id int64) *osm.Way {
	return find(r.Ways, func(w *osm.Way) bool { return w.ID == id })
}

// Relation returns a relation by its id, or nil.
func (r *Recorder) Relation(id int64) *osm.Relation {
	return find(r.Relations, func(r *osm.Relation) bool { return r.ID == id })
}

// Area returns an area by kind and id, or nil.
func (r *Recorder) Area(kind region.Kind, id int64) *osm.Area {
	return find(r.Areas, func(a *osm.Area) bool { return a.Kind == kind && a.ID == id })
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}
