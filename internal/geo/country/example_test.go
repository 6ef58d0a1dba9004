package country_test

import (
	"fmt"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo/country"
)

func ExampleLookup() {
	for _, at := range []orb.Point{{-75.52, 39.16}, {1.52, 42.51}, {-30, 40}} {
		c, ok := country.Lookup(at)
		fmt.Println(c.Name, c.Code, ok)
	}
	// Output:
	// United States USA true
	// Andorra AND true
	//   false
}

func ExampleNearest() {
	c, metres, ok := country.Nearest(orb.Point{-5.0, 49.5}, 100_000)
	fmt.Printf("%s %.0f km %t\n", c.Name, metres/1000, ok)
	// Output:
	// United Kingdom 53 km true
}
