package geocoding

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geocoding/bruteforce"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// anywhere draws positions of whole units all over the Earth, with a liking for poles, the equator and the antimeridian.
func anywhere(t *rapid.T, label string) orb.Point {
	lon := rapid.OneOf(rapid.Float64Range(-180, 180), rapid.SampledFrom([]float64{-180, 180, 0, 179.99, -179.99})).Draw(t, label+" lon")
	lat := rapid.OneOf(rapid.Float64Range(-90, 90), rapid.SampledFrom([]float64{-90, 90, 0, 89.99, -89.99})).Draw(t, label+" lat")
	return newCoord(orb.Point{lon, lat}).point()
}

// near draws a position not far from another.
func near(t *rapid.T, label string, p orb.Point, degrees float64) orb.Point {
	q := orb.Point{p[0] + rapid.Float64Range(-degrees, degrees).Draw(t, label+" east"), p[1] + rapid.Float64Range(-degrees, degrees).Draw(t, label+" north")}
	return newCoord(orb.Point{max(min(q[0], 180), -180), max(min(q[1], 90), -90)}).point()
}

func TestHaversineIsThatOfTheTextbook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anywhere(t, "a"), anywhere(t, "b")
		if rapid.Bool().Draw(t, "near") {
			b = near(t, "b", a, 0.1)
		}
		o, c := newOrigin(a), newCoord(b)
		got, want := metres(o.haversine(o.eastTo(c.X), float64(c.Y)-o.y)), bruteforce.Haversine(a, b)
		// Near the antipode the haversine is next to 1, where the last digit of a float64 is worth 0.1 m.
		if math.Abs(got-want) > 1e-7+want*1e-9 && math.Abs(got-want) > 0.5*want/2e7 {
			t.Errorf("%v to %v: %.9f m, want %.9f m", a, b, got, want)
		}
	})
}

// TestBoundsAreBounds draws a box and a position in it: no bound may be above the position's haversine, unless the position
// is beyond the distance that the bounds were prepared for.
func TestBoundsAreBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := anywhere(t, "from")
		width := rapid.SampledFrom([]float64{1e-4, 0.01, 1, 60}).Draw(t, "width")
		a, b := near(t, "a", from, width), near(t, "b", from, width)
		if rapid.Bool().Draw(t, "far") {
			a, b = anywhere(t, "a"), anywhere(t, "b")
		}
		ca, cb := newCoord(a), newCoord(b)
		bx := boxOf([]coord{ca, cb})
		in := coord{rapid.Int32Range(bx.MinX, bx.MaxX).Draw(t, "x"), rapid.Int32Range(bx.MinY, bx.MaxY).Draw(t, "y")}
		o := newOrigin(from)
		h := o.haversine(o.eastTo(in.X), float64(in.Y)-o.y)
		var bounds [fanout]float64
		o.bounds(&bounds, []box{bx})
		if bounds[0] > h*(1+1e-12)+1e-30 {
			t.Errorf("on the sphere: %g for something that is at %g", bounds[0], h)
		}
		reach := rapid.SampledFrom([]float64{1, 1000, 30_000, 500_000, 2e7}).Draw(t, "reach")
		o.within(reach)
		limit := haversineWithin(reach)
		if h > limit {
			return
		}
		o.bounds(&bounds, []box{bx})
		if bounds[0] > h*(1+1e-12)+1e-30 {
			t.Errorf("within %g m: %g for something that is at %g", reach, bounds[0], h)
		}
	})
}

// randomGeometry draws points, lines, and polygons that are stars around a middle, some with a hole.
func randomGeometry(t *rapid.T, label string, middle orb.Point, degrees float64) orb.Geometry {
	star := func(label string, radius float64, n int) orb.Ring {
		var r orb.Ring
		for i := range n {
			a := 2 * math.Pi * float64(i) / float64(n)
			d := radius * rapid.Float64Range(0.5, 1).Draw(t, label)
			r = append(r, newCoord(orb.Point{middle[0] + d*math.Cos(a), middle[1] + d*math.Sin(a)}).point())
		}
		return append(r, r[0])
	}
	switch rapid.SampledFrom([]string{"point", "line", "polygon", "hole", "many"}).Draw(t, label) {
	case "point":
		return middle
	case "line":
		l := orb.LineString{middle}
		for i := range rapid.IntRange(1, 60).Draw(t, label+" segments") {
			l = append(l, near(t, fmt.Sprint(label, i), l[i], degrees/10))
		}
		return l
	case "hole":
		return orb.Polygon{star(label, degrees, rapid.IntRange(3, 40).Draw(t, label+" corners")), reversed(star(label+" hole", degrees*0.2, 5))}
	case "many":
		return orb.Polygon{star(label, degrees, rapid.IntRange(200, 400).Draw(t, label+" corners"))}
	}
	return orb.Polygon{star(label, degrees, rapid.IntRange(3, 12).Draw(t, label+" corners"))}
}

