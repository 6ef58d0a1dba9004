package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
)

// tileToken is an access token for tiles.
func (s *server) tileToken(t testing.TB, organization string) string {
	t.Helper()
	acc := s.create(t, s.userToken(t, organization), map[string]any{"scopes": []string{"TILE"}})
	token, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	return token
}

// The archive that is written of a region has all tiles that the server answers with, byte for byte, and no others.
func TestTilesAreThoseOfTheArchive(t *testing.T) {
	leaveOut(t, "cuts every tile of a map twice")
	t.Parallel()
	archive := filepath.Join(t.TempDir(), "delaware.pmtiles")
	if out, stderr, err := maps(t, "", "tiles", region, "--output", archive); err != nil ||
		!strings.Contains(out, "up to zoom 14") {
		t.Fatalf("%v\n%s%s", err, out, stderr)
	}
	a := tilestest.ReadPMTiles(t, archive)
	s := newServer(t)
	s.logLevel = "INFO"
	s.run(t)
	token := s.tileToken(t, "tiles")
	var described struct {
		Bounds            [4]float64
		MinZoom, MaxZoom  uint8
		Attribution, Name string
		VectorLayers      any `json:"vector_layers"`
	}
	s.send(t, call{path: "/tiles/delaware.json", bearer: token}).want(200).into(&described)
	if a.MinZoom != described.MinZoom || a.MaxZoom != described.MaxZoom || a.Metadata["name"] != described.Name ||
		a.Metadata["attribution"] != described.Attribution {
		t.Errorf("%d to %d, %v; the server has %+v", a.MinZoom, a.MaxZoom, a.Metadata, described)
	}
	if diff := cmp.Diff(described.VectorLayers, a.Metadata["vector_layers"]); diff != "" {
		t.Errorf("layers (-server +archive)\n%s", diff)
	}
	bound := orb.Bound{Min: orb.Point{described.Bounds[0], described.Bounds[1]},
		Max: orb.Point{described.Bounds[2], described.Bounds[3]}}
	const around = 4 // tiles: at zoom 14 a square of zoom 12, which a map has whole
	asked, found := 0, 0
	for z := maptile.Zoom(0); z <= 14; z++ {
		from, to := maptile.At(bound.LeftTop(), z), maptile.At(bound.RightBottom(), z)
		for x := max(from.X, around) - around; x <= min(to.X+around, 1<<z-1); x++ {
			for y := max(from.Y, around) - around; y <= min(to.Y+around, 1<<z-1); y++ {
				path := fmt.Sprintf("/tiles/delaware/%d/%d/%d.mvt", z, x, y)
				answer := s.send(t, call{path: path, bearer: token, header: map[string][]string{"Accept-Encoding": {"gzip"}}})
				want, there := a.Tiles[tilestest.Tile{Z: uint8(z), X: x, Y: y}]
				asked++
				if there {
					found++
				}
				if there && string(answer.want(200).body) != string(want) || !there && answer.status != 204 {
					t.Fatalf("%s: %d with %d bytes, the archive has %d", path, answer.status, len(answer.body), len(want))
				}
			}
		}
	}
	if found != len(a.Tiles) || found < 1000 || asked == found {
		t.Errorf("%d tiles of %d that were asked for; the archive has %d", found, asked, len(a.Tiles))
	}
}
