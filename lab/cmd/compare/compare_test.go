package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
	"github.com/mapsedge/caddy-maps/internal/tiles/pmtiles"
)

// village compiles the drawn village, changed by replacing one text with another.
func village(t *testing.T, from, to string) *region.File {
	t.Helper()
	text := string(testkit.Data("village.osm"))
	if from != "" && !strings.Contains(text, from) {
		t.Fatalf("the village has no %s", from)
	}
	extract, path := filepath.Join(t.TempDir(), "village.osm"), filepath.Join(t.TempDir(), "village.region")
	if err := os.WriteFile(extract, []byte(strings.ReplaceAll(text, from, to)), 0o600); err != nil {
		t.Fatal(err)
	}
	options := compiler.Options{Inputs: []string{extract}, Output: path}
	if _, err := compiler.Build(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	file, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(file.Release)
	return file
}

// tilesOf are the tiles of a region up to zoom 15.
func tilesOf(t *testing.T, file *region.File) map[tilestest.Tile][]byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "village.pmtiles")
	options := pmtiles.ExportOptions{Output: path, Name: "village", MaxZoom: 15}
	if _, err := pmtiles.Export(t.Context(), file, options); err != nil {
		t.Fatal(err)
	}
	return tilestest.ReadPMTiles(t, path).Tiles
}

func TestCompareTiles(t *testing.T) {
	before := tilesOf(t, village(t, "Oak Street", "Oak Street"))
	same, err := compareTiles(t.Context(), before, tilesOf(t, village(t, "Oak Street", "Oak Street")))
	if err != nil || same.compared != len(before) || len(same.different) != 0 {
		t.Errorf("the same village: %+v, %v", same, err)
	}

	renamed, err := compareTiles(t.Context(), before, tilesOf(t, village(t, "Oak Street", "Elm Street")))
	if err != nil || len(renamed.different) == 0 {
		t.Fatalf("another name: %+v, %v", renamed, err)
	}
	last := renamed.different[len(renamed.different)-1]
	for _, want := range []string{"15/", "only in OLD: roads ", "only in NEW: roads ", "Oak Street", "Elm Street"} {
		if !strings.Contains(last, want) {
			t.Errorf("no %q in %s", want, last)
		}
	}
	if strings.Contains(last, "Main Street") {
		t.Errorf("another street differs: %s", last)
	}
	if !strings.Contains(last, ": 2 features\n") {
		t.Errorf("more than the street differs: %s", last)
	}

	// A tile that is missing differs by all of its features, on either side.
	at := slices.MaxFunc(slices.Collect(maps.Keys(before)), func(a, b tilestest.Tile) int { return int(a.Z) - int(b.Z) })
	few := map[tilestest.Tile][]byte{}
	for place, tile := range before {
		if place != at {
			few[place] = tile
		}
	}
	for name, c := range map[string]func() (comparison, error){
		"OLD": func() (comparison, error) { return compareTiles(t.Context(), before, few) },
		"NEW": func() (comparison, error) { return compareTiles(t.Context(), few, before) },
	} {
		got, err := c()
		if err != nil || got.compared != len(before) || len(got.different) != 1 ||
			!strings.Contains(got.different[0], "only in "+name+": ") {
			t.Errorf("a tile only in %s: %+v, %v", name, got, err)
		}
	}
	if _, err := compareTiles(t.Context(), before, map[tilestest.Tile][]byte{at: []byte("no tile")}); err == nil {
		t.Error("what is no tile is no error")
	}
}

// Where a ring begins, the order of holes, and what shares a feature are not compared; the way round is.
func TestParts(t *testing.T) {
	square := func(x, y, size float64) orb.Ring {
		return orb.Ring{{x, y}, {x + size, y}, {x + size, y + size}, {x, y + size}, {x, y}}
	}
	turned := func(r orb.Ring, by int) orb.Ring {
		open := r[:len(r)-1]
		r = append(slices.Clone(open[by:]), open[:by]...)
		return append(r, r[0])
	}
	outer, a, b := square(0, 0, 100), square(10, 10, 20), square(50, 50, 20)
	want := parts(orb.Polygon{outer, a, b})
	for by := range 4 {
		if diff := cmp.Diff(want, parts(orb.Polygon{turned(outer, by), turned(b, by), a})); diff != "" {
			t.Errorf("turned by %d: %s", by, diff)
		}
	}
	back := slices.Clone(outer)
	slices.Reverse(back)
	if cmp.Equal(parts(orb.Polygon{outer}), parts(orb.Polygon{back})) {
		t.Error("the way round a ring is not compared")
	}
	// A ring that comes through its least point twice.
	eight := orb.Ring{{0, 0}, {5, 1}, {5, 2}, {0, 0}, {1, 5}, {2, 5}, {0, 0}}
	for by := range 6 {
		if diff := cmp.Diff(parts(orb.Polygon{eight}), parts(orb.Polygon{turned(eight, by)})); diff != "" {
			t.Errorf("an eight turned by %d: %s", by, diff)
		}
	}
	lines := orb.MultiLineString{{{0, 0}, {1, 1}}, {{2, 2}, {3, 3}}}
	if got := parts(lines); len(got) != 2 || !orb.Equal(got[1], lines[1]) {
		t.Errorf("two lines are %v", got)
	}
	if got := parts(orb.MultiPolygon{{a}, {b}}); len(got) != 2 {
		t.Errorf("two areas are %v", got)
	}
	if got := parts(orb.MultiPoint{{1, 2}, {3, 4}}); len(got) != 2 {
		t.Errorf("two points are %v", got)
	}
}

