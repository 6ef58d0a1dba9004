package basemap

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	paulmach "github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"

	"github.com/mapsedge/caddy-maps/internal/compiler/coast"
	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

// watcher is a Consumer that writes down what is drawn in the cells.
type watcher struct {
	*Consumer
	points map[geo.Projected]string // what to call positions
	seen   []seen
}

// seen is a drawing in a cell.
type seen struct {
	object uint64
	text   string
}

func (w *watcher) Take(of osm.Batch) error {
	b := of.(*batch)
	for _, d := range b.drawings {
		for _, p := range b.pieces[d.pieces.from:d.pieces.to] {
			if p.tile.Z == mapfile.CellZoom {
				w.seen = append(w.seen, seen{d.object, w.describe(b, &d, &p)})
			}
		}
	}
	return w.Consumer.Take(of)
}

func (w *watcher) describe(b *batch, d *drawing, p *piece) string {
	class, err := schema.DecodeClass(d.class.encoded)
	if err != nil {
		return err.Error()
	}
	i := slices.IndexFunc(class.Attrs, func(a schema.Attr) bool { return a.Key == "kind" })
	text := fmt.Sprintf("%c%d %v %v", "nwr"[d.object>>60], d.object&(1<<60-1), class.Layer, class.Attrs[i].Value)
	r := mapfile.NewReader(p.tile, b.shapes[p.shape.from:p.shape.to])
	lists := 1
	if class.Geometry != schema.Point {
		lists = r.Count()
	}
	for range lists {
		var nodes []string
		for _, p := range r.Points(nil) {
			nodes = append(nodes, w.points[p])
		}
		text += " (" + strings.Join(nodes, " ") + ")"
	}
	for _, n := range b.names[d.names.from:d.names.to] {
		text += " " + n.key + "=" + n.value
	}
	return text
}

// coord is the place of a node of a grid of 10 by 10, which lies in one cell.
func coord(node int) osm.Coord {
	return osm.Coord{Lon: 200_000 + int32(node%10)*20_000, Lat: 200_000 + int32(node/10)*20_000}
}

// sketch is an extract of the grid: tags are "key=value key=value", members "w1:outer w2:inner".
type sketch struct {
	nodes     map[int]string // tags
	ways      []sketchWay
	relations [][3]string // id, members, tags
}

type sketchWay struct {
	id    int
	nodes []int
	tags  string
}

func (s *sketch) xml() string {
	var b strings.Builder
	writeTags := func(text string) {
		for field := range strings.FieldsSeq(text) {
			k, v, _ := strings.Cut(field, "=")
			fmt.Fprintf(&b, `<tag k="%s" v="%s"/>`, k, v)
		}
	}
	for n := range 100 {
		c := coord(n)
		fmt.Fprintf(&b, `<node id="%d" lat="%.7f" lon="%.7f">`, n, c.Point()[1], c.Point()[0])
		writeTags(s.nodes[n])
		b.WriteString("</node>")
	}
	for _, w := range s.ways {
		fmt.Fprintf(&b, `<way id="%d">`, w.id)
		for _, n := range w.nodes {
			fmt.Fprintf(&b, `<nd ref="%d"/>`, n)
		}
		writeTags(w.tags)
		b.WriteString("</way>")
	}
	for _, r := range s.relations {
		fmt.Fprintf(&b, `<relation id="%s">`, r[0])
		for m := range strings.FieldsSeq(r[1]) {
			ref, role, _ := strings.Cut(m[1:], ":")
			fmt.Fprintf(&b, `<member type="way" ref="%s" role="%s"/>`, ref, role)
		}
		writeTags(r[2])
		b.WriteString("</relation>")
	}
	return b.String()
}

// draw returns what is drawn in the cells, in the order of the map.
func (s *sketch) draw(t *testing.T) []string {
	t.Helper()
	dir := osmtest.Dir(t)
	c, err := New(dir, coast.New(dir))
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{Consumer: c, points: map[geo.Projected]string{}}
	for n := range 100 {
		at := coord(n)
		w.points[geo.ProjectE7(at.Lat, at.Lon)] = fmt.Sprint(n)
	}
	osmtest.ReadXML(t, s.xml(), w)
	slices.SortStableFunc(w.seen, func(a, b seen) int { return int(int64(a.object - b.object)) })
	var all []string
	for _, one := range w.seen {
		all = append(all, one.text)
	}
	return all
}

