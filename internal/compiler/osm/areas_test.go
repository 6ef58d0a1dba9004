package osm_test

import (
	"math"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// cell is the area of one cell of the grid in square degrees.
const cell = 1e-4

func TestAssembledAreas(t *testing.T) {
	park := "type=multipolygon name=Park leisure=park"
	tests := []struct {
		name     string
		ways     []osmtest.SketchWay
		members  string
		tags     string
		polygons int     // 0: no area
		holes    int     // in all polygons
		area     float64 // in cells
		broken   int64
		repaired int64
	}{
		{
			name:    "one ring of one way",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}}},
			members: "w1:outer", tags: park, polygons: 1, area: 9,
		},
		{
			name: "ways in any order and direction",
			ways: []osmtest.SketchWay{
				{ID: 1, Nodes: []int64{0, 3}}, {ID: 2, Nodes: []int64{30, 33}}, {ID: 3, Nodes: []int64{3, 33}},
				{ID: 4, Nodes: []int64{0, 30}},
			},
			members: "w2:outer w1:outer w4:outer w3:outer", tags: park, polygons: 1, area: 9,
		},
		{
			name:    "a hole",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}}, {ID: 2, Nodes: []int64{11, 12, 22, 21, 11}}},
			members: "w1:outer w2:inner", tags: park, polygons: 1, holes: 1, area: 8,
		},
		{
			name:    "roles the wrong way round",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}}, {ID: 2, Nodes: []int64{11, 12, 22, 21, 11}}},
			members: "w1: w2:outer", tags: park, polygons: 1, holes: 1, area: 8,
		},
		{
			name: "an island in a hole",
			ways: []osmtest.SketchWay{
				{ID: 1, Nodes: []int64{0, 9, 99, 90, 0}}, {ID: 2, Nodes: []int64{11, 18, 88, 81, 11}},
				{ID: 3, Nodes: []int64{33, 35, 55, 53, 33}},
			},
			members: "w3:outer w1:outer w2:inner", tags: park, polygons: 2, holes: 1, area: 81 - 49 + 4,
		},
		{
			name:    "two outer rings",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 1, 11, 10, 0}}, {ID: 2, Nodes: []int64{5, 7, 27, 25, 5}}},
			members: "w1:outer w2:outer", tags: park, polygons: 2, area: 5,
		},
		{
			name:    "a hole that touches its outer ring in a node",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}}, {ID: 2, Nodes: []int64{0, 1, 11, 10, 0}}},
			members: "w1:outer w2:inner", tags: park, polygons: 1, holes: 1, area: 8,
		},
		{
			name:    "one way that touches itself",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 1, 11, 12, 22, 21, 11, 10, 0}}},
			members: "w1:outer", tags: park, polygons: 2, area: 2,
		},
		{
			name: "two holes side by side that share an edge",
			ways: []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 4, 44, 40, 0}}, {ID: 2, Nodes: []int64{11, 12, 22, 21, 11}},
				{ID: 3, Nodes: []int64{12, 13, 23, 22, 12}}},
			members: "w1:outer w2:inner w3:inner", tags: park, polygons: 1, holes: 1, area: 14,
		},
		{
			name:    "a boundary",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33}}, {ID: 2, Nodes: []int64{33, 30, 0}}},
			members: "w1:outer w2:outer n11:label n12:admin_centre",
			tags:    "type=boundary boundary=administrative admin_level=8 name=Town", polygons: 1, area: 9,
		},
		{
			name:    "a postal code",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}}},
			members: "w1:outer", tags: "type=boundary boundary=postal_code name=19901", polygons: 1, area: 9,
		},
		{
			name:    "one that nobody wants",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}}},
			members: "w1:outer", tags: "type=multipolygon leisure=park",
		},
		{
			name:    "neither area nor boundary",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}}},
			members: "w1:outer", tags: "type=site name=Site leisure=park",
		},
		{
			name:    "a way listed twice",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}}},
			members: "w1:outer w1:outer", tags: park, polygons: 1, area: 9, repaired: 1,
		},
		{
			name: "the same line as two ways",
			ways: []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33}}, {ID: 2, Nodes: []int64{33, 30, 0}},
				{ID: 3, Nodes: []int64{0, 30, 33}}},
			members: "w1:outer w2:outer w3:outer", tags: park, polygons: 1, area: 9, repaired: 1,
		},
		{
			name:    "the same ring from another start",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}}, {ID: 2, Nodes: []int64{33, 3, 0, 30, 33}}},
			members: "w1:outer w2:outer", tags: park, polygons: 1, area: 9, repaired: 1,
		},
		{
			name:    "ends that nearly meet",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33}}, {ID: 2, Nodes: []int64{133, 30, 0}}},
			members: "w1:outer w2:outer", tags: park, polygons: 1, area: 9, repaired: 1,
		},
		{
			name:    "both ends nearly meet",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33}}, {ID: 2, Nodes: []int64{133, 30, 100}}},
			members: "w1:outer w2:outer", tags: park, polygons: 1, area: 9, repaired: 2,
		},
		{
			name:    "one way that nearly closes",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30, 100}}},
			members: "w1:outer", tags: park, polygons: 1, area: 9, repaired: 1,
		},
		{
			name:    "ends far apart",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30}}},
			members: "w1:outer", tags: park, broken: 1,
		},
		{
			name:    "an outer ring left open beside a whole one",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30}}, {ID: 2, Nodes: []int64{55, 56, 66, 65, 55}}},
			members: "w1:outer w2:outer", tags: park, polygons: 1, area: 1, broken: 1,
		},
		{
			name:    "a hole in nothing",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33, 30}}, {ID: 2, Nodes: []int64{11, 12, 22, 21, 11}}},
			members: "w1:outer w2:inner", tags: park, broken: 1,
		},
		{
			name: "a member that the extract lacks",
			ways: []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 33}}, {ID: 2, Nodes: []int64{133, 30, 0}},
				{ID: 4, Nodes: []int64{55, 56, 66, 65, 55}}},
			members: "w1:outer w2:outer w3:outer w4:outer", tags: park, polygons: 1, area: 1, broken: 1,
		},
		{
			name:    "a node that the extract lacks",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 3, 999, 30, 0}}},
			members: "w1:outer", tags: park, broken: 1,
		},
		{
			name:    "a ring without area",
			ways:    []osmtest.SketchWay{{ID: 1, Nodes: []int64{0, 1, 2, 1, 0}}},
			members: "w1:outer", tags: park,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := osmtest.Sketch{Nodes: osmtest.Grid(), Ways: test.ways, Relations: []osmtest.SketchRelation{{ID: 7, Members: test.members, Tags: test.tags}}}
			s.Nodes[100] = [2]float64{0.00001, 0.00002} // three metres from node 0
			s.Nodes[133] = [2]float64{0.03002, 0.03001} // three metres from node 33
			r := &osmtest.Recorder{Wants: func(r *osm.Relation) bool { return r.Tags.Find("name") != "" }}
			e := s.Read(t, r)
			if e.Counts.BrokenAreas != test.broken || e.Counts.RepairedRings != test.repaired {
				t.Errorf("counts: %+v", e.Counts)
			}
			r.Check(t)
			if r.Relation(7) == nil {
				t.Error("the relation is missing")
			}
			a := r.Area(region.KindRelation, 7)
			if a == nil {
				if test.polygons > 0 {
					t.Error("no area")
				}
				return
			}
			if a.OldStyle || a.Shared != nil || a.Outline != nil || a.Tags.Len() != osmtest.Tags(test.tags).Len() {
				t.Errorf("%+v", a)
			}
			mp := osmtest.Multi(a.Polygons)
			holes := 0
			for _, p := range mp {
				holes += len(p) - 1
			}
			// The closed gaps change the area a little.
			if len(mp) != test.polygons || holes != test.holes || math.Abs(osmtest.AreaOf(mp)-test.area*cell) > cell/50 {
				t.Errorf("%d polygons, %d holes, %.2f cells; want %d, %d, %.0f", len(mp), holes, osmtest.AreaOf(mp)/cell,
					test.polygons, test.holes, test.area)
			}
		})
	}
}

