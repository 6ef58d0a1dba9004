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
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/tiles"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// TestEnginesOnDamage: bits of an open file whose checksums have been verified are flipped, tens of thousands at a time,
// and the file is truncated. A server throws such answers away. Each request must end with an answer or an error after
// bounded work, without a crash. MAPS_TEST_DAMAGE is the number of rounds.
func TestEnginesOnDamage(t *testing.T) {
	testkit.Whole(t)
	rounds := 9
	if text := os.Getenv("MAPS_TEST_DAMAGE"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("MAPS_TEST_DAMAGE: %q is not a number of rounds", text)
		}
		rounds = n
	}
	path := filepath.Join(t.TempDir(), "delaware.region")
	f, _ := build(t, Options{Inputs: []string{testkit.Extract(t, testkit.Delaware)}, Output: path})
	content, failedRead := os.ReadFile(path)
	places, failedPlaces := geocoding.Open(f)
	graph, failedGraph := roadgraph.Open(f)
	chart, failedMap := tiles.Open(f)
	names, failedNames := search.Open(f, places)
	disk, failedOpen := os.OpenFile(path, os.O_RDWR, 0)
	if err := errors.Join(f.Verify(t.Context()), failedRead, failedPlaces, failedGraph, failedMap, failedNames, failedOpen); err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	matcher := matching.New(graph, matching.Options{})
	dover := func() []byte {
		tile, err := chart.Tile(nil, 14, 4754, 6255)
		if err != nil || len(tile) == 0 {
			t.Errorf("%d bytes, %v", len(tile), err)
		}
		return tile
	}
	before := dover()

	rng := rand.New(rand.NewPCG(3, 5))
	var flips, asked, failed int
	var slowest time.Duration
	var largest uint64
	for round := range rounds {
		if round%3 == 2 {
			if err := disk.Truncate(int64(rng.IntN(len(content)))); err != nil {
				t.Fatal(err)
			}
		} else {
			// With many, nearly every request meets some and ends soon.
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
			if err := askSomething(t.Context(), rng, places, names, matcher, chart); err != nil {
				failed++
			}
			asked++
			slowest, largest = max(slowest, time.Since(begun)), max(largest, allocated()-taken)
		}
		if !f.Changed() {
			t.Error("the change of the file is not noticed")
		}
		if _, err := disk.WriteAt(content, 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d bits flipped; %d requests, %d ended with an error; the slowest took %v, the largest took %.1f MB",
		flips, asked, failed, slowest, float64(largest)/1e6)
	if failed == 0 || failed == asked {
		t.Error("no request met the damage, or all did")
	}
	// The matcher's own limit of work is about a second.
	if slowest > 30*time.Second || largest > 1<<30 {
		t.Errorf("a request took %v, or %d bytes", slowest, largest)
	}
	// With the right content again, the same engines work as before.
	_, err := places.Reverse(t.Context(), &geocoding.Request{Point: orb.Point{-75.5277, 39.1568}, Size: 5})
	if err != nil || !bytes.Equal(before, dover()) {
		t.Errorf("a tile is another one now, or %v", err)
	}
	found, err := names.Search(t.Context(), &geocoding.Query{Text: "dovre, delaware", Limit: 1})
	if err != nil || len(found.Places) != 1 || found.Places[0].Name != "Dover" {
		t.Errorf("Dover: %v, %v", found, err)
	}
}

// askSomething sends a random request to one of the engines.
func askSomething(ctx context.Context, rng *rand.Rand, places *geocoding.Index, names *search.Index,
	matcher *matching.Local, chart *tiles.Map) error {
	lat, lon := 38.5+rng.Float64()*1.3, -75.75+rng.Float64()*0.6
	if towns := [][2]float64{{39.7459, -75.5466}, {39.1573, -75.5243}, {38.7180, -75.0850}}; rng.IntN(2) == 0 {
		town := towns[rng.IntN(len(towns))]
		lat, lon = town[0]+rng.NormFloat64()*0.01, town[1]+rng.NormFloat64()*0.01
	}
	switch rng.IntN(4) {
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
	case 2:
		q := geocoding.Query{Limit: 1 + rng.IntN(20), Autocomplete: rng.IntN(2) == 0}
		q.Text = []string{"m", "main st, dover", "36 mian street", "pharmacy newark", "wilmingtno 19801", "s"}[rng.IntN(6)]
		if rng.IntN(2) == 0 {
			q.Near = &orb.Point{lon, lat}
		}
		_, err := names.Search(ctx, &q)
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

// allocated is how many bytes were allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
