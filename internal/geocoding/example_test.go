package geocoding_test

import (
	"context"
	"fmt"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// A region file is opened once and asked as often as one likes.
func Example() {
	path, remove := testregion.Village()
	defer remove()
	file, err := region.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Release()

	index, err := geocoding.Open(file)
	if err != nil {
		panic(err)
	}
	result, err := index.Reverse(context.Background(), &geocoding.Request{
		Point: orb.Point{-75.5201, 39.1602}, Size: 2, MaxDistance: 100,
	})
	if err != nil {
		panic(err)
	}
	for _, p := range result.Places {
		fmt.Printf("%s %s, %.1f m: %s\n", p.Category, p.Type, p.Distance, p.DisplayName)
	}
	// Output:
	// highway residential, 8.6 m: Oak Street, Testville, United States
	// amenity cafe, 11.1 m: Crossing Café, Testville, United States
}
