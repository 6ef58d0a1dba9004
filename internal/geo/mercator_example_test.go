package geo_test

import (
	"fmt"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// The tile that a position lies in is the high bits of where it is on the square of the world.
func ExampleProject() {
	at := geo.Project(orb.Point{-75.52, 39.16})
	const zoom = 14
	fmt.Println(zoom, at.X>>(geo.WorldBits-zoom), at.Y>>(geo.WorldBits-zoom))
	fmt.Printf("%.5f\n", at.Degrees())
	// Output:
	// 14 4755 6252
	// [-75.52000 39.16000]
}
