package osmfile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// read reads a PBF file of some blocks.
func read(t *testing.T, parts ...[]byte) (*osmtest.Recorder, *osm.Extracts) {
	t.Helper()
	r := new(osmtest.Recorder)
	return r, osmtest.Read(t, []string{osmtest.WriteFile(t, "map.osm.pbf", slices.Concat(parts...))}, r)
}

// data is a block of data with one group.
func data(texts []string, group message) []byte {
	return osmtest.Block("OSMData", osmtest.Primitive(osmtest.StringTable(texts...), group), true)
}

// TestSamplePBF: a map is the same in each form of blocks and of nodes.
func TestSamplePBF(t *testing.T) {
	t.Parallel()
	packed := func(field protowire.Number, pack func(raw []byte) []byte) func([]byte) []byte {
		return func(raw []byte) []byte {
			return osmtest.Frame("OSMData", message(nil).Number(2, uint64(len(raw))).Bytes(field, pack(raw)))
		}
	}
	want := []string{"n1 20000000 10000000 name=Corner amenity=cafe", "r9 w7:from n2:via w7:to type=restriction restriction=no_u_turn",
		"w7 1 2 3 highway=residential name=Sample+Street"}
	for form, nodes := range map[string]osmtest.Nodes{"dense": osmtest.DenseNodes, "plain": osmtest.PlainNodes} {
		for name, block := range map[string]func(raw []byte) []byte{
			"raw":  func(raw []byte) []byte { return osmtest.Block("OSMData", raw, false) },
			"zlib": func(raw []byte) []byte { return osmtest.Block("OSMData", raw, true) },
			"lz4": packed(6, func(raw []byte) []byte {
				out := make([]byte, lz4.CompressBlockBound(len(raw)))
				n, err := lz4.CompressBlock(raw, out, nil)
				if err != nil || n == 0 {
					t.Fatal(n, err)
				}
				return out[:n]
			}),
			"zstd": packed(7, func(raw []byte) []byte {
				w, err := zstd.NewWriter(nil)
				if err != nil {
					t.Fatal(err)
				}
				return w.EncodeAll(raw, nil)
			}),
		} {
			r, e := read(t, osmtest.SampleOf(nodes, block))
			if diff := cmp.Diff(want, r.Objects()); diff != "" || e.Counts != (osm.Counts{Nodes: 3, Ways: 1, Relations: 1}) ||
				!e.Timestamp.Equal(time.Unix(1500000000, 0)) || r.Ways[0].Coords[1] != (osm.Coord{Lat: 10010000, Lon: 20000000}) {
				t.Errorf("%s %s: %+v, %s", form, name, e, diff)
			}
		}
	}
}

// TestGranularity: positions may be given in other units, and beside an offset.
func TestGranularity(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		granularity, latOffset uint64
		lat                    int64
		want                   int32
	}{
		"usual":      {100, 0, 5, 5},
		"coarse":     {1000, 0, 5, 50},
		"fine, up":   {1, 0, 50, 1},
		"fine, down": {1, 0, 49, 0},
		"offset":     {100, 1_000_000_000, 5, 10_000_005},
	} {
		nodes := osmtest.DenseNodes([]int64{1}, []int64{c.lat}, []int64{0}, [][]uint64{{1, 2}})
		block := osmtest.Primitive(osmtest.StringTable("", "shop", "kiosk"), nodes).Number(17, c.granularity).Number(19, c.latOffset)
		r, _ := read(t, osmtest.Header(0), osmtest.Block("OSMData", block, true))
		if len(r.Nodes) != 1 || r.Nodes[0].At != (osm.Coord{Lat: c.want}) {
			t.Errorf("%s: %+v, want %v", name, r.Nodes, c.want)
		}
	}
}

// TestLocationsOnWays: in such files the nodes without tags may be missing.
func TestLocationsOnWays(t *testing.T) {
	t.Parallel()
	way := message(nil).Bytes(3, message(nil).Number(1, 7).List(2, 1).List(3, 2).Deltas(8, 1, 2).
		Deltas(9, 10000000, 10010000).Deltas(10, 20000000, 20010000))
	header := message(nil).Bytes(4, []byte("OsmSchema-V0.6")).Bytes(5, []byte("LocationsOnWays"))
	r, e := read(t, osmtest.Block("OSMHeader", header, false), data([]string{"", "highway", "primary"}, way))
	want := []osm.Coord{{Lat: 10000000, Lon: 20000000}, {Lat: 10010000, Lon: 20010000}}
	if w := r.Way(7); w == nil || !slices.Equal(w.Coords, want) || w.Lacks != 0 || !slices.Equal(w.Numbers, []uint64{0, 1}) {
		t.Errorf("%+v", w)
	}
	if len(e.Tiles.Sorted()) == 0 || e.Bounds.Min != want[0].Point() || e.Bounds.Max != want[1].Point() {
		t.Errorf("tiles %v, bounds %v", e.Tiles.Sorted(), e.Bounds)
	}
}

