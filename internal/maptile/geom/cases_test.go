package geom_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
)

func TestSimple(t *testing.T) {
	box, inner := ring(0, 0, 9, 0, 9, 9, 0, 9), ring(6, 3, 3, 3, 3, 6, 6, 6)
	for name, c := range map[string]struct {
		rings []geom.Ring
		want  []geom.Polygon
	}{
		"nothing":                {nil, nil},
		"no area":                {[]geom.Ring{ring(0, 0, 5, 5), ring(0, 0, 5, 5, 9, 9), {}}, nil},
		"valid":                  {[]geom.Ring{box}, []geom.Polygon{{box}}},
		"the other way round":    {[]geom.Ring{ring(0, 0, 0, 9, 9, 9, 9, 0)}, []geom.Polygon{{ring(9, 0, 9, 9, 0, 9, 0, 0)}}},
		"on the straight":        {[]geom.Ring{ring(0, 0, 4, 0, 9, 0, 9, 9, 0, 9)}, []geom.Polygon{{box}}},
		"a position twice":       {[]geom.Ring{ring(0, 0, 9, 0, 9, 0, 9, 9, 0, 9)}, []geom.Polygon{{box}}},
		"the first at the end":   {[]geom.Ring{ring(0, 0, 9, 0, 9, 9, 0, 9, 0, 0)}, []geom.Polygon{{box}}},
		"a spike":                {[]geom.Ring{ring(0, 0, 9, 0, 15, 0, 9, 0, 9, 9, 0, 9)}, []geom.Polygon{{box}}},
		"a spike on a long edge": {[]geom.Ring{ring(0, 0, 4, 0, 4, -7, 4, 0, 9, 0, 9, 9, 0, 9)}, []geom.Polygon{{box}}},
		"a hole first":           {[]geom.Ring{inner, box}, []geom.Polygon{{box, inner}}},
		"the same ring twice":    {[]geom.Ring{box, box}, nil},
		"an island in a hole": {[]geom.Ring{ring(4, 4, 5, 4, 5, 5), inner, box},
			[]geom.Polygon{{box, inner}, {ring(4, 4, 5, 4, 5, 5)}}},
		"two apart": {[]geom.Ring{box, ring(20, 0, 29, 0, 29, 9)},
			[]geom.Polygon{{box}, {ring(20, 0, 29, 0, 29, 9)}}},
		"a common edge": {[]geom.Ring{ring(0, 0, 4, 0, 4, 9, 0, 9), ring(4, 0, 9, 0, 9, 9, 4, 9)}, []geom.Polygon{{box}}},
		"a bow tie": {[]geom.Ring{ring(0, 0, 8, 8, 8, 0, 0, 8)},
			[]geom.Polygon{{ring(0, 0, 4, 4, 0, 8)}, {ring(4, 4, 8, 0, 8, 8)}}},
		"crosses between positions": {[]geom.Ring{ring(0, 0, 7, 7, 7, 0, 0, 7)},
			[]geom.Polygon{{ring(0, 0, 4, 4, 0, 7)}, {ring(4, 4, 7, 0, 7, 7)}}},
		"a hole that touches": {[]geom.Ring{ring(0, 0, 9, 0, 9, 9, 0, 9, 0, 5, 5, 7, 5, 3, 0, 5)},
			[]geom.Polygon{{box, ring(0, 5, 5, 7, 5, 3)}}},
		"a hole that parts it": {[]geom.Ring{ring(0, 0, 8, 0, 8, 8, 0, 8), ring(4, 0, 8, 4, 4, 8, 0, 4)}, []geom.Polygon{
			{ring(0, 0, 4, 0, 0, 4)}, {ring(0, 4, 4, 8, 0, 8)}, {ring(4, 0, 8, 0, 8, 4)}, {ring(4, 8, 8, 4, 8, 8)}}},
		"corners that touch": {[]geom.Ring{ring(0, 0, 4, 0, 4, 4, 0, 4), ring(4, 4, 8, 4, 8, 8, 4, 8)},
			[]geom.Polygon{{ring(0, 0, 4, 0, 4, 4, 0, 4)}, {ring(4, 4, 8, 4, 8, 8, 4, 8)}}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(c.rings)
			for i := range before {
				before[i] = slices.Clone(before[i])
			}
			if diff := cmp.Diff(c.want, geom.Simple(c.rings)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, c.rings); diff != "" {
				t.Errorf("what was given has changed: %s", diff)
			}
		})
	}
}
