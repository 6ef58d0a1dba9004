package routing_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
)

// modes are all modes of travel; under the race detector one, since nothing of them runs at the same time.
var modes = map[bool][]region.Modes{
	false: {region.Car, region.Bicycle, region.Foot},
	true:  {region.Car},
}[testkit.RaceDetector]

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

// TestIsochrones: what is reached is what Dijkstra's algorithm reaches, and areas have it.
func TestIsochrones(t *testing.T) {
	city := roadgraphtest.Compile(t, &roadgraphtest.City(1, 38).Data)
	for _, mode := range modes {
		routing.CheckIsochrones(t, roadgraphtest.DelawareFile(t), mode, few(7))
		routing.CheckIsochrones(t, city, mode, few(7))
	}
}

// TestIsochronesAnywhere: an area at the antimeridian is as large as elsewhere, and at sea there is none.
func TestIsochronesAnywhere(t *testing.T) {
	sea := orb.Point{10, 40}
	for name, edge := range roadgraphtest.WorldEdges() {
		if math.Abs(edge.Middle[1]) > 89 {
			continue // there are no roads but for one to the south pole
		}
		f := roadgraphtest.Compile(t, &roadgraphtest.Crossing(edge.Middle).Data)
		e := routing.NewEngine(f, roadgraphtest.Open(t, f, region.Car))
		areas, err := e.Isochrone(t.Context(), &routing.IsochroneRequest{Origin: routing.At(edge.Middle), Limits: []float64{60}})
		if err != nil {
			t.Fatal(name, err)
		}
		if b := areas[0].Bound(); b.Right()-b.Left() < 0.01 || b.Right()-b.Left() > 0.04 || len(areas[0]) != 1 {
			t.Errorf("%s: %d polygons from %v to %v", name, len(areas[0]), b.Min, b.Max)
		}
		if err := tilestest.CheckArea(areas[0]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err = e.Isochrone(t.Context(), &routing.IsochroneRequest{Origin: routing.At(sea), Limits: []float64{60}})
		if _, ok := errors.AsType[*routing.SegmentError](err); !ok {
			t.Errorf("at sea: %v", err)
		}
	}
}

// TestAnswers: routes, matrices and lines say the same.
func TestAnswers(t *testing.T) {
	extracts(t, func(t *testing.T, f *region.File) { routing.CheckAnswers(t, f, max(few(84), 12)) })
}

// TestAvoidedAreas: routes around areas are the fastest ones.
func TestAvoidedAreas(t *testing.T) { routing.CheckClosed(t, roadgraphtest.DelawareFile(t), few(84)) }
