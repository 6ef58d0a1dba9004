package extract

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"pgregory.net/rapid"
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
				{id: 1, nodes: []int64{0, 3}}, {id: 2, nodes: []int64{30, 33}}, {id: 3, nodes: []int64{3, 33}}, {id: 4, nodes: []int64{0, 30}},
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
				{id: 1, nodes: []int64{0, 9, 99, 90, 0}}, {id: 2, nodes: []int64{11, 18, 88, 81, 11}}, {id: 3, nodes: []int64{33, 35, 55, 53, 33}},
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
			name:    "two holes side by side that share an edge",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 4, 44, 40, 0}}, {id: 2, nodes: []int64{11, 12, 22, 21, 11}}, {id: 3, nodes: []int64{12, 13, 23, 22, 12}}},
			members: "w1:outer w2:inner w3:inner", tags: park, polygons: 1, holes: 1, area: 14,
		},
		{
			name:    "a boundary",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33}}, {id: 2, nodes: []int64{33, 30, 0}}},
			members: "w1:outer w2:outer n11:label n12:admin_centre", tags: "type=boundary boundary=administrative admin_level=8 name=Town", polygons: 1, area: 9,
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
			name:    "the same line as two ways",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33}}, {id: 2, nodes: []int64{33, 30, 0}}, {id: 3, nodes: []int64{0, 30, 33}}},
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
			name:    "a member that the extract lacks",
			ways:    []sketchWay{{id: 1, nodes: []int64{0, 3, 33}}, {id: 2, nodes: []int64{133, 30, 0}}, {id: 4, nodes: []int64{55, 56, 66, 65, 55}}},
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
			// The mended gaps change the area a little.
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
	t.Run("several ways", func(t *testing.T) {
		s := sketch{nodes: grid(), ways: []sketchWay{
			{1, []int64{0, 3, 33}, lake + " water=lake"}, {2, []int64{33, 30, 0}, lake}, {3, []int64{11, 12, 22, 21, 11}, ""},
		}, relations: []sketchRelation{{7, "w1:outer w2:outer w3:inner", "type=multipolygon"}}}
		d := s.read(t)
		f := d.feature(mapdata.KindRelation, 7)
		if f == nil || f.Tags.Get("name") != "Lake" || f.Tags.Get("natural") != "water" || math.Abs(areaOf(multi(f.Geometry))-8*cell) > cell/1000 {
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
		if d.feature(mapdata.KindRelation, 7) != nil || d.feature(mapdata.KindWay, 1) == nil || d.feature(mapdata.KindWay, 2) == nil {
			t.Errorf("features: %+v", d.Features)
		}
	})
}

