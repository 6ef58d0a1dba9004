package tiles_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/maptile"

	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/tiles"
)

// start runs a server with tiles of a village, and of a region that has neither a map nor roads.
func start(t *testing.T, options string) (s *modulestest.Server, cfg modulestest.Config) {
	t.Helper()
	dir := t.TempDir()
	village, bare := filepath.Join(dir, "village.region"), filepath.Join(dir, "bare.region")
	modulestest.BuildRegion(t, village, modulestest.Village)
	testregion.Write(t, bare, time.Time{}, 1, testregion.Dover())
	cfg = modulestest.Config{
		Maps:   "region village " + village + "\nregion bare " + bare + "\nregion spare " + bare,
		Global: "metrics",
		Site:   "maps_tiles village bare {\npublic\n" + options + "\n}\nrespond \"not for the next handler\" 418",
	}
	return modulestest.Start(t, cfg), cfg
}

// pathOf is the tile of the crossing at a zoom.
func pathOf(z maptile.Zoom) string {
	at := maptile.At(orb.Point{-75.52, 39.16}, z)
	return fmt.Sprintf("%d/%d/%d.mvt", at.Z, at.X, at.Y)
}

func TestStatuses(t *testing.T) {
	s, _ := start(t, "")
	for _, test := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/tiles/village/" + pathOf(0), 200, ""},
		{"GET", "/tiles/village/" + pathOf(8), 200, ""},
		{"GET", "/tiles/village/" + pathOf(14), 200, ""},
		{"HEAD", "/tiles/village/" + pathOf(14), 200, ""},
		{"GET", "/tiles/village/14/0/0.mvt", 204, ""},
		{"GET", "/tiles/village/" + pathOf(15), 404, "no such tile"},
		{"GET", "/tiles/village/14/16384/0.mvt", 404, "no such tile"},
		{"GET", "/tiles/village/1/0/2.mvt", 404, "no such tile"},
		{"GET", "/tiles/village/014/0/0.mvt", 404, "not found"},
		{"GET", "/tiles/village/-0/0/0.mvt", 404, "not found"},
		{"GET", "/tiles/village/1/+1/0.mvt", 404, "not found"},
		{"GET", "/tiles/village/1/1e1/0.mvt", 404, "not found"},
		{"GET", "/tiles/village/0/0/0", 404, "not found"},
		{"GET", "/tiles/Village/0/0/0.mvt", 404, "no such region"},
		{"GET", "/tiles/spare/0/0/0.mvt", 404, "no such region"},
		{"GET", "/tiles/bare/0/0/0.mvt", 404, "has no map"},
		{"GET", "/tiles/bare.json", 404, "has no map"},
		{"GET", "/tiles/bare/style.json", 404, "has no map"},
		{"GET", "/tiles/bare/network/car.json", 200, ""},
		{"GET", "/tiles/bare/network/car/" + pathOf(14), 204, ""},
		{"GET", "/tiles/village/network/car/" + pathOf(12), 200, ""},
		{"GET", "/tiles/village/network/car/" + pathOf(11), 404, "no such tile"},
		{"GET", "/tiles/village/network/boat/" + pathOf(14), 404, "not found"},
		{"GET", "/tiles/village.json", 200, ""},
		{"GET", "/tiles/village/style.json", 200, ""},
		{"GET", "/tiles", 404, "not found"},
		{"GET", "/tiles/", 404, "not found"},
		{"GET", "/elsewhere", 404, "not found"},
		{"POST", "/tiles/village.json", 405, "method not allowed"},
		{"DELETE", "/tiles/village/0/0/0.mvt", 405, "method not allowed"},
		{"OPTIONS", "/tiles/village/network/car.json", 405, "method not allowed"},
	} {
		a := s.Do(test.method, test.path, "", "", "Accept-Encoding", "gzip")
		if a.Status != test.status {
			t.Errorf("%s %s: %d %q, want %d", test.method, test.path, a.Status, a.Body, test.status)
		}
		var body struct{ Error string }
		if err := json.Unmarshal([]byte(a.Body), &body); test.says != "" && (err != nil ||
			!strings.Contains(body.Error, test.says)) {
			t.Errorf("%s %s: %q, %v", test.method, test.path, a.Body, err)
		}
		if allow := a.Header.Get("Allow"); (a.Status == 405) != (allow == "GET, HEAD") {
			t.Errorf("%s %s: Allow %q", test.method, test.path, allow)
		}
		if (a.Status == 204 || test.method == "HEAD") && a.Body != "" {
			t.Errorf("%s %s: a body of %d bytes", test.method, test.path, len(a.Body))
		}
	}
	if log := s.Log(); !strings.Contains(log, "has no map") || !strings.Contains(log, "without --no-map") {
		t.Error("the log does not say how to make a map")
	}
}

