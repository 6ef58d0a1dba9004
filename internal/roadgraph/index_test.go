package roadgraph_test

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestNear compares the index with a look at every segment of every road.
func TestNear(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var town roadgraphtest.Town
		place := rapid.Float64Range(-800, 800)
		for range rapid.IntRange(1, 25).Draw(rt, "streets") {
			var xy []float64
			x, y := place.Draw(rt, "x"), place.Draw(rt, "y")
			for range rapid.IntRange(2, 20).Draw(rt, "points") {
				xy = append(xy, x, y)
				x += rapid.Float64Range(-60, 60).Draw(rt, "dx")
				y += rapid.Float64Range(-60, 60).Draw(rt, "dy")
			}
			town.Street("", xy...)
		}
		g := town.Open(t)
		for range 4 {
			at := roadgraphtest.At(place.Draw(rt, "x"), place.Draw(rt, "y"))
			radius := rapid.Float64Range(1, 300).Draw(rt, "radius")
			compareHits(rt, g, at, radius)
		}
	})
}

func compareHits(t rapid.TB, g *roadgraph.Graph, at orb.Point, radius float64) {
	t.Helper()
	hits := g.Near(at.Lat(), at.Lon(), radius, nil)
	slices.SortFunc(hits, func(a, b roadgraph.Hit) int { return cmp.Compare(a.Edge, b.Edge) })
	next := 0
	for edge := range g.Edges() {
		metres, distance := naiveNearest(g.Shape(edge, nil), at)
		found := next < len(hits) && hits[next].Edge == edge
		if !found {
			if distance < radius-0.01 {
				t.Fatalf("edge %d is %.3f m away, within %.3f m, and was not found", edge, distance, radius)
			}
			continue
		}
		h := hits[next]
		next++
		if math.Abs(h.Distance-distance) > 0.01 {
			t.Fatalf("edge %d is %.3f m away, not %.3f m", edge, distance, h.Distance)
		}
		if there := away(g, h, at); math.Abs(there-h.Distance) > 0.01 {
			t.Fatalf("edge %d: the place found is %.3f m away, not %.3f m", edge, there, h.Distance)
		}
		whole := float64(g.Edge(edge).Length) / 1000
		if on, d := g.NearestOn(edge, 0, whole, at); math.Abs(d-distance) > 0.01 {
			t.Fatalf("NearestOn says %.3f m at %.3f m, not %.3f m at %.3f m", d, on, distance, metres)
		}
	}
	if next != len(hits) {
		t.Fatalf("edge %d was found twice or does not exist", hits[next].Edge)
	}
}

// away is the distance of a hit's place from a position.
func away(g *roadgraph.Graph, h roadgraph.Hit, at orb.Point) float64 {
	p := g.At(h.Edge, float64(h.Offset)/1000)
	return geo.Distance(at.Lat(), at.Lon(), p.Lat(), p.Lon())
}

// naiveNearest walks along a shape in small steps of the angle between the ends of each segment.
func naiveNearest(shape []roadgraph.Point, at orb.Point) (metres, distance float64) {
	distance = math.Inf(1)
	for i := 1; i < len(shape); i++ {
		a, b := shape[i-1].Location(), shape[i].Location()
		away := func(share float64) float64 {
			return geo.Distance(at.Lat(), at.Lon(), a.Lat()+share*(b.Lat()-a.Lat()), a.Lon()+share*(b.Lon()-a.Lon()))
		}
		low, high := 0.0, 1.0 // the distance along a line has one minimum
		for range 40 {
			p, q := low+(high-low)/3, high-(high-low)/3
			if away(p) < away(q) {
				high = q
			} else {
				low = p
			}
		}
		if d := away(low); d < distance {
			distance = d
			metres = (float64(shape[i-1].Offset) + low*float64(shape[i].Offset-shape[i-1].Offset)) / 1000
		}
	}
	return metres, distance
}

func BenchmarkNear(b *testing.B) {
	g := roadgraphtest.Delaware(b)
	var hits []roadgraph.Hit
	var places []orb.Point
	for _, edge := range roadgraphtest.Edges(g) {
		places = append(places, g.At(edge, 0))
	}
	for _, radius := range []float64{20, 100} {
		b.Run(map[float64]string{20: "20m", 100: "100m"}[radius], func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				p := places[i*7919%len(places)]
				hits = g.Near(p.Lat(), p.Lon(), radius, hits[:0])
			}
		})
	}
}

// TestWithin: all edges that have a point in a box are found, and none that is far from it.
func TestWithin(t *testing.T) {
	g := roadgraphtest.Delaware(t)
	for _, box := range []geo.Box{
		{MinX: -755_300_000, MinY: 391_500_000, MaxX: -755_100_000, MaxY: 391_700_000},
		{MinX: -755_300_000, MinY: 391_500_000, MaxX: -755_299_000, MaxY: 391_501_000},
		{MinX: 0, MinY: 0, MaxX: 1000, MaxY: 1000},
	} {
		found := g.Within(box, []uint32{math.MaxUint32})[1:]
		if !slices.IsSorted(found) || len(slices.Compact(slices.Clone(found))) != len(found) {
			t.Errorf("%v: %d, out of order or twice", box, len(found))
		}
		for edge := range g.Edges() {
			inside, around := false, geo.EmptyBox
			for _, p := range g.Shape(edge, nil) {
				around.ExtendTo(p.Lon, p.Lat)
				inside = inside || box.Overlaps(&geo.Box{MinX: p.Lon, MinY: p.Lat, MaxX: p.Lon, MaxY: p.Lat})
			}
			_, is := slices.BinarySearch(found, edge)
			around.MinX, around.MaxX = around.MinX-10_000, around.MaxX+10_000
			around.MinY, around.MaxY = around.MinY-10_000, around.MaxY+10_000
			if inside && !is || is && !around.Overlaps(&box) {
				t.Fatalf("%v: edge %d, %v: %v", box, edge, around, is)
			}
		}
	}
}
