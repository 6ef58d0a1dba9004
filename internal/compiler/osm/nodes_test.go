package osm

import (
	"context"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// TestNodes: nodes are found again, and no others, in whatever order they came and however far their ids are apart.
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
					at: pack(rapid.Int32Range(-maxLat7, maxLat7).Draw(t, "lat"), rapid.Int32Range(-maxLon7, maxLon7).Draw(t, "lon")),
				}
				if have, ok := places[n.id]; ok && (inOrder || have.version == n.version) {
					continue // which one stays is nobody's concern
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
			for _, before := range []uint64{uint64(number) - 1, 0, 1 << 60} {
				if got, ok := l.find(id, before); !ok || got != uint64(number) || l.At(got) != places[id].at.coord() || l.id(got) != id {
					t.Fatalf("node %d: %d, %v at %v, want %d at %v", id, got, ok, l.At(got), number, places[id].at)
				}
			}
			for _, other := range []int64{id - 1, id + 1, id + 1<<32, last} {
				if _, there := places[other]; !there {
					if got, ok := l.find(other, uint64(number)); ok {
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

// TestTileBoxes: a position is in the box of a tile if the tile is its own, right up to the edges.
func TestTileBoxes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lat := rapid.Int32Range(-maxLat7, maxLat7).Draw(t, "lat")
		lon := rapid.Int32Range(-maxLon7, maxLon7).Draw(t, "lon")
		tile := tileOf(lat, lon)
		box := boxOf(tile)
		if !box.has(lat, lon) {
			t.Fatalf("%d, %d is not in %+v", lat, lon, box)
		}
		for _, edge := range []int32{box.south - 1, box.south, box.north - 1, box.north} {
			if edge >= -maxLat7 && edge <= maxLat7 && box.has(edge, lon) != (tileOf(edge, lon) == tile) {
				t.Fatalf("%d, %d: in the box %v", edge, lon, box.has(edge, lon))
			}
		}
		for _, edge := range []int32{box.west - 1, box.west, box.east - 1, box.east} {
			if edge >= -maxLon7 && edge <= maxLon7 && box.has(lat, edge) != (tileOf(lat, edge) == tile) {
				t.Fatalf("%d, %d: in the box %v", lat, edge, box.has(lat, edge))
			}
		}
	})
}
