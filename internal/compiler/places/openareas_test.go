package places

import (
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// TestNarrow goes down from the whole Earth to small squares, and compares what each has of an area with the area
// itself: a square that an edge crosses has the area open, and of any other the middle tells whether it is inside.
func TestNarrow(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 13))
	for name, area := range map[string]orb.Geometry{
		"a star":          orb.Polygon{star(rng, orb.Point{7, 43}, 50, 3)},
		"a star far away": orb.Polygon{star(rng, orb.Point{-170, -71}, 200, 8)},
		"a hole":          orb.Polygon{star(rng, orb.Point{7, 43}, 50, 6), star(rng, orb.Point{7, 43}, 40, 1)},
		"many parts": orb.MultiPolygon{{star(rng, orb.Point{7, 43}, 9, 1)}, {star(rng, orb.Point{8, 43}, 2000, 0.1)},
			{star(rng, orb.Point{9, 42}, 9, 0.01)}},
		"across the antimeridian": orb.Polygon{{{177, -19}, {-178, -19.5}, {-177, -16}, {178, -15}, {177, -19}}},
		"around a pole":           orb.Polygon{{{-180, -70}, {-90, -65}, {0, -71}, {90, -66}, {179, -69}, {-180, -70}}},
		"on the squares' edges": orb.Polygon{{{-180, 0}, {34.7483648, 0}, {34.7483648, 17.3741824}, {-180, 17.3741824},
			{-180, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			g, ok := geometry.New(area)
			if !ok {
				t.Fatal("nothing is left of it")
			}
			rng := rand.New(rand.NewPCG(3, 2))
			shape := func(uint32) geometry.Geometry { return g }
			inside := func(sq *square) bool {
				o := geometry.NewOrigin(sq.middle())
				return g.Contains(&o)
			}
			meets := func(sq *square) bool {
				v := newOutlineVisit(sq, nowhere)
				for line := range g.Lines {
					if meets(line, &v.square) {
						return true
					}
				}
				return false
			}
			top := &openSet{anchor: nowhere}
			top.whole(7, &g)
			looked, met := 0, 0
			var descend func(sq square, larger *openSet)
			descend = func(sq square, larger *openSet) {
				var set openSet
				around := false
				set.narrow(larger, &sq, shape, func(item uint32) { around = item == 7 })
				looked++
				switch want := meets(&sq); {
				case want != (len(set.areas) > 0):
					t.Fatalf("%+v: open is %v, want %v", sq, !want, want)
				case want:
					met++
				case around != inside(&sq):
					t.Fatalf("%+v: inside is %v", sq, around)
				}
				if len(set.areas) == 0 || sq.bits == 18 {
					return
				}
				if sq.bits > 26 {
					for i := range 4 {
						descend(sq.child(i), &set)
					}
					return
				}
				for range 3 {
					descend(sq.child(rng.IntN(4)), &set)
				}
			}
			descend(square{bits: 32}, top)
			if looked < 40 || met < 10 {
				t.Errorf("%d squares, %d of them open", looked, met)
			}
		})
	}
}

// TestFewParts: of an outline of many parts a small square has but those that come into it, or the boxes over them.
func TestFewParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	g, _ := geometry.New(orb.Polygon{star(rng, orb.Point{7, 43}, 100_000, 3)})
	set := &openSet{anchor: nowhere}
	set.whole(0, &g)
	sq := square{bits: 32}
	at := geometry.Coord{X: g.Box.MinX/2 + g.Box.MaxX/2, Y: g.Box.MaxY}
	for sq.bits > 20 {
		for i := range 4 {
			c := sq.child(i)
			size := int64(1) << c.bits
			if x, y := int64(at.X)-c.minX(), int64(at.Y)-c.minY(); x >= 0 && x < size && y >= 0 && y < size {
				sq = c
				break
			}
		}
		var smaller openSet
		smaller.narrow(set, &sq, func(uint32) geometry.Geometry { return g }, func(uint32) {})
		set = &smaller
	}
	if p := g.Parts(); len(set.parts) > int(p.Len())/10 {
		t.Errorf("%d parts of %d", len(set.parts), p.Len())
	}
}
