package objects_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

func data(t *testing.T) *objects.Data {
	t.Helper()
	d, err := objects.NewData(osmtest.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSpool: what was added comes back as it was and in its order, all at once and each by itself.
func TestSpool(t *testing.T) {
	ring := func(x, y float64) orb.Ring { return orb.Ring{{x, y}, {x + 0.5, y}, {x, y + 0.25}, {x, y}} }
	hole := func(x, y float64) orb.Ring { return orb.Ring{{x, y}, {x, y + 0.25}, {x + 0.5, y}, {x, y}} }
	added := []*placestest.Feature{
		{Kind: region.KindNode, ID: 1<<58 + 1, Tags: placestest.TagsOf("name=A, shop=bakery"),
			Geometry: orb.Point{-180, 90}},
		{Kind: region.KindNode, ID: -7, Geometry: orb.Point{180, -90}},
		{Kind: region.KindWay, ID: 1, Tags: placestest.TagsOf("name=A"),
			Geometry: orb.LineString{{179.9999999, 0}, {179.9999998, 0}}},
		{Kind: region.KindWay, ID: 2, Tags: placestest.TagsOf("building=yes"),
			Geometry: orb.Polygon{ring(8, 50), hole(8.125, 50.125)}, Entrances: []orb.Point{{8, 50}, {8.5, 50}}},
		{Kind: region.KindRelation, ID: 2, Geometry: orb.MultiPolygon{{ring(1, 2), hole(3, 4)}, {ring(5, 6)}}},
		{Kind: region.KindRelation, ID: 3, Geometry: orb.MultiPolygon{{ring(1, 2)}}},
	}
	d := data(t)
	for i := range added {
		if err := placestest.Add(d, added[i]); err != nil {
			t.Fatal(err)
		}
	}
	got := slices.Collect(placestest.All(d))
	if diff := cmp.Diff(added, got, cmpopts.EquateEmpty()); diff != "" || d.Features.Len() != len(added) {
		t.Errorf("%d features (-added +read):\n%s", d.Features.Len(), diff)
	}
	var again objects.Feature
	for i, f := range added {
		if d.Features.Read(i, &again); again.ID != f.ID || len(again.Tags) != len(f.Tags) {
			t.Errorf("at %d: %+v, want %+v", i, again, f)
		}
	}
}

// TestSpoolLines: interpolations too.
func TestSpoolLines(t *testing.T) {
	added := []placestest.Interpolation{
		{Tags: placestest.TagsOf("addr:street=A"), Interpolation: objects.Interpolation{
			Way: 9, Line: orb.LineString{{8, 50}, {8.1, 50.1}, {8.2, 50}}, Nodes: []int64{900, -5, 1 << 60},
			Numbers: []int32{1, objects.NoNumber, 99_999}, Step: 2, Parity: objects.Odd}},
		{Interpolation: objects.Interpolation{Way: 1 << 57, Line: orb.LineString{{-8, -50}, {-8.1, -50.1}},
			Nodes: []int64{1, 2}, Numbers: []int32{0, 10}, Step: 100}},
	}
	d := data(t)
	for i := range added {
		if err := placestest.AddInterpolation(d, added[i]); err != nil {
			t.Fatal(err)
		}
	}
	var got []placestest.Interpolation
	for line := range placestest.Interpolations(d) {
		got = append(got, *line)
	}
	if diff := cmp.Diff(added, got, cmpopts.EquateEmpty()); diff != "" || d.Interpolations.Len() != len(added) {
		t.Errorf("%d lines (-added +read):\n%s", d.Interpolations.Len(), diff)
	}
}
