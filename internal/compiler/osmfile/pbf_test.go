package osmfile_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// TestSamplePBF: a map is the same in each form of blocks and of nodes.
func TestSamplePBF(t *testing.T) {
	packed := func(field protowire.Number, pack func(raw []byte) []byte) func([]byte) []byte {
		return func(raw []byte) []byte {
			blob := osmtest.Message(nil).Number(2, uint64(len(raw))).Bytes(field, pack(raw))
			return osmtest.Frame("OSMData", blob)
		}
	}
	blocks := map[string]func(raw []byte) []byte{
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
	}
	for form, nodes := range map[string]osmtest.Nodes{"dense": osmtest.DenseNodes,
		"plain": osmtest.PlainNodes} {
		for name, block := range blocks {
			t.Run(form+" "+name, func(t *testing.T) {
				r := new(osmtest.Recorder)
				e := osmtest.Read(t, []string{osmtest.WriteFile(t, "sample.osm.pbf", osmtest.SampleOf(nodes, block))}, r)
				w := r.Way(7)
				if w == nil || w.Tags.Find("name") != "Sample Street" || w.Tags.Find("highway") != "residential" ||
					!slices.Equal(w.Nodes, []int64{1, 2, 3}) {
					t.Fatalf("way: %+v", w)
				}
				if want := (osm.Coord{Lat: 10010000, Lon: 20000000}); w.Coords[1] != want {
					t.Errorf("node 2: %+v", w.Coords[1])
				}
				if n := r.Node(1); len(r.Nodes) != 1 || n == nil || n.Tags.Find("amenity") != "cafe" {
					t.Errorf("nodes: %+v", r.Nodes)
				}
				members := []osm.Member{{ID: 7, Kind: region.KindWay, Role: "from"},
					{ID: 2, Kind: region.KindNode, Role: "via"}, {ID: 7, Kind: region.KindWay, Role: "to"}}
				if rel := r.Relation(9); rel == nil || !slices.Equal(rel.Members, members) ||
					rel.Tags.Find("restriction") != "no_u_turn" {
					t.Errorf("relation: %+v", rel)
				}
				if c := e.Counts; c.Nodes != 3 || c.Ways != 1 || c.Relations != 1 {
					t.Errorf("counts: %+v", c)
				}
				if !e.Timestamp.Equal(time.Unix(1500000000, 0)) {
					t.Errorf("timestamp %v", e.Timestamp)
				}
			})
		}
	}
}

// TestGranularity: positions may be given in other units, and beside an offset.
func TestGranularity(t *testing.T) {
	for name, c := range map[string]struct {
		granularity, latOffset, lat uint64
		want                        int32
	}{
		"usual":      {100, 0, 5, 5},
		"coarse":     {1000, 0, 5, 50},
		"fine, up":   {1, 0, 50, 1},
		"fine, down": {1, 0, 49, 0},
		"offset":     {100, 1_000_000_000, 5, 10_000_005},
	} {
		table := osmtest.StringTable("", "name", "A", "shop", "kiosk")
		nodes := osmtest.DenseNodes([]int64{1}, []int64{int64(c.lat)}, []int64{0}, [][]uint64{{1, 2, 3, 4}})
		block := osmtest.Primitive(table, nodes).Number(17, c.granularity).Number(19, c.latOffset)
		file := append(osmtest.Header(0), osmtest.Block("OSMData", block, true)...)
		r := new(osmtest.Recorder)
		osmtest.Read(t, []string{osmtest.WriteFile(t, "units.osm.pbf", file)}, r)
		if n := r.Node(1); n == nil || n.At != (osm.Coord{Lat: c.want}) {
			t.Errorf("%s: %+v, want %v", name, n, c.want)
		}
	}
}

// TestLocationsOnWays: in such files the nodes without tags may be missing.
func TestLocationsOnWays(t *testing.T) {
	table := osmtest.StringTable("", "highway", "primary")
	way := osmtest.Message(nil).Bytes(3, osmtest.Message(nil).Number(1, 7).List(2, 1).List(3, 2).Deltas(8, 1, 2).
		Deltas(9, 10000000, 10010000).Deltas(10, 20000000, 20010000))
	header := osmtest.Message(nil).Bytes(4, []byte("OsmSchema-V0.6")).Bytes(5, []byte("LocationsOnWays"))
	file := append(osmtest.Block("OSMHeader", header, false),
		osmtest.Block("OSMData", osmtest.Primitive(table, way), true)...)
	r := new(osmtest.Recorder)
	e := osmtest.Read(t, []string{osmtest.WriteFile(t, "located.osm.pbf", file)}, r)
	want := []osm.Coord{{Lat: 10000000, Lon: 20000000}, {Lat: 10010000, Lon: 20010000}}
	if w := r.Way(7); w == nil || !slices.Equal(w.Coords, want) || w.Lacks != 0 || !slices.Equal(w.Numbers, []uint64{0, 1}) {
		t.Errorf("%+v", w)
	}
	if len(e.Tiles.Sorted()) == 0 || e.Bounds.Min != want[0].Point() || e.Bounds.Max != want[1].Point() {
		t.Errorf("tiles %v, bounds %v", e.Tiles.Sorted(), e.Bounds)
	}
}

