package objects_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// content is Data out of its files.
type content struct {
	Features       []placestest.Feature
	records        []objects.Feature // of them
	Interpolations []placestest.Interpolation
	Counts         objects.Counts
	Extracts       *osm.Extracts
}

// read reads extracts.
func read(t testing.TB, paths ...string) *content {
	t.Helper()
	d, err := objects.NewData(osmtest.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &content{Extracts: osmtest.Read(t, paths, d)}
	c.Counts = d.Counts
	for _, r := range d.Features.All {
		one := *r
		one.Tags = slices.Clone(r.Tags)
		c.records = append(c.records, one)
	}
	for f := range placestest.All(d) {
		c.Features = append(c.Features, *f)
	}
	for line := range placestest.Interpolations(d) {
		c.Interpolations = append(c.Interpolations, *line)
	}
	return c
}

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

func (s *sketch) read(t testing.TB) *content {
	t.Helper()
	return read(t, s.file(t))
}

// feature returns a feature by kind and id, or nil.
func (d *content) feature(kind region.Kind, id int64) *placestest.Feature {
	i, ok := slices.BinarySearchFunc(d.Features, placestest.Feature{Kind: kind, ID: id}, func(a, b placestest.Feature) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	if !ok {
		return nil
	}
	return &d.Features[i]
}

// multi returns a polygon or multipolygon as a multipolygon, nil for other geometries.
func multi(g orb.Geometry) orb.MultiPolygon {
	switch g := g.(type) {
	case orb.Polygon:
		return orb.MultiPolygon{g}
	case orb.MultiPolygon:
		return g
	default:
		return nil
	}
}

// checkData checks what holds for all Data, whatever it was read from.
func checkData(t interface {
	Helper()
	Errorf(string, ...any)
}, d *content) {
	t.Helper()
	for i, f := range d.Features {
		if i > 0 {
			before := d.Features[i-1]
			if cmp.Or(cmp.Compare(before.Kind, f.Kind), cmp.Compare(before.ID, f.ID)) >= 0 {
				t.Errorf("feature %d/%d is out of order", f.Kind, f.ID)
			}
		}
		if !slices.IsSortedFunc(f.Tags, func(a, b placestest.Tag) int { return cmp.Compare(a.Key, b.Key) }) {
			t.Errorf("feature %d/%d: tags %v", f.Kind, f.ID, f.Tags)
		}
		switch g := f.Geometry.(type) {
		case orb.Point:
		case orb.LineString:
			if len(g) < 2 {
				t.Errorf("feature %d/%d: line of %d points", f.Kind, f.ID, len(g))
			}
		case orb.Polygon, orb.MultiPolygon:
			if mp := multi(g); len(mp) > 0 {
				osmtest.CheckRings(t, mp)
			} else {
				t.Errorf("feature %d/%d is empty", f.Kind, f.ID)
			}
		default:
			t.Errorf("feature %d/%d is a %T", f.Kind, f.ID, g)
		}
	}
	for _, line := range d.Interpolations {
		if len(line.Line) != len(line.Numbers) || line.Step < 1 {
			t.Errorf("interpolation %+v", line)
		}
	}
}
