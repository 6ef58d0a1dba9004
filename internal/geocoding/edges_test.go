package geocoding_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/project"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// moved is a position some degrees further east, around the Earth.
func moved(p orb.Point, degrees float64) orb.Point {
	lon := math.Round((p[0]+degrees)*1e7) / 1e7
	switch {
	case lon > 180:
		lon -= 360
	case lon < -180:
		lon += 360
	}
	return orb.Point{lon, p[1]}
}

// movedWorld is a world some degrees further east.
func movedWorld(w *placestest.World, degrees float64) *placestest.World {
	out := new(placestest.World)
	for _, f := range w.Features {
		f.Geometry = project.Geometry(orb.Clone(f.Geometry), func(p orb.Point) orb.Point { return moved(p, degrees) })
		out.Features = append(out.Features, f)
	}
	for east := -210.0; east <= 210; east += 20 {
		for north := -210.0; north <= 210; north += 20 {
			out.Tiles = append(out.Tiles, region.CoverageTile(moved(placestest.At(east, north), degrees)))
		}
	}
	return out
}

// TestSameWorldEverywhere moves a county to where the antimeridian runs through its towns, states and roads: what is
// where, how far, and how it is called, is the same as at 10° E.
func TestSameWorldEverywhere(t *testing.T) {
	county := county()
	for i, at := range []orb.Point{{-13.9, 0.2}, {-10.1, 3}, {0.3, -4}, {39.2, 5.1}, {151, 1}} { // along the road
		p := placestest.At(at[0], at[1])
		county.Node(int64(100+i), p, "addr:housenumber=7, amenity=cafe, name=Bean")
		county.Add(region.KindWay, int64(200+i), orb.Polygon{placestest.Square(at[0]+0.4, at[1], 0.1)},
			"addr:housenumber=8, addr:street=Elm Street, building=yes")
	}
	ask := func(x *geocodingtest.Index, degrees float64, east, north float64, categories ...string) []geocoding.Place {
		places := geocodingtest.Ask(t, x, moved(placestest.At(east, north), degrees), 5, categories...)
		for i := range places {
			places[i].Location = moved(places[i].Location, -degrees)
		}
		return places
	}
	const home = 108.5 // degrees to 10° E
	want := geocodingtest.Build(t, movedWorld(county, home))
	for _, middle := range []float64{-10, -14, 0.4, 40, 0} { // what is on the antimeridian, in thousandths of a degree
		degrees := 180 - placestest.At(middle, 0)[0]
		x := geocodingtest.Build(t, movedWorld(county, degrees))
		asked := 0
		for east := -204.93; east <= 205; east += 10.25 {
			for north := -20.03; north <= 20; north += 2.5 {
				for _, categories := range [][]string{nil, {"cafe", "boundary"}} {
					want, got := ask(want, home, east, north, categories...), ask(x, degrees, east, north, categories...)
					near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 0.0101 })
					place := cmp.Options{near, cmpopts.IgnoreFields(geocoding.Place{}, "Location", "Bound")}
					if diff := cmp.Diff(want, got, place); diff != "" {
						t.Errorf("%g on the antimeridian, %g east and %g north (-10° E +180°):\n%s", middle, east, north, diff)
					}
					for i := range got {
						a, b := want[i].Location, got[i].Location
						if math.Abs(a[0]-b[0]) > 3e-7 || math.Abs(a[1]-b[1]) > 3e-7 {
							t.Errorf("%g on the antimeridian: location %v, want %v", middle, b, a)
						}
					}
					asked += len(got)
				}
			}
		}
		if asked < 500 {
			t.Errorf("only %d answers", asked)
		}
	}
}

// TestAroundThePoles asks in a land around each pole, drawn as OpenStreetMap does: along the latitude of the pole.
func TestAroundThePoles(t *testing.T) {
	for _, side := range []float64{1, -1} {
		var w placestest.World
		ring := orb.Ring{{-180, 89 * side}}
		for _, lat := range []float64{89, 90} {
			for lon := -180.0; lon <= 180; lon += 60 {
				east := lon * (89.5 - lat) * 2 // there and back
				ring = append(ring, orb.Point{east, lat * side})
			}
		}
		w.Multi(1, "ISO3166-1=NO, admin_level=2, boundary=administrative, name=Land", orb.Polygon{append(ring, ring[0])})
		w.Node(2, orb.Point{30, 89.992 * side}, "name=Camp, place=village")
		w.Node(3, orb.Point{-150, 89.995 * side}, "name=Hut, tourism=alpine_hut")
		for lon := -180.0; lon < 180; lon += 360. / (1 << region.CoverageZoom) {
			w.Tiles = append(w.Tiles, region.CoverageTile(orb.Point{lon, 90 * side}))
		}
		x := geocodingtest.Build(t, w.Cover())
		for _, c := range []struct {
			at   orb.Point
			want string
		}{
			{orb.Point{30, 90 * side}, "node:3 node:2"}, {orb.Point{-180, 90 * side}, "node:3 node:2"},
			{orb.Point{180, 89.9951 * side}, "node:3"}, {orb.Point{-60, 89.999 * side}, "node:3 node:2"},
			{orb.Point{30, 89.999 * side}, "node:3 node:2"}, {orb.Point{120, 89.9 * side}, "relation:1"},
		} {
			got := geocodingtest.Ask(t, x, c.at, 5)
			if ids := geocodingtest.Ids(got); ids != c.want && c.want != "" {
				t.Errorf("at %v: %s, want %s: %+v", c.at, ids, c.want, got)
				continue
			}
			for _, p := range got {
				if p.Address.Country != "Land" || p.Address.City != "Camp" && c.at[1] != 89.9*side {
					t.Errorf("at %v: %+v", c.at, p.Address)
				}
			}
		}
	}
}
