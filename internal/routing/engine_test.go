package routing_test

import (
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// modes are all modes of travel.
var modes = [...]region.Modes{region.Car, region.Bicycle, region.Foot}

// few returns how many of n cases a test checks: under the race detector, which makes searches ten times slower, a twelfth.
func few(n int) int {
	if testkit.RaceDetector {
		return max(n/12, 1)
	}
	return n
}

// TestDelaware: routes in Delaware are those of Dijkstra's algorithm.
func TestDelaware(t *testing.T) {
	for _, mode := range modes {
		routing.CheckPairs(t, roadgraphtest.DelawareFile(t), mode, few(12))
	}
}

// TestStored: the matrices in the file are those of the usual model.
func TestStored(t *testing.T) {
	for _, mode := range modes[:few(len(modes))] {
		routing.CheckStored(t, roadgraphtest.DelawareFile(t), mode)
	}
}

func BenchmarkDelaware(b *testing.B) { routing.RunBenchmarks(b, roadgraphtest.DelawareFile(b)) }

// TestCities: so are those in cities that are made up, with one-ways, closed nodes and restrictions over ways.
func TestCities(t *testing.T) {
	for seed, size := range []int{2, 4, 9, 14, 20, 30} {
		f := roadgraphtest.Compile(t, &roadgraphtest.City(uint64(seed), size).Data)
		for _, mode := range modes {
			routing.CheckPairs(t, f, mode, few(200))
		}
	}
}

// TestAlternatives: many routes have alternatives.
func TestAlternatives(t *testing.T) { routing.CheckAlternatives(t, roadgraphtest.DelawareFile(t), 60) }

func BenchmarkIsochrones(b *testing.B) {
	routing.RunIsochrones(b, roadgraphtest.DelawareFile(b), orb.Point{-75.524, 39.158})
}

// TestAnswers: routes, matrices and lines say the same.
func TestAnswers(t *testing.T) { routing.CheckAnswers(t, roadgraphtest.DelawareFile(t), 12) }

// TestAvoidedAreas: routes around areas are the fastest ones.
func TestAvoidedAreas(t *testing.T) { routing.CheckClosed(t, roadgraphtest.DelawareFile(t), few(12)) }
