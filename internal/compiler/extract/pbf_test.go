package extract

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract/extracttest"
)

// TestSamplePBF: a map is the same in each form of blocks and of nodes.
func TestSamplePBF(t *testing.T) {
	packed := func(field protowire.Number, pack func(raw []byte) []byte) func([]byte) []byte {
		return func(raw []byte) []byte {
			blob := extracttest.Message(nil).Number(2, uint64(len(raw))).Bytes(field, pack(raw))
			return extracttest.Frame("OSMData", blob)
		}
	}
	blocks := map[string]func(raw []byte) []byte{
		"raw":  func(raw []byte) []byte { return extracttest.Block("OSMData", raw, false) },
		"zlib": func(raw []byte) []byte { return extracttest.Block("OSMData", raw, true) },
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
	for form, nodes := range map[string]extracttest.Nodes{"dense": extracttest.DenseNodes,
		"plain": extracttest.PlainNodes} {
		for name, block := range blocks {
			t.Run(form+" "+name, func(t *testing.T) {
				d := mustRead(t, writeFile(t, "sample.osm.pbf", extracttest.SampleOf(nodes, block)))
				if len(d.Roads) != 1 || d.Roads[0].Name != "Sample Street" || len(d.Roads[0].Nodes) != 3 {
					t.Fatalf("roads: %+v", d.Roads)
				}
				if want := (Node{Lat: 10010000, Lon: 20000000}); d.Nodes[1].Node != want {
					t.Errorf("node 2: %+v", d.Nodes[1])
				}
				if f := d.feature(mapdata.KindNode, 1); f == nil || f.Tags.Get("amenity") != "cafe" {
					t.Errorf("node 1: %+v", f)
				}
				if d.feature(mapdata.KindWay, 7) == nil || len(d.Restrictions) != 1 {
					t.Errorf("features: %+v, restrictions: %+v", d.Features, d.Restrictions)
				}
				if c := d.Counts; c.Nodes != 3 || c.Ways != 1 || c.Relations != 1 {
					t.Errorf("counts: %+v", c)
				}
				if !d.Timestamp.Equal(time.Unix(1500000000, 0)) {
					t.Errorf("timestamp %v", d.Timestamp)
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
		table := extracttest.StringTable("", "name", "A", "shop", "kiosk")
		nodes := extracttest.DenseNodes([]int64{1}, []int64{int64(c.lat)}, []int64{0}, [][]uint64{{1, 2, 3, 4}})
		block := extracttest.Primitive(table, nodes).Number(17, c.granularity).Number(19, c.latOffset)
		file := append(extracttest.Header(0), extracttest.Block("OSMData", block, true)...)
		f := mustRead(t, writeFile(t, "units.osm.pbf", file)).feature(mapdata.KindNode, 1)
		if want := toPoint(c.want, 0); f == nil || f.Geometry != want {
			t.Errorf("%s: %+v, want %v", name, f, want)
		}
	}
}

// TestLocationsOnWays: in such files the nodes without tags may be missing.
func TestLocationsOnWays(t *testing.T) {
	table := extracttest.StringTable("", "highway", "primary")
	way := extracttest.Message(nil).Bytes(3, extracttest.Message(nil).Number(1, 7).List(2, 1).List(3, 2).Deltas(8, 1, 2).
		Deltas(9, 10000000, 10010000).Deltas(10, 20000000, 20010000))
	file := append(extracttest.Header(0, "OsmSchema-V0.6"),
		extracttest.Block("OSMData", extracttest.Primitive(table, way), true)...)
	d := mustRead(t, writeFile(t, "located.osm.pbf", file))
	want := []roadNode{{Node: Node{Lat: 10000000, Lon: 20000000}}, {Node: Node{Lat: 10010000, Lon: 20010000}}}
	if diff := cmp.Diff(want, d.Nodes); diff != "" {
		t.Error(diff)
	}
	if len(d.Roads) != 1 || len(d.Tiles) == 0 {
		t.Errorf("roads %+v, tiles %v", d.Roads, d.Tiles)
	}
}

// TestHostilePBF: data that its decoder would trip over is refused before.
func TestHostilePBF(t *testing.T) {
	table := extracttest.StringTable("", "name", "Corner")
	group := func(field protowire.Number, m extracttest.Message) extracttest.Message {
		return extracttest.Primitive(table, extracttest.Message(nil).Bytes(field, m))
	}
	dense := extracttest.Message(nil).Deltas(1, 1, 2).Deltas(8, 1, 2).Deltas(9, 1, 2)
	way := extracttest.Message(nil).Number(1, 7)
	relation := extracttest.Message(nil).Number(1, 9)
	many, tags := make([]byte, maxMembers+1), slices.Repeat([]uint64{1}, maxAllTags+1)
	tests := []struct {
		name string
		data extracttest.Message
		want string
	}{
		{"a plain node with a list as latitude", group(1, extracttest.Message(nil).Bytes(8, []byte{1})), "malformed"},
		{"no string table", extracttest.Message(nil).Bytes(2, extracttest.Message(nil).Bytes(2, dense)), "malformed"},
		{"two string tables", append(extracttest.Primitive(table, nil), extracttest.Primitive(table, nil)...), "malformed"},
		{"a number as string table", extracttest.Message(nil).Number(1, 5), "malformed"},
		{"a number as group", extracttest.Message(nil).Bytes(1, table).Number(2, 5), "malformed"},
		{"a list as granularity", append(extracttest.Message(nil).Bytes(17, []byte{1}),
			extracttest.Primitive(table, nil)...), "malformed"},
		{"fewer latitudes", group(2, extracttest.Message(nil).Deltas(1, 1, 2).Deltas(8, 1).Deltas(9, 1, 2)), "malformed"},
		{"no longitudes", group(2, extracttest.Message(nil).Deltas(1, 1, 2).Deltas(8, 1, 2)), "malformed"},
		{"ids twice", group(2, dense.Deltas(1, 1, 2)), "malformed"},
		{"ids as number", group(2, extracttest.Message(nil).Number(1, 1)), "malformed"},
		{"unending number", group(2, extracttest.Message(nil).Bytes(1, []byte{0x80}).Bytes(8, []byte{0x80}).
			Bytes(9, []byte{0x80})), "malformed"},
		{"overlong number", group(2, extracttest.Message(nil).Bytes(1, bytes.Repeat([]byte{0x80}, 20))), "malformed"},
		{"tags beyond the string table", group(2, dense.List(10, 1, 3, 0, 0)), "string 3 of 3"},
		{"key without value", group(2, dense.List(10, 0, 0, 1)), "malformed"},
		{"tags of too few nodes", group(2, dense.List(10, 1, 2, 0)), "malformed"},
		{"tags of too many nodes", group(2, dense.List(10, 0, 0, 0)), "malformed"},
		{"user beyond the string table", group(2, dense.Bytes(5, extracttest.Message(nil).Deltas(5, 1, 3))), "string 3 of 3"},
		{"negative user", group(2, dense.Bytes(5, extracttest.Message(nil).Deltas(5, 1, -1))), "malformed"},
		{"fewer versions", group(2, dense.Bytes(5, extracttest.Message(nil).List(1, 1))), "malformed"},
		{"way id as list", group(3, extracttest.Message(nil).Bytes(1, []byte{7})), "malformed"},
		{"way tags beyond the string table", group(3, way.List(2, 1).List(3, 9)), "string 9 of 3"},
		{"more keys than values", group(3, way.List(2, 1, 2).List(3, 1)), "malformed"},
		{"keys without values", group(3, way.List(2, 1)), "malformed"},
		{"references twice", group(3, way.Deltas(8, 1).Deltas(8, 1, 2, 3)), "malformed"},
		{"more latitudes than references", group(3, way.Deltas(8, 1).Deltas(9, 1, 2).Deltas(10, 1, 2)), "malformed"},
		{"way user beyond the string table", group(3, way.Bytes(4, extracttest.Message(nil).Number(5, 77))),
			"string 77 of 3"},
		{"way info with a list", group(3, way.Bytes(4, extracttest.Message(nil).Bytes(5, []byte{1}))), "malformed"},
		{"more roles than members", group(4, relation.List(8, 1, 1).Deltas(9, 1).List(10, 1)), "malformed"},
		{"more members than roles", group(4, relation.List(8, 1).Deltas(9, 1, 2).List(10, 1, 1)), "malformed"},
		{"roles beyond the string table", group(4, relation.List(8, 3).Deltas(9, 1).List(10, 1)), "string 3 of 3"},
		{"role of many bits", group(4, relation.List(8, 1<<63).Deltas(9, 1).List(10, 1)), "malformed"},
		{"fixed-width fields", group(3, protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), 1)),
			"malformed"},
		{"truncated message", group(3, way)[:12], "malformed"},
		{"a way of many nodes", group(3, way.Bytes(8, make([]byte, maxRefs+1))), "a way of 65537 nodes"},
		{"a relation of many members", group(4, relation.Bytes(8, many).Bytes(9, many).Bytes(10, many)),
			"a relation of 131073 members"},
		{"a way of many tags", group(3, way.List(2, tags...).List(3, tags...)), "an object of more than 16384 tags"},
		{"a node of many tags", group(2, extracttest.Message(nil).Deltas(1, 1).Deltas(8, 1).Deltas(9, 1).
			List(10, append(slices.Concat(tags, tags), 0)...)), "an object of more than 16384 tags"},
		{"a long text", extracttest.Primitive(extracttest.StringTable("", strings.Repeat("x", maxText+1)), nil),
			"a text of 65537 bytes"},
		{"many texts", extracttest.Primitive(bytes.Repeat([]byte{0x0a, 0}, maxStrings+1), nil), "more than 1048576 texts"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := append(extracttest.Header(0, "OsmSchema-V0.6", "DenseNodes"),
				extracttest.Block("OSMData", test.data, false)...)
			checkRefused(t, "hostile.osm.pbf", file, test.want)
		})
	}
}

// TestHostileBlocks: the same for what is around the data.
func TestHostileBlocks(t *testing.T) {
	header := extracttest.Header(0, "OsmSchema-V0.6", "DenseNodes")
	after := func(more []byte) []byte { return append(bytes.Clone(header), more...) }
	good := extracttest.Sample(true)
	// A group of a kind that nobody knows, 20 MB of it.
	group := extracttest.Message(nil).Bytes(100, make([]byte, 20<<20))
	spaces := extracttest.Block("OSMData", extracttest.Primitive(extracttest.StringTable(""), group), true)
	bomb := extracttest.Frame("OSMData", extracttest.Message(nil).Number(2, 100).
		Bytes(3, deflate(bytes.Repeat([]byte{0}, 1<<20))))
	tests := []struct {
		name string
		file []byte
		want string
	}{
		{"data beyond its claim", after(bomb), "101 bytes uncompressed, not 100 as it says"},
		{"a huge claim", after(extracttest.Frame("OSMData",
			extracttest.Message(nil).Number(2, 1<<31).Bytes(3, deflate([]byte{1})))), "more than the format allows"},
		{"a claim without data", after(extracttest.Frame("OSMData",
			extracttest.Message(nil).Number(2, 30<<20).Bytes(3, deflate([]byte{1})))), "1 bytes uncompressed"},
		{"no data", after(extracttest.Frame("OSMData", extracttest.Message(nil).Number(2, 5))), "no data"},
		{"lzma", after(extracttest.Frame("OSMData", extracttest.Message(nil).Number(2, 5).Bytes(4, []byte("lzma")))),
			"compressed with lzma"},
		{"bad lz4", after(extracttest.Frame("OSMData", extracttest.Message(nil).Number(2, 5).Bytes(6, []byte("no lz4")))),
			"lz4"},
		{"an lz4 bomb", after(extracttest.Frame("OSMData", extracttest.Message(nil).Number(2, 30<<20).Bytes(6,
			[]byte("lz4")))),
			"3 bytes cannot hold"},
		{"bad zstd", after(extracttest.Frame("OSMData", extracttest.Message(nil).Number(2, 5).Bytes(7, []byte("no zstd")))),
			"zstd"},
		{"bad zlib", after(extracttest.Frame("OSMData", extracttest.Message(nil).Number(2, 5).Bytes(3, []byte("no zlib")))),
			"zlib"},
		{"unknown type", after(extracttest.Block("Surprise", nil, false)), `unexpected type "Surprise"`},
		{"second header", after(header), `unexpected type "OSMHeader"`},
		{"block of 2 GB", after([]byte("\x00\x00\x00\x0f\x0a\x07OSMData\x18\xff\xff\xff\xff\x07")),
			"more than the format allows"},
		{"block of -1 bytes", after([]byte("\x00\x00\x00\x14\x0a\x07OSMData\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
			"more than the format allows"},
		{"header of 2 GB", after([]byte("\x7f\xff\xff\xff")), "more than the format allows"},
		{"history", extracttest.Header(0, "OsmSchema-V0.6", "HistoricalInformation"), "history"},
		{"unknown feature", extracttest.Header(0, "OsmSchema-V0.7"), `"OsmSchema-V0.7"`},
		{"truncated in a length", after([]byte{0, 0}), "truncated"},
		{"truncated in a header", after([]byte("\x00\x00\x00\x10\x0a\x07")), "truncated"},
		{"truncated after a length", after([]byte("\x00\x00\x00\x10")), "truncated"},
		{"truncated in the data", good[:len(good)-3], "truncated"},
		{"header alone", header, "no map data"},
		{"a large header", extracttest.Block("OSMHeader", make([]byte, maxHeader+1), true), "a header of 1048577 bytes"},
		{"much in little", after(bytes.Repeat(spaces, 4)), "unpacks to more than 100 times its size"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkRefused(t, "hostile.osm.pbf", test.file, test.want) })
	}
}

func deflate(data []byte) []byte {
	block := extracttest.Block("", data, true)
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
	path := writeFile(t, name, content)
	d, err := Read(t.Context(), openScratch(t), []string{path}, Options{})
	if err == nil {
		t.Fatalf("accepted: %+v", d.Counts)
	}
	if text := err.Error(); !strings.HasPrefix(text, path+": ") || !strings.Contains(text, want) ||
		strings.Contains(text, "\n") {
		t.Errorf("%q, want %q", text, want)
	}
}

// memoryFile is a file that is in memory only.
type memoryFile struct{ *bytes.Reader }

func (memoryFile) Close() error { return nil }
