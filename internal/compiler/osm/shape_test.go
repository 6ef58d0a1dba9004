package osm_test

import (
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

func TestIsArea(t *testing.T) {
	tests := []struct {
		tags string
		want bool
	}{
		{"building=yes", true}, {"building=no", false}, {"building:part=yes", true}, {"addr:housenumber=5", true},
		{"amenity=school", true}, {"amenity=school barrier=fence", true}, {"leisure=park", true}, {"leisure=track", true},
		{"leisure=slipway", false}, {"shop=mall", true}, {"tourism=zoo", true}, {"historic=castle", true},
		{"office=company", true},
		{"craft=brewery", true}, {"landuse=forest", true}, {"place=island", true}, {"boundary=administrative", true},
		{"natural=water", true}, {"natural=coastline", false}, {"natural=cliff", false}, {"natural=tree_row", false},
		{"highway=residential", false}, {"highway=pedestrian", false}, {"highway=pedestrian area=yes", true},
		{"highway=services", false}, {"highway=services area=yes", true}, {"area=yes highway=footway", true},
		{"building=yes highway=corridor", false}, {"barrier=wall", false}, {"barrier=hedge area=yes", true},
		{"railway=rail", false}, {"railway=station", true}, {"waterway=river", false}, {"waterway=riverbank", true},
		{"power=line", false}, {"power=substation", true}, {"aeroway=aerodrome", true}, {"aeroway=taxiway", false},
		{"man_made=pier", true}, {"man_made=pipeline", false}, {"amenity=parking area=no", false}, {"route=ferry", false},
		{"area=yes", true}, {"name=Nothing", false}, {"", false},
	}
	for _, test := range tests {
		if got := osm.IsArea(osmtest.Tags(test.tags)); got != test.want {
			t.Errorf("%s: %v, want %v", test.tags, got, test.want)
		}
	}
}

func TestWayShapes(t *testing.T) {
	s := osmtest.Sketch{Nodes: osmtest.Grid(), Ways: []osmtest.SketchWay{
		{ID: 1, Nodes: []int64{0, 1, 11, 10, 0}, Tags: "name=Park leisure=park"},
		{ID: 2, Nodes: []int64{0, 10, 11, 1, 0}, Tags: "name=Clockwise leisure=park"},
		{ID: 3, Nodes: []int64{0, 1, 11, 10, 0}, Tags: "name=Ring highway=residential"},
		{ID: 4, Nodes: []int64{0, 1, 11, 10, 0}, Tags: "name=Square highway=pedestrian area=yes"},
		{ID: 5, Nodes: []int64{0, 1, 11}, Tags: "name=Open leisure=park"},
		{ID: 6, Nodes: []int64{0, 1, 0}, Tags: "name=Flat leisure=park"},
		{ID: 7, Nodes: []int64{0, 1, 1, 2}, Tags: "name=Repeated highway=path"},
		{ID: 8, Nodes: []int64{0, 0}, Tags: "name=Nowhere highway=path"},
		{ID: 9, Nodes: []int64{0, 1, 999, 2, 3, 4}, Tags: "name=Gap waterway=river"},
		{ID: 10, Nodes: []int64{0, 1, 999, 10, 0}, Tags: "name=Corner leisure=park"},
		{ID: 11, Nodes: []int64{0}, Tags: "name=Stub highway=path"},
	}}
	r := new(osmtest.Recorder)
	e := s.Read(t, r)
	r.Check(t)
	tests := []struct {
		id     int64
		nodes  int // 0: no way
		closed bool
		area   bool
	}{
		{1, 5, true, true}, {2, 5, true, true}, {3, 5, true, false}, {4, 5, true, true}, {5, 3, false, false},
		{6, 3, true, false}, {7, 3, false, false}, {8, 0, false, false}, {9, 6, false, false}, {10, 5, true, false},
		{11, 0, false, false},
	}
	for _, test := range tests {
		a := r.Area(region.KindWay, test.id)
		if (a != nil) != test.area || a != nil && (len(a.Polygons) != 1 || len(a.Polygons[0]) != 1 ||
			len(a.Polygons[0][0]) != test.nodes) {
			t.Errorf("area %d: %+v", test.id, a)
		}
		w := r.Way(test.id)
		if (w != nil) != (test.nodes > 0) || w != nil && (len(w.Nodes) != test.nodes || w.Closed() != test.closed) {
			t.Errorf("way %d: %+v", test.id, w)
		}
	}
	if e.Counts.MissingNodes != 2 || e.Counts.BrokenAreas != 1 || e.Counts.Ways != 11 {
		t.Errorf("counts: %+v", e.Counts)
	}
	for id, want := range map[int64][][2]int{1: {{0, 5}}, 9: {{0, 2}, {3, 6}}, 10: {{0, 2}, {3, 5}}} {
		var parts [][2]int
		for from, to := range r.Way(id).Parts {
			parts = append(parts, [2]int{from, to})
		}
		if !slices.Equal(parts, want) {
			t.Errorf("way %d: parts %v, want %v", id, parts, want)
		}
	}
}
