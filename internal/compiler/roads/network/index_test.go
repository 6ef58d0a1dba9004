package network

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// TestLeavesFarApart: where the next edge is too far from the first one of a group, leaves for no mode fill it.
func TestLeavesFarApart(t *testing.T) {
	dir, err := scratch.Open(t.TempDir(), "leaves", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w, err := region.Create(dir.Path(), func(name string) region.Spool { return scratch.NewStream(dir, name) })
	if err != nil {
		t.Fatal(err)
	}
	l := newLeafWriter(w, dir, &roadgraph.Indexes[0])
	edges := []uint32{7, 7 + math.MaxUint16, 8 + math.MaxUint16, 1 << 30}
	for _, edge := range edges {
		if err := l.add(leaf{edge: edge, segments: 1, modes: region.Car, box: geo.Box{}}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "leaves.region")
	if err := l.finish(); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(t.Context(), path, region.Meta{}); err != nil {
		t.Fatal(err)
	}
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Release()
	leaves, err := region.Section[roadgraph.Leaf](f, roadgraph.Indexes[0].Leaves)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := region.Section[uint32](f, roadgraph.Indexes[0].Groups)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint32
	for i, one := range leaves.All() {
		if one != (roadgraph.Leaf{}) {
			got = append(got, *groups.At(i / geo.TreeFanout)+uint32(one.BaseEdge))
		}
	}
	if leaves.Len() != 2*geo.TreeFanout+1 || groups.Len() != 3 || !slices.Equal(got, edges) {
		t.Errorf("%d leaves in %d groups of edges %v, want %v", leaves.Len(), groups.Len(), got, edges)
	}
}
