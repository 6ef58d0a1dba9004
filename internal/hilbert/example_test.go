package hilbert_test

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/hilbert"
)

// What follows on the curve lies side by side on the ground.
func Example() {
	d := hilbert.Of(5, 9)
	for next := d; next < d+3; next++ {
		fmt.Println(hilbert.At(next))
	}
	// Output:
	// 5 9
	// 4 9
	// 4 8
}
