package clip_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
)

// anyRings draws rings of random positions from -size to size: most of them cross themselves and each other.
func anyRings(t *rapid.T, size int32) []clip.Ring {
	point := rapid.Custom(func(t *rapid.T) geo.Projected {
		c := rapid.Int32Range(-size, size)
		return geo.Projected{X: c.Draw(t, "x"), Y: c.Draw(t, "y")}
	})
	return rapid.SliceOfN(rapid.Map(rapid.SliceOfN(point, 2, 14), func(p []geo.Projected) clip.Ring { return p }), 1, 4).
		Draw(t, "rings")
}

// size draws the size of a grid: on a small one everything touches, on a large one crossings lie between its positions.
func size(t *rapid.T) int32 {
	return rapid.SampledFrom([]int32{2, 4, 8, 30, 1000, 1 << 28}).Draw(t, "size")
}

// sameArea fails the test if a position further than a few units from all edges is in the rings, but not in exactly one
// of the polygons, or the other way round.
func sameArea(t *rapid.T, rings []clip.Ring, polygons []clip.Polygon, in clip.Rect) {
	x, y := rapid.Int32Range(in.Min.X, in.Max.X), rapid.Int32Range(in.Min.Y, in.Max.Y)
	for range 50 {
		p := geo.Projected{X: x.Draw(t, "px"), Y: y.Draw(t, "py")}
		if tilestest.NearRing(rings, p, 2) || tilestest.NearRing([]clip.Ring{in.Ring()}, p, 1) {
			continue
		}
		count := 0
		for _, polygon := range polygons {
			if tilestest.RingHolds(polygon, p) {
				count++
			}
		}
		want := 0
		if tilestest.RingHolds(rings, p) {
			want = 1
		}
		if count != want {
			t.Fatalf("%v is in %d polygons, want %d: %v", p, count, want, polygons)
		}
	}
}

func square(half int32) clip.Rect {
	return clip.Rect{Min: geo.Projected{X: -half, Y: -half}, Max: geo.Projected{X: half, Y: half}}
}

func TestSimpleIsValidAndTheSameArea(t *testing.T) { rapid.Check(t, checkSimple) }
func FuzzSimple(f *testing.F)                      { f.Fuzz(rapid.MakeFuzz(checkSimple)) }

func checkSimple(t *rapid.T) {
	half := size(t)
	rings := anyRings(t, half)
	got := clip.Simple(rings)
	if err := tilestest.CheckRings(got); err != nil {
		t.Fatalf("%v: %v", err, got)
	}
	sameArea(t, rings, got, square(half))
}

func TestClipRingsIsValidAndTheSameArea(t *testing.T) { rapid.Check(t, checkClipRings) }
func FuzzClipRings(f *testing.F)                      { f.Fuzz(rapid.MakeFuzz(checkClipRings)) }

func checkClipRings(t *rapid.T) {
	half := size(t)
	rings := anyRings(t, half)
	r := clip.Bounds([]geo.Projected{
		{X: rapid.Int32Range(-half, half).Draw(t, "x0"), Y: rapid.Int32Range(-half, half).Draw(t, "y0")},
		{X: rapid.Int32Range(-half, half).Draw(t, "x1"), Y: rapid.Int32Range(-half, half).Draw(t, "y1")},
	})
	for _, whole := range clip.Simple(rings) {
		got := clip.Simple(clip.ClipRings(nil, whole, r))
		if err := tilestest.CheckRings(got); err != nil {
			t.Fatalf("%v: %v", err, got)
		}
		for _, ring := range tilestest.Rings(got) {
			if !r.Covers(clip.Bounds(ring)) {
				t.Fatalf("%v leaves %v", ring, r)
			}
		}
		sameArea(t, whole, got, r)
	}
}

// The parts of a line are what of it lies in the rectangle: as long, and in the same order.
func TestClipLine(t *testing.T) {
	r := clip.Rect{Max: geo.Projected{X: 10, Y: 10}}
	for name, c := range map[string]struct {
		line clip.Line
		want []clip.Line
	}{
		"inside":               {line(1, 1, 9, 9), []clip.Line{line(1, 1, 9, 9)}},
		"around a corner":      {line(-5, 4, 4, -5), nil},
		"through":              {line(-5, 5, 15, 5), []clip.Line{line(0, 5, 10, 5)}},
		"rounded":              {line(5, 9, 6, 11), []clip.Line{line(5, 9, 6, 10)}},
		"out and in":           {line(5, 5, 15, 5, 15, 8, 5, 8), []clip.Line{line(5, 5, 10, 5), line(10, 8, 5, 8)}},
		"along the border":     {line(-5, 0, 15, 0), []clip.Line{line(0, 0, 10, 0)}},
		"on the border and in": {line(0, 5, 10, 5, 10, 8), []clip.Line{line(0, 5, 10, 5, 10, 8)}},
		"one position, twice":  {line(5, 5, 5, 5, 15, 5), []clip.Line{line(5, 5, 10, 5)}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, clip.ClipLine(nil, c.line, r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
