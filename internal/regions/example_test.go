package regions_test

import (
	"fmt"
	"os"

	"github.com/paulmach/orb"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// A request pins the current file, and keeps it even if another file replaces it.
func Example() {
	path, remove := testregion.Village()
	defer remove()
	watched := regions.NewWatched(regions.Options{Path: path, Logger: zap.NewNop()})
	if err := watched.Start(); err != nil {
		panic(err)
	}
	defer func() { _ = watched.Destruct() }()
	village := regions.New("village", watched)

	pinned, err := village.Pin()
	if err != nil {
		panic(err)
	}
	defer pinned.Release()
	if err := os.Remove(path); err != nil {
		panic(err)
	}
	covered, err := pinned.Covers(orb.Point{-75.52, 39.16})
	fmt.Println(village.Name(), covered, err)
	// Output:
	// village true <nil>
}
