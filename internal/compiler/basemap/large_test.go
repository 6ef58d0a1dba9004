package basemap_test

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// TestTooLarge: an area as large as the world would be in all sixteen million cells. It is left out and counted.
func TestTooLarge(t *testing.T) {
	testkit.Whole(t)
	world := `<node id="1" lat="-80" lon="-179"/><node id="2" lat="-80" lon="179"/><node id="3" lat="80" lon="179"/>
		<node id="4" lat="80" lon="-179"/><way id="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="4"/><nd ref="1"/>
		<tag k="natural" v="wood"/></way>`
	path, skipped := testregion.BuildMapCounting(t, osmtest.File(t, world), 64<<20)
	_, m := testregion.OpenMap(t, path)
	if tile, err := m.Tile(nil, 0, 0, 0); err != nil || len(tile) == 0 || skipped != 1 {
		t.Errorf("%d are left out; a tile of %d bytes, %v", skipped, len(tile), err)
	}
}
