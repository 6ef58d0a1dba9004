package app_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// Mistakes between directives are logged at the start, with the lines of the Caddyfile.
func TestMistakesBetweenDirectives(t *testing.T) {
	region := filepath.Join(t.TempDir(), "delaware.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	cfg := modulestest.Config{Maps: "region delaware " + region}
	s := modulestest.Start(t, cfg)
	const tiles, public, page = "maps_tiles delaware", "maps_tiles delaware {\npublic\n}", "maps_playground delaware"
	const refuses = "maps_tiles refuses requests that no maps_auth let through with the scope TILE"
	const empty = "no maps_tiles of this server serves /tiles: "
	for _, tc := range []struct{ site, want string }{
		{"handle {\nmaps_auth TILE\n" + tiles + "\n}", ""},
		{"maps_auth TILE\nhandle {\n" + tiles + "\n}", ""},
		{"maps_auth /tiles/* TILE MATRIX\nhandle {\n" + tiles + "\n}", ""},
		{"handle {\n" + public + "\n}", ""},
		{"maps_auth TILE\ninvoke tiles\n}\n&(tiles) {\n" + tiles, ""},
		{"maps_auth TILE\nerror 502\nhandle_errors {\n" + tiles + "\n}", ""},
		{"handle {\nmaps_auth DIRECTION\n" + tiles + "\n}", refuses},
		{"maps_auth DIRECTION\nhandle {\n" + tiles + "\n}", refuses},
		{"handle /tiles/* {\n" + tiles + "\n}\nhandle {\nmaps_auth TILE\nrespond x\n}", refuses},
		{"handle /a/* {\nmaps_auth TILE\nrespond x\n}\nhandle {\n" + tiles + "\n}", refuses},

		{"handle /tiles/* {\n" + public + "\n}\n" + page, ""},
		{"handle_path /tiles/* {\nmaps_tiles delaware {\npublic\nprefix /\n}\n}\n" + page, ""},
		{"handle_path /maps/* {\n" + public + "\n" + page + " {\ntiles /maps/tiles/\n}\n}", ""},
		{"handle_path /maps/* {\n" + public + "\n" + page + "\n}", empty + "maps_tiles serves them at /maps/tiles: write `tiles /maps/tiles`"},
		{page, empty + "serve them with maps_tiles"},
	} {
		before := len(s.Log())
		cfg.Site = tc.site
		if err := s.Load(cfg); err != nil {
			t.Fatal(err)
		}
		log := s.Log()[before:]
		for _, problem := range []string{refuses, empty} {
			if wanted := strings.HasPrefix(tc.want, problem); strings.Contains(log, problem) != wanted || wanted &&
				!(strings.Contains(log, tc.want) && strings.Contains(log, ", at Caddyfile:")) {
				t.Errorf("%s: want %q in\n%s", tc.site, tc.want, log)
			}
		}
	}
}
