package tiles_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// Addresses are those by which the client has reached the server. What a proxy says counts where it is trusted.
func TestAddresses(t *testing.T) {
	dir := t.TempDir()
	village := filepath.Join(dir, "village.region")
	modulestest.BuildRegion(t, village, modulestest.Village)
	forwarded := []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "maps.example.com, inner",
		"X-Forwarded-Prefix", "/outer"}
	bad := []string{"X-Forwarded-Proto", "gopher", "X-Forwarded-Host", `x"/@y`, "X-Forwarded-Prefix", "no/slash"}
	site := "handle_path /below/* {\nmaps_tiles village {\npublic\nprefix /t\n}\n}"
	const trust = "servers {\ntrusted_proxies static 127.0.0.0/8\n}"
	var s *modulestest.Server
	for _, test := range []struct {
		name, global string
		header       []string
		want         string
	}{
		{"not trusted", "", forwarded, "{here}/below/t"},
		{"trusted", trust, forwarded, "https://maps.example.com/outer/below/t"},
		{"trusted, saying nothing", trust, nil, "{here}/below/t"},
		{"trusted, saying nonsense", trust, bad, "{here}/below/t"},
	} {
		cfg := modulestest.Config{Maps: "region village " + village, Global: test.global, Site: site}
		if s == nil {
			s = modulestest.Start(t, cfg)
		} else if err := s.Load(cfg); err != nil {
			t.Fatal(err)
		}
		want := strings.Replace(test.want, "{here}", s.URL, 1) + "/village/{z}/{x}/{y}.mvt"
		if d := describe(t, s, "/below/t/village.json", test.header...); d.Tiles[0] != want {
			t.Errorf("%s: %s, want %s", test.name, d.Tiles[0], want)
		}
	}
	if a := s.Do(http.MethodGet, "/below/tiles/village.json", "", ""); a.Status != 404 {
		t.Errorf("another prefix: %d", a.Status)
	}
}
