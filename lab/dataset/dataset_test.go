package dataset

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/lab/dataset/datasettest"
)

// town is a block of four streets and a fifth that leads away, with a forbidden turn.
func town(t *testing.T) string {
	a, b := roadgraphtest.At(0, 0), roadgraphtest.At(300, 0)
	c, d := roadgraphtest.At(300, 200), roadgraphtest.At(0, 200)
	return datasettest.PBF(
		t,
		[][2]int{{1, 5}},
		[]orb.Point{a, b},
		[]orb.Point{b, c},
		[]orb.Point{c, d},
		[]orb.Point{d, a},
		[]orb.Point{b, roadgraphtest.At(600, 0)},
	)
}

func compiled(t *testing.T, path string) *Network {
	t.Helper()
	n, err := Compile(t.Context(), testregion.InProcess, path, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n
}

// TestCopies: each copy of a town is the town itself, in a row exactly, north of it but for the lengths of its streets.
func TestCopies(t *testing.T) {
	testkit.Whole(t)
	const copies = 4000
	path, many := town(t), filepath.Join(t.TempDir(), "many.osm.pbf")
	grid, err := Copies(t.Context(), path, many, copies)
	if err != nil {
		t.Fatal(err)
	}
	if grid.PerRow < 1000 || grid.PerRow >= copies {
		t.Fatalf("%d copies in a row", grid.PerRow)
	}
	one, all := compiled(t, path), compiled(t, many)
	for _, k := range []int{0, 1, 77, grid.PerRow - 1, grid.PerRow, copies - 1} {
		east, north := grid.At(k)
		want, got := around(one.Graph, 0, 0), around(all.Graph, east, north)
		if len(want) != 5 {
			t.Fatalf("%d streets", len(want))
		}
		if k >= grid.PerRow { // nearer to the pole
			for _, streets := range []map[string][4]int{want, got} {
				for name, s := range streets {
					s[0] = 0
					streets[name] = s
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("copy %d is another one:\n%s", k, diff)
		}
	}
}

// around describes the streets of a town that lies so many degrees farther east and north: for each its length, where
// it may be driven, and how many turns there are at its ends.
func around(g *roadgraph.Graph, east, north float64) map[string][4]int {
	middle := roadgraphtest.At(300, 100)
	streets := map[string][4]int{}
	for _, h := range g.Near(middle.Lat()+north, middle.Lon()+east, 1000, nil) {
		s := g.Edge(h.Edge)
		streets[g.Name(h.Edge)] = [4]int{int(math.Round(float64(s.Length) / 10)), int(s.Flags),
			len(g.Turns(2*h.Edge, nil)), len(g.Turns(2*h.Edge+1, nil))}
	}
	return streets
}

func TestTooManyCopies(t *testing.T) {
	for _, n := range []int{0, 1 << 30} {
		if _, err := Copies(t.Context(), town(t), filepath.Join(t.TempDir(), "x"), n); err == nil {
			t.Errorf("%d copies", n)
		}
	}
}

// TestRewrite: what is not kept is not in the map, and what was changed is changed.
func TestRewrite(t *testing.T) {
	thin := filepath.Join(t.TempDir(), "thin.osm.pbf")
	err := Rewrite(t.Context(), town(t), thin, func(o osm.Object) bool {
		if w, ok := o.(*osm.Way); ok {
			w.Tags[2].Value += " Street"
			return w.ID != 5
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for name := range around(compiled(t, thin).Graph, 0, 0) {
		names[name] = true
	}
	if diff := cmp.Diff(
		map[string]bool{"1 Street": true, "2 Street": true, "3 Street": true, "4 Street": true},
		names,
	); diff != "" {
		t.Error(diff)
	}
}

// TestThin: the share is about what was asked for, of small roads only.
func TestThin(t *testing.T) {
	keep := Thin(0.3)
	kept := map[string]int{}
	for i := range 10_000 {
		for _, highway := range []string{"residential", "primary"} {
			if keep(&osm.Way{ID: osm.WayID(i), Tags: osm.Tags{{Key: "highway", Value: highway}}}) {
				kept[highway]++
			}
		}
	}
	if kept["primary"] != 10_000 || kept["residential"] < 6800 || kept["residential"] > 7200 || !keep(&osm.Node{}) {
		t.Errorf("%v", kept)
	}
}

func TestCompile(t *testing.T) {
	n := compiled(t, town(t))
	if len(around(n.Graph, 0, 0)) != 5 || n.Networks[matching.Foot] == nil {
		t.Error("not the town's networks")
	}
	if n.Roads < 5*4 || n.Roads > 1<<16 {
		t.Errorf("the roads have %d bytes", n.Roads)
	}
	if b := n.Build; b.Took <= 0 || b.Anonymous <= 0 || b.Extract <= 0 || b.Region < n.Roads {
		t.Errorf("%+v", b)
	}
	if _, err := Compile(t.Context(), testregion.InProcess, town(t), "/dev/null/none"); err == nil {
		t.Error("compiled into no directory")
	}
}

func TestDelaware(t *testing.T) {
	path, err := Delaware(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() < 1e6 {
		t.Errorf("%s: %v", path, err)
	}
}
