package isochrone_test

import (
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/routing/isochrone"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
)

// TestAreas: around roads at random, areas are valid, have the origin, and lie in those of greater limits.
func TestAreas(t *testing.T) {
	places := map[string]roadgraphtest.WorldEdge{"inland": {Middle: roadgraphtest.Plain()}}
	for name, edge := range roadgraphtest.WorldEdges() {
		if math.Abs(edge.Middle[1]) < 89 { // degrees of longitude vary too much around a pole
			places[name] = edge
		}
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkAreas(t, roadgraphtest.Town{Middle: &place.Middle}) })
		})
	}
}

func checkAreas(t *rapid.T, town roadgraphtest.Town) {
	reach := rapid.SampledFrom([]float64{1, 50, 500, 1500}).Draw(t, "reach")
	metres := rapid.Float64Range(-reach, reach)
	point := func(name string) orb.Point { return town.At(metres.Draw(t, name+" x"), metres.Draw(t, name+" y")) }
	cost := rapid.Float32Range(0, 600)
	var pieces []isochrone.Piece
	for range rapid.IntRange(0, 40).Draw(t, "pieces") {
		pieces = append(pieces, isochrone.Piece{From: point("from"), To: point("to"), FromCost: cost.Draw(t, "from cost"),
			ToCost: cost.Draw(t, "to cost")})
	}
	limits := slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Float64Range(0.1, 900), 1, 4).Draw(t, "limits")))
	origin := point("origin")
	areas := isochrone.Areas(pieces, origin, limits, rapid.SampledFrom([]float64{1, 1 / 1.4}).Draw(t, "beside"))
	if len(areas) != len(limits) {
		t.Fatalf("%d areas for %d limits", len(areas), len(limits))
	}
	for i, area := range areas {
		if err := tilestest.CheckArea(area); err != nil {
			t.Fatalf("limit %v: %v", limits[i], err)
		}
		if !planar.MultiPolygonContains(area, origin) {
			t.Fatalf("limit %v: the area does not have the origin %v", limits[i], origin)
		}
		b := area.Bound()
		if most := (2*reach + 300) / 111_195; b.Top()-b.Bottom() > most || b.Right()-b.Left() > 2*most { // at 52° and 17°
			t.Fatalf("limit %v: the area extends from %v to %v", limits[i], b.Min, b.Max)
		}
		if i > 0 {
			if err := tilestest.CheckNested(areas[i-1], area); err != nil {
				t.Fatalf("limits %v and %v: %v", limits[i-1], limits[i], err)
			}
		}
	}
}

// TestWidth: an area is what is near a straight road, as far as it is reached.
func TestWidth(t *testing.T) {
	at := roadgraphtest.At
	road := isochrone.Piece{From: at(-1000, 0), To: at(1000, 0), FromCost: 0, ToCost: 2000}
	for _, limit := range []float64{500, 1000, 1900, 3000} {
		area := isochrone.Areas([]isochrone.Piece{road}, road.From, []float64{limit}, 1)[0]
		for x := -1300.0; x <= 1300; x += 7 {
			for y := -200.0; y <= 200; y += 7 {
				// The cost there is that of the road beside it and of the way to it.
				far := math.Hypot(max(-1000-x, x-1000, 0), y)
				cost := min(max(x, -1000), 1000) + 1000 + far
				in := planar.MultiPolygonContains(area, at(x, y))
				switch {
				case in && (far > 145 || cost > limit+85), !in && far < 55 && cost < limit-85:
					t.Errorf("limit %v: in the area: %v, at %v, %v", limit, in, x, y)
				}
			}
		}
	}
}
