package objects

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm/osmtest"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

func spools(t *testing.T) (*Features, *Interpolations) {
	t.Helper()
	dir := osmtest.Dir(t)
	texts, err := scratch.NewTexts(dir, "texts")
	if err != nil {
		t.Fatal(err)
	}
	return NewFeatures(dir, texts), NewInterpolations(dir, texts)
}

// TestSpool: what was added comes back as it was and in its order, from the beginning and from where each begins.
func TestSpool(t *testing.T) {
	ring := func(x, y float64) orb.Ring { return orb.Ring{{x, y}, {x + 0.5, y}, {x, y + 0.25}, {x, y}} }
	added := []Feature{
		{Kind: mapdata.KindNode, ID: 1<<58 + 1, Tags: Tags{{"name", "A"}, {"shop", "bakery"}}, Geometry: orb.Point{-180, 90}},
		{Kind: mapdata.KindNode, ID: -7, Geometry: orb.Point{180, -90}},
		{Kind: mapdata.KindWay, ID: 1, Tags: Tags{{"name", "A"}},
			Geometry: orb.LineString{{179.9999999, 0}, {-179.9999999, 0}}},
		{Kind: mapdata.KindWay, ID: 2, Tags: Tags{{"building", "yes"}},
			Geometry: orb.Polygon{ring(8, 50), ring(8.125, 50.125)}, Entrances: []orb.Point{{8, 50}, {8.5, 50}}},
		{Kind: mapdata.KindRelation, ID: 2, Geometry: orb.MultiPolygon{{ring(1, 2), ring(3, 4)}, {ring(5, 6)}}},
		{Kind: mapdata.KindRelation, ID: 3, Geometry: orb.MultiPolygon{{ring(1, 2)}}},
	}
	features, _ := spools(t)
	for i := range added {
		if err := features.Add(&added[i]); err != nil {
			t.Fatal(err)
		}
	}
	var got []Feature
	for f := range features.All {
		c := *f
		c.Tags = slices.Clone(f.Tags)
		got = append(got, c)
	}
	if diff := cmp.Diff(added, got, cmpopts.EquateEmpty()); diff != "" || features.Len() != len(added) {
		t.Errorf("%d features (-added +read):\n%s", features.Len(), diff)
	}
	var again FeatureRecord
	i := 0
	for at := range features.Records {
		if features.Read(at, &again); again.ID != added[i].ID || len(again.Tags) != len(added[i].Tags) {
			t.Errorf("at %d: %+v, want %+v", at, again, added[i])
		}
		i++
	}
}

// TestSpoolLines: interpolations too.
func TestSpoolLines(t *testing.T) {
	added := []Interpolation{
		{Way: 9, Line: orb.LineString{{8, 50}, {8.1, 50.1}, {8.2, 50}}, Nodes: []int64{900, -5, 1 << 60},
			Numbers: []int32{1, NoNumber, 99_999}, Step: 2, Parity: Odd, Tags: Tags{{"addr:street", "A"}}},
		{Way: 1 << 57, Line: orb.LineString{{-8, -50}, {-8.1, -50.1}}, Nodes: []int64{1, 2}, Numbers: []int32{0, 10},
			Step: 100},
	}
	_, lines := spools(t)
	for i := range added {
		if err := lines.Add(&added[i]); err != nil {
			t.Fatal(err)
		}
	}
	i := 0
	for line := range lines.All {
		if diff := cmp.Diff(&added[i], line, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("line %d (-added +read):\n%s", i, diff)
		}
		i++
	}
	if i != len(added) || lines.Len() != i {
		t.Errorf("%d of %d lines, Len is %d", i, len(added), lines.Len())
	}
}

// TestSpoolNowhere: what is nowhere is refused, and leaves nothing behind.
func TestSpoolNowhere(t *testing.T) {
	for name, g := range map[string]orb.Geometry{
		"none": nil, "beyond": orb.Point{180.1, 0}, "no number": orb.LineString{{0, 0}, {0, math.NaN()}},
		"a ring": orb.Polygon{{{0, 0}, {1, 0}, {0, math.Inf(1)}, {0, 0}}}, "points": orb.MultiPoint{{1, 1}},
	} {
		features, _ := spools(t)
		if err := features.Add(&Feature{ID: 1, Geometry: g}); err == nil || features.Len() != 0 {
			t.Errorf("%s: taken", name)
		}
		for f := range features.All {
			t.Errorf("%s: %v", name, f)
		}
	}
}
