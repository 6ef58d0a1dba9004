package osm

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/region"
)

const (
	maxLat7 = 90_0000000
	maxLon7 = 180_0000000
)

// TestNodes: nodes are found again, and no others, for any order and any ids.
// They are numbered by their ids, and the newest version tells where a node is.
func TestNodes(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := scratch.Open(parent, "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		inOrder := rapid.Bool().Draw(t, "one file")
		l := newNodes(dir, inOrder)
		base := rapid.SampledFrom([]int64{-1 << 62, -1000, 1, 1 << 40}).Draw(t, "base")
		spread := rapid.SampledFrom([]int64{1, 3, 1 << 26, 1 << 45}).Draw(t, "spread")
		places := map[int64]locatedNode{}
		var last int64
		for range rapid.IntRange(0, 5).Draw(t, "batches") {
			var added []locatedNode
			for range rapid.IntRange(0, 300).Draw(t, "nodes") {
				n := locatedNode{
					id: base + spread*rapid.Int64Range(0, 1000).Draw(t, "id"), version: rapid.Int32Range(1, 3).Draw(t, "version"),
					at: placeOf(rapid.Int32Range(-maxLon7, maxLon7).Draw(t, "lon"), rapid.Int32Range(-maxLat7, maxLat7).Draw(t, "lat")),
				}
				if have, ok := places[n.id]; ok && (inOrder || have.version == n.version) {
					continue // either may stay
				}
				if have, ok := places[n.id]; !ok || have.version < n.version {
					places[n.id] = n
				}
				added = append(added, n)
			}
			if rapid.Bool().Draw(t, "sorted") {
				slices.SortFunc(added, func(a, b locatedNode) int { return int(a.id/spread - b.id/spread) })
			}
			if err := l.add(added); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.finish(context.Background()); err != nil {
			t.Fatal(err)
		}
		for number, id := range slices.Sorted(maps.Keys(places)) {
			for block := range l.blocks.Len() {
				if got, ok := l.find(id, &found{last: block}); !ok || got != uint64(number) || l.At(got) != places[id].at.coord() {
					t.Fatalf("node %d: %d, %v at %v, want %d at %v", id, got, ok, l.At(got), number, places[id].at)
				}
			}
			for _, other := range []int64{id - 1, id + 1, id + 1<<32, last} {
				if _, there := places[other]; !there {
					if got, ok := l.Find(other); ok {
						t.Fatalf("node %d is not there, and found as %d", other, got)
					}
				}
			}
			last = id / 2
		}
		if l.Len() != len(places) {
			t.Fatalf("%d nodes, want %d", l.Len(), len(places))
		}
	})
}

// TestCover: the tiles are those of the nodes, right up to the edges of tiles.
func TestCover(t *testing.T) {
	parent := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := scratch.Open(parent, "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		l := newNodes(dir, true)
		// A spread of a few cells, at the corner of a tile or anywhere.
		corner := Coord{Lon: rapid.Int32Range(-2048, 2047).Draw(t, "column") * 878906}
		if rapid.Bool().Draw(t, "anywhere") {
			corner = Coord{Lon: rapid.Int32Range(-maxLon7, maxLon7).Draw(t, "lon"),
				Lat: rapid.Int32Range(-maxLat7, maxLat7).Draw(t, "lat")}
		}
		spread := rapid.SampledFrom([]int32{1, 1000, 100_000}).Draw(t, "spread")
		var want Tiles
		var bound orb.Bound
		for id := range rapid.Int64Range(0, 50).Draw(t, "nodes") {
			lon := corner.Lon + rapid.Int32Range(-spread, spread).Draw(t, "east")
			lat := corner.Lat + rapid.Int32Range(-spread, spread).Draw(t, "north")
			c := Coord{Lon: min(max(lon, -maxLon7), maxLon7), Lat: min(max(lat, -maxLat7), maxLat7)}
			if err := l.append(locatedNode{id: id, at: placeOf(c.Lon, c.Lat)}); err != nil {
				t.Fatal(err)
			}
			want.Add(region.CoverageTile(c.Point()))
			if id == 0 {
				bound = c.Point().Bound()
			}
			bound = bound.Extend(c.Point())
		}
		if got, tiles := l.cover(); got != bound || *tiles != want {
			t.Fatalf("%v, %v; want %v, %v", got, tiles.Sorted(), bound, want.Sorted())
		}
	})
}
