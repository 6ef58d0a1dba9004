package objects_test

import (
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// cell is the area of one cell of the grid in square degrees.
const cell = 1e-4

func TestWayShapes(t *testing.T) {
	s := sketch{nodes: osmtest.Grid(), ways: []sketchWay{
		{1, []int64{0, 1, 11, 10, 0}, "name=Park leisure=park"},
		{2, []int64{0, 10, 11, 1, 0}, "name=Clockwise leisure=park"},
		{3, []int64{0, 1, 11, 10, 0}, "name=Ring highway=residential"},
		{4, []int64{0, 1, 11, 10, 0}, "name=Square highway=pedestrian area=yes"},
		{5, []int64{0, 1, 11}, "name=Open leisure=park"},
		{6, []int64{0, 1, 0}, "name=Flat leisure=park"},
		{7, []int64{0, 1, 1, 2}, "name=Repeated highway=path"},
		{8, []int64{0, 0}, "name=Nowhere highway=path"},
		{9, []int64{0, 1, 999, 2, 3, 4}, "name=Gap waterway=river"},
		{10, []int64{0, 1, 999, 10, 0}, "name=Corner leisure=park"},
		{11, []int64{0}, "name=Stub highway=path"},
	}}
	d := s.read(t)
	tests := []struct {
		id     int64
		kind   string // "" for none
		points int
	}{
		{1, "Polygon", 5}, {2, "Polygon", 5}, {3, "LineString", 5}, {4, "Polygon", 5}, {5, "LineString", 3},
		{6, "LineString", 3}, {7, "LineString", 3}, {8, "", 0}, {9, "LineString", 3}, {10, "", 0}, {11, "", 0},
	}
	for _, test := range tests {
		f := d.feature(region.KindWay, test.id)
		if f == nil {
			if test.kind != "" {
				t.Errorf("way %d is missing", test.id)
			}
			continue
		}
		points := 0
		switch g := f.Geometry.(type) {
		case orb.LineString:
			points = len(g)
		case orb.Polygon:
			points = len(g[0])
			osmtest.CheckRings(t, orb.MultiPolygon{g})
		}
		if kind := f.Geometry.GeoJSONType(); kind != test.kind || points != test.points {
			t.Errorf("way %d: %s of %d points, want %s of %d", test.id, kind, points, test.kind, test.points)
		}
	}
	if c := d.Extracts.Counts; c.MissingNodes != 2 || c.BrokenAreas != 1 {
		t.Errorf("counts: %+v", c)
	}
}

// TestOldStyle: relations without tags, whose outer ways carry them.
func TestOldStyle(t *testing.T) {
	lake := "name=Lake natural=water"
	t.Run("one way", func(t *testing.T) {
		s := sketch{nodes: osmtest.Grid(), ways: []sketchWay{
			{1, []int64{0, 3, 33, 30, 0}, lake}, {2, []int64{11, 12, 22, 21, 11}, "name=Isle place=islet"},
		}, relations: []sketchRelation{{7, "w1:outer w2:inner", "type=multipolygon source=survey"}}}
		d := s.read(t)
		f := d.feature(region.KindWay, 1)
		if f == nil || math.Abs(osmtest.AreaOf(multi(f.Geometry))-8*cell) > cell/1000 {
			t.Errorf("the lake: %+v", f)
		}
		if f := d.feature(region.KindWay, 2); f == nil || math.Abs(osmtest.AreaOf(multi(f.Geometry))-cell) > cell/1000 {
			t.Errorf("the isle: %+v", f)
		}
		if d.feature(region.KindRelation, 7) != nil {
			t.Error("the relation has become a feature as well")
		}
	})
	t.Run("a hole along the edge", func(t *testing.T) {
		s := sketch{nodes: osmtest.Grid(), ways: []sketchWay{
			{1, []int64{0, 1, 2, 3, 33, 30, 0}, lake}, {2, []int64{1, 2, 12, 11, 1}, "name=Isle place=islet"},
		}, relations: []sketchRelation{{7, "w1:outer w2:inner", "type=multipolygon name=Lake"}}}
		d := s.read(t)
		if f := d.feature(region.KindWay, 1); f == nil || math.Abs(osmtest.AreaOf(multi(f.Geometry))-8*cell) > cell/1000 {
			t.Errorf("the lake: %+v", f)
		}
		if f := d.feature(region.KindWay, 2); f == nil || math.Abs(osmtest.AreaOf(multi(f.Geometry))-cell) > cell/1000 {
			t.Errorf("the isle: %+v", f)
		}
	})
	t.Run("two relations of one way", func(t *testing.T) {
		for _, first := range []string{"w1:outer w2:inner", "w1:outer"} {
			s := sketch{nodes: osmtest.Grid(), ways: []sketchWay{
				{1, []int64{0, 3, 33, 30, 0}, lake}, {2, []int64{11, 12, 22, 21, 11}, ""},
			}, relations: []sketchRelation{{7, first, "type=multipolygon"}, {8, "w1:outer", "type=multipolygon"}}}
			if f := s.read(t).feature(region.KindWay, 1); math.Abs(osmtest.AreaOf(multi(f.Geometry))-9*cell) > cell/1000 {
				t.Errorf("%s, and then without a hole: %+v", first, f)
			}
			s.relations[0].id = 9
			want := 9 * cell
			if first != "w1:outer" {
				want = 8 * cell
			}
			if f := s.read(t).feature(region.KindWay, 1); math.Abs(osmtest.AreaOf(multi(f.Geometry))-want) > cell/1000 {
				t.Errorf("%s after one without a hole: %+v", first, f)
			}
		}
	})
	t.Run("several ways", func(t *testing.T) {
		s := sketch{nodes: osmtest.Grid(), ways: []sketchWay{
			{1, []int64{0, 3, 33}, lake + " water=lake"}, {2, []int64{33, 30, 0}, lake}, {3, []int64{11, 12, 22, 21, 11}, ""},
		}, relations: []sketchRelation{{7, "w1:outer w2:outer w3:inner", "type=multipolygon"}}}
		d := s.read(t)
		f := d.feature(region.KindRelation, 7)
		if f == nil || f.Tags.Get("name") != "Lake" || f.Tags.Get("natural") != "water" ||
			math.Abs(osmtest.AreaOf(multi(f.Geometry))-8*cell) > cell/1000 {
			t.Errorf("the lake: %+v", f)
		}
		if d.feature(region.KindWay, 1) != nil || d.feature(region.KindWay, 2) != nil {
			t.Error("its outline is a feature as well")
		}
	})
	t.Run("name on the relation, kind on the ways", func(t *testing.T) {
		s := sketch{nodes: osmtest.Grid(), ways: []sketchWay{
			{1, []int64{0, 3, 33, 30, 0}, "natural=water"}, {2, []int64{55, 56, 66, 65, 55}, "natural=water"},
		}, relations: []sketchRelation{{7, "w1:outer w2:outer", "type=multipolygon name=Twin+Lakes"}}}
		d := s.read(t)
		f := d.feature(region.KindRelation, 7)
		want := placestest.TagsOf("name=Twin Lakes, natural=water")
		if f == nil || !slices.Equal(f.Tags, want) || math.Abs(osmtest.AreaOf(multi(f.Geometry))-10*cell) > cell/1000 {
			t.Errorf("the lakes: %+v", f)
		}
		if len(d.Features) != 1 {
			t.Errorf("features: %+v", d.Features)
		}
	})
	t.Run("outlines that are something else", func(t *testing.T) {
		s := sketch{nodes: osmtest.Grid(), ways: []sketchWay{
			{1, []int64{0, 3, 33}, "name=North highway=residential"}, {2, []int64{33, 30, 0}, "name=South highway=residential"},
		}, relations: []sketchRelation{{7, "w1:outer w2:outer", "type=multipolygon"}}}
		d := s.read(t)
		if d.feature(region.KindRelation, 7) != nil || d.feature(region.KindWay, 1) == nil ||
			d.feature(region.KindWay, 2) == nil {
			t.Errorf("features: %+v", d.Features)
		}
	})
}
