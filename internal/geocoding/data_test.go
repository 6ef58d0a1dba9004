package geocoding_test

import (
	"math/rand/v2"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// county is a world with a country, two states, towns and their parts, and one road through all of it.
func county() *placestest.World {
	w := new(placestest.World)
	area := func(id int64, tags string, rings ...orb.Ring) {
		w.Multi(id, "boundary=administrative, "+tags, orb.Polygon(rings))
	}
	half := func(east float64) orb.Ring {
		return orb.Ring(placestest.Line(east-100, -200, east+100, -200, east+100, 200, east-100, 200, east-100, -200))
	}
	area(1, "ISO3166-1=US, admin_level=2, name=Union", placestest.Square(0, 0, 200))
	area(2, "ISO3166-2=US-WE, admin_level=4, name=West", half(-100))
	area(3, "ISO3166-2=US-EA, admin_level=4, name=East", half(100))
	area(4, "admin_level=6, name=Some County", placestest.Square(-20, 0, 19))
	area(5, "admin_level=8, name=Milltown", placestest.Square(-10, 0, 5), placestest.Reversed(placestest.Square(-10, 0, 1)))
	area(6, "admin_level=10, name=Riverside", placestest.Square(-12, 0, 1))
	w.Area(7, "boundary=postal_code, postal_code=12345", placestest.Square(-10, 0, 3))
	w.Area(8, "name=Oakley, place=village", placestest.Square(150, 0, 3))
	w.Node(20, placestest.At(-1, 14), "name=Borderville, place=town")
	w.Node(21, placestest.At(40, 5), "name=Easton, place=city")
	w.Node(22, placestest.At(39, 5), "name=Harbor, place=suburb")
	w.Node(23, placestest.At(0.5, 5), "name=Nearby, place=hamlet")
	w.Way(30, placestest.Line(-200, 0, 200, 0), "highway=primary, name=Long Road")
	for east := -200.0; east <= 200; east += 20 {
		for north := -200.0; north <= 200; north += 20 {
			w.Tiles = append(w.Tiles, region.CoverageTile(placestest.At(east, north)))
		}
	}
	return w
}

// delawarePoints returns positions on land all over Delaware's objects.
func delawarePoints(n int) []orb.Point {
	rng := rand.New(rand.NewPCG(39, 75))
	var points []orb.Point
	for len(points) < n {
		p := orb.Point{-75.79 + rng.Float64()*0.75, 38.45 + rng.Float64()*1.39}
		if _, ok := country.Lookup(p); ok {
			points = append(points, p)
		}
	}
	return points
}