// A tile comes as the client wants it, with a tag of its own, and once.
func TestNegotiation(t *testing.T) {
	s, _ := start(t, "")
	for _, path := range []string{"/tiles/village/" + pathOf(14), "/tiles/village/network/foot/" + pathOf(14)} {
		plain := s.Do("GET", path, "", "", "Accept-Encoding", "identity")
		zipped := s.Do("GET", path, "", "", "Accept-Encoding", "br, gzip;q=0.5")
		if layers, err := mvt.Unmarshal([]byte(plain.Body)); err != nil || len(layers) == 0 {
			t.Errorf("%s: %v, %v", path, layers, err)
		}
		r, err := gzip.NewReader(strings.NewReader(zipped.Body))
		if err != nil {
			t.Fatal(err)
		}
		if unzipped, err := io.ReadAll(r); err != nil || string(unzipped) != plain.Body {
			t.Errorf("%s: %d bytes, %v, and as it is %d", path, len(unzipped), err, len(plain.Body))
		}
		for encoding, a := range map[string]modulestest.Response{"": plain, "gzip": zipped} {
			if got := a.Header.Get("Content-Encoding"); got != encoding ||
				a.Header.Get("Content-Type") != "application/vnd.mapbox-vector-tile" ||
				a.Header.Get("Content-Length") != fmt.Sprint(len(a.Body)) ||
				a.Header.Get("Vary") != "Accept-Encoding" || a.Header.Get("Cache-Control") != "max-age=3600" {
				t.Errorf("%s %q: %v", path, encoding, a.Header)
			}
			tag, accept := a.Header.Get("Etag"), "identity"
			if encoding != "" {
				accept = encoding
			}
			if len(tag) < 10 || tag[0] != '"' {
				t.Errorf("%s: the tag %s is not a strong one", path, tag)
			}
			again := s.Do("GET", path, "", "", "Accept-Encoding", accept, "If-None-Match", `"other", `+tag)
			if again.Status != 304 || again.Body != "" || again.Header.Get("Etag") != tag ||
				again.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s: %d, %v", path, again.Status, again.Header)
			}
			head := s.Do("HEAD", path, "", "", "Accept-Encoding", accept)
			for _, name := range []string{"Etag", "Content-Length", "Content-Type", "Content-Encoding"} {
				if head.Header.Get(name) != a.Header.Get(name) {
					t.Errorf("HEAD %s: %s is %q", path, name, head.Header.Get(name))
				}
			}
		}
		if plain.Header.Get("Etag") == zipped.Header.Get("Etag") {
			t.Errorf("%s: one tag for two encodings", path)
		}
		other := s.Do("GET", path, "", "", "Accept-Encoding", "gzip", "If-None-Match", plain.Header.Get("Etag"))
		if other.Status != 200 {
			t.Errorf("%s: the tag of another encoding: %d", path, other.Status)
		}
	}
}

// The tiles of a file that takes another's place are its own at once, and the cache outlives a reload.
func TestSwap(t *testing.T) {
	s, cfg := start(t, "")
	path := "/tiles/village/" + pathOf(14)
	hits := func() bool {
		return strings.Contains(s.AdminDo("GET", "/metrics", "").Body, "caddy_maps_tile_cache_hits_total 1")
	}
	before := s.Do("GET", path, "", "")
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // the cache takes what it is given a little later
	if again := s.Do("GET", path, "", ""); again.Header.Get("Etag") != before.Header.Get("Etag") || !hits() {
		t.Error("after a reload the tile was cut again")
	}
	_, file, _ := strings.Cut(cfg.Maps, "region village ")
	file, _, _ = strings.Cut(file, "\n")
	modulestest.BuildRegion(t, file, modulestest.Renamed("Elsewhere"))
	if err := s.AdminDo("POST", "/maps/regions/reload", ""); err.Status >= 300 {
		t.Fatalf("%d %s", err.Status, err.Body)
	}
	after := s.Do("GET", path, "", "", "If-None-Match", before.Header.Get("Etag"))
	if after.Status != 200 || after.Header.Get("Etag") == before.Header.Get("Etag") {
		t.Errorf("%d %s, before %s", after.Status, after.Header.Get("Etag"), before.Header.Get("Etag"))
	}
}

