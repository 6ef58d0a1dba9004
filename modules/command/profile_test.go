package command_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// A trace on a footway: --profile says how it was travelled, or the trace itself where it is the JSON of a request.
func TestMatchProfile(t *testing.T) {
	region := filepath.Join(t.TempDir(), "path.region")
	modulestest.BuildRegion(t, region, `<osm version="0.6">
		<node id="1" version="1" lat="39.16" lon="-75.53"/><node id="2" version="1" lat="39.16" lon="-75.52"/>
		<way id="1" version="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="footway"/></way></osm>`)
	const path = `"path":[{"lat":39.16,"lng":-75.529},{"lat":39.16,"lng":-75.525},{"lat":39.16,"lng":-75.521}]`
	for _, tc := range []struct {
		trace string
		args  []string
		found bool
	}{
		{`{` + path + `}`, nil, false},
		{`{` + path + `}`, []string{"--profile", "car"}, false},
		{`{` + path + `}`, []string{"--profile", "bicycle"}, false},
		{`{` + path + `}`, []string{"--profile", "foot"}, true},
		{`{"profile":"foot",` + path + `}`, nil, true},
		{`{"profile":"foot",` + path + `}`, []string{"--profile", "car"}, false},
		{`{"profile":"car",` + path + `}`, []string{"--profile=foot"}, true},
		{`{"type":"LineString","coordinates":[[-75.529,39.16],[-75.521,39.16]]}`, []string{"--profile", "foot"}, true},
	} {
		stdout, _, err := run(t, tc.trace, append([]string{"match", region, "-"}, tc.args...)...)
		if tc.found {
			if err != nil || !strings.Contains(stdout, `"distance":68`) {
				t.Errorf("%s with %q: %v, %s", tc.trace, tc.args, err, stdout)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "no matching route") {
			t.Errorf("%s with %q: %v, %s", tc.trace, tc.args, err, stdout)
		}
	}
}