// TestContainsIsThatOfOrb compares the test of chunked polygons with the library's.
func TestContainsIsThatOfOrb(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		middle := orb.Point{rapid.Float64Range(-170, 170).Draw(t, "lon"), rapid.Float64Range(-80, 80).Draw(t, "lat")}
		degrees := rapid.SampledFrom([]float64{1e-3, 0.1, 5}).Draw(t, "degrees")
		g := randomGeometry(t, "geometry", middle, degrees)
		built, ok := newGeometry(g)
		if !ok {
			t.Fatal("nothing is left of it")
		}
		for i := range 20 {
			p := near(t, fmt.Sprint("from", i), middle, degrees*1.1)
			want := false
			if polygon, isArea := g.(orb.Polygon); isArea {
				want = planar.PolygonContains(polygon, p)
			}
			o := newOrigin(p)
			if got := built.contains(&o); got != want {
				if d := bruteforce.Distance(boundary(g), p, 1000); d > 0.01 { // on the outline, either is right
					t.Errorf("%v, %g m from the outline: %v, want %v", p, d, got, want)
				}
			}
		}
	})
}

func boundary(g orb.Geometry) orb.Geometry {
	if polygon, ok := g.(orb.Polygon); ok {
		var m orb.LineString
		for _, ring := range polygon {
			m = append(m, ring...)
		}
		return m
	}
	return g
}

// TestRandomWorldsEqualBruteForce compares whole searches on random features, near and far, at any latitude.
func TestRandomWorldsEqualBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		middle := orb.Point{rapid.Float64Range(-179, 179).Draw(rt, "lon"), rapid.Float64Range(-75, 75).Draw(rt, "lat")}
		spread := rapid.SampledFrom([]float64{0.01, 0.2}).Draw(rt, "spread")
		var w world
		for i := range rapid.IntRange(1, 25).Draw(rt, "features") {
			g := randomGeometry(rt, fmt.Sprint("feature", i), near(rt, fmt.Sprint("middle", i), middle, spread), spread/8)
			w.add(mapdata.KindWay, int64(i+1), g, rapid.SampledFrom([]string{"leisure=park, name=A", "amenity=school, name=B"}).Draw(rt, "tags"))
		}
		var tiles []uint32
		for i := range 20 {
			for j := range 20 {
				tiles = append(tiles, region.CoverageTile(orb.Point{middle[0] + spread*float64(i-10)/8, middle[1] + spread*float64(j-10)/8}))
			}
		}
		slices.Sort(tiles)
		w.Tiles = slices.Compact(tiles)
		x := build(t, &w.Data)
		defer x.file.Release()
		features := bruteforce.Features(&w.Data)
		for i := range 5 {
			p := near(rt, fmt.Sprint("from", i), middle, spread*1.2)
			reach := rapid.SampledFrom([]float64{100, 1000, 20_000}).Draw(rt, "reach")
			term := rapid.SampledFrom([]string{"park", "school", "", ""}).Draw(rt, "term")
			r, err := x.Reverse(t.Context(), &Request{Point: p, Size: MaxSize, MaxDistance: reach, Categories: []string{term}})
			if err != nil {
				rt.Fatal(err)
			}
			if !x.file.Covers(p) {
				continue
			}
			want := bruteforce.Search(features, p, term, reach)
			if len(r.Places) < min(len(want), MaxSize) {
				rt.Fatalf("%d results, want %d", len(r.Places), min(len(want), MaxSize))
			}
			for j, got := range r.Places {
				if j < len(want) && math.Abs(got.Distance-want[j].Distance) > 0.0051 {
					rt.Errorf("%v: result %d at %g m, want %.4f m", p, j, got.Distance, want[j].Distance)
				}
				if d := bruteforce.Haversine(p, got.Location); math.Abs(d-got.Distance) > 0.0051 {
					rt.Errorf("%v: %g m to its location, which is at %.4f m", p, got.Distance, d)
				}
			}
		}
	})
}

func TestHilbertIsACurve(t *testing.T) {
	// Neighbours along the curve are neighbours on the plane, and every cell has its own place on the curve.
	const side = 16
	shift := uint32(28)
	cells := map[uint64][2]int{}
	for x := range side {
		for y := range side {
			cells[hilbert(uint32(x)<<shift, uint32(y)<<shift)>>(2*shift)] = [2]int{x, y}
		}
	}
	if len(cells) != side*side {
		t.Fatalf("%d cells have %d places", side*side, len(cells))
	}
	for d := uint64(1); d < side*side; d++ {
		a, b := cells[d-1], cells[d]
		if dx, dy := a[0]-b[0], a[1]-b[1]; dx*dx+dy*dy != 1 {
			t.Fatalf("after %v comes %v", a, b)
		}
	}
}

func TestPyramid(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 256, 257, 5000, 70_000} {
		boxes := make([]box, n)
		for i := range boxes {
			boxes[i] = box{int32(i), int32(-i), int32(i + 1), int32(-i)}
		}
		all := appendPyramid(nil, boxes)
		p := newPyramid(uint32(n))
		seen := 0
		var walk func(level int, from, to uint32)
		walk = func(level int, from, to uint32) {
			if to-from > fanout {
				t.Fatalf("%d: a node has %d children", n, to-from)
			}
			for i := from; i < to; i++ {
				if level == 0 {
					seen++
					continue
				}
				b := emptyBox
				first, last := p.children(level, i)
				for j := first; j < last; j++ {
					if level == 1 {
						b.extend(boxes[j])
					} else {
						b.extend(all[p.first[level-1]+j])
					}
				}
				if b != all[p.first[level]+i] {
					t.Fatalf("%d: box %d of level %d is not that of its children", n, i, level)
				}
				walk(level-1, first, last)
			}
		}
		walk(p.height, 0, p.count[p.height])
		if seen != n {
			t.Errorf("%d things, %d found", n, seen)
		}
	}
}