type tileJSON struct {
	TileJSON, Attribution, Name string
	Tiles                       []string
	MinZoom, MaxZoom            int
	Bounds, Center              []float64
	VectorLayers                []struct {
		ID               string
		Fields           map[string]string
		MinZoom, MaxZoom int
	} `json:"vector_layers"`
}

func describe(t *testing.T, s *modulestest.Server, path string, header ...string) (d tileJSON) {
	t.Helper()
	a := s.Do("GET", path, "", "", header...)
	if err := json.Unmarshal([]byte(a.Body), &d); err != nil || a.Status != 200 {
		t.Fatalf("%s: %d %s: %v", path, a.Status, a.Body, err)
	}
	if kept := a.Header.Get("Cache-Control"); strings.Contains(a.Body, "apiKey") || kept != "private, max-age=3600" {
		t.Errorf("a token, or for other clients too: %s, %s", kept, a.Body)
	}
	for _, l := range d.VectorLayers {
		if l.MinZoom > l.MaxZoom || l.MaxZoom != d.MaxZoom {
			t.Errorf("%s from %d to %d, of tiles to %d", l.ID, l.MinZoom, l.MaxZoom, d.MaxZoom)
		}
	}
	return d
}

func TestDescription(t *testing.T) {
	s, _ := start(t, "max_zoom 13")
	d := describe(t, s, "/tiles/village.json?apiKey=secret")
	if d.TileJSON != "3.0.0" || d.MinZoom != 0 || d.MaxZoom != 13 || d.Attribution != "© OpenStreetMap contributors" ||
		d.Name != "village" || !slices.Equal(d.Tiles, []string{s.URL + "/tiles/village/{z}/{x}/{y}.mvt"}) {
		t.Errorf("%+v", d)
	}
	b, c := d.Bounds, d.Center
	if len(b) != 4 || b[0] > -75.53 || b[1] > 39.15 || b[2] < -75.45 || b[3] < 39.17 || b[3]-b[1] > 1 || len(c) != 3 ||
		c[0] < b[0] || c[0] > b[2] || c[1] < b[1] || c[1] > b[3] || c[2] < 0 || c[2] > 13 {
		t.Errorf("bounds %v, center %v", b, c)
	}
	layers, err := mvt.Unmarshal([]byte(
		s.Do("GET", "/tiles/village/"+pathOf(13), "", "", "Accept-Encoding", "identity").Body))
	if err != nil || len(d.VectorLayers) != 8 {
		t.Fatalf("%v, %+v", err, d.VectorLayers)
	}
	checkFields(t, layers, d)

	d = describe(t, s, "/tiles/village/network/bicycle.json")
	if d.MinZoom != 12 || d.MaxZoom != 13 || !slices.Equal(d.Tiles,
		[]string{s.URL + "/tiles/village/network/bicycle/{z}/{x}/{y}.mvt"}) || len(d.VectorLayers) != 2 {
		t.Errorf("%+v", d)
	}
	layers, err = mvt.Unmarshal([]byte(
		s.Do("GET", "/tiles/village/network/bicycle/"+pathOf(13), "", "", "Accept-Encoding", "identity").Body))
	if err != nil {
		t.Fatal(err)
	}
	checkFields(t, layers, d)
	if a := s.Do("GET", "/tiles/village/style.json", "", ""); !strings.Contains(a.Body, `"`+s.URL+`/tiles/village.json"`) {
		t.Errorf("style: %s", a.Body)
	}
}

// checkFields fails where a tile has what its description does not.
func checkFields(t *testing.T, layers mvt.Layers, d tileJSON) {
	t.Helper()
	if len(layers) == 0 {
		t.Error("an empty tile")
	}
	for _, l := range layers {
		i := slices.IndexFunc(d.VectorLayers, func(v struct {
			ID               string
			Fields           map[string]string
			MinZoom, MaxZoom int
		}) bool {
			return v.ID == l.Name
		})
		if i < 0 {
			t.Errorf("layer %s is not described", l.Name)
			continue
		}
		for _, f := range l.Features {
			for key := range f.Properties {
				if d.VectorLayers[i].Fields[key] == "" && !strings.HasPrefix(key, "name") {
					t.Errorf("layer %s: field %s is not described", l.Name, key)
				}
			}
		}
	}
}