// TestOldStyle: relations without tags, whose outer ways carry them.
func TestOldStyle(t *testing.T) {
	lake := "name=Lake natural=water"
	read := func(t *testing.T, s *osmtest.Sketch) *osmtest.Recorder {
		r := &osmtest.Recorder{Notes: func(*osm.Node) bool { return true }}
		s.NodeTags = map[int64]string{11: "entrance=yes", 3: "entrance=main"}
		s.Read(t, r)
		r.Check(t)
		return r
	}
	is := func(a *osm.Area, cells float64, tags string) bool {
		return a != nil && math.Abs(osmtest.AreaOf(osmtest.Multi(a.Polygons))-cells*cell) < cell/1000 && sameTags(a.Tags, tags)
	}
	t.Run("one way", func(t *testing.T) {
		s := osmtest.Sketch{Nodes: osmtest.Grid(), Ways: []osmtest.SketchWay{
			{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}, Tags: lake}, {ID: 2, Nodes: []int64{11, 12, 22, 21, 11}, Tags: "name=Isle place=islet"},
		}, Relations: []osmtest.SketchRelation{{ID: 7, Members: "w1:outer w2:inner", Tags: "type=multipolygon source=survey"}}}
		r := read(t, &s)
		a := r.Area(region.KindWay, 1)
		if !is(a, 8, lake) || a.OldStyle || a.Outline != nil || !sameTags(a.Shared, lake+" source=survey") || a.Relation != 7 {
			t.Errorf("the lake: %+v", a)
		}
		if !slices.Equal(r.NotedOf[1], []int64{3}) || !slices.Equal(r.NotedOf[2], []int64{11, 11}) || len(a.Noted) != 1 {
			t.Errorf("noted: %v, %v", r.NotedOf, a.Noted)
		}
		if w := r.Way(1); w == nil || !w.Member || !w.IsArea || w.Outline != nil || !slices.Equal(w.Nodes, s.Ways[0].Nodes) ||
			!sameTags(w.Tags, lake) || len(r.Ways) != 2 {
			t.Errorf("the way: %+v", w)
		}
		if a := r.Area(region.KindWay, 2); !is(a, 1, "name=Isle place=islet") || a.Shared != nil || len(a.Noted) != 2 {
			t.Errorf("the isle: %+v", a)
		}
		if len(r.Areas) != 2 {
			t.Error("the relation has become an area as well")
		}
	})
	t.Run("a hole along the edge", func(t *testing.T) {
		s := osmtest.Sketch{Nodes: osmtest.Grid(), Ways: []osmtest.SketchWay{
			{ID: 1, Nodes: []int64{0, 1, 2, 3, 33, 30, 0}, Tags: lake}, {ID: 2, Nodes: []int64{1, 2, 12, 11, 1}, Tags: "name=Isle place=islet"},
		}, Relations: []osmtest.SketchRelation{{ID: 7, Members: "w1:outer w2:inner", Tags: "type=multipolygon name=Lake"}}}
		r := read(t, &s)
		if a := r.Area(region.KindWay, 1); !is(a, 8, lake) {
			t.Errorf("the lake: %+v", a)
		}
		if a := r.Area(region.KindWay, 2); !is(a, 1, "name=Isle place=islet") {
			t.Errorf("the isle: %+v", a)
		}
	})
	t.Run("two relations of one way", func(t *testing.T) {
		for _, first := range []string{"w1:outer w2:inner", "w1:outer"} {
			s := osmtest.Sketch{Nodes: osmtest.Grid(), Ways: []osmtest.SketchWay{
				{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}, Tags: lake}, {ID: 2, Nodes: []int64{11, 12, 22, 21, 11}, Tags: ""},
			}, Relations: []osmtest.SketchRelation{{ID: 7, Members: first, Tags: "type=multipolygon"}, {ID: 8, Members: "w1:outer", Tags: "type=multipolygon"}}}
			if a := read(t, &s).Area(region.KindWay, 1); !is(a, 9, lake) || a.Relation != 8 {
				t.Errorf("%s, and then without a hole: %+v", first, a)
			}
			s.Relations[0].ID = 9
			want := 9.0
			if first != "w1:outer" {
				want = 8
			}
			if a := read(t, &s).Area(region.KindWay, 1); !is(a, want, lake) || a.Relation != 9 {
				t.Errorf("%s after one without a hole: %+v", first, a)
			}
		}
	})
	t.Run("several ways", func(t *testing.T) {
		s := osmtest.Sketch{Nodes: osmtest.Grid(), Ways: []osmtest.SketchWay{
			{ID: 1, Nodes: []int64{0, 3, 33}, Tags: lake + " water=lake"}, {ID: 2, Nodes: []int64{33, 30, 0}, Tags: lake}, {ID: 3, Nodes: []int64{11, 12, 22, 21, 11}, Tags: ""},
		}, Relations: []osmtest.SketchRelation{{ID: 7, Members: "w1:outer w2:outer w3:inner", Tags: "type=multipolygon"}}}
		r := read(t, &s)
		if a := r.Area(region.KindRelation, 7); !is(a, 8, lake) || !a.OldStyle || len(a.Noted) != 3 || len(r.Areas) != 1 {
			t.Errorf("the lake: %+v", a)
		}
		for id := range int64(2) {
			if w := r.Way(id + 1); w == nil || !sameTags(w.Outline, lake) {
				t.Errorf("its outline: %+v", w)
			}
		}
		if w := r.Way(3); w == nil || w.Outline != nil || len(r.Ways) != 3 {
			t.Errorf("its hole: %+v", w)
		}
	})
	t.Run("name on the relation, kind on the ways", func(t *testing.T) {
		s := osmtest.Sketch{Nodes: osmtest.Grid(), Ways: []osmtest.SketchWay{
			{ID: 1, Nodes: []int64{0, 3, 33, 30, 0}, Tags: "natural=water"}, {ID: 2, Nodes: []int64{55, 56, 66, 65, 55}, Tags: "natural=water"},
		}, Relations: []osmtest.SketchRelation{{ID: 7, Members: "w1:outer w2:outer", Tags: "type=multipolygon name=Twin+Lakes"}}}
		r := read(t, &s)
		for id, cells := range []float64{9, 1} {
			a := r.Area(region.KindWay, int64(id+1))
			if !is(a, cells, "natural=water") || !sameTags(a.Shared, "natural=water name=Twin+Lakes") || a.Relation != 7 {
				t.Errorf("a lake: %+v", a)
			}
		}
		if len(r.Areas) != 2 {
			t.Errorf("areas: %+v", r.Areas)
		}
	})
	t.Run("outlines that are something else", func(t *testing.T) {
		s := osmtest.Sketch{Nodes: osmtest.Grid(), Ways: []osmtest.SketchWay{
			{ID: 1, Nodes: []int64{0, 3, 33}, Tags: "name=North highway=residential"}, {ID: 2, Nodes: []int64{33, 30, 0}, Tags: "name=South highway=residential"},
		}, Relations: []osmtest.SketchRelation{{ID: 7, Members: "w1:outer w2:outer", Tags: "type=multipolygon"}}}
		r := read(t, &s)
		if len(r.Areas) != 0 || len(r.Ways) != 2 || r.Ways[0].Outline != nil || r.Ways[1].Outline != nil {
			t.Errorf("areas: %+v, ways: %+v", r.Areas, r.Ways)
		}
	})
	t.Run("an outline that is not all there", func(t *testing.T) {
		s := osmtest.Sketch{Nodes: osmtest.Grid(), Ways: []osmtest.SketchWay{
			{ID: 1, Nodes: []int64{998, 3, 33, 999}, Tags: lake}, {ID: 2, Nodes: []int64{997, 4, 5, 997}, Tags: lake},
		}, Relations: []osmtest.SketchRelation{{ID: 7, Members: "w1:outer w2:outer", Tags: "type=multipolygon"}}}
		r := new(osmtest.Recorder)
		e := s.Read(t, r)
		if w := r.Way(1); w == nil || w.Closed() || w.Lacks != 2 || !slices.Equal(w.Nodes, s.Ways[0].Nodes) {
			t.Errorf("the open way: %+v", w)
		}
		if w := r.Way(2); w == nil || !w.Closed() || w.Lacks != 2 {
			t.Errorf("the closed way: %+v", w)
		}
		if c := e.Counts; c.BrokenAreas != 1 || c.MissingNodes != 4 || len(r.Areas) != 0 {
			t.Errorf("counts: %+v", c)
		}
	})
}

// sameTags says whether a set has some tags, and no others, in whatever order.
func sameTags(t *tags.Set, want string) bool {
	w := osmtest.Tags(want)
	if t == nil || t.Len() != w.Len() {
		return false
	}
	for _, tag := range w.All {
		if t.Find(tag.Key) != tag.Value {
			return false
		}
	}
	return true
}
