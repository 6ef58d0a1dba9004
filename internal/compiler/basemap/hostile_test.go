package basemap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler/basemap/tilestest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testsize"
)

// TestTooLarge: an area as large as the world would be in all sixteen million cells. It is refused before they are
// made.
func TestTooLarge(t *testing.T) {
	testsize.Whole(t)
	path := filepath.Join(t.TempDir(), "world.osm")
	world := `<osm><node id="1" lat="-80" lon="-179"/><node id="2" lat="-80" lon="179"/><node id="3" lat="80" lon="179"/>
		<node id="4" lat="80" lon="-179"/><way id="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="4"/><nd ref="1"/>
		<tag k="natural" v="wood"/></way></osm>`
	if err := os.WriteFile(path, []byte(world), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tilestest.Try(t, path, 64<<20); err == nil || !strings.Contains(err.Error(), "more memory") {
		t.Errorf("%v", err)
	}
}
