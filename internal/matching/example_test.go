package matching_test

import (
	"context"
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// Five positions beside two streets become the drive along them.
func Example() {
	path, remove := testregion.Village()
	defer remove()
	file, err := region.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Release()

	networks, err := matching.OpenNetworks(file)
	if err != nil {
		panic(err)
	}
	matcher := matching.NewLocal(networks, matching.Options{})
	drive, err := trace.ParseGPX(nil, testkit.Data("drive.gpx"), matching.DefaultMaxPoints, nil)
	if err != nil {
		panic(err)
	}
	result, err := matcher.Match(context.Background(), &matching.Request{Points: drive, Details: true})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.0f m, confidence %.1f\n", result.Distance, result.Confidence)
	for _, way := range result.Ways {
		fmt.Printf("%s: from %.4f to %.4f\n", way.Name, result.Path[way.From], result.Path[way.To])
	}
	// Output:
	// 1500 m, confidence 1.0
	// Main Street: from [-75.5285 39.1600] to [-75.5200 39.1600]
	// Oak Street: from [-75.5200 39.1600] to [-75.5200 39.1669]
}
