package osmfile_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

func TestBrokenExtracts(t *testing.T) {
	pbf, err := os.ReadFile(testkit.Extract(t, testkit.Delaware))
	if err != nil {
		t.Fatal(err)
	}
	bz2, err := os.ReadFile(testkit.Extract(t, testkit.Andorra))
	if err != nil {
		t.Fatal(err)
	}
	text := osmtest.Crossing().XML()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, text)
	z.Close()
	zstandard, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(pbf[:300_000])
	for i := range 50 {
		damaged[200_000+i] ^= 0x55
	}
	tests := []struct {
		name    string
		content []byte
		want    string
	}{
		{"empty.osm.pbf", nil, "is empty"},
		{"short.osm.pbf", pbf[:8], "not an OpenStreetMap extract"},
		{"truncated.osm.pbf", pbf[:300_000], "truncated"},
		{"damaged.osm.pbf", damaged, "block at byte"},
		{"truncated.osm.bz2", bz2[:100_000], "truncated"},
		{"start.osm.bz2", bz2[:3], "truncated"},
		{"damaged.osm.bz2", append(append([]byte{}, bz2[:1000]...), bz2[2000:100_000]...), "bzip2"},
		{"truncated.osm.gz", zipped.Bytes()[:zipped.Len()/2], "truncated"},
		{"start.osm.gz", zipped.Bytes()[:5], "truncated"},
		{"truncated.osm", []byte(text[:len(text)/2]), "truncated"},
		{"malformed.osm", []byte(strings.Replace(text, "</way>", "</road>", 1)), "XML, line"},
		{"number.osm", []byte(`<osm><node id="one" lat="0" lon="0"/></osm>`), `"one"`},
		{"nothing.osm", []byte("<osm/>"), "no map data"},
		{"page.osm", []byte("<!DOCTYPE html><html><body>404</body></html>"), "root element is <html>"},
		{"change.osc", []byte("<osmChange version='0.6'/>"), "root element is <osmChange>"},
		{"notes.txt", []byte("Dear diary"), "not an OpenStreetMap extract"},
		{"map.o5m", []byte("\xff\xe0\x04o5m2\xff"), "an .o5m file"},
		{"truncated.osm.zst", zstandard.EncodeAll([]byte(text), nil)[:500], "truncated"},
		{"picture.png", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00"), "not an OpenStreetMap extract"},
		{"zeros.osm.pbf", make([]byte, 10_000), "not an OpenStreetMap extract"},
		{"packed.osm.pbf.gz", gzipped(pbf[:20_000]), "unpack it first"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkRefused(t, test.name, test.content, test.want) })
	}
	t.Run("missing", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "missing.osm.pbf")
		if _, err := osm.Read(t.Context(), osmtest.Dir(t), []string{path}, nil, new(osmtest.Recorder)); !errors.Is(err, os.ErrNotExist) ||
			strings.Count(err.Error(), path) != 1 {
			t.Error(err)
		}
	})
	t.Run("directory", func(t *testing.T) {
		if _, err := osm.Read(t.Context(), osmtest.Dir(t), []string{t.TempDir()}, nil, new(osmtest.Recorder)); err == nil ||
			!strings.Contains(err.Error(), "directory") {
			t.Error(err)
		}
	})
	t.Run("second", func(t *testing.T) {
		good, bad := osmtest.WriteFile(t, "good.osm", []byte(text)), osmtest.WriteFile(t, "bad.osm", []byte(text[:len(text)/2]))
		if _, err := osm.Read(t.Context(), osmtest.Dir(t), []string{good, bad}, nil, new(osmtest.Recorder)); err == nil ||
			!strings.HasPrefix(err.Error(), bad) {
			t.Error(err)
		}
	})
}

func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}
