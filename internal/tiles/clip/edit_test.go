package clip_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
)

// line has its positions' coordinates, one after the other.
func line(coordinates ...int32) (l clip.Line) {
	for i := 0; i < len(coordinates); i += 2 {
		l = append(l, geo.Projected{X: coordinates[i], Y: coordinates[i+1]})
	}
	return l
}

func ring(coordinates ...int32) clip.Ring { return clip.Ring(line(coordinates...)) }

func TestExtrude(t *testing.T) {
	r := clip.Rect{Max: geo.Projected{X: 100, Y: 100}}
	for name, c := range map[string]struct{ ring, want clip.Ring }{
		"away from the border": {ring(10, 10, 90, 10, 10, 90), ring(10, 10, 90, 10, 10, 90)},
		"a position on it":     {ring(0, 10, 90, 10, 10, 90), ring(0, 10, 90, 10, 10, 90)},
		"from side to side": {ring(0, 40, 100, 50, 100, 60, 0, 70),
			ring(-5, 40, 0, 40, 100, 50, 105, 50, 105, 60, 100, 60, 0, 70, -5, 70)},
		"a corner": {ring(60, 0, 100, 0, 100, 50, 60, 50),
			ring(60, 0, 60, -5, 105, -5, 105, 50, 100, 50, 60, 50)},
		"a corner cut off": {ring(60, 0, 80, 0, 100, 20, 100, 50),
			ring(60, 0, 60, -5, 80, -5, 80, 0, 100, 20, 105, 20, 105, 50, 100, 50)},
		"all": {r.Ring(), r.Grow(5).Ring()},
	} {
		t.Run(name, func(t *testing.T) {
			got := clip.Extrude(clip.Polygon{c.ring}, r, 5)
			if diff := cmp.Diff(clip.Simple([]clip.Ring{c.want}), clip.Simple(got)); diff != "" {
				t.Error(diff)
			}
			if err := tilestest.CheckRings([]clip.Polygon{got}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSimplifyStaysNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		half := size(t)
		tolerance := rapid.Int32Range(0, half).Draw(t, "tolerance")
		for _, ring := range anyRings(t, half) {
			near := []clip.Ring{clip.SimplifyRing(ring, tolerance)}
			if len(near[0]) == 0 {
				continue
			}
			for _, p := range ring {
				if !tilestest.NearRing(near, p, float64(tolerance)*1.0001) {
					t.Fatalf("%v is further than %d from %v", p, tolerance, near[0])
				}
			}
		}
	})
}

func TestSimplify(t *testing.T) {
	long := make(clip.Line, 2000)
	for i := range long {
		long[i] = geo.Projected{X: int32(i), Y: int32(i % 2)}
	}
	for name, c := range map[string]struct{ line, want clip.Line }{
		"too short":                  {line(1, 1), nil},
		"two positions":              {line(1, 1, 1, 1), line(1, 1, 1, 1)},
		"at most 2 units aside":      {line(0, 0, 5, 2, 10, 0), line(0, 0, 10, 0)},
		"3 units aside":              {line(0, 0, 5, 3, 10, 0), line(0, 0, 5, 3, 10, 0)},
		"beyond the end":             {line(0, 0, 13, 0, 10, 0), line(0, 0, 13, 0, 10, 0)},
		"longer than done in one go": {long, clip.Line{long[0], long[1023], long[1999]}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, clip.SimplifyLine(c.line, 2)); diff != "" {
				t.Error(diff)
			}
		})
	}
	given := ring(50, 0, 100, 0, 100, 100, 50, 101, 0, 100, 0, 50, 0, 0)
	want := ring(0, 0, 100, 0, 100, 100, 0, 100)
	for range given {
		if diff := cmp.Diff(want, clip.SimplifyRing(given, 2)); diff != "" {
			t.Error(diff)
		}
		given = append(slices.Clone(given[1:]), given[0])
	}
	if got := clip.SimplifyRing(ring(0, 0, 10, 0, 5, 2), 2); got != nil {
		t.Error(got)
	}
}