// TestMixedBlock: a scan skips a block only where all of it is of other kinds.
func TestMixedBlock(t *testing.T) {
	t.Parallel()
	table := osmtest.StringTable("", "highway", "residential", strings.Repeat("long ", 100))
	way := message(nil).Bytes(3, message(nil).Number(1, 7).List(2, 1).List(3, 2).Deltas(8, 1, 2))
	nodes := osmtest.DenseNodes([]int64{1, 2}, []int64{1, 2}, []int64{1, 2}, [][]uint64{nil, nil})
	ways := osmtest.Primitive(table, way)
	mixed := slices.Clone(ways).Bytes(2, nodes).Bytes(2, message(nil).Bytes(4, message(nil).Number(1, 9)))
	_, e := read(t, osmtest.Header(0), osmtest.Block("OSMData", ways, true), osmtest.Block("OSMData", mixed, true))
	if e.Counts != (osm.Counts{Nodes: 2, Ways: 2, Relations: 1}) {
		t.Errorf("%+v", e.Counts)
	}
}

// TestTooLarge: an object beyond the limits is left out and counted, and those behind it are read. Of too many tags the
// first ones stay.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	const maxRefs, maxMembers, maxTags = 1 << 16, 1 << 17, 1000
	texts := []string{"", "highway", "service"}
	var keys, pairs []uint64
	for i := range uint64(maxTags + 100) {
		texts = append(texts, fmt.Sprint("key", i))
		keys, pairs = append(keys, 3+i), append(pairs, 3+i, 2)
	}
	way := func(id uint64, nodes int) message {
		refs := make([]byte, nodes) // the same node again and again
		refs[0] = 2
		return message(nil).Bytes(3, message(nil).Number(1, id).List(2, 1).List(3, 2).Bytes(8, refs))
	}
	relation := func(id uint64, members int) message {
		same := make([]byte, members)
		return message(nil).Bytes(4, message(nil).Number(1, id).Bytes(8, same).Bytes(9, same).Bytes(10, same))
	}
	tagged := message(nil).Bytes(3, message(nil).Number(1, 4).List(2, keys...).
		List(3, slices.Repeat([]uint64{2}, len(keys))...).Deltas(8, 1, 2))
	r, e := read(t, osmtest.Header(0, "OsmSchema-V0.6", "DenseNodes"),
		data(texts, osmtest.DenseNodes([]int64{1}, []int64{1}, []int64{1}, [][]uint64{pairs})),
		data(texts, slices.Concat(way(1, maxRefs+1), way(2, maxRefs), way(3, 2), tagged)),
		data(texts, slices.Concat(relation(1, maxMembers+1), relation(2, maxMembers))))
	if c := e.Counts; c.Nodes != 1 || c.Ways != 3 || c.Relations != 1 || c.TooLarge != 2 {
		t.Errorf("counts: %+v", c)
	}
	// The ways 2 and 3 have a single node.
	if w := r.Way(4); len(r.Ways) != 1 || w == nil || w.Tags.Len() != maxTags || w.Tags.Find("key0") != "service" {
		t.Errorf("%d ways, the last %+v", len(r.Ways), w)
	}
	if n := r.Nodes[0]; n.Tags.Len() != maxTags || n.Tags.Find("key999") == "" || n.Tags.Find("key1000") != "" {
		t.Errorf("node %+v", n)
	}
	if len(r.Relations) != 1 || r.Relations[0].ID != 2 || len(r.Relations[0].Members) != maxMembers {
		t.Errorf("%d relations", len(r.Relations))
	}

	xml := `<node id="1" lat="0" lon="0"/><way id="1">` + strings.Repeat(`<nd ref="1"/>`, maxRefs+1) + `</way>` +
		`<way id="2"><nd ref="1"/><nd ref="2"/></way><relation id="1">` +
		strings.Repeat(`<member type="node" ref="1" role=""/>`, maxMembers+1) + `</relation><relation id="2"/>`
	if c := osmtest.ReadXML(t, xml).Counts; c.Ways != 1 || c.Relations != 1 || c.TooLarge != 2 {
		t.Errorf("XML: %+v", c)
	}
}
