package clip_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
)

func TestSimple(t *testing.T) {
	box, inner := ring(0, 0, 9, 0, 9, 9, 0, 9), ring(6, 3, 3, 3, 3, 6, 6, 6)
	for name, c := range map[string]struct {
		rings []clip.Ring
		want  []clip.Polygon
	}{
		"nothing":             {nil, nil},
		"no area":             {[]clip.Ring{ring(0, 0, 5, 5), ring(0, 0, 5, 5, 9, 9), {}}, nil},
		"valid":               {[]clip.Ring{box}, []clip.Polygon{{box}}},
		"the other way round": {[]clip.Ring{ring(0, 0, 0, 9, 9, 9, 9, 0)}, []clip.Polygon{{ring(9, 0, 9, 9, 0, 9, 0, 0)}}},
		"a spike":             {[]clip.Ring{ring(0, 0, 9, 0, 15, 0, 9, 0, 9, 9, 0, 9)}, []clip.Polygon{{box}}},
		"the same ring twice": {[]clip.Ring{box, box}, nil},
		"an island in a hole": {[]clip.Ring{ring(4, 4, 5, 4, 5, 5), inner, box},
			[]clip.Polygon{{box, inner}, {ring(4, 4, 5, 4, 5, 5)}}},
		"a common edge": {[]clip.Ring{ring(0, 0, 4, 0, 4, 9, 0, 9), ring(4, 0, 9, 0, 9, 9, 4, 9)}, []clip.Polygon{{box}}},
		"a bow tie": {[]clip.Ring{ring(0, 0, 8, 8, 8, 0, 0, 8)},
			[]clip.Polygon{{ring(0, 0, 4, 4, 0, 8)}, {ring(4, 4, 8, 0, 8, 8)}}},
		"a hole that parts it": {[]clip.Ring{ring(0, 0, 8, 0, 8, 8, 0, 8), ring(4, 0, 8, 4, 4, 8, 0, 4)}, []clip.Polygon{
			{ring(0, 0, 4, 0, 0, 4)}, {ring(0, 4, 4, 8, 0, 8)}, {ring(4, 0, 8, 0, 8, 4)}, {ring(4, 8, 8, 4, 8, 8)}}},
		"corners that touch": {[]clip.Ring{ring(0, 0, 4, 0, 4, 4, 0, 4), ring(4, 4, 8, 4, 8, 8, 4, 8)},
			[]clip.Polygon{{ring(0, 0, 4, 0, 4, 4, 0, 4)}, {ring(4, 4, 8, 4, 8, 8, 4, 8)}}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(c.rings)
			for i := range before {
				before[i] = slices.Clone(before[i])
			}
			if diff := cmp.Diff(c.want, clip.Simple(c.rings)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, c.rings); diff != "" {
				t.Errorf("what was given has changed: %s", diff)
			}
		})
	}
}
