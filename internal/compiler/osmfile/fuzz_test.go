package osmfile_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// FuzzPBF: reading any blocks ends in an error or with objects. No caller could recover from a panic, since it would be
// in the decoder's goroutines.
func FuzzPBF(f *testing.F) {
	f.Add(osmtest.Sample(false))
	f.Add(osmtest.Sample(true))
	f.Add(osmtest.Header(0, "OsmSchema-V0.6"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Contains(data[:min(len(data), 16)], []byte("OSMHeader")) {
			fuzzRead(t, data)
		}
	})
}

// fuzzRead reads a file, with all of its nodes noted and all relations wanted.
func fuzzRead(t *testing.T, data []byte) {
	r := &osmtest.Recorder{Notes: func(*osm.Node) bool { return true }, Wants: func(*osm.Relation) bool { return true }}
	dir := osmtest.Dir(t)
	defer dir.Close()
	_, err := osm.Read(t.Context(), dir, []string{osmtest.WriteFile(t, "fuzzed", data)}, nil, r)
	if errors.Is(err, io.EOF) {
		t.Errorf("an end that is not told as truncated: %v", err)
	}
	if err == nil {
		r.Check(t)
	}
}

// FuzzXML does the same for XML.
func FuzzXML(f *testing.F) {
	f.Add(osmtest.Crossing.XML())
	f.Add(`<osm><node id="1" lat="NaN" lon="1e300"/>` +
		`<way id="-1"><nd ref="1"/><nd ref="1"/><tag k="name" v="&#x10FFFF;"/></way></osm>`)
	f.Add(`<osm><relation id="9"><member type="way" ref="9" role="outer"/><tag k="type" v="boundary"/></relation></osm>`)
	f.Fuzz(func(t *testing.T, text string) { fuzzRead(t, []byte(text)) })
}
