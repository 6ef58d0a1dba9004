package tiles_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/maptile"

	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	"github.com/mapsedge/caddy-maps/modules/tiles"
)

// start runs a server with tiles of a village, and of a region that has neither a map nor roads.
func start(t *testing.T, options string) (s *modulestest.Server, cfg modulestest.Config, village string) {
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
	return modulestest.Start(t, cfg), cfg, village
}

// pathOf is the tile of the crossing at a zoom.
func pathOf(z maptile.Zoom) string {
	at := maptile.At(orb.Point{-75.52, 39.16}, z)
	return fmt.Sprintf("%d/%d/%d.mvt", at.Z, at.X, at.Y)
}

func TestStatuses(t *testing.T) {
	s, _, _ := start(t, "")
	for _, test := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "village/" + pathOf(0), 200, ""},
		{"GET", "village/" + pathOf(8), 200, ""},
		{"HEAD", "village/" + pathOf(14), 200, ""},
		{"GET", "village/14/0/0.mvt", 204, ""},
		{"GET", "village/14/16383/16383.mvt", 204, ""},
		{"GET", "village.json", 200, ""},
		{"GET", "village/style.json", 200, ""},
		{"GET", "village/network/foot.json", 200, ""},
		{"GET", "village/network/car/" + pathOf(12), 200, ""},
		{"GET", "bare/network/car.json", 200, ""},
		{"GET", "bare/network/car/" + pathOf(14), 204, ""},
		{"GET", "village/network/car/" + pathOf(11), 404, "no such tile"},
		{"GET", "Village/0/0/0.mvt", 404, "no such region"},
		{"GET", "spare/0/0/0.mvt", 404, "no such region"},
		{"GET", "bare/0/0/0.mvt", 404, "has no map"},
		{"GET", "bare.json", 404, "has no map"},
		{"GET", "bare/style.json", 404, "has no map"},
		{"GET", "", 404, "not found"},
		{"POST", "village.json", 405, "method not allowed"},
		{"DELETE", "village/0/0/0.mvt", 405, "method not allowed"},
		{"OPTIONS", "village/network/car.json", 405, "method not allowed"},
	} {
		a := s.Do(test.method, "/tiles/"+test.path, "", "", "Accept-Encoding", "gzip")
		var body struct{ Error string }
		_ = json.Unmarshal([]byte(a.Body), &body) // what is no JSON is no error
		if a.Status != test.status || !strings.Contains(body.Error, test.says) || test.says == "" && body.Error != "" {
			t.Errorf("%s %s: %d %q, want %d", test.method, test.path, a.Status, a.Body, test.status)
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
	for says, paths := range map[string]string{
		"no such tile": "village/15/4743/6236.mvt village/14/16384/0.mvt village/14/0/16384.mvt village/1/0/2.mvt " +
			"village/0/1/0.mvt village/99/4743/4294967295.mvt",
		"not found": "village .json /style.json village/ village/x.json village/style.json/ village/14/4743/6236 " +
			"village/14/4743/6236.pbf village/14/4743.mvt village/14/4743/6236.mvt/ village/14/4743/6236/1.mvt " +
			"village/014/4743/6236.mvt village/+1/0/0.mvt village/1/-0/0.mvt village/1/0/1e1.mvt village/1/0/00.mvt " +
			"village/1/0/0x0.mvt village/1/0/1_0.mvt village/1/0/%200.mvt village/1/0/.mvt village/1/0/4294967296.mvt " +
			"village/1//0.mvt village/1/0/0.MVT village/network village/network/ village/network/car village/network/car/ " +
			"village/network/car/style.json village/network/boat.json village/network/boat/14/1/2.mvt " +
			"village/network/car/14/1/02.mvt village/network/.json",
	} {
		for path := range strings.FieldsSeq(paths) {
			if a := s.Do("GET", "/tiles/"+path, "", ""); a.Status != 404 || !strings.Contains(a.Body, says) {
				t.Errorf("%s: %d %s, want %s", path, a.Status, a.Body, says)
			}
		}
	}
	for _, path := range []string{"/tiles", "/elsewhere"} {
		if a := s.Do("GET", path, "", ""); a.Status != 404 {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
}

// A tile has the encoding that the client accepts and an ETag for it; a client that has it gets 304.
func TestNegotiation(t *testing.T) {
	s, _, _ := start(t, "")
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
			tag, accept := a.Header.Get("Etag"), "identity"
			if encoding != "" {
				accept = encoding
			}
			if got := a.Header.Get("Content-Encoding"); got != encoding || len(tag) < 10 || tag[0] != '"' ||
				a.Header.Get("Content-Type") != "application/vnd.mapbox-vector-tile" ||
				a.Header.Get("Content-Length") != fmt.Sprint(len(a.Body)) ||
				a.Header.Get("Vary") != "Accept-Encoding" || a.Header.Get("Cache-Control") != "max-age=3600" {
				t.Errorf("%s %q: %v", path, encoding, a.Header)
			}
			for known, status := range map[string]int{
				tag: 304, `"other", ` + tag: 304, `"other", W/` + tag: 304, "*": 304, "": 200, `"other"`: 200, strings.Trim(tag, `"`): 200,
			} {
				again := s.Do("GET", path, "", "", "Accept-Encoding", accept, "If-None-Match", known)
				if again.Status != status || (again.Body == "") != (status == 304) || again.Header.Get("Etag") != tag ||
					again.Header.Get("Vary") != "Accept-Encoding" {
					t.Errorf("%s, %s is known: %d, %v", path, known, again.Status, again.Header)
				}
			}
			head := s.Do("HEAD", path, "", "", "Accept-Encoding", accept)
			for _, name := range []string{"Etag", "Content-Length", "Content-Type", "Content-Encoding"} {
				if head.Header.Get(name) != a.Header.Get(name) {
					t.Errorf("HEAD %s: %s is %q", path, name, head.Header.Get(name))
				}
			}
		}
		other := s.Do("GET", path, "", "", "Accept-Encoding", "gzip", "If-None-Match", plain.Header.Get("Etag"))
		if other.Status != 200 {
			t.Errorf("%s: the tag of another encoding: %d", path, other.Status)
		}
	}
}

// waitForCache requests a tile until it is in the cache, which is a little after it was rendered.
func waitForCache(t *testing.T, s *modulestest.Server, path string) modulestest.Response {
	t.Helper()
	hits := func() string {
		_, text, _ := strings.Cut(s.AdminDo("GET", "/metrics", "").Body, "\ncaddy_maps_tile_cache_hits_total ")
		text, _, _ = strings.Cut(text, "\n")
		return text
	}
	before := hits()
	for deadline := time.Now().Add(20 * time.Second); ; {
		a := s.Do("GET", path, "", "")
		if a.Status != 200 || time.Now().After(deadline) {
			t.Fatalf("%s: %d, or it is not in the cache", path, a.Status)
		}
		if hits() != before {
			return a
		}
	}
}

// A cached tile is served without a processor, also after a reload; another one waits for a processor, and is then
// refused. A new region file has its own tiles at once.
func TestCache(t *testing.T) {
	s, cfg, village := start(t, "")
	cached, other := "/tiles/village/"+pathOf(14), "/tiles/village/"+pathOf(13)
	before := waitForCache(t, s, cached)
	cfg.Maps += "\nmax_wait 100ms"
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	shared, release := app.AcquireAdmission()
	defer release()
	work := make([]admission.Work, max(1, runtime.GOMAXPROCS(0)-1))
	for i := range work {
		if err := work[i].Begin(t.Context(), shared.Processors, admission.Caller{Organization: fmt.Sprint("other ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if a := s.Do("GET", other, "", ""); a.Status != 503 || a.Header.Get("Retry-After") == "" ||
		!strings.Contains(a.Body, `"error"`) || a.Header.Get("Etag") != "" {
		t.Errorf("a tile to render: %d %v %s", a.Status, a.Header, a.Body)
	}
	if a := s.Do("GET", cached, "", ""); a.Status != 200 || a.Header.Get("Etag") != before.Header.Get("Etag") {
		t.Errorf("a tile in the cache: %d %v", a.Status, a.Header)
	}
	for i := range work {
		work[i].End()
	}
	if a := s.Do("GET", other, "", ""); a.Status != 200 {
		t.Errorf("with processors: %d %s", a.Status, a.Body)
	}
	modulestest.BuildRegion(t, village, modulestest.Renamed("Elsewhere"))
	if err := s.AdminDo("POST", "/maps/regions/reload", ""); err.Status >= 300 {
		t.Fatalf("%d %s", err.Status, err.Body)
	}
	after := s.Do("GET", cached, "", "", "If-None-Match", before.Header.Get("Etag"))
	if after.Status != 200 || after.Header.Get("Etag") == before.Header.Get("Etag") {
		t.Errorf("%d %s, before %s", after.Status, after.Header.Get("Etag"), before.Header.Get("Etag"))
	}
}

type tileJSON struct {
	TileJSON, Attribution, Name string
	Tiles                       []string
	MinZoom, MaxZoom            int
	Bounds, Center              []float64
	VectorLayers                []vectorLayer `json:"vector_layers"`
}

type vectorLayer struct {
	ID               string
	Fields           map[string]string
	MinZoom, MaxZoom int
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

// The description has each layer and field of the tiles.
func TestDescription(t *testing.T) {
	s, _, _ := start(t, "max_zoom 13")
	d := describe(t, s, "/tiles/village.json?apiKey=secret")
	b, c := d.Bounds, d.Center
	if d.TileJSON != "3.0.0" || d.MinZoom != 0 || d.MaxZoom != 13 || d.Attribution != "© OpenStreetMap contributors" ||
		d.Name != "village" || !slices.Equal(d.Tiles, []string{s.URL + "/tiles/village/{z}/{x}/{y}.mvt"}) ||
		len(d.VectorLayers) != 8 {
		t.Errorf("%+v", d)
	}
	if len(b) != 4 || b[0] > -75.53 || b[1] > 39.15 || b[2] < -75.45 || b[3] < 39.17 || b[3]-b[1] > 1 || len(c) != 3 ||
		c[0] < b[0] || c[0] > b[2] || c[1] < b[1] || c[1] > b[3] || c[2] < 0 || c[2] > 13 {
		t.Errorf("bounds %v, center %v", b, c)
	}
	n := describe(t, s, "/tiles/village/network/bicycle.json")
	if n.MinZoom != 12 || n.MaxZoom != 13 || len(n.VectorLayers) != 2 ||
		!slices.Equal(n.Tiles, []string{s.URL + "/tiles/village/network/bicycle/{z}/{x}/{y}.mvt"}) {
		t.Errorf("%+v", n)
	}
	for path, d := range map[string]tileJSON{"/tiles/village/": d, "/tiles/village/network/bicycle/": n} {
		layers, err := mvt.Unmarshal([]byte(s.Do("GET", path+pathOf(13), "", "", "Accept-Encoding", "identity").Body))
		if err != nil || len(layers) == 0 {
			t.Fatalf("%s: %d layers, %v", path, len(layers), err)
		}
		for _, l := range layers {
			i := slices.IndexFunc(d.VectorLayers, func(v vectorLayer) bool { return v.ID == l.Name })
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
}

// Addresses are those with which the client has reached the server. Headers of a proxy count if it is trusted.
func TestAddresses(t *testing.T) {
	s, cfg, _ := start(t, "")
	forwarded := []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "maps.example.com, inner",
		"X-Forwarded-Prefix", "/outer"}
	bad := []string{"X-Forwarded-Proto", "gopher", "X-Forwarded-Host", `x"/@y`, "X-Forwarded-Prefix", "no/slash"}
	cfg.Site = "handle_path /below/* {\nmaps_tiles village {\npublic\nprefix /t\n}\n}"
	const here = "{here}/below/t"
	for global, tests := range map[string]map[string][]string{
		"": {here: forwarded},
		"servers {\ntrusted_proxies static 127.0.0.0/8\n}": {
			"https://maps.example.com/outer/below/t": forwarded, here: nil, here + " ": bad,
		},
	} {
		cfg.Global = global
		if err := s.Load(cfg); err != nil {
			t.Fatal(err)
		}
		for want, header := range tests {
			want = strings.Replace(strings.TrimSpace(want), "{here}", s.URL, 1) + "/village/{z}/{x}/{y}.mvt"
			if d := describe(t, s, "/below/t/village.json", header...); d.Tiles[0] != want {
				t.Errorf("%q %v: %s, want %s", global, header, d.Tiles[0], want)
			}
		}
	}
	if a := s.Do(http.MethodGet, "/below/tiles/village.json", "", ""); a.Status != 404 {
		t.Errorf("another prefix: %d", a.Status)
	}
}

func TestCaddyfile(t *testing.T) {
	unmarshal := func(text string) (string, error) {
		h := new(tiles.Handler)
		if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)); err != nil {
			return "", err
		}
		out, err := json.Marshal(h)
		return string(out), err
	}
	for text, want := range map[string]string{
		"maps_tiles a": `{"regions":["a"]}`,
		"maps_tiles a b {\n prefix /t\n max_zoom 0\n cache 1GiB\n public\n}": `{"regions":["a","b"],"prefix":"/t","max_zoom":0,` +
			`"cache":1073741824,"public":true}`,
	} {
		got, err := unmarshal(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for option, says := range map[string]string{
		"prefix": "argument", "prefix t": "slash", "max_zoom": "argument", "max_zoom 17": "0 to 16", "max_zoom -1": "0 to 16",
		"max_zoom 1.5": "0 to 16", "max_zoom 1 2": "argument", "cache": "argument", "cache 0": "size", "cache much": "size",
		"cache 1KiB": "less than 1.0 MiB", "public off": "argument", "zoom 14": "unknown option", "cache 64MiB x": "argument",
	} {
		if _, err := unmarshal("maps_tiles a {\n" + option + "\n}"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", option, err)
		}
	}
	if _, err := unmarshal("maps_tiles"); err == nil || !strings.Contains(err.Error(), "at least one region") {
		t.Errorf("no region: %v", err)
	}
}
