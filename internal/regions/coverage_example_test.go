package regions_test

import (
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/regions"
)

// Of three servers, none knows all six points of a trace: the one that knows most is asked.
func ExampleBestCovering() {
	known := map[string]int{"north": 2, "south": 4, "west": 0}
	best, covered := regions.BestCovering([]string{"north", "south", "west"}, func(server string) (int, int) {
		return known[server], 6
	})
	fmt.Println(best, covered)
	// Output:
	// 1 4
}
