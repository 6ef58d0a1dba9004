package places

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
	"github.com/paulmach/orb/planar"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
	"github.com/mapsedge/caddy-maps/internal/testkit/testsize"
)

// star is a ring around a middle with some corners, as far as some degrees.
func star(rng *rand.Rand, middle orb.Point, corners int, degrees float64) orb.Ring {
	var r orb.Ring
	for i := range corners {
		a, d := 2*math.Pi*float64(i)/float64(corners), degrees*(0.3+0.7*rng.Float64())
		r = append(r, orb.Point{middle[0] + d*math.Cos(a), middle[1] + d*math.Sin(a)})
	}
	return append(r, r[0])
}

// TestFill: the tiles of an area are those that hold any of its positions, and hardly more: none beside one of these.
func TestFill(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	for i := range 60 {
		middle := orb.Point{rng.Float64()*340 - 170, rng.Float64()*150 - 75}
		degrees := []float64{0.01, 0.2, 2, 9}[i%4]
		g := orb.Polygon{star(rng, middle, 3+rng.IntN(40), degrees)}
		if i%3 == 0 {
			g = append(g, star(rng, middle, 5, degrees/4))
		}
		built, _ := geometry.New(g)
		f := &filler{edges: extract.TileEdges(), tiles: new(extract.Tiles), left: 1 << 30}
		f.fill(&built)
		inside := func(p orb.Point) bool { return planar.PolygonContains(g, p) }
		b := g.Bound()
		for range 400 {
			p := orb.Point{b.Min[0] + rng.Float64()*(b.Max[0]-b.Min[0]), b.Min[1] + rng.Float64()*(b.Max[1]-b.Min[1])}
			if inside(p) && !f.tiles.Has(region.CoverageTile(p)) {
				t.Fatalf("%v: %v is not covered", g, p)
			}
		}
		for _, tile := range f.tiles.Sorted() {
			if !touches(g, tile) {
				t.Fatalf("%v: tile %d/%d is covered", g, tile>>region.CoverageZoom, tile%(1<<region.CoverageZoom))
			}
		}
	}
}

// touches tells whether a polygon comes near a tile: its middle is inside, or the outline is within some tenths of the
// tile's width.
func touches(g orb.Polygon, tile uint32) bool {
	e, x, y := extract.TileEdges(), tile>>region.CoverageZoom, tile%(1<<region.CoverageZoom)
	square := orb.Bound{Min: orb.Point{float64(e.Lons[x]) / 1e7, float64(e.Lats[y+1]) / 1e7},
		Max: orb.Point{float64(e.Lons[x+1]) / 1e7, float64(e.Lats[y]) / 1e7}}
	if planar.PolygonContains(g, square.Center()) {
		return true
	}
	for _, ring := range g {
		if clip.LineString(square.Pad(0.01), orb.LineString(ring)) != nil {
			return true
		}
	}
	return false
}

// TestFillEverywhere: areas that reach across the antimeridian, around a pole or all over the Earth cover what they
// contain, in bounded time.
func TestFillEverywhere(t *testing.T) {
	testsize.Whole(t)
	box := func(west, south, east, north float64) orb.Polygon {
		return orb.Polygon{orb.Bound{Min: orb.Point{west, south}, Max: orb.Point{east, north}}.ToRing()}
	}
	zigzag := orb.Ring{}
	for i := range 30_000 {
		zigzag = append(zigzag, orb.Point{float64(i)*1e-2 - 150, float64(i%2*140 - 70)})
	}
	zigzag = append(zigzag, orb.Point{150, 75}, orb.Point{-150, 75}, zigzag[0])
	for name, c := range map[string]struct {
		area      orb.Geometry
		in, out   []orb.Point
		atMost    int
		atMostFor time.Duration
	}{
		"Fiji": {orb.Polygon{{{177, -19}, {-178, -19}, {-178, -16}, {177, -16}, {177, -19}}},
			[]orb.Point{{179.99, -17}, {-179.99, -17}, {178, -18}}, []orb.Point{{0, -17}, {176.5, -17}, {-177.5, -17}}, 3000,
			time.Second},
		"the Earth": {orb.Polygon{{{-180, -90}, {0, -90}, {180, -90}, {180, 90}, {0, 90}, {-180, 90}, {-180, -90}}},
			[]orb.Point{{-180, -90}, {180, 90}, {0, 0}, {33, 85.9}}, nil, 1 << 24, 5 * time.Second},
		"a large country": {box(30, 50, 170, 75), []orb.Point{{31, 51}, {100, 60}, {169.9, 74.9}},
			[]orb.Point{{29, 60}, {100, 49}, {171, 60}}, 1 << 22, 2 * time.Second},
		"a zigzag": {orb.Polygon{zigzag}, nil, []orb.Point{{0, -75}}, 1 << 24, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := geometry.New(c.area)
			f := &filler{edges: extract.TileEdges(), tiles: new(extract.Tiles), left: 1 << 28}
			testpace.Work(t, "covering it", c.atMostFor, func() { f.fill(&g) })
			for _, p := range c.in {
				if !f.tiles.Has(region.CoverageTile(p)) {
					t.Errorf("%v is not covered", p)
				}
			}
			for _, p := range c.out {
				if f.tiles.Has(region.CoverageTile(p)) {
					t.Errorf("%v is covered", p)
				}
			}
			if n := f.tiles.Len(); n > c.atMost {
				t.Errorf("%d tiles", n)
			}
		})
	}
}
