package speed

import (
	"context"
	"fmt"
	"math"
	"path/filepath"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/lab/dataset"
)

// Scaled is what building and matching cost on a map of some copies of an extract.
type Scaled struct {
	Copies int
	Build  testregion.Build
	Result
}

// Scale compares one copy of an extract with a country of n copies: what building them takes, and the speed on the same
// trips, which in the country are spread over its copies. The files go into directory.
func Scale(ctx context.Context, build testregion.Builder, extract string, n int, trips []orb.LineString, rounds int,
	directory string,
) (one, country Scaled, err error) {
	var sessions []*session
	for _, s := range []*Scaled{&one, &country} {
		s.Copies = 1
		if s == &country {
			s.Copies = n
		}
		path := filepath.Join(directory, fmt.Sprintf("%d.osm.pbf", s.Copies))
		grid, err := dataset.Copies(ctx, extract, path, s.Copies)
		if err != nil {
			return one, country, err
		}
		network, err := dataset.Compile(ctx, build, path, directory)
		if err != nil {
			return one, country, err
		}
		defer network.Close()
		s.Build = network.Build
		matcher := matching.New(network.Graph, matching.Options{})
		sessions = append(sessions, newSession(matcher, spread(trips, s.Copies, grid)))
	}
	err = measure(ctx, rounds, sessions...)
	one.Result, country.Result = sessions[0].result(), sessions[1].result()
	return one, country, err
}

// repeats is the number of copies in which each trip is measured, so that processor caches hold no more of the network
// than with many users.
const repeats = 4

// spread repeats trips, and moves them to the copies of the southernmost row in turn, on which lengths are as on the
// map itself. A step that shares no factor with the number of copies visits all of them, and keeps neighbours in the
// list from being neighbours on the map.
func spread(trips []orb.LineString, copies int, grid *dataset.Grid) []orb.LineString {
	copies = min(copies, grid.PerRow)
	step := int(math.Round(float64(copies) * 0.618))
	for step > 1 && gcd(step, copies) != 1 {
		step--
	}
	moved := make([]orb.LineString, repeats*len(trips))
	for i := range moved {
		by, _ := grid.At(i * step % copies)
		for _, p := range trips[i%len(trips)] {
			moved[i] = append(moved[i], orb.Point{p.Lon() + by, p.Lat()})
		}
	}
	return moved
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
