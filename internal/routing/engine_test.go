package routing_test

import (
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// modes are all modes of travel.
var modes = [...]region.Modes{region.Car, region.Bicycle, region.Foot}

// TestDelaware: routes in Delaware are those of Dijkstra's algorithm.
func TestDelaware(t *testing.T) {
	for _, mode := range modes {
		routing.CheckPairs(t, roadgraphtest.DelawareFile(t), mode, 25)
	}
}

// TestStored: the matrices in the file are those of the usual model.
func TestStored(t *testing.T) {
	for _, mode := range modes {
		routing.CheckStored(t, roadgraphtest.DelawareFile(t), mode)
	}
}

func BenchmarkDelaware(b *testing.B) { routing.RunBenchmarks(b, roadgraphtest.DelawareFile(b)) }

// TestAlternatives: many routes have alternatives.
func TestAlternatives(t *testing.T) { routing.CheckAlternatives(t, roadgraphtest.DelawareFile(t), 60) }

func BenchmarkIsochrones(b *testing.B) {
	routing.RunIsochrones(b, roadgraphtest.DelawareFile(b), orb.Point{-75.524, 39.158})
}
