package places

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
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

// run is one that a Raster yields.
type run struct {
	from, to         uint32 // tiles
	around, crossing []uint32
}

// raster returns the runs of some areas, which are numbered as they come.
func raster(t testing.TB, areas ...geometry.Geometry) (runs []run) {
	t.Helper()
	r := newContexts(placestest.Scratch(t), 1<<20)
	for i := range areas {
		if err := r.Add(uint32(i), &areas[i]); err != nil {
			t.Fatal(err)
		}
	}
	err := r.Each(func(row, from, to uint32, around, crossing []uint32) error {
		first := row << placefile.ContextZoom
		runs = append(runs, run{first + from, first + to, slices.Clone(around), slices.Clone(crossing)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// at returns the run of a position, with no areas where there is none.
func at(runs []run, p orb.Point) run {
	tile := placefile.ContextTile(p)
	i, found := slices.BinarySearchFunc(runs, tile, func(r run, tile uint32) int { return int(r.from) - int(tile) })
	if !found {
		i--
	}
	if i < 0 || tile >= runs[i].to {
		return run{}
	}
	return runs[i]
}

// checkAt fails if what the runs have of a position is wrong, and returns how many areas are around its tile.
func checkAt(t *testing.T, areas []geometry.Geometry, runs []run, p orb.Point) (whole int) {
	t.Helper()
	o, r := geometry.NewOrigin(p), at(runs, p)
	for n := range areas {
		inside := geometry.Holds(&areas[n].Box, &o) && areas[n].Contains(&o)
		around, crossing := slices.Contains(r.around, uint32(n)), slices.Contains(r.crossing, uint32(n))
		if around && (crossing || !inside) || inside && !around && !crossing {
			t.Fatalf("%v: inside area %d is %v, which is around it: %v, and comes through: %v", p, n, inside, around, crossing)
		}
		if around {
			whole++
		}
	}
	return whole
}

// TestRaster: an area around a tile contains all positions in it. An area that is neither around it nor has its outline
// through it contains none.
func TestRaster(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	for i := range testkit.Some(40) {
		middle := orb.Point{rng.Float64()*340 - 170, rng.Float64()*150 - 75}
		degrees := []float64{0.01, 0.2, 2, 9}[i%4]
		var areas []geometry.Geometry
		for k := range 4 {
			g := orb.Polygon{star(rng, middle, 3+rng.IntN(40), degrees/float64(1+k))}
			if k%2 == 0 {
				g = append(g, star(rng, middle, 5, degrees/8))
			}
			built, ok := geometry.New(g)
			if !ok {
				t.Fatal("no geometry")
			}
			areas = append(areas, built)
		}
		runs := raster(t, areas...)
		for k := 1; k < len(runs); k++ {
			if runs[k].from < runs[k-1].to {
				t.Fatalf("run %v comes after %v", runs[k], runs[k-1])
			}
		}
		whole := 0
		for range 2000 {
			p := orb.Point{middle[0] + (rng.Float64()*2.2-1.1)*degrees, middle[1] + (rng.Float64()*2.2-1.1)*degrees}
			whole += checkAt(t, areas, runs, p)
		}
		if degrees > 1 && whole < 500 {
			t.Errorf("%g degrees: only %d positions have something around their tiles", degrees, whole)
		}
	}
}

// TestEverywhere: areas across the antimeridian, around a pole and all over the Earth take bounded time.
func TestEverywhere(t *testing.T) {
	testkit.Whole(t)
	box := func(west, south, east, north float64) orb.Polygon {
		return orb.Polygon{orb.Bound{Min: orb.Point{west, south}, Max: orb.Point{east, north}}.ToRing()}
	}
	for name, c := range map[string]struct {
		area   orb.Geometry
		out    []orb.Point
		atMost time.Duration
	}{
		"Fiji": {orb.Polygon{{{177, -19}, {-178, -19}, {-178, -16}, {177, -16}, {177, -19}}},
			[]orb.Point{{0, -17}, {176.5, -17}, {-177.5, -17}}, time.Second},
		"around a pole": {orb.Polygon{{{-180, -70}, {-90, -65}, {0, -71}, {90, -66}, {179, -69}, {-180, -70}}},
			[]orb.Point{{0, 0}}, 2 * time.Second},
		"the Earth": {orb.Polygon{{{-180, -90}, {0, -90}, {180, -90}, {180, 90}, {0, 90}, {-180, 90}, {-180, -90}}}, nil,
			2 * time.Second},
		"a large country": {box(30, 50, 170, 75), []orb.Point{{29, 60}, {100, 49}, {171, 60}}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := geometry.New(c.area)
			var runs []run
			testkit.Work(t, "finding the contexts", c.atMost, func() { runs = raster(t, g) })
			rng := rand.New(rand.NewPCG(1, 2))
			for range 3000 {
				p := orb.Point{rng.Float64()*360 - 180, rng.Float64()*180 - 90}
				if rng.IntN(3) == 0 {
					p = orb.Point{[]float64{180, -180, 179.99999, -179.99999}[rng.IntN(4)], rng.Float64()*10 - 21}
				}
				checkAt(t, []geometry.Geometry{g}, runs, p)
			}
			for _, p := range c.out {
				if r := at(runs, p); len(r.around)+len(r.crossing) > 0 {
					t.Errorf("%v is in %v", p, r)
				}
			}
		})
	}
}
