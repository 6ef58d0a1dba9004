package extract

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/osm"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/build/extract/extracttest"
)

// objectsOf lists the objects of a PBF file, where no block may weigh more than so much.
func objectsOf(t *rapid.T, file []byte, most int64) (list []string) {
	p := newPBF(memoryFile{bytes.NewReader(file)}, int64(len(file)), &progress{})
	p.maxWeight = most
	add := func(o osm.Object) error {
		list = append(list, fmt.Sprintf("%+v", o))
		return nil
	}
	err := p.relations(t.Context(), func(r *osm.Relation) error { return add(r) })
	if err == nil {
		err = p.ways(t.Context(), func(*osm.Way) bool { return true }, func(w *osm.Way) error { return add(w) })
	}
	if err == nil {
		err = p.nodes(t.Context(), func(*osm.Node) bool { return true }, func(n *osm.Node) error { return add(n) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSplit: a block that is divided gives the same objects as it does whole, in the same order.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := func(n int, name string) []int64 {
			return rapid.SliceOfN(rapid.Int64Range(-1e9, 1e9), n, n).Draw(t, name)
		}
		indexes := func(n int, name string) []uint64 {
			return rapid.SliceOfN(rapid.Uint64Range(1, 5), n, n).Draw(t, name)
		}
		small := func(name string) int { return rapid.IntRange(0, 30).Draw(t, name) }
		groups := extracttest.Message(nil).Bytes(1, extracttest.StringTable("", "a", "b", "c", "d", "e"))
		if rapid.Bool().Draw(t, "granular") {
			groups = groups.Number(17, 1000)
		}
		for range rapid.IntRange(1, 4).Draw(t, "groups") {
			var group extracttest.Message
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				n := small("nodes")
				m := extracttest.Message(nil).Deltas(1, numbers(n, "ids")...).Deltas(8, numbers(n, "lats")...).Deltas(9,
					numbers(n, "lons")...)
				if rapid.Bool().Draw(t, "versions") {
					m = m.Bytes(5, extracttest.Message(nil).List(1, indexes(n, "version")...))
				}
				if rapid.Bool().Draw(t, "tagged") {
					var tags []uint64
					for range n {
						tags = append(append(tags, indexes(2*rapid.IntRange(0, 3).Draw(t, "tags"), "tag")...), 0)
					}
					m = m.List(10, tags...)
				}
				group = group.Bytes(2, m)
			case 1:
				for id := range rapid.IntRange(0, 5).Draw(t, "ways") {
					n := rapid.IntRange(0, 3).Draw(t, "tags")
					m := extracttest.Message(nil).Number(1, uint64(id)).List(2, indexes(n, "keys")...).List(3, indexes(n, "values")...)
					group = group.Bytes(3, m.Deltas(8, numbers(small("references"), "refs")...))
				}
			default:
				for id := range rapid.IntRange(0, 5).Draw(t, "relations") {
					n := small("members")
					m := extracttest.Message(nil).Number(1, uint64(id)).List(8, indexes(n, "roles")...).Deltas(9,
						numbers(n, "members")...)
					group = group.Bytes(4, m.List(10, slices.Repeat([]uint64{1}, n)...))
				}
			}
			groups = groups.Bytes(2, group)
		}
		file := slices.Concat(extracttest.Header(0, "OsmSchema-V0.6", "DenseNodes"),
			extracttest.Block("OSMData", groups, true))
		whole := objectsOf(t, file, maxWeight)
		most := int64(rapid.IntRange(1, 5000).Draw(t, "most"))
		parts := objectsOf(t, file, most)
		if diff := cmp.Diff(whole, parts); diff != "" {
			t.Errorf("divided at %d: %s", most, diff)
		}
	})
}