// TestMixedBlock: a block is left out of a scan only where all of it is of other kinds.
func TestMixedBlock(t *testing.T) {
	table := osmtest.StringTable("", "highway", "residential", strings.Repeat("long ", 100))
	way := osmtest.Message(nil).Bytes(3, osmtest.Message(nil).Number(1, 7).List(2, 1).List(3, 2).Deltas(8, 1, 2))
	nodes := osmtest.DenseNodes([]int64{1, 2}, []int64{1, 2}, []int64{1, 2}, [][]uint64{nil, nil})
	relation := osmtest.Message(nil).Bytes(4, osmtest.Message(nil).Number(1, 9))
	ways, mixed := osmtest.Primitive(table, way), osmtest.Primitive(table, way).Bytes(2, nodes).Bytes(2, relation)
	file := slices.Concat(osmtest.Header(0), osmtest.Block("OSMData", ways, true),
		osmtest.Block("OSMData", mixed, true))
	e := osmtest.Read(t, []string{osmtest.WriteFile(t, "mixed.osm.pbf", file)}, new(osmtest.Recorder))
	if c := e.Counts; c.Nodes != 2 || c.Ways != 2 || c.Relations != 1 || c.MissingNodes != 0 {
		t.Errorf("%+v", c)
	}
}

// TestHostilePBF: data that its decoder would trip over is refused before.
func TestHostilePBF(t *testing.T) {
	table := osmtest.StringTable("", "name", "Corner")
	group := func(field protowire.Number, m osmtest.Message) osmtest.Message {
		return osmtest.Primitive(table, osmtest.Message(nil).Bytes(field, m))
	}
	dense := osmtest.Message(nil).Deltas(1, 1, 2).Deltas(8, 1, 2).Deltas(9, 1, 2)
	way := osmtest.Message(nil).Number(1, 7)
	relation := osmtest.Message(nil).Number(1, 9)
	tests := []struct {
		name string
		data osmtest.Message
		want string
	}{
		{"no string table", osmtest.Message(nil).Bytes(2, osmtest.Message(nil).Bytes(2, dense)), "malformed"},
		{"a number as string table", osmtest.Message(nil).Number(1, 5), "malformed"},
		{"fewer latitudes", group(2, osmtest.Message(nil).Deltas(1, 1, 2).Deltas(8, 1).Deltas(9, 1, 2)), "malformed"},
		{"no longitudes", group(2, osmtest.Message(nil).Deltas(1, 1, 2).Deltas(8, 1, 2)), "malformed"},
		{"unending number", group(2, osmtest.Message(nil).Bytes(1, []byte{0x80}).Bytes(8, []byte{0x80}).
			Bytes(9, []byte{0x80})), "malformed"},
		{"overlong number", group(2, osmtest.Message(nil).Bytes(1, bytes.Repeat([]byte{0x80}, 20))), "malformed"},
		{"tags beyond the string table", group(2, dense.List(10, 1, 3, 0, 0)), "string 3 of 3"},
		{"key without value", group(2, dense.List(10, 0, 0, 1)), "malformed"},
		{"tags of too few nodes", group(2, dense.List(10, 1, 2, 0)), "malformed"},
		{"tags of too many nodes", group(2, dense.List(10, 0, 0, 0)), "malformed"},
		{"fewer versions", group(2, dense.Bytes(5, osmtest.Message(nil).List(1, 1))), "malformed"},
		{"way tags beyond the string table", group(3, way.List(2, 1).List(3, 9)), "string 9 of 3"},
		{"more keys than values", group(3, way.List(2, 1, 2).List(3, 1)), "malformed"},
		{"keys without values", group(3, way.List(2, 1)), "malformed"},
		{"more latitudes than references", group(3, way.Deltas(8, 1).Deltas(9, 1, 2).Deltas(10, 1, 2)), "malformed"},
		{"more roles than members", group(4, relation.List(8, 1, 1).Deltas(9, 1).List(10, 1)), "malformed"},
		{"more members than roles", group(4, relation.List(8, 1).Deltas(9, 1, 2).List(10, 1, 1)), "malformed"},
		{"roles beyond the string table", group(4, relation.List(8, 3).Deltas(9, 1).List(10, 1)), "string 3 of 3"},
		{"role of many bits", group(4, relation.List(8, 1<<63).Deltas(9, 1).List(10, 1)), "malformed"},
		{"fixed-width fields", group(3, protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), 1)),
			"malformed"},
		{"truncated message", group(3, way)[:12], "malformed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := append(osmtest.Header(0, "OsmSchema-V0.6", "DenseNodes"),
				osmtest.Block("OSMData", test.data, false)...)
			checkRefused(t, "hostile.osm.pbf", file, test.want)
		})
	}
}