func TestDrawings(t *testing.T) {
	const boundary = "type=boundary boundary=administrative name=X admin_level="
	outer, inner := []int{0, 3, 33, 30, 0}, []int{11, 12, 22, 21, 11}
	for name, c := range map[string]struct {
		sketch
		want []string
	}{
		"nodes": {sketch{nodes: map[int]string{5: "amenity=bench", 6: "natural=tree",
			7: "place=town name=Town name:ar=بلدة alt_name=Burg", 8: "shop=gift name:en=Only"}},
			[]string{"n5 pois bench (5)", "n7 places locality (7) name=Town name:ar=بلدة", "n8 pois gift (8)"}},
		"an interpolated house": {sketch{
			nodes: map[int]string{0: "addr:housenumber=2 amenity=bench", 3: "addr:housenumber=8"},
			ways:  []sketchWay{{1, []int{0, 3}, "addr:interpolation=even addr:street=Elm"}}},
			[]string{"n0 pois bench (0)"}},
		"a building, clockwise": {sketch{ways: []sketchWay{{1, []int{0, 10, 11, 1, 0}, "building=yes name=House"}}},
			[]string{"w1 buildings building (0 1 11 10)"}},
		"one of no width":           {sketch{ways: []sketchWay{{1, []int{0, 1, 2, 0}, "building=yes"}}}, nil},
		"one that is not all there": {sketch{ways: []sketchWay{{1, []int{0, 1, 11, 999, 0}, "building=yes"}}}, nil},
		"a named lake": {sketch{ways: []sketchWay{{1, outer, "natural=water water=lake name=Loch"}}},
			[]string{"w1 water lake (0 3 33 30)", "w1 water lake () name=Loch"}},
		"a road beyond the extract": {sketch{
			ways: []sketchWay{{1, []int{0, 1, 1, 999, 2, 998, 3, 4}, "highway=service"}}},
			[]string{"w1 roads minor_road (0 1)", "w1 roads minor_road (3 4)"}},
		"a roundabout": {sketch{ways: []sketchWay{{1, []int{0, 1, 11, 0}, "highway=tertiary junction=roundabout"}}},
			[]string{"w1 roads major_road (0 1 11 0)"}},
		"a wood that is open": {sketch{ways: []sketchWay{{1, []int{0, 1, 11}, "natural=wood waterway=river"}}},
			[]string{"w1 water water (0 1 11)"}},
		"an area without a name": {sketch{ways: []sketchWay{{1, outer, ""}, {2, inner, ""}},
			relations: [][3]string{{"7", "w1:outer w2:inner", "type=multipolygon natural=wood"}}},
			[]string{"r7 landuse wood (0 3 33 30) (11 21 22 12)"}},
		"an area that is not drawn": {sketch{ways: []sketchWay{{1, outer, ""}},
			relations: [][3]string{{"7", "w1:outer", "type=multipolygon power=plant name=X"}}}, nil},
		"the old style, one way": {sketch{ways: []sketchWay{{1, outer, "natural=wood"}, {2, inner, "natural=water"}},
			relations: [][3]string{{"7", "w1:outer w2:inner", "type=multipolygon"}}},
			[]string{"w1 landuse wood (0 3 33 30) (11 21 22 12)", "w2 water water (11 12 22 21)"}},
		"the old style, two ways": {sketch{ways: []sketchWay{{1, []int{0, 3, 33}, "natural=wood"},
			{2, []int{33, 30, 0}, "natural=wood source=X"}},
			relations: [][3]string{{"7", "w1:outer w2:outer", "type=multipolygon"}}},
			[]string{"r7 landuse wood (0 3 33 30)"}},
		"the old style, two polygons": {sketch{ways: []sketchWay{{1, []int{0, 2, 12}, "natural=wood"},
			{2, []int{12, 10, 0}, "natural=wood"}, {3, []int{40, 42, 52}, "natural=wood"},
			{4, []int{52, 50, 40}, "natural=wood"}},
			relations: [][3]string{{"7", "w1:outer w2:outer w3:outer w4:outer", "type=multipolygon"}}},
			[]string{"r7 landuse wood (0 2 12 10)", "r7 landuse wood (40 42 52 50)"}},
		"borders": {sketch{ways: []sketchWay{{1, []int{0, 1}, ""}, {2, []int{1, 2}, "waterway=river"},
			{3, []int{2, 3}, "natural=coastline"}, {4, []int{3, 4}, "maritime=yes"}, {5, []int{4, 5}, ""}},
			relations: [][3]string{{"1", "w1 w2 w3 w4", boundary + "4"}, {"2", "w1:outer", boundary + "2"},
				{"3", "w2:inner", boundary + "8"}, {"4", "w5", boundary + "9"}, {"5", "w5", boundary + "10"}}},
			[]string{"w1 boundaries country (0 1)", "w2 boundaries region (1 2)", "w2 water water (1 2)"}},
		"a border without a name around a wood": {sketch{ways: []sketchWay{{1, outer, "natural=wood"}},
			relations: [][3]string{{"1", "w1", "type=boundary boundary=administrative admin_level=6"}}},
			[]string{"w1 boundaries county (0 3 33 30 0)", "w1 landuse wood (0 3 33 30)"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.draw(t)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDrawnDelaware: of each sort as much is drawn as the reader of another library finds.
func TestDrawnDelaware(t *testing.T) {
	path := testkit.Extract(t, testkit.Delaware)
	dir := osmtest.Dir(t)
	c, err := New(dir, coast.New(dir))
	if err != nil {
		t.Fatal(err)
	}
	w := &watcher{Consumer: c}
	osmtest.Read(t, []string{path}, w)
	got, want := map[string]map[uint64]bool{}, map[string]int{}
	for _, one := range w.seen {
		fields := strings.Fields(one.text)
		if class := fields[1] + " " + fields[2]; one.object>>60 == uint64(region.KindWay) || class == "pois parking" {
			if got[class] == nil {
				got[class] = map[uint64]bool{}
			}
			got[class][one.object] = true
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scanner := osmpbf.New(t.Context(), f, 2)
	defer scanner.Close()
	for scanner.Scan() {
		switch o := scanner.Object().(type) {
		case *paulmach.Node:
			if o.Tags.Find("amenity") == "parking" {
				want["pois parking"]++
			}
		case *paulmach.Way:
			closed := o.Nodes[0].ID == o.Nodes[len(o.Nodes)-1].ID
			switch {
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
		if delta := len(got[class]) - n; n < 60 || delta < -n/50 || delta > n/50 {
			t.Errorf("%s: %d, want about %d", class, len(got[class]), n)
		}
	}
}
