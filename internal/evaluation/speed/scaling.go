package speed

import (
	"context"
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/evaluation/dataset"
	"github.com/mapsedge/caddy-maps/internal/extract"
	"github.com/mapsedge/caddy-maps/internal/matching"
)

// Scaled is what building and matching cost on a network of some copies of an extract.
type Scaled struct {
	Copies int
	Build  dataset.Build
	Result
}

// Scale compares one copy of an extract's roads with a country of n copies: what building them takes, and the speed on
// the same trips, which in the country are spread over its copies. Region files go into directory.
func Scale(ctx context.Context, data *extract.Data, n int, trips []orb.LineString, rounds int, directory string) (one, country Scaled, err error) {
	var sessions []*session
	for _, s := range []*Scaled{&one, &country} {
		s.Copies = 1
		if s == &country {
			s.Copies = n
		}
		network, err := s.build(ctx, data, directory)
		if err != nil {
			return one, country, err
		}
		defer network.Close()
		sessions = append(sessions, newSession(matching.New(network.Graph, matching.Options{}), spread(trips, s.Copies, dataset.Shift(data))))
	}
	err = measure(ctx, rounds, sessions...)
	one.Result, country.Result = sessions[0].result(), sessions[1].result()
	return one, country, err
}

// build compiles the copies.
func (s *Scaled) build(ctx context.Context, data *extract.Data, directory string) (*dataset.Network, error) {
	repeated, err := dataset.Repeat(data, s.Copies)
	if err != nil {
		return nil, err
	}
	network, err := dataset.Compile(ctx, repeated, directory)
	if err == nil {
		s.Build = network.Build
	}
	return network, err
}

// repeats is in how many copies each trip is measured, so that the country's processor caches hold no more of its network
// than those of an operator with many users do.
const repeats = 4

// spread repeats trips, and moves them to copies in turn. A step that shares no factor with the number of copies visits all of them, and
// keeps neighbours in the list from being neighbours on the map.
func spread(trips []orb.LineString, copies int, shift float64) []orb.LineString {
	step := int(math.Round(float64(copies) * 0.618))
	for step > 1 && gcd(step, copies) != 1 {
		step--
	}
	moved := make([]orb.LineString, repeats*len(trips))
	for i := range moved {
		by := float64(i*step%copies) * shift
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