// TestAnyArea draws a random set of cells, cuts its outline into random ways with random directions, and expects that the
// assembled area has the same cells. The outlines touch themselves and each other in corners.
func TestAnyArea(t *testing.T) {
	const size = 7
	rapid.Check(t, func(t *rapid.T) {
		var in [size + 2][size + 2]bool // with an empty margin
		cells := 0
		for y := 1; y <= size; y++ {
			for x := 1; x <= size; x++ {
				in[y][x] = rapid.Bool().Draw(t, "cell")
				if in[y][x] {
					cells++
				}
			}
		}
		node := func(x, y int) int64 { return int64(10*y + x) } // lower left corner of a cell
		// The edges between a cell that is in and one that is not.
		var edges [][2]int64
		for y := 1; y <= size+1; y++ {
			for x := 1; x <= size+1; x++ {
				if in[y][x] != in[y-1][x] {
					edges = append(edges, [2]int64{node(x, y), node(x+1, y)})
				}
				if in[y][x] != in[y][x-1] {
					edges = append(edges, [2]int64{node(x, y), node(x, y+1)})
				}
			}
		}
		edges = rapid.Permutation(edges).Draw(t, "order")
		s := sketch{nodes: grid()}
		var members []string
		for len(edges) > 0 {
			nodes := []int64{edges[0][0], edges[0][1]}
			edges = edges[1:]
			for range rapid.IntRange(0, 12).Draw(t, "length") {
				end := nodes[len(nodes)-1]
				i := slices.IndexFunc(edges, func(e [2]int64) bool { return e[0] == end || e[1] == end })
				// A way does not go on once it is closed.
				if i < 0 || nodes[0] == end {
					break
				}
				nodes = append(nodes, edges[i][0]+edges[i][1]-end)
				edges = slices.Delete(edges, i, i+1)
			}
			if rapid.Bool().Draw(t, "reversed") {
				slices.Reverse(nodes)
			}
			id := int64(len(s.ways) + 1)
			s.ways = append(s.ways, sketchWay{id: id, nodes: nodes})
			members = append(members, fmt.Sprintf("w%d:outer", id))
		}
		c := newCollector(nil)
		mp := assembleSketch(c, &s, members)
		checkRings(t, mp)
		if math.Abs(areaOf(mp)-float64(cells)*cell) > cell/1000 {
			t.Fatalf("%.3f cells, want %d: %v", areaOf(mp)/cell, cells, mp)
		}
		for y := 1; y <= size; y++ {
			for x := 1; x <= size; x++ {
				middle := orb.Point{(float64(x) + 0.5) / 100, (float64(y) + 0.5) / 100}
				if got := planar.MultiPolygonContains(mp, middle); got != in[y][x] {
					t.Fatalf("cell %d, %d: %v, want %v: %v", x, y, got, in[y][x], mp)
				}
			}
		}
	})
}

// assembleSketch puts the ways of a sketch together as one relation, without going through a file.
func assembleSketch(c *collector, s *sketch, members []string) orb.MultiPolygon {
	a := areaRelation{id: 1, tags: Tags{{"name", "Area"}}}
	for i, w := range s.ways {
		_, role, _ := strings.Cut(members[i], ":")
		a.members = append(a.members, areaMember{way: w.id, inner: role == "inner"})
		rec := wayRecord{id: w.id, start: len(c.refs)}
		c.refs = append(c.refs, w.nodes...)
		rec.end = len(c.refs)
		c.ways = append(c.ways, rec)
	}
	if err := c.endWays(); err != nil {
		panic(err)
	}
	for id, p := range s.nodes {
		if i := c.locations.find(id); i >= 0 {
			lat, lon, _ := toFixed(p[1], p[0])
			c.locations.set(i, lat, lon)
		}
	}
	built, err := c.assembleArea(&a)
	if err != nil {
		panic(err)
	}
	return built.polygons
}

// TestBands: looking only at the edges of a latitude's band gives the same as looking at all.
func TestBands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 400).Draw(t, "points")
		side := rapid.IntRange(2, 1000).Draw(t, "side") // small ones have many points at one latitude
		coordinate := rapid.IntRange(0, side)
		var points orb.Ring
		for range n {
			points = append(points, orb.Point{float64(coordinate.Draw(t, "x")) / 7, float64(coordinate.Draw(t, "y")) / 7})
		}
		points = append(points, points[0])
		r := ring{points: points, bound: points.Bound()}
		if r.bound.Min[1] == r.bound.Max[1] {
			t.Skip("without a height there is no ring")
		}
		all := make([]int32, 0, n)
		for i := 1; i < len(points); i++ {
			all = append(all, int32(i))
		}
		for range 20 {
			p := orb.Point{float64(coordinate.Draw(t, "at x")) / 7, float64(coordinate.Draw(t, "at y")) / 7}
			if rapid.Bool().Draw(t, "between") {
				p[1] += 1. / 14
			}
			if p[1] < r.bound.Min[1] || p[1] > r.bound.Max[1] {
				continue
			}
			in, on := contains(points, r.edgesAt(p[1]), p)
			if wantIn, wantOn := contains(points, all, p); in != wantIn || on != wantOn {
				t.Fatalf("%v: %v, %v; want %v, %v", p, in, on, wantIn, wantOn)
			}
		}
	})
}
