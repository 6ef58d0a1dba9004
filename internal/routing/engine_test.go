package routing_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// modes are all modes of travel.
var modes = [...]region.Modes{region.Car, region.Bicycle, region.Foot}

// few returns how many of n cases a test checks: a seventh with -short, and fewer under the race detector, which makes
// searches ten times slower.
func few(n int) int {
	switch {
	case testkit.RaceDetector:
		return max(n/60, 1)
	case testing.Short():
		return max(n/7, 1)
	}
	return n
}

// extracts calls check with Delaware and, unless tests are to be short, with the extracts in MAPS_BENCH_DATA.
func extracts(t *testing.T, check func(t *testing.T, f *region.File)) {
	t.Helper()
	t.Run("delaware", func(t *testing.T) { check(t, roadgraphtest.DelawareFile(t)) })
	more, err := filepath.Glob(filepath.Join(os.Getenv("MAPS_BENCH_DATA"), "*.osm.pbf"))
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("MAPS_BENCH_DATA") == "" || testkit.Little() {
		return
	}
	for _, path := range more {
		t.Run(filepath.Base(path), func(t *testing.T) { check(t, roadgraphtest.CompileExtract(t, path)) })
	}
}

// TestPairs: routes are those of Dijkstra's algorithm.
func TestPairs(t *testing.T) {
	extracts(t, func(t *testing.T, f *region.File) {
		for _, mode := range modes {
			routing.CheckPairs(t, f, mode, few(100))
		}
	})
}

// TestStored: the matrices in the file are those of the usual model.
func TestStored(t *testing.T) {
	for _, mode := range modes {
		if testkit.RaceDetector && mode != region.Car {
			continue
		}
		routing.CheckStored(t, roadgraphtest.DelawareFile(t), mode)
	}
}

func BenchmarkDelaware(b *testing.B) { routing.RunBenchmarks(b, roadgraphtest.DelawareFile(b)) }

// BenchmarkRegion is the same for the region file MAPS_BENCH_REGION.
func BenchmarkRegion(b *testing.B) {
	path := os.Getenv("MAPS_BENCH_REGION")
	if path == "" {
		b.Skip("MAPS_BENCH_REGION names no region file")
	}
	f, err := region.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Release()
	routing.RunBenchmarks(b, f)
}

// TestCities: so are those in cities that are made up, with one-ways, closed nodes and restrictions over ways.
func TestCities(t *testing.T) {
	cities := 20
	if testkit.RaceDetector {
		cities = 4
	}
	for seed := range cities {
		f := roadgraphtest.Compile(t, &roadgraphtest.City(uint64(seed), 2+9*seed%37).Data)
		for _, mode := range modes {
			routing.CheckPairs(t, f, mode, few(56))
		}
	}
}

// TestAlternatives: many routes have alternatives.
func TestAlternatives(t *testing.T) { routing.CheckAlternatives(t, roadgraphtest.DelawareFile(t), 60) }

// TestFloods: isochrones in Delaware reach what Dijkstra's algorithm does.
func TestFloods(t *testing.T) { routing.CheckFloods(t, roadgraphtest.DelawareFile(t), 5) }

func BenchmarkIsochrones(b *testing.B) {
	routing.RunIsochrones(b, roadgraphtest.DelawareFile(b), orb.Point{-75.524, 39.158})
}

// TestAnswers: routes, matrices and lines say the same.
func TestAnswers(t *testing.T) {
	extracts(t, func(t *testing.T, f *region.File) { routing.CheckAnswers(t, f, max(few(84), 12)) })
}

// TestAvoidedAreas: routes around areas are the fastest ones.
func TestAvoidedAreas(t *testing.T) { routing.CheckClosed(t, roadgraphtest.DelawareFile(t), few(84)) }
