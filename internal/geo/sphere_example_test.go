package geo_test

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// The way across the antimeridian is the short one.
func ExampleDistance() {
	fmt.Printf("%.0f m\n", geo.Distance(0, 179.9, 0, -179.9))
	fmt.Println(geo.Eastward(1_799_000_000, -1_799_000_000))
	// Output:
	// 22239 m
	// 2000000
}
