package osmfile_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

type message = osmtest.Message

// TestRefused: a file that is no extract, is truncated, damaged or hostile is refused with an error of one line that names
// the file and says what is wrong.
func TestRefused(t *testing.T) {
	t.Parallel()
	read := func(name string) []byte {
		content, err := os.ReadFile(testkit.Extract(t, name))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	pbf, bz2, text := read(testkit.Delaware), read(testkit.Andorra), osmtest.Crossing.XML()
	zipped := gzipped([]byte(text))
	zstandard, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(pbf[:300_000])
	for i := range 50 {
		damaged[200_000+i] ^= 0x55
	}
	type test struct {
		name    string
		content []byte
		want    string
	}
	tests := []test{
		{"empty", nil, "is empty"},
		{"short", pbf[:8], "not an OpenStreetMap extract"},
		{"truncated pbf", pbf[:300_000], "truncated"},
		{"damaged pbf", damaged, "block at byte"},
		{"truncated bz2", bz2[:100_000], "truncated"},
		{"start of bz2", bz2[:3], "truncated"},
		{"damaged bz2", slices.Concat(bz2[:1000], bz2[2000:100_000]), "bzip2"},
		{"truncated gz", zipped[:len(zipped)/2], "truncated"},
		{"start of gz", zipped[:5], "truncated"},
		{"truncated zst", zstandard.EncodeAll([]byte(text), nil)[:500], "truncated"},
		{"truncated XML", []byte(text[:len(text)/2]), "truncated"},
		{"malformed XML", []byte(strings.Replace(text, "</way>", "</road>", 1)), "XML, line"},
		{"no number", []byte(`<osm><node id="one" lat="0" lon="0"/></osm>`), `"one"`},
		{"nothing", []byte("<osm/>"), "no map data"},
		{"page", []byte("<!DOCTYPE html><html><body>404</body></html>"), "root element is <html>"},
		{"change file", []byte("<osmChange version='0.6'/>"), "root element is <osmChange>"},
		{"text", []byte("Dear diary"), "not an OpenStreetMap extract"},
		{"o5m", []byte("\xff\xe0\x04o5m2\xff"), "an .o5m file"},
		{"picture", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00"), "not an OpenStreetMap extract"},
		{"zeros", make([]byte, 10_000), "not an OpenStreetMap extract"},
		{"packed pbf", gzipped(pbf[:20_000]), "unpack it first"},
	}

	// What is around the data of a PBF file.
	header := osmtest.Header(0, "OsmSchema-V0.6", "DenseNodes")
	after := func(more []byte) []byte { return append(bytes.Clone(header), more...) }
	good := osmtest.Sample(true)
	// 20 MB of a group of an unknown kind.
	spaces := osmtest.Block("OSMData", osmtest.Primitive(osmtest.StringTable(""), message(nil).Bytes(100, make([]byte, 20<<20))), true)
	data := func(m message) []byte { return after(osmtest.Frame("OSMData", m)) }
	tests = append(tests, []test{
		{"data beyond its claim", data(message(nil).Number(2, 100).Bytes(3, deflate(make([]byte, 1<<20)))), "does not unpack to the 100 bytes that it claims"},
		{"a huge claim", data(message(nil).Number(2, 1<<31).Bytes(3, deflate([]byte{1}))), "more than the format allows"},
		{"a claim without data", data(message(nil).Number(2, 30<<20).Bytes(3, deflate([]byte{1}))), "does not unpack to the 31457280 bytes that it claims"},
		{"no data", data(message(nil).Number(2, 5)), "no data that is"},
		{"lzma", data(message(nil).Number(2, 5).Bytes(4, []byte("lzma"))), "no data that is"},
		{"bad lz4", data(message(nil).Number(2, 5).Bytes(6, []byte("no lz4"))), "lz4"},
		{"an lz4 bomb", data(message(nil).Number(2, 30<<20).Bytes(6, []byte("lz4"))), "lz4"},
		{"bad zstd", data(message(nil).Number(2, 5).Bytes(7, []byte("no zstd"))), "cannot be unpacked"},
		{"bad zlib", data(message(nil).Number(2, 5).Bytes(3, []byte("no zlib"))), "zlib"},
		{"unknown type", after(osmtest.Block("Surprise", nil, false)), `unexpected type "Surprise"`},
		{"second header", after(header), `unexpected type "OSMHeader"`},
		{"block of 2 GB", after([]byte("\x00\x00\x00\x0f\x0a\x07OSMData\x18\xff\xff\xff\xff\x07")), "more than the format allows"},
		{"block of -1 bytes", after([]byte("\x00\x00\x00\x14\x0a\x07OSMData\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")), "more than the format allows"},
		{"header of 2 GB", after([]byte("\x7f\xff\xff\xff")), "more than the format allows"},
		{"history", osmtest.Header(0, "OsmSchema-V0.6", "HistoricalInformation"), "history"},
		{"unknown feature", osmtest.Header(0, "OsmSchema-V0.7"), `"OsmSchema-V0.7"`},
		{"truncated in a length", after([]byte{0, 0}), "truncated"},
		{"truncated in a header", after([]byte("\x00\x00\x00\x10\x0a\x07")), "truncated"},
		{"truncated after a length", after([]byte("\x00\x00\x00\x10")), "truncated"},
		{"truncated in the data", good[:len(good)-3], "truncated"},
		{"only a header", header, "no map data"},
		{"much in little", after(bytes.Repeat(spaces, 4)), "no map data"},
	}...)

	// The data itself.
	table := osmtest.StringTable("", "name", "Corner")
	group := func(field protowire.Number, m message) message {
		return osmtest.Primitive(table, message(nil).Bytes(field, m))
	}
	dense, way, relation := message(nil).Deltas(1, 1, 2).Deltas(8, 1, 2).Deltas(9, 1, 2), message(nil).Number(1, 7), message(nil).Number(1, 9)
	for _, c := range []struct {
		name string
		data message
		want string
	}{
		{"no string table", message(nil).Bytes(2, message(nil).Bytes(2, dense)), ""},
		{"a number as string table", message(nil).Number(1, 5), ""},
		{"fewer latitudes", group(2, message(nil).Deltas(1, 1, 2).Deltas(8, 1).Deltas(9, 1, 2)), ""},
		{"no longitudes", group(2, message(nil).Deltas(1, 1, 2).Deltas(8, 1, 2)), ""},
		{"unending number", group(2, message(nil).Bytes(1, []byte{0x80}).Bytes(8, []byte{0x80}).Bytes(9, []byte{0x80})), ""},
		{"overlong number", group(2, message(nil).Bytes(1, bytes.Repeat([]byte{0x80}, 20))), ""},
		{"tags beyond the string table", group(2, dense.List(10, 1, 3, 0, 0)), "string 3 of 3"},
		{"key without value", group(2, dense.List(10, 0, 0, 1)), ""},
		{"tags of too few nodes", group(2, dense.List(10, 1, 2, 0)), ""},
		{"tags of too many nodes", group(2, dense.List(10, 0, 0, 0)), ""},
		{"fewer versions", group(2, dense.Bytes(5, message(nil).List(1, 1))), ""},
		{"way tags beyond the string table", group(3, way.List(2, 1).List(3, 9)), "string 9 of 3"},
		{"more keys than values", group(3, way.List(2, 1, 2).List(3, 1)), ""},
		{"keys without values", group(3, way.List(2, 1)), ""},
		{"more latitudes than references", group(3, way.Deltas(8, 1).Deltas(9, 1, 2).Deltas(10, 1, 2)), ""},
		{"more roles than members", group(4, relation.List(8, 1, 1).Deltas(9, 1).List(10, 1)), ""},
		{"more members than roles", group(4, relation.List(8, 1).Deltas(9, 1, 2).List(10, 1, 1)), ""},
		{"roles beyond the string table", group(4, relation.List(8, 3).Deltas(9, 1).List(10, 1)), "string 3 of 3"},
		{"role of many bits", group(4, relation.List(8, 1<<63).Deltas(9, 1).List(10, 1)), ""},
		{"fixed-width fields", group(3, protowire.AppendFixed64(protowire.AppendTag(nil, 1, protowire.Fixed64Type), 1)), ""},
		{"truncated message", group(3, way)[:12], ""},
	} {
		file := append(bytes.Clone(header), osmtest.Block("OSMData", c.data, false)...)
		tests = append(tests, test{c.name, file, cmp.Or(c.want, "malformed")})
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			path := osmtest.WriteFile(t, "extract", c.content)
			e, err := osm.Read(t.Context(), osmtest.Dir(t), []string{path}, nil, new(osmtest.Recorder))
			if err == nil {
				t.Fatalf("accepted: %+v", e.Counts)
			}
			if text := err.Error(); !strings.HasPrefix(text, path+": ") || !strings.Contains(text, c.want) ||
				strings.Contains(text, "\n") {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
	missing, sound := filepath.Join(t.TempDir(), "missing"), osmtest.Crossing.File(t)
	if _, err := osm.Read(t.Context(), osmtest.Dir(t), []string{sound, missing}, nil); !errors.Is(err, os.ErrNotExist) ||
		strings.Count(err.Error(), missing) != 1 {
		t.Errorf("a missing second file: %v", err)
	}
	if _, err := osm.Read(t.Context(), osmtest.Dir(t), []string{t.TempDir()}, nil); err == nil ||
		!strings.Contains(err.Error(), "directory") {
		t.Errorf("a directory: %v", err)
	}
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// deflate is data as zlib packs it.
func deflate(data []byte) []byte {
	block := osmtest.Block("", data, true)
	return block[bytes.Index(block, []byte("\x78\x9c")):]
}
