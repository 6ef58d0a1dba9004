package extract

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/testkit/testextract"
	"github.com/mapsedge/caddy-maps/internal/testkit/testsize"
)

// at is the place of a node of the grid.
func at(node int) orb.Point { return orb.Point{float64(node%10) / 100, float64(node/10) / 100} }

func lineOf(nodes ...int) orb.LineString {
	var line orb.LineString
	for _, n := range nodes {
		line = append(line, at(n))
	}
	return line
}

func ringOf(nodes ...int) orb.Ring { return orb.Ring(lineOf(nodes...)) }

func TestDrawings(t *testing.T) {
	const (
		node, way, relation = mapdata.KindNode, mapdata.KindWay, mapdata.KindRelation
		boundary            = "type=boundary boundary=administrative name=X admin_level="
	)
	one := func(kind mapdata.Kind, id int64, class string, g orb.Geometry) drawing {
		return drawing{kind, id, []string{class}, nil, g}
	}
	square, hole := ringOf(0, 3, 33, 30, 0), ringOf(11, 21, 22, 12, 11)
	outer, inner := []int64{0, 3, 33, 30, 0}, []int64{11, 12, 22, 21, 11}
	for name, c := range map[string]struct {
		nodes     map[int64]string
		ways      []sketchWay
		relations []sketchRelation
		want      []drawing
	}{
		"nodes": {nodes: map[int64]string{5: "amenity=bench", 6: "natural=tree",
			7: "place=town name=Town name:ar=بلدة alt_name=Burg"},
			want: []drawing{one(node, 5, "pois bench", at(5)), {node, 7, []string{"places locality"},
				Tags{{"name", "Town"}, {"name:ar", "بلدة"}}, at(7)}}},
		"an interpolated house": {nodes: map[int64]string{0: "addr:housenumber=2 amenity=bench", 3: "addr:housenumber=8"},
			ways: []sketchWay{{1, []int64{0, 3}, "addr:interpolation=even addr:street=Elm"}},
			want: []drawing{one(node, 0, "pois bench", at(0))}},
		"a building, clockwise": {ways: []sketchWay{{1, []int64{0, 10, 11, 1, 0}, "building=yes"}},
			want: []drawing{one(way, 1, "buildings building", orb.Polygon{ringOf(0, 1, 11, 10, 0)})}},
		"one of no width":           {ways: []sketchWay{{1, []int64{0, 1, 2, 0}, "building=yes"}}},
		"one that is not all there": {ways: []sketchWay{{1, []int64{0, 1, 11, 999, 0}, "building=yes"}}},
		"a named lake": {ways: []sketchWay{{1, outer, "natural=water water=lake name=Loch"}},
			want: []drawing{{way, 1, []string{"water lake", "water lake"}, Tags{{"name", "Loch"}}, orb.Polygon{square}}}},
		"a road beyond the extract": {ways: []sketchWay{{1, []int64{0, 1, 1, 999, 2, 998, 3, 4}, "highway=service"}},
			want: []drawing{one(way, 1, "roads minor_road", lineOf(0, 1)), one(way, 1, "roads minor_road", lineOf(3, 4))}},
		"a roundabout": {ways: []sketchWay{{1, []int64{0, 1, 11, 0}, "highway=tertiary junction=roundabout"}},
			want: []drawing{one(way, 1, "roads major_road", lineOf(0, 1, 11, 0))}},
		"an area without a name": {ways: []sketchWay{{1, outer, ""}, {2, inner, ""}},
			relations: []sketchRelation{{7, "w1:outer w2:inner", "type=multipolygon natural=wood"}},
			want:      []drawing{one(relation, 7, "landuse wood", orb.Polygon{square, hole})}},
		"an area with one": {ways: []sketchWay{{1, outer, ""}},
			relations: []sketchRelation{{7, "w1:outer", "type=multipolygon natural=wood name=X"}},
			want:      []drawing{{relation, 7, []string{"landuse wood"}, Tags{{"name", "X"}}, orb.Polygon{square}}}},
		"an area that is not drawn": {ways: []sketchWay{{1, outer, ""}},
			relations: []sketchRelation{{7, "w1:outer", "type=multipolygon power=plant name=X"}}},
		"the old style, one way": {ways: []sketchWay{{1, outer, "natural=wood"}, {2, inner, "natural=water"}},
			relations: []sketchRelation{{7, "w1:outer w2:inner", "type=multipolygon"}},
			want: []drawing{one(way, 1, "landuse wood", orb.Polygon{square, hole}),
				one(way, 2, "water water", orb.Polygon{ringOf(11, 12, 22, 21, 11)})}},
		"the old style, two ways": {ways: []sketchWay{{1, []int64{0, 3, 33}, "natural=wood"},
			{2, []int64{33, 30, 0}, "natural=wood source=X"}},
			relations: []sketchRelation{{7, "w1:outer w2:outer", "type=multipolygon"}},
			want:      []drawing{one(relation, 7, "landuse wood", orb.Polygon{square})}},
		"borders": {ways: []sketchWay{{1, []int64{0, 1}, ""}, {2, []int64{1, 2}, "waterway=river"},
			{3, []int64{2, 3}, "natural=coastline"}, {4, []int64{3, 4}, "maritime=yes"}, {5, []int64{4, 5}, ""}},
			relations: []sketchRelation{{1, "w1 w2 w3 w4", boundary + "4"}, {2, "w1:outer", boundary + "2"},
				{3, "w2:inner", boundary + "8"}, {4, "w5", boundary + "9"}, {5, "w5", boundary + "10"}},
			want: []drawing{one(way, 1, "boundaries country", lineOf(0, 1)), one(way, 2, "boundaries region", lineOf(1, 2)),
				one(way, 2, "water water", lineOf(1, 2))}},
		"a border around a wood": {ways: []sketchWay{{1, outer, "natural=wood"}},
			relations: []sketchRelation{{1, "w1", boundary + "6"}},
			want: []drawing{one(way, 1, "boundaries county", lineOf(0, 3, 33, 30, 0)),
				one(way, 1, "landuse wood", orb.Polygon{square})}},
	} {
		t.Run(name, func(t *testing.T) {
			s := sketch{nodes: grid(), nodeTags: c.nodes, ways: c.ways, relations: c.relations}
			got := s.read(t).Drawings
			// An area of one polygon is one, whatever it is called.
			for i := range got {
				if m, ok := got[i].Geometry.(orb.MultiPolygon); ok && len(m) == 1 {
					got[i].Geometry = m[0]
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCoast: the coast is as it was mapped, but for what the extract lacks of it.
func TestCoast(t *testing.T) {
	s := sketch{nodes: grid(), ways: []sketchWay{
		{8, []int64{3, 2, 2, 1}, "natural=coastline"}, {2, []int64{0, 10, 11, 1, 0}, "natural=coastline place=island"},
		{5, []int64{4, 999, 5, 6}, "natural=coastline"}, {6, []int64{7, 8}, "natural=cliff"},
	}}
	d := s.read(t)
	coord := func(node int32) Coord { return Coord{Lon: node % 10 * 100_000, Lat: node / 10 * 100_000} }
	want := [][]Coord{{coord(0), coord(10), coord(11), coord(1), coord(0)}, {coord(5), coord(6)},
		{coord(3), coord(2), coord(1)}}
	if diff := cmp.Diff(want, d.Coast); diff != "" {
		t.Error(diff)
	}
}

// TestNoMap: without a map nothing is gathered for it, and everything else is as it is with one.
func TestNoMap(t *testing.T) {
	testsize.Whole(t)
	path := testextract.Path(t, testextract.Delaware)
	d, err := Read(t.Context(), openScratch(t), []string{path}, Options{NoMap: true})
	if err != nil {
		t.Fatal(err)
	}
	if d.Drawings != nil || d.Coast != nil {
		t.Error("there is something to draw")
	}
	with, err := readDelaware()
	if err != nil {
		t.Fatal(err)
	}
	want := *with
	want.Drawings, want.Coast = nil, nil
	if got := contentOf(d); !reflect.DeepEqual(*got, want) {
		t.Error("what is read depends on whether there is a map")
	}
}

// TestDrawnDelaware: of each sort as much is drawn as the reader of another library finds.
func TestDrawnDelaware(t *testing.T) {
	d, err := readDelaware()
	if err != nil {
		t.Fatal(err)
	}
	got, want := make(map[string]int), make(map[string]int)
	for _, one := range d.Drawings {
		for _, class := range one.Classes {
			if one.Kind == mapdata.KindWay || class == "pois parking" {
				got[class]++
			}
		}
		checkRings(t, multi(one.Geometry))
	}
	got["coast"] = len(d.Coast)
	f, err := os.Open(testextract.Path(t, testextract.Delaware))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scanner := osmpbf.New(t.Context(), f, 2)
	defer scanner.Close()
	for scanner.Scan() {
		switch o := scanner.Object().(type) {
		case *osm.Node:
			if o.Tags.Find("amenity") == "parking" {
				want["pois parking"]++
			}
		case *osm.Way:
			closed := o.Nodes[0].ID == o.Nodes[len(o.Nodes)-1].ID
			switch {
			case o.Tags.Find("natural") == "coastline":
				want["coast"]++
			case slices.Contains([]string{"rail", "disused", "preserved"}, o.Tags.Find("railway")):
				want["roads rail"]++
			case o.Tags.Find("building") != "" && o.Tags.Find("building") != "no" && closed:
				want["buildings building"]++
				if o.Tags.Find("amenity") == "parking" && o.Tags.Find("name") != "" {
					want["pois parking"]++
				}
			case o.Tags.Find("natural") == "wood" && closed:
				want["landuse wood"]++
			case o.Tags.Find("amenity") == "parking" && o.Tags.Find("name") != "" && closed:
				want["pois parking"]++
			}
		}
	}
	for class, n := range want {
		// Few objects have tags of several sorts.
		if delta := got[class] - n; n < 60 || delta < -n/50 || delta > n/50 {
			t.Errorf("%s: %d, want about %d", class, got[class], n)
		}
	}
}

// TestDrawingCost: what a map shows is paid for by its length, and without a map nothing is.
func TestDrawingCost(t *testing.T) {
	left := func(tags string, withMap bool) int64 {
		c, err := newCollector(openScratch(t), newBudget(), true, withMap)
		if err != nil {
			t.Fatal(err)
		}
		before := c.cost.memory.Load()
		var b batch
		c.look(&object{kind: mapdata.KindNode, id: 1, tags: tagsOf(tags)}, &b)
		if err := c.take(&b); err != nil {
			t.Fatal(err)
		}
		return before - c.cost.memory.Load()
	}
	bench := left("amenity=bench", true)
	if none := left("amenity=bench", false); none != costNode || bench <= none+costDrawing {
		t.Errorf("a bench costs %d, and %d without a map", bench, none)
	}
	if long := left("amenity=bench sport="+strings.Repeat("x", 500), true); long < bench+2*500 {
		t.Errorf("a long class costs %d, a short one %d", long, bench)
	}
}
