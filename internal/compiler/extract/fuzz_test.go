package extract

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract/extracttest"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// FuzzPBF: whatever the blocks hold, reading them ends in an error or with objects, never in a panic, which no caller
// could recover from, since it would be in the decoder's goroutines.
func FuzzPBF(f *testing.F) {
	f.Add(extracttest.Sample(false))
	f.Add(extracttest.Sample(true))
	f.Add(extracttest.Header(0, "OsmSchema-V0.6"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !isPBF(data) {
			return
		}
		p := newPBF(memoryFile{bytes.NewReader(data)}, int64(len(data)), nil)
		fuzzRead(t, openScratch(t), p)
	})
}

// fuzzRead reads a file of whatever content.
func fuzzRead(t *testing.T, dir *scratch.Dir, f source) {
	defer dir.Close()
	r := &reading{files: []source{f}, paths: []string{"fuzzed"}, withMap: true}
	d, err := r.read(t.Context(), dir, nil)
	if errors.Is(err, io.EOF) {
		t.Errorf("an end that is not told as truncated: %v", err)
	}
	if err == nil {
		checkData(t, contentOf(d))
	}
}

// FuzzXML does the same for XML.
func FuzzXML(f *testing.F) {
	s := sketch{nodes: map[int64][2]float64{1: {0, 0}, 2: {1, 1}, 3: {0, 1}},
		nodeTags:  map[int64]string{1: "name=A place=town"},
		ways:      []sketchWay{{1, []int64{1, 2, 3, 1}, "highway=primary name=B"}},
		relations: []sketchRelation{{1, "w1:outer", "type=multipolygon name=C leisure=park"}}}
	f.Add(s.xml())
	f.Add(`<osm><node id="1" lat="NaN" lon="1e300"/>` +
		`<way id="-1"><nd ref="1"/><nd ref="1"/><tag k="name" v="&#x10FFFF;"/></way></osm>`)
	f.Add(`<osm><relation id="9"><member type="way" ref="9" role="outer"/><tag k="type" v="boundary"/></relation></osm>`)
	f.Fuzz(func(t *testing.T, text string) {
		root, err := rootOf([]byte(text))
		if err != nil {
			return
		}
		dir := openScratch(t)
		fuzzRead(t, dir, newXML(memoryFile{}, int64(len(text)), strings.NewReader(text), root, dir, nil))
	})
}