// TestTooLarge: an object beyond the limits is left out and counted, and what comes behind it is read. Of tags beyond the
// limit the first ones stay.
func TestTooLarge(t *testing.T) {
	const maxRefs, maxMembers, maxTags = 1 << 16, 1 << 17, 1000
	texts := []string{"", "highway", "service"}
	for i := range maxTags + 100 {
		texts = append(texts, fmt.Sprint("key", i))
	}
	group := func(m osmtest.Message) []byte {
		return osmtest.Block("OSMData", osmtest.Primitive(osmtest.StringTable(texts...), m), true)
	}
	way := func(id uint64, nodes int) osmtest.Message {
		refs := make([]byte, nodes) // the same node again and again
		refs[0] = 2
		return osmtest.Message(nil).Bytes(3, osmtest.Message(nil).Number(1, id).List(2, 1).List(3, 2).Bytes(8, refs))
	}
	relation := func(id uint64, members int) osmtest.Message {
		same := make([]byte, members)
		return osmtest.Message(nil).Bytes(4, osmtest.Message(nil).Number(1, id).Bytes(8, same).Bytes(9, same).
			Bytes(10, same))
	}
	var keys, pairs []uint64
	for i := range maxTags + 100 {
		keys, pairs = append(keys, uint64(3+i)), append(pairs, uint64(3+i), 2)
	}
	node := osmtest.Message(nil).Bytes(2, osmtest.Message(nil).Deltas(1, 1).Deltas(8, 1).Deltas(9, 1).
		List(10, append(pairs, 0)...))
	tagged := osmtest.Message(nil).Bytes(3, osmtest.Message(nil).Number(1, 4).List(2, keys...).
		List(3, slices.Repeat([]uint64{2}, len(keys))...).Deltas(8, 1, 2))
	ways := slices.Concat(way(1, maxRefs+1), way(2, maxRefs), way(3, 2), tagged)
	relations := slices.Concat(relation(1, maxMembers+1), relation(2, maxMembers))
	file := slices.Concat(osmtest.Header(0, "OsmSchema-V0.6", "DenseNodes"), group(node), group(ways), group(relations))
	r := new(osmtest.Recorder)
	e := osmtest.Read(t, []string{osmtest.WriteFile(t, "large.osm.pbf", file)}, r)
	if c := e.Counts; c.Nodes != 1 || c.Ways != 3 || c.Relations != 1 || c.TooLarge != 2 {
		t.Errorf("counts: %+v", c)
	}
	// The ways 2 and 3 have only one node, again and again.
	if w := r.Way(4); len(r.Ways) != 1 || w == nil || w.Tags.Len() != maxTags || w.Tags.Find("key0") != "service" {
		t.Errorf("%d ways, the last %+v", len(r.Ways), w)
	}
	if n := r.Node(1); n == nil || n.Tags.Len() != maxTags || n.Tags.Find("key999") == "" || n.Tags.Find("key1000") != "" {
		t.Errorf("node %+v", n)
	}
	if rel := r.Relation(2); len(r.Relations) != 1 || rel == nil || len(rel.Members) != maxMembers {
		t.Errorf("%d relations", len(r.Relations))
	}

	var b strings.Builder
	b.WriteString(`<node id="1" lat="0" lon="0"/><way id="1">` + strings.Repeat(`<nd ref="1"/>`, maxRefs+1) + `</way>`)
	b.WriteString(`<way id="2"><nd ref="1"/><nd ref="2"/></way><relation id="1">`)
	b.WriteString(strings.Repeat(`<member type="node" ref="1" role=""/>`, maxMembers+1))
	b.WriteString(`</relation><relation id="2"/>`)
	r = new(osmtest.Recorder)
	e = osmtest.ReadXML(t, b.String(), r)
	if c := e.Counts; c.Ways != 1 || c.Relations != 1 || c.TooLarge != 2 || len(r.Ways) != 1 || r.Relation(2) == nil {
		t.Errorf("XML: %+v", c)
	}
}

