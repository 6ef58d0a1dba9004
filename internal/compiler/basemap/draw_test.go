package basemap

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func newWatcher(t *testing.T) *watcher {
	t.Helper()
	dir := osmtest.Dir(t)
	c, err := New(dir, coast.New(dir))
	if err != nil {
		t.Fatal(err)
	}
	return &watcher{Consumer: c, points: map[geo.Projected]string{}}
}

func (w *watcher) Take(of osm.Batch) error {
	b := of.(*batch)
	for _, d := range b.features {
		for _, p := range b.pieces[d.pieces.from:d.pieces.to] {
			if p.tile.Z == mapfile.CellZoom {
				w.seen = append(w.seen, seen{d.object, w.describe(b, &d, &p)})
			}
		}
	}
	return w.Consumer.Take(of)
}

func (w *watcher) describe(b *batch, d *feature, p *piece) string {
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

// drawn returns what is drawn of a sketch in the cells, in the order of the map. Its grid is scaled to be in one cell.
func drawn(t *testing.T, s osmtest.Sketch) []string {
	t.Helper()
	xml := s.XML()
	w := newWatcher(t)
	for i := range 100 {
		at := func(k int) string { return fmt.Sprintf("%.3f", 0.02+0.002*float64(k)) }
		xml = strings.ReplaceAll(xml, fmt.Sprintf(`"0.%02d"`, i), fmt.Sprintf("%q", at(i)))
		w.points[geo.ProjectE7(200_000+int32(i/10)*20_000, 200_000+int32(i%10)*20_000)] = fmt.Sprint(i)
	}
	osmtest.Read(t, []string{osmtest.WriteFile(t, "map.osm", []byte(xml))}, w)
	slices.SortStableFunc(w.seen, func(a, b seen) int { return int(int64(a.object - b.object)) })
	var all []string
	for _, one := range w.seen {
		all = append(all, one.text)
	}
	return all
}

func TestDrawn(t *testing.T) {
	t.Parallel()
	const boundary, old = "type=boundary boundary=administrative name=X admin_level=", "type=multipolygon"
	const outer, inner = "w1 0 3 33 30 0 ", " / w2 11 12 22 21 11 "
	for name, c := range map[string]struct {
		sketch osmtest.Sketch
		want   []string
	}{
		"nodes": {"n5 amenity=bench / n6 natural=tree / n7 place=town name=Town name:ar=بلدة alt_name=Burg / n8 shop=gift name:en=Only",
			[]string{"n5 pois bench (5)", "n7 places locality (7) name=Town name:ar=بلدة", "n8 pois gift (8)"}},
		"an interpolated house": {"n0 addr:housenumber=2 amenity=bench / n3 addr:housenumber=8 / w1 0 3 addr:interpolation=even addr:street=Elm",
			[]string{"n0 pois bench (0)"}},
		"a building, clockwise":    {"w1 0 10 11 1 0 building=yes name=House", []string{"w1 buildings building (0 1 11 10)"}},
		"one of no width":          {"w1 0 1 2 0 building=yes", nil},
		"one with a gap":           {"w1 0 1 11 999 0 building=yes", nil},
		"a named lake":             {outer + "natural=water water=lake name=Loch", []string{"w1 water lake (0 3 33 30)", "w1 water lake () name=Loch"}},
		"a road with gaps":         {"w1 0 1 1 999 2 998 3 4 highway=service", []string{"w1 roads minor_road (0 1)", "w1 roads minor_road (3 4)"}},
		"a roundabout":             {"w1 0 1 11 0 highway=tertiary junction=roundabout", []string{"w1 roads major_road (0 1 11 0)"}},
		"a wood that is open":      {"w1 0 1 11 natural=wood waterway=river", []string{"w1 water water (0 1 11)"}},
		"a multipolygon":           {outer + inner + " / r7 w1:outer w2:inner natural=wood " + old, []string{"r7 landuse wood (0 3 33 30) (11 21 22 12)"}},
		"a multipolygon of no use": {outer + " / r7 w1:outer power=plant name=X " + old, nil},
		"the old style, one way":   {outer + "natural=wood" + inner + "natural=water / r7 w1:outer w2:inner " + old, []string{"w1 landuse wood (0 3 33 30) (11 21 22 12)", "w2 water water (11 12 22 21)"}},
		"the old style, two ways":  {"w1 0 3 33 natural=wood / w2 33 30 0 natural=wood source=X / r7 w1:outer w2:outer " + old, []string{"r7 landuse wood (0 3 33 30)"}},
		"the old style, two polygons": {"w1 0 2 12 natural=wood / w2 12 10 0 natural=wood / w3 40 42 52 natural=wood / w4 52 50 40 natural=wood / r7 w1:outer w2:outer w3:outer w4:outer " + old,
			[]string{"r7 landuse wood (0 2 12 10)", "r7 landuse wood (40 42 52 50)"}},
		"borders": {"w1 0 1 / w2 1 2 waterway=river / w3 2 3 natural=coastline / w4 3 4 maritime=yes / w5 4 5 / r1 w1 w2 w3 w4 " + boundary + "4 / r2 w1:outer " + boundary + "2 / " +
			"r3 w2:inner " + boundary + "8 / r4 w5 " + boundary + "9 / r5 w5 " + boundary + "10",
			[]string{"w1 boundaries country (0 1)", "w2 boundaries region (1 2)", "w2 water water (1 2)"}},
		"a border without a name around a wood": {outer + "natural=wood / r1 w1 type=boundary boundary=administrative admin_level=6",
			[]string{"w1 boundaries county (0 3 33 30 0)", "w1 landuse wood (0 3 33 30)"}},
	} {
		if diff := cmp.Diff(c.want, drawn(t, c.sketch)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestDrawnDelaware: of some kinds as many ways are drawn as a real extract has.
func TestDrawnDelaware(t *testing.T) {
	t.Parallel()
	w, all := newWatcher(t), new(osmtest.Recorder)
	osmtest.Read(t, []string{testkit.Extract(t, testkit.Delaware)}, w, all)
	got, want, once := map[string]int{}, map[string]int{}, map[seen]bool{}
	for _, one := range w.seen {
		fields := strings.Fields(one.text)
		of := seen{one.object, fields[1] + " " + fields[2]}
		if of.object>>60 == uint64(region.KindWay) && !once[of] {
			once[of] = true
			got[of.text]++
		}
	}
	for _, o := range all.Ways {
		building, closed := o.Tags.Find("building"), o.Nodes[0] == o.Nodes[len(o.Nodes)-1]
		switch {
		case slices.Contains([]string{"rail", "disused", "preserved"}, o.Tags.Find("railway")):
			want["roads rail"]++
		case closed && building != "" && building != "no":
			want["buildings building"]++
		case closed && o.Tags.Find("natural") == "wood":
			want["landuse wood"]++
		}
	}
	for class, n := range want {
		// Few objects have tags of several sorts.
		if delta := got[class] - n; n < 60 || delta < -n/50 || delta > n/50 {
			t.Errorf("%s: %d, want about %d", class, got[class], n)
		}
	}
}
