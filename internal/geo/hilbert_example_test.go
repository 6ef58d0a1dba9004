package geo_test

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// What follows on the curve lies side by side on the ground.
func ExampleHilbert() {
	d := geo.Hilbert(5, 9)
	for next := d; next < d+3; next++ {
		fmt.Println(geo.HilbertPoint(next))
	}
	// Output:
	// 5 9
	// 4 9
	// 4 8
}
