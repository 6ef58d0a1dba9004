package sphere_test

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/sphere"
)

// The way across the antimeridian is the short one.
func Example() {
	fmt.Printf("%.0f m\n", sphere.Distance(0, 179.9, 0, -179.9))
	fmt.Println(sphere.Eastward(1_799_000_000, -1_799_000_000))
	// Output:
	// 22239 m
	// 2000000
}