func TestDifferences(t *testing.T) {
	for _, tc := range []struct{ before, now, want string }{
		{`{"a":1,"b":[1,2]}`, `{"b":[1,2],"a":1}`, "the same values, written otherwise"},
		{`{"r":[{"n":"Oak"},{"n":"Elm"}]}`, `{"r":[{"n":"Oak"},{"n":"Ash"}]}`, `.r[1].n: "Elm", "Ash" in NEW`},
		{`{"r":[1,2]}`, `{"r":[1]}`, `.r: 2 items, 1 in NEW`},
		{`{"a":1}`, `{"b":2}`, ".a: 1 only in OLD\n.b: 2 only in NEW"},
		{`{"a":{"x":1}}`, `{"a":[1]}`, `.a: {"x":1}, [1] in NEW`},
		{`[1]`, `{}`, `: [1], {} in NEW`},
		{`ok`, `{}`, "OLD ok, NEW {}"},
		{`[1,2,3,4,5,6,7,8]`, `[0,0,0,0,0,0,0,0]`, "[0]: 1, 0 in NEW\n[1]: 2, 0 in NEW\n[2]: 3, 0 in NEW\n" +
			"[3]: 4, 0 in NEW\n[4]: 5, 0 in NEW\n[5]: 6, 0 in NEW\nand 2 more"},
	} {
		if got := strings.Join(differences([]byte(tc.before), []byte(tc.now)), "\n"); got != tc.want {
			t.Errorf("%s and %s: %q, not %q", tc.before, tc.now, got, tc.want)
		}
	}
}

func TestFieldOf(t *testing.T) {
	for line, want := range map[string]string{
		`.r[12].n: "Elm", "Ash" in NEW`:  ".r[].n",
		`.a[1][2].b: "x: y" only in NEW`: ".a[][].b only in NEW",
		`.a: 1 only in OLD`:              ".a only in OLD",
	} {
		if got := fieldOf(line); got != want {
			t.Errorf("%s: %s, not %s", line, got, want)
		}
	}
}

// The same seed asks at the same positions, which are where they are said to be.
func TestPoints(t *testing.T) {
	file := village(t, "", "")
	networks, err := matching.OpenNetworks(file)
	if err != nil {
		t.Fatal(err)
	}
	box := orb.Bound{Min: orb.Point{-76, 39}, Max: orb.Point{-75, 40}}
	anywhere, beside := randomPoints(box, 50, 1), roadsidePoints(networks, 50, 1)
	if len(anywhere) != 50 || len(beside) != 50 {
		t.Fatalf("%d and %d positions", len(anywhere), len(beside))
	}
	if !slices.Equal(anywhere, randomPoints(box, 50, 1)) || !slices.Equal(beside, roadsidePoints(networks, 50, 1)) ||
		slices.Equal(anywhere, randomPoints(box, 50, 2)) {
		t.Error("the seed does not decide")
	}
	for _, p := range anywhere {
		if !box.Contains(p) {
			t.Errorf("%v is outside", p)
		}
	}
	for _, p := range beside {
		nearest := 1e9
		for _, g := range networks {
			for edge := range g.Edges() {
				length := float64(g.Edge(edge).Length) / 1000
				metres, _ := g.NearestOn(edge, 0, length, p)
				on := g.At(edge, metres)
				nearest = min(nearest, geo.Distance(p.Lat(), p.Lon(), on.Lat(), on.Lon()))
			}
		}
		if nearest > roadside+0.2 { // positions have six decimals
			t.Errorf("%v is %.1f m from a road", p, nearest)
		}
	}
	if got := roadsidePoints(matching.Networks{}, 50, 1); len(got) != 0 {
		t.Errorf("%d positions beside no roads", len(got))
	}
}

func TestMatchQuestions(t *testing.T) {
	traces := []trace{
		{name: "here", points: orb.LineString{{-75.5, 39.1}, {-75.4, 39.2}}, times: []float64{0, 5}, radius: 4},
		{name: "elsewhere", points: orb.LineString{{-8.6, 41.1}, {-8.5, 41.2}}},
	}
	box := orb.Bound{Min: orb.Point{-76, 39}, Max: orb.Point{-75, 40}}
	kinds := matchQuestions(within(box, traces))
	if len(kinds) != 3 || len(kinds[2].questions) != 1 {
		t.Fatalf("%+v", kinds)
	}
	want := `{"path":[{"lat":39.1,"lng":-75.5,"time":0},{"lat":39.2,"lng":-75.4,"time":5}],"radius":4,"details":true,` +
		`"profile":"foot"}`
	if got := string(kinds[2].questions[0].body); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

func TestArguments(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		arguments []string
		s         settings
		ok        bool
	}{
		{[]string{self, other, other}, settings{zoom: 15}, true},
		{[]string{self, other}, settings{zoom: 15}, false},
		{[]string{self, "none", other}, settings{zoom: 15}, false},
		{[]string{self, other, other}, settings{zoom: 17}, false},
		{[]string{self, other, other}, settings{zoom: 15, points: -1}, false},
	} {
		if err := tc.s.take(tc.arguments); (err == nil) != tc.ok {
			t.Errorf("%q: %v", tc.arguments, err)
		}
	}
}
