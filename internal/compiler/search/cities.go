package search

import (
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// square is a part of the map, some 2 km high.
type square struct{ x, y int32 }

const squareSize = 200_000 // 1e-7 degrees

func squareOf(c geometry.Coord) square { return square{c.X / squareSize, c.Y / squareSize} }

// countCities counts the cities that addresses name, for places that are in no city and near none: an extract may lack
// the boundary and the center of a city.
func (b *builder) countCities() (err error) {
	defer region.Recover(&err, region.FaultsPanic())
	for n := range b.importance {
		f := b.places.Feature(uint32(n))
		if len(f.Own.City) == 0 {
			continue
		}
		at := squareOf(geometry.Coord{X: f.Geometry.Box.MinX, Y: f.Geometry.Box.MinY})
		if b.cities[at] == nil {
			b.cities[at] = map[string]int{}
		}
		b.cities[at][string(f.Own.City)]++
	}
	return nil
}

// cityAt returns the city that most addresses in the square of a position name, at least two, or else most of those
// around it.
func (b *builder) cityAt(c geometry.Coord) (best string) {
	at := squareOf(c)
	for reach := range int32(2) {
		sum, most := map[string]int{}, 1
		for x := at.x - reach; x <= at.x+reach; x++ {
			for y := at.y - reach; y <= at.y+reach; y++ {
				for city, votes := range b.cities[square{x, y}] {
					sum[city] += votes
				}
			}
		}
		for city, votes := range sum {
			if votes > most || votes == most && city < best {
				best, most = city, votes
			}
		}
		if best != "" {
			break
		}
	}
	return best
}