// TestHostileBlocks: the same for what is around the data.
func TestHostileBlocks(t *testing.T) {
	header := osmtest.Header(0, "OsmSchema-V0.6", "DenseNodes")
	after := func(more []byte) []byte { return append(bytes.Clone(header), more...) }
	good := osmtest.Sample(true)
	// A group of a kind that nobody knows, 20 MB of it.
	group := osmtest.Message(nil).Bytes(100, make([]byte, 20<<20))
	spaces := osmtest.Block("OSMData", osmtest.Primitive(osmtest.StringTable(""), group), true)
	bomb := osmtest.Frame("OSMData", osmtest.Message(nil).Number(2, 100).
		Bytes(3, deflate(bytes.Repeat([]byte{0}, 1<<20))))
	tests := []struct {
		name string
		file []byte
		want string
	}{
		{"data beyond its claim", after(bomb), "does not unpack to the 100 bytes that it says"},
		{"a huge claim", after(osmtest.Frame("OSMData",
			osmtest.Message(nil).Number(2, 1<<31).Bytes(3, deflate([]byte{1})))), "more than the format allows"},
		{"a claim without data", after(osmtest.Frame("OSMData",
			osmtest.Message(nil).Number(2, 30<<20).Bytes(3, deflate([]byte{1})))), "does not unpack to the 31457280 bytes that it says"},
		{"no data", after(osmtest.Frame("OSMData", osmtest.Message(nil).Number(2, 5))), "no data that is"},
		{"lzma", after(osmtest.Frame("OSMData", osmtest.Message(nil).Number(2, 5).Bytes(4, []byte("lzma")))),
			"no data that is"},
		{"bad lz4", after(osmtest.Frame("OSMData", osmtest.Message(nil).Number(2, 5).Bytes(6, []byte("no lz4")))),
			"lz4"},
		{"an lz4 bomb", after(osmtest.Frame("OSMData", osmtest.Message(nil).Number(2, 30<<20).Bytes(6,
			[]byte("lz4")))),
			"lz4"},
		{"bad zstd", after(osmtest.Frame("OSMData", osmtest.Message(nil).Number(2, 5).Bytes(7, []byte("no zstd")))),
			"cannot be unpacked"},
		{"bad zlib", after(osmtest.Frame("OSMData", osmtest.Message(nil).Number(2, 5).Bytes(3, []byte("no zlib")))),
			"zlib"},
		{"unknown type", after(osmtest.Block("Surprise", nil, false)), `unexpected type "Surprise"`},
		{"second header", after(header), `unexpected type "OSMHeader"`},
		{"block of 2 GB", after([]byte("\x00\x00\x00\x0f\x0a\x07OSMData\x18\xff\xff\xff\xff\x07")),
			"more than the format allows"},
		{"block of -1 bytes", after([]byte("\x00\x00\x00\x14\x0a\x07OSMData\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
			"more than the format allows"},
		{"header of 2 GB", after([]byte("\x7f\xff\xff\xff")), "more than the format allows"},
		{"history", osmtest.Header(0, "OsmSchema-V0.6", "HistoricalInformation"), "history"},
		{"unknown feature", osmtest.Header(0, "OsmSchema-V0.7"), `"OsmSchema-V0.7"`},
		{"truncated in a length", after([]byte{0, 0}), "truncated"},
		{"truncated in a header", after([]byte("\x00\x00\x00\x10\x0a\x07")), "truncated"},
		{"truncated after a length", after([]byte("\x00\x00\x00\x10")), "truncated"},
		{"truncated in the data", good[:len(good)-3], "truncated"},
		{"header alone", header, "no map data"},
		{"much in little", after(bytes.Repeat(spaces, 4)), "no map data"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkRefused(t, "hostile.osm.pbf", test.file, test.want) })
	}
}

func deflate(data []byte) []byte {
	block := osmtest.Block("", data, true)
	// Field 3 of the blob, which is all that follows the frame's header and the size.
	for i := range block {
		if bytes.HasPrefix(block[i:], []byte("\x78\x9c")) {
			return block[i:]
		}
	}
	return nil
}

// checkRefused expects an error of one line that names the file and says what is wanted.
func checkRefused(t *testing.T, name string, content []byte, want string) {
	t.Helper()
	path := osmtest.WriteFile(t, name, content)
	e, err := osm.Read(t.Context(), osmtest.Dir(t), []string{path}, nil, new(osmtest.Recorder))
	if err == nil {
		t.Fatalf("accepted: %+v", e.Counts)
	}
	if text := err.Error(); !strings.HasPrefix(text, path+": ") || !strings.Contains(text, want) ||
		strings.Contains(text, "\n") {
		t.Errorf("%q, want %q", text, want)
	}
}
