package extract

import (
	"math"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// cell is the area of one cell of the grid in square degrees.
const cell = 1e-4

func TestAssembledAreas(t *testing.T) {
	park := "type=multipolygon name=Park leisure=park"
	tests := []struct {
		name     string
		ways     []sketchWay
		members  string
		tags     string
		polygons int     // 0: no feature
		holes    int     // in all polygons
		area     float64 // in cells
		broken   int64
		repaired int64
	}{
		{
			name:    "one ring of one way",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30, 0}}},
			members: "w1:outer", tags: park, polygons: 1, area: 9,
		},
		{
			name: "ways in any order and direction",
			ways: []sketchWay{
				{id: 1, nodes: []int64{0, 3}}, {id: 2, nodes: []int64{30, 33}}, {id: 3, nodes: []int64{3, 33}},
				{id: 4, nodes: []int64{0, 30}},
			},
			members: "w2:outer w1:outer w4:outer w3:outer", tags: park, polygons: 1, area: 9,
		},
		{
			name:    "a hole",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30, 0}}, {id: 2, nodes: []int64{11, 12, 22, 21, 11}}},
			members: "w1:outer w2:inner", tags: park, polygons: 1, holes: 1, area: 8,
		},
		{
			name:    "roles the wrong way round",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30, 0}}, {id: 2, nodes: []int64{11, 12, 22, 21, 11}}},
			members: "w1: w2:outer", tags: park, polygons: 1, holes: 1, area: 8,
		},
		{
			name: "an island in a hole",
			ways: []sketchWay{
				{id: 1, nodes: []int64{0, 9, 99, 90, 0}}, {id: 2, nodes: []int64{11, 18, 88, 81, 11}},
				{id: 3, nodes: []int64{33, 35, 55, 53, 33}},
			},
			members: "w3:outer w1:outer w2:inner", tags: park, polygons: 2, holes: 1, area: 81 - 49 + 4,
		},
		{
			name:    "two outer rings",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 1, 11, 10, 0}}, {id: 2, nodes: []int64{5, 7, 27, 25, 5}}},
			members: "w1:outer w2:outer", tags: park, polygons: 2, area: 5,
		},
		{
			name:    "a hole that touches its outer ring in a node",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30, 0}}, {id: 2, nodes: []int64{0, 1, 11, 10, 0}}},
			members: "w1:outer w2:inner", tags: park, polygons: 1, holes: 1, area: 8,
		},
		{
			name:    "one way that touches itself",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 1, 11, 12, 22, 21, 11, 10, 0}}},
			members: "w1:outer", tags: park, polygons: 2, area: 2,
		},
		{
			name: "two holes side by side that share an edge",
			ways: []sketchWay{{id: 1, nodes: []int64{0, 4, 44, 40, 0}}, {id: 2, nodes: []int64{11, 12, 22, 21, 11}},
				{id: 3, nodes: []int64{12, 13, 23, 22, 12}}},
			members: "w1:outer w2:inner w3:inner", tags: park, polygons: 1, holes: 1, area: 14,
		},
		{
			name:    "a boundary",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33}}, {id: 2, nodes: []int64{33, 30, 0}}},
			members: "w1:outer w2:outer n11:label n12:admin_centre",
			tags:    "type=boundary boundary=administrative admin_level=8 name=Town", polygons: 1, area: 9,
		},
		{
			name:    "a postal code without a name",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30, 0}}},
			members: "w1:outer", tags: "type=boundary boundary=postal_code postal_code=19901", polygons: 1, area: 9,
		},
		{
			name:    "without a name",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30, 0}}},
			members: "w1:outer", tags: "type=multipolygon leisure=park",
		},
		{
			name:    "neither area nor boundary",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30, 0}}},
			members: "w1:outer", tags: "type=site name=Site leisure=park",
		},
		{
			name:    "a way listed twice",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30, 0}}},
			members: "w1:outer w1:outer", tags: park, polygons: 1, area: 9, repaired: 1,
		},
		{
			name: "the same line as two ways",
			ways: []sketchWay{{id: 1, nodes: []int64{0, 3, 33}}, {id: 2, nodes: []int64{33, 30, 0}},
				{id: 3, nodes: []int64{0, 30, 33}}},
			members: "w1:outer w2:outer w3:outer", tags: park, polygons: 1, area: 9, repaired: 1,
		},
		{
			name:    "the same ring from another start",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30, 0}}, {id: 2, nodes: []int64{33, 3, 0, 30, 33}}},
			members: "w1:outer w2:outer", tags: park, polygons: 1, area: 9, repaired: 1,
		},
		{
			name:    "ends that nearly meet",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33}}, {id: 2, nodes: []int64{133, 30, 0}}},
			members: "w1:outer w2:outer", tags: park, polygons: 1, area: 9, repaired: 1,
		},
		{
			name:    "both ends nearly meet",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33}}, {id: 2, nodes: []int64{133, 30, 100}}},
			members: "w1:outer w2:outer", tags: park, polygons: 1, area: 9, repaired: 2,
		},
		{
			name:    "one way that nearly closes",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30, 100}}},
			members: "w1:outer", tags: park, polygons: 1, area: 9, repaired: 1,
		},
		{
			name:    "ends far apart",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30}}},
			members: "w1:outer", tags: park, broken: 1,
		},
		{
			name:    "an outer ring left open beside a whole one",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30}}, {id: 2, nodes: []int64{55, 56, 66, 65, 55}}},
			members: "w1:outer w2:outer", tags: park, polygons: 1, area: 1, broken: 1,
		},
		{
			name:    "a hole in nothing",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33, 30}}, {id: 2, nodes: []int64{11, 12, 22, 21, 11}}},
			members: "w1:outer w2:inner", tags: park, broken: 1,
		},
		{
			name: "a member that the extract lacks",
			ways: []sketchWay{{id: 1, nodes: []int64{0, 3, 33}}, {id: 2, nodes: []int64{133, 30, 0}},
				{id: 4, nodes: []int64{55, 56, 66, 65, 55}}},
			members: "w1:outer w2:outer w3:outer w4:outer", tags: park, polygons: 1, area: 1, broken: 1,
		},
		{
			name:    "a node that the extract lacks",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 999, 30, 0}}},
			members: "w1:outer", tags: park, broken: 1,
		},
		{
			name:    "a ring without area",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 1, 2, 1, 0}}},
			members: "w1:outer", tags: park,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := sketch{nodes: grid(), ways: test.ways, relations: []sketchRelation{{7, test.members, test.tags}}}
			s.nodes[100] = [2]float64{0.00001, 0.00002} // three metres from node 0
			s.nodes[133] = [2]float64{0.03002, 0.03001} // three metres from node 33
			d := s.read(t)
			if d.Counts.BrokenAreas != test.broken || d.Counts.RepairedRings != test.repaired {
				t.Errorf("counts: %+v", d.Counts)
			}
			f := d.feature(mapdata.KindRelation, 7)
			if f == nil {
				if test.polygons > 0 {
					t.Error("no feature")
				}
				return
			}
			mp := multi(f.Geometry)
			checkRings(t, mp)
			holes := 0
			for _, p := range mp {
				holes += len(p) - 1
			}
			// The closed gaps change the area a little.
			if len(mp) != test.polygons || holes != test.holes || math.Abs(areaOf(mp)-test.area*cell) > cell/50 {
				t.Errorf("%d polygons, %d holes, %.2f cells; want %d, %d, %.0f", len(mp), holes, areaOf(mp)/cell,
					test.polygons, test.holes, test.area)
			}
		})
	}
}

