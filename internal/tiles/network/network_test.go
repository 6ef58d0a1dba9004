package network_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/geojson"
	"github.com/paulmach/orb/maptile"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/tiles/network"
)

type meter func(int64) error

func (m meter) Spend(work int64) error { return m(work) }

var unlimited = meter(func(int64) error { return nil })

// layers are the features of a tile by layer.
func layers(t testing.TB, g *roadgraph.Graph, at maptile.Tile) map[string][]*geojson.Feature {
	t.Helper()
	data, err := network.AppendTile(nil, g, uint8(at.Z), at.X, at.Y, unlimited)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) == 0 {
		return nil
	}
	decoded, err := mvt.UnmarshalGzipped(data)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]*geojson.Feature{}
	for _, l := range decoded {
		if l.Version != 2 || l.Extent != 4096 || len(l.Features) == 0 {
			t.Errorf("layer %s: version %d, extent %d, %d features", l.Name, l.Version, l.Extent, len(l.Features))
		}
		found[l.Name] = l.Features
	}
	return found
}

// described are roads and turns in words, sorted.
func described(found map[string][]*geojson.Feature) (lines []string) {
	for _, f := range found[network.RoadsLayer] {
		way, direction := f.Properties["way"], "–"
		line := f.Geometry.(orb.LineString)
		if f.Properties["oneway"] == true {
			direction = "→"
			if line[0][0] > line[len(line)-1][0] {
				direction = "←"
			}
		}
		lines = append(lines, fmt.Sprint(f.Properties["name"], " ", way, direction, f.Properties["class"], " ",
			f.Properties["speed"], " ", f.Properties["speed_backward"]))
	}
	for _, f := range found[network.TurnsLayer] {
		lines = append(lines, fmt.Sprint(f.Properties["from"], " to ", f.Properties["to"], " ", f.Properties["via"]))
	}
	slices.Sort(lines)
	return lines
}

// TestTile: small maps with all roads and the forbidden turns.
func TestTile(t *testing.T) {
	const cross = `
   d
 a b c
   e`
	for name, test := range map[string]struct {
		ways string
		want []string
	}{
		"a crossing": {"abc\ndbe", []string{
			"abc 1–residential 30 <nil>", "abc 1–residential 30 <nil>",
			"dbe 2–residential 30 <nil>", "dbe 2–residential 30 <nil>"}},
		"one-way, against its way": {"abc oneway=-1 highway=primary maxspeed=60", []string{"abc 1←primary 60 <nil>"}},
		"another speed back":       {"abc maxspeed:forward=30 maxspeed:backward=50", []string{"abc 1–residential 30 50"}},
		"a sign": {"ab\nbc\nbd\nab/b/bd restriction=no_left_turn", []string{"1 to 3 <nil>",
			"ab 1–residential 30 <nil>", "bc 2–residential 30 <nil>", "bd 3–residential 30 <nil>"}},
		"a barrier": {"abc\nb barrier=bollard", []string{"1 to 1 <nil>", "1 to 1 <nil>",
			"abc 1–residential 30 <nil>", "abc 1–residential 30 <nil>"}},
		"over a way": {"db\nbe\nab\nec\ndb/be/ec restriction=no_left_turn", []string{"2 to 4 true",
			"ab 3–residential 30 <nil>", "be 2–residential 30 <nil>", "db 1–residential 30 <nil>",
			"ec 4–residential 30 <nil>"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := roadgraphtest.Sketch{Grid: cross, Ways: test.ways, Step: 30}.Draw(t)
			got := described(layers(t, g.Graph, maptile.At(g.At(t, 'b'), network.MaxZoom)))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// In Delaware's tiles of each zoom, every junction and every road is there, in its place, and nothing lies farther
// outside of the tile than its buffer.
func TestDelaware(t *testing.T) {
	g := roadgraphtest.Delaware(t)
	for z := maptile.Zoom(network.MinZoom); z <= network.MaxZoom; z++ {
		at := maptile.At(orb.Point{-75.5244, 39.1582}, z)
		found := layers(t, g, at)
		ways := map[int64]bool{}
		for name, features := range found {
			for _, f := range features {
				b := f.Geometry.Bound()
				if b.Min[0] < -64 || b.Min[1] < -64 || b.Max[0] > 4096+64 || b.Max[1] > 4096+64 {
					t.Fatalf("%d: %s: %v", z, name, b)
				}
				if name == network.RoadsLayer {
					ways[int64(f.Properties["way"].(float64))] = true
				}
			}
		}
		missing, inside := 0, at.Bound()
		step := uint32(1000 * 40e6 / 4096 / float64(uint32(1)<<z)) // mm; what is shorter may be a single place
		for edge := range g.Edges() {
			for _, p := range g.Shape(edge, nil)[:1] {
				if g.Edge(edge).Length > step && inside.Contains(p.Location()) && !ways[g.Way(p.Road)] {
					missing++
				}
			}
		}
		if missing > 0 || len(ways) == 0 {
			t.Errorf("%d: %d ways, %d missing", z, len(ways), missing)
		}
	}
}

// On both sides of the antimeridian a road that crosses it is drawn, up to the border and over it.
func TestAntimeridian(t *testing.T) {
	middle := orb.Point{180, 52}
	town := roadgraphtest.Crossing(middle)
	g := town.Open(t)
	for _, x := range []float64{-400, 400} {
		at := maptile.At(town.At(x, 0), network.MinZoom)
		nearest := math.Inf(1)
		for _, f := range layers(t, g, at)[network.RoadsLayer] {
			b := f.Geometry.Bound()
			nearest = min(nearest, max(0, b.Min[0]), max(0, 4096-b.Max[0]))
			if b.Max[0]-b.Min[0] > 2000 {
				t.Errorf("a line across the world: %v", b)
			}
		}
		if nearest > 0 {
			t.Errorf("at %v m nothing reaches the border", x)
		}
	}
}

// TestRefused: an error of the meter ends the work and leaves dst as it was; a tile without roads is empty.
func TestRefused(t *testing.T) {
	g := roadgraphtest.Delaware(t)
	over := errors.New("over")
	at := maptile.At(orb.Point{-75.5244, 39.1582}, network.MinZoom)
	spent := int64(0)
	data, err := network.AppendTile([]byte("x"), g, uint8(at.Z), at.X, at.Y, meter(func(n int64) error {
		if spent += n; spent > 5000 {
			return over
		}
		return nil
	}))
	if !errors.Is(err, over) || string(data) != "x" || spent > 10_000 {
		t.Errorf("%d bytes, %v, after %d", len(data), err, spent)
	}
	if data, err := network.AppendTile(nil, g, 14, 0, 0, unlimited); len(data) > 0 || err != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	first, err := network.AppendTile(nil, g, uint8(at.Z), at.X, at.Y, unlimited)
	again, _ := network.AppendTile(nil, g, uint8(at.Z), at.X, at.Y, unlimited)
	if err != nil || !bytes.Equal(first, again) || !strings.HasPrefix(string(first), "\x1f\x8b") {
		t.Errorf("%v, %d and %d bytes", err, len(first), len(again))
	}
}
