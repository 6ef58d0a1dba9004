package placestest

import (
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// County is a world with a country, two states, towns and their parts, and one road through all of it.
func County() *World {
	w := new(World)
	w.Multi(1, "ISO3166-1=US, admin_level=2, boundary=administrative, name=Union", orb.Polygon{Square(0, 0, 200)})
	w.Multi(2, "ISO3166-2=US-WE, admin_level=4, boundary=administrative, name=West", orb.Polygon{orb.Ring(Line(-200, -200,
		0, -200, 0, 200, -200, 200, -200, -200))})
	w.Multi(3, "ISO3166-2=US-EA, admin_level=4, boundary=administrative, name=East", orb.Polygon{orb.Ring(Line(0, -200,
		200, -200, 200, 200, 0, 200, 0, -200))})
	w.Multi(4, "admin_level=6, boundary=administrative, name=Some County", orb.Polygon{Square(-20, 0, 19)})
	w.Multi(5, "admin_level=8, boundary=administrative, name=Milltown", orb.Polygon{Square(-10, 0, 5), Reversed(Square(-10,
		0, 1))})
	w.Multi(6, "admin_level=10, boundary=administrative, name=Riverside", orb.Polygon{Square(-12, 0, 1)})
	w.Area(7, "boundary=postal_code, postal_code=12345", Square(-10, 0, 3))
	w.Area(8, "name=Oakley, place=village", Square(150, 0, 3))
	w.Node(20, At(-1, 14), "name=Borderville, place=town")
	w.Node(21, At(40, 5), "name=Easton, place=city")
	w.Node(22, At(39, 5), "name=Harbor, place=suburb")
	w.Node(23, At(0.5, 5), "name=Nearby, place=hamlet")
	w.Way(30, Line(-200, 0, 200, 0), "highway=primary, name=Long Road")
	for east := -200.0; east <= 200; east += 20 {
		for north := -200.0; north <= 200; north += 20 {
			w.Tiles = append(w.Tiles, region.CoverageTile(At(east, north)))
		}
	}
	return w
}
