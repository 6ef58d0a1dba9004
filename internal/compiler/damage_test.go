//go:build unix

package compiler

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/tiles"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// What the engines read is not what was written: bits of a file whose checksums have all been compared are flipped in
// place, tens of thousands at a time, and parts of it are cut off. Whatever comes out is thrown away by those who
// serve it; here it has to come out, as an answer or as an error, after bounded work, and nothing may crash.
// MAPS_TEST_DAMAGE is the number of rounds.
func TestEnginesOnDamage(t *testing.T) {
	testkit.Whole(t)
	rounds := 9
	if text := os.Getenv("MAPS_TEST_DAMAGE"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("MAPS_TEST_DAMAGE: %q is no number of rounds", text)
		}
		rounds = n
	}
	path := filepath.Join(t.TempDir(), "delaware.region")
	inputs := []string{testkit.Extract(t, testkit.Delaware)}
	if _, err := Build(t.Context(), Options{Inputs: inputs, Output: path}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	if err := f.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	places, err := geocoding.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	graph, err := roadgraph.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	matcher := matching.New(graph, matching.Options{})
	chart, err := tiles.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	dover := func() []byte {
		tile, err := chart.Tile(nil, 14, 4754, 6255)
		if err != nil || len(tile) == 0 {
			t.Errorf("%d bytes, %v", len(tile), err)
		}
		return tile
	}
	before := dover()
	disk, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()

	rng := rand.New(rand.NewPCG(3, 5))
	var flips, asked, failed int
	var slowest time.Duration
	var largest uint64
	for round := range rounds {
		cut := round%3 == 2
		if cut {
			if err := disk.Truncate(int64(rng.IntN(len(content)))); err != nil {
				t.Fatal(err)
			}
		} else {
			// From a few to many: with many, nearly every request meets some and most end soon.
			n := 100 << rng.IntN(11)
			for range n {
				at := rng.IntN(len(content)-4096) + 4096
				if _, err := disk.WriteAt([]byte{content[at] ^ 1<<rng.IntN(8)}, int64(at)); err != nil {
					t.Fatal(err)
				}
			}
			flips += n
		}
		for range 60 {
			begun, taken := time.Now(), allocated()
			if err := askSomething(t.Context(), rng, places, matcher, chart); err != nil {
				failed++
			}
			asked++
			slowest, largest = max(slowest, time.Since(begun)), max(largest, allocated()-taken)
		}
		if !f.Changed() {
			t.Error("the file does not know that it was changed")
		}
		if _, err := disk.WriteAt(content, 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf(
		"%d bits flipped; %d requests, %d ended with an error; the slowest took %v, the largest took %.1f MB",
		flips,
		asked,
		failed,
		slowest,
		float64(largest)/1e6,
	)
	if failed == 0 || failed == asked {
		t.Error("the damage was met by none or by all")
	}
	// The matcher's own limit of work is about a second.
	if slowest > 30*time.Second {
		t.Errorf("a request took %v", slowest)
	}
	if largest > 1<<30 {
		t.Errorf("a request took %d bytes", largest)
	}
	// With everything in its place again, the same engines are as they were.
	if _, err := places.Reverse(
		t.Context(),
		&geocoding.Request{Point: orb.Point{-75.5277, 39.1568}, Size: 5},
	); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(before, dover()) {
		t.Error("a tile is another one now")
	}
}

// askSomething asks one of the engines for something within Delaware.
func askSomething(ctx context.Context, rng *rand.Rand, places *geocoding.Index, matcher *matching.Local,
	chart *tiles.Map) error {
	lat, lon := 38.5+rng.Float64()*1.3, -75.75+rng.Float64()*0.6
	if towns := [][2]float64{{39.7459, -75.5466}, {39.1573, -75.5243}, {38.7180, -75.0850}}; rng.IntN(2) == 0 {
		town := towns[rng.IntN(len(towns))]
		lat, lon = town[0]+rng.NormFloat64()*0.01, town[1]+rng.NormFloat64()*0.01
	}
	switch rng.IntN(3) {
	case 0:
		z := uint8(rng.IntN(tiles.MaxZoom + 1))
		at := geo.Project(orb.Point{lon, lat})
		_, err := chart.Tile(nil, z, uint32(at.X>>(geo.WorldBits-z)), uint32(at.Y>>(geo.WorldBits-z)))
		return err
	case 1:
		req := geocoding.Request{Point: orb.Point{lon, lat}, Size: 1 + rng.IntN(5)}
		if rng.IntN(2) == 0 {
			req.Categories = []string{[]string{"amenity", "place", "school", "highway", "no such thing"}[rng.IntN(5)]}
			req.MaxDistance = 20_000
		}
		if rng.IntN(3) == 0 {
			req.Languages = []string{"de", "es"}
		}
		_, err := places.Reverse(ctx, &req)
		return err
	}
	points := make([]trace.Point, 2+rng.IntN(30))
	for i := range points {
		points[i] = trace.At(lat, lon)
		lat, lon = lat+rng.NormFloat64()*0.001, lon+rng.NormFloat64()*0.001
	}
	_, err := matcher.Match(ctx, &matching.Request{Points: points, Details: rng.IntN(2) == 0})
	if errors.Is(err, matching.ErrNoRoute) {
		return nil
	}
	return err
}

// allocated is how much memory was taken so far, whatever became of it.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
