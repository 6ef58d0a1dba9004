package matching

import (
	"errors"
	"fmt"
	"strings"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// bounds is a rectangle of degrees. One whose west is larger than its east crosses the antimeridian.
type bounds struct{ south, west, north, east float64 }

// newBounds checks numbers in the order south, west, north, east.
func newBounds(numbers []float64) (bounds, error) {
	if len(numbers) != 4 {
		return bounds{}, fmt.Errorf("%v is not four numbers: south, west, north and east", numbers)
	}
	b := bounds{numbers[0], numbers[1], numbers[2], numbers[3]}
	for _, side := range []struct {
		name         string
		value, limit float64
	}{
		{"south", b.south, 90}, {"west", b.west, 180}, {"north", b.north, 90}, {"east", b.east, 180},
	} {
		if !(side.value >= -side.limit && side.value <= side.limit) {
			return bounds{}, fmt.Errorf("%s: %v is not in %v to %v", side.name, side.value, -side.limit, side.limit)
		}
	}
	if b.south >= b.north {
		return bounds{}, fmt.Errorf("south %v is not less than north %v", b.south, b.north)
	}
	if b.west == b.east {
		return bounds{}, fmt.Errorf("west and east are both %v", b.west)
	}
	return b, nil
}

// parseBounds reads south,west,north,east.
func parseBounds(given string) ([]float64, error) {
	parts := strings.Split(given, ",")
	if len(parts) != 4 {
		return nil, errors.New("bounds are four numbers: south,west,north,east")
	}
	numbers := make([]float64, len(parts))
	for i, part := range parts {
		number, ok := text.ParseNumber([]byte(strings.TrimSpace(part)))
		if !ok {
			return nil, fmt.Errorf("%q is not a number", part)
		}
		numbers[i] = number
	}
	_, err := newBounds(numbers)
	return numbers, err
}

// holds reports whether a position lies in the rectangle or on its edge.
func (b bounds) holds(p orb.Point) bool {
	lon, lat := p[0], p[1]
	if !(lat >= b.south && lat <= b.north) {
		return false
	}
	// The antimeridian has two longitudes.
	return b.holdsLongitude(lon) || (lon == 180 || lon == -180) && b.holdsLongitude(-lon)
}

func (b bounds) holdsLongitude(lon float64) bool {
	if b.west <= b.east {
		return lon >= b.west && lon <= b.east
	}
	return lon >= b.west || lon <= b.east
}