// TestOldStyle: relations without tags, whose outer ways carry them.
func TestOldStyle(t *testing.T) {
	lake := "name=Lake natural=water"
	t.Run("one way", func(t *testing.T) {
		s := sketch{nodes: grid(), ways: []sketchWay{
			{1, []int64{0, 3, 33, 30, 0}, lake}, {2, []int64{11, 12, 22, 21, 11}, "name=Isle place=islet"},
		}, relations: []sketchRelation{{7, "w1:outer w2:inner", "type=multipolygon source=survey"}}}
		d := s.read(t)
		f := d.feature(mapdata.KindWay, 1)
		if f == nil || math.Abs(areaOf(multi(f.Geometry))-8*cell) > cell/1000 {
			t.Errorf("the lake: %+v", f)
		}
		if f := d.feature(mapdata.KindWay, 2); f == nil || math.Abs(areaOf(multi(f.Geometry))-cell) > cell/1000 {
			t.Errorf("the isle: %+v", f)
		}
		if d.feature(mapdata.KindRelation, 7) != nil {
			t.Error("the relation has become a feature as well")
		}
	})
	t.Run("a hole along the edge", func(t *testing.T) {
		s := sketch{nodes: grid(), ways: []sketchWay{
			{1, []int64{0, 1, 2, 3, 33, 30, 0}, lake}, {2, []int64{1, 2, 12, 11, 1}, "name=Isle place=islet"},
		}, relations: []sketchRelation{{7, "w1:outer w2:inner", "type=multipolygon name=Lake"}}}
		d := s.read(t)
		if f := d.feature(mapdata.KindWay, 1); f == nil || math.Abs(areaOf(multi(f.Geometry))-8*cell) > cell/1000 {
			t.Errorf("the lake: %+v", f)
		}
		if f := d.feature(mapdata.KindWay, 2); f == nil || math.Abs(areaOf(multi(f.Geometry))-cell) > cell/1000 {
			t.Errorf("the isle: %+v", f)
		}
	})
	t.Run("two relations of one way", func(t *testing.T) {
		for _, first := range []string{"w1:outer w2:inner", "w1:outer"} {
			s := sketch{nodes: grid(), ways: []sketchWay{
				{1, []int64{0, 3, 33, 30, 0}, lake}, {2, []int64{11, 12, 22, 21, 11}, ""},
			}, relations: []sketchRelation{{7, first, "type=multipolygon"}, {8, "w1:outer", "type=multipolygon"}}}
			if f := s.read(t).feature(mapdata.KindWay, 1); math.Abs(areaOf(multi(f.Geometry))-9*cell) > cell/1000 {
				t.Errorf("%s, and then without a hole: %+v", first, f)
			}
			s.relations[0].id = 9
			want := 9 * cell
			if first != "w1:outer" {
				want = 8 * cell
			}
			if f := s.read(t).feature(mapdata.KindWay, 1); math.Abs(areaOf(multi(f.Geometry))-want) > cell/1000 {
				t.Errorf("%s after one without a hole: %+v", first, f)
			}
		}
	})
	t.Run("several ways", func(t *testing.T) {
		s := sketch{nodes: grid(), ways: []sketchWay{
			{1, []int64{0, 3, 33}, lake + " water=lake"}, {2, []int64{33, 30, 0}, lake}, {3, []int64{11, 12, 22, 21, 11}, ""},
		}, relations: []sketchRelation{{7, "w1:outer w2:outer w3:inner", "type=multipolygon"}}}
		d := s.read(t)
		f := d.feature(mapdata.KindRelation, 7)
		if f == nil || f.Tags.Get("name") != "Lake" || f.Tags.Get("natural") != "water" ||
			math.Abs(areaOf(multi(f.Geometry))-8*cell) > cell/1000 {
			t.Errorf("the lake: %+v", f)
		}
		if d.feature(mapdata.KindWay, 1) != nil || d.feature(mapdata.KindWay, 2) != nil {
			t.Error("its outline is a feature as well")
		}
	})
	t.Run("name on the relation, kind on the ways", func(t *testing.T) {
		s := sketch{nodes: grid(), ways: []sketchWay{
			{1, []int64{0, 3, 33, 30, 0}, "natural=water"}, {2, []int64{55, 56, 66, 65, 55}, "natural=water"},
		}, relations: []sketchRelation{{7, "w1:outer w2:outer", "type=multipolygon name=Twin+Lakes"}}}
		d := s.read(t)
		f := d.feature(mapdata.KindRelation, 7)
		want := Tags{{"name", "Twin Lakes"}, {"natural", "water"}}
		if f == nil || !slices.Equal(f.Tags, want) || math.Abs(areaOf(multi(f.Geometry))-10*cell) > cell/1000 {
			t.Errorf("the lakes: %+v", f)
		}
		if len(d.Features) != 1 {
			t.Errorf("features: %+v", d.Features)
		}
	})
	t.Run("outlines that are something else", func(t *testing.T) {
		s := sketch{nodes: grid(), ways: []sketchWay{
			{1, []int64{0, 3, 33}, "name=North highway=residential"}, {2, []int64{33, 30, 0}, "name=South highway=residential"},
		}, relations: []sketchRelation{{7, "w1:outer w2:outer", "type=multipolygon"}}}
		d := s.read(t)
		if d.feature(mapdata.KindRelation, 7) != nil || d.feature(mapdata.KindWay, 1) == nil ||
			d.feature(mapdata.KindWay, 2) == nil {
			t.Errorf("features: %+v", d.Features)
		}
	})
}
