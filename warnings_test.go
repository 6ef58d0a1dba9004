package caddymaps_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"
)

// TestWarningsOfRoutes has a server say at its start what is sound in each of its parts, and serves nobody.
func TestWarningsOfRoutes(t *testing.T) {
	const (
		unguarded = " has no maps_auth in front of it"
		guarded   = " stands behind maps_auth, and should not"
		unreached = "a handler never gets a request that it answers"
	)
	region := filepath.Join(t.TempDir(), "delaware.region")
	mapstest.BuildRegion(t, region, mapstest.Village)
	s := mapstest.Start(t, mapstest.Config{Maps: "region delaware " + region, Site: "respond x"})
	for _, tc := range []struct{ site, want string }{
		// How it is meant.
		{"handle /api/v1/external/* {\nmaps_tokens\n}", ""},
		{"handle_path /maps/auth/* {\nmaps_tokens {\nprefix /\n}\n}", ""},
		{"handle /api/* {\nroute {\nmaps_auth TILE\n}\n}\nhandle {\nmaps_tokens\n}", ""},
		{"maps_auth /tiles/* TILE\nmaps_tokens /api/v1/external/*\nmaps_tiles /tiles/* delaware", ""},
		{"@maps path /tiles/* /x\nroute @maps {\nmaps_auth TILE\nmaps_tiles delaware\n}", ""},
		{"@v1 `path('/api/route/matching')`\nhandle @v1 {\n" +
			"maps_auth DIRECTION\nmaps_match {\nmatcher local delaware\n}\n}", ""},
		{"maps_accounts /api/v1/service-accounts\nmaps_accounts /api/v1/service-accounts/*", ""},
		{"handle /playground* {\nmaps_playground delaware\n}\nhandle {\nmaps_auth TILE\nrespond x\n}", ""},
		// Mistakes.
		{"handle /api/v1/external/* {\nmaps_auth TILE\nmaps_tokens\n}", "maps_tokens" + guarded},
		{"maps_auth TILE\nhandle /api/v1/external/* {\nmaps_tokens\n}", "maps_tokens" + guarded},
		{"route {\nroute {\nmaps_auth TILE\n}\nmaps_console\n}", "maps_console" + guarded},
		{"maps_auth /api/* TILE\nmaps_accounts /api/*", "maps_accounts" + guarded},
		{"maps_tiles /tiles/* delaware", "maps_tiles" + unguarded},
		{"maps_reverse_geocode {\ngeocoder local delaware\n}", "maps_reverse_geocode" + unguarded},
		{"maps_auth /api/* DIRECTION\nmaps_tiles delaware", "maps_tiles" + unguarded},
		{"handle /api/v1/matching/* {\nmaps_auth DIRECTION\nmaps_match {\nmatcher local delaware\n}\n}", unreached},
		{"handle /api/* {\nhandle /maps/* {\nmaps_tokens {\nprefix /maps\n}\n}\n}", unreached},
		{"handle_path /maps/auth/* {\nmaps_tokens /api/* {\nprefix /\n}\n}", unreached},
		{"handle /console {\nmaps_console\n}", unreached},
		{"handle /api/v1/service-accounts/* {\nmaps_accounts\n}", unreached},
	} {
		before := len(s.Log())
		if err := s.Load(mapstest.Config{Maps: "region delaware " + region, Site: tc.site}); err != nil {
			t.Errorf("%s: %v", tc.site, err)
			continue
		}
		said := ""
		for line := range strings.Lines(s.Log()[before:]) {
			if strings.Contains(line, guarded) || strings.Contains(line, unguarded) || strings.Contains(line, unreached) {
				said += line
			}
		}
		if tc.want == "" && said != "" || !strings.Contains(said, tc.want) || strings.Count(said, "\n") > 1 {
			t.Errorf("%s\ngot %s\nwant %q", tc.site, said, tc.want)
		}
	}
}

// TestWarningsWhileValidating has `caddy validate` say what never works, although it starts nothing.
func TestWarningsWhileValidating(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ site, want string }{
		{"handle /api/v1/external/* {\nmaps_tokens\n}", ""},
		{"handle /api/v1/external/* {\nmaps_auth TILE\nmaps_tokens\n}",
			"maps_tokens stands behind maps_auth, and should not"},
		{"handle /api/v1/matching/* {\nmaps_auth DIRECTION\nmaps_match {\nmatcher osrm http://127.0.0.1:9\n}\n}",
			"a handler never gets a request that it answers"},
		{"handle /tiles/* {\nmaps_auth TILE {\napi_key_query apiKey\n}\nrespond x\n}\nlog",
			"these loggers write URLs as they are"},
	} {
		t.Run(tc.want, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			caddyfile := filepath.Join(dir, "Caddyfile")
			text := "{\nadmin off\nmaps {\n}\n}\n:9 {\n" + tc.site + "\n}\n"
			if err := os.WriteFile(caddyfile, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), program, "validate", "--config", caddyfile, "--adapter", "caddyfile")
			cmd.Env = append(os.Environ(), asCaddy+"=1", "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
			out, err := cmd.CombinedOutput()
			var warned []string
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, `"level":"warn"`) && strings.Contains(line, `"logger":"maps"`) {
					warned = append(warned, line)
				}
			}
			if err != nil || tc.want == "" && len(warned) > 0 || tc.want != "" && (len(warned) != 1 ||
				!strings.Contains(warned[0], tc.want)) {
				t.Errorf("%s\n%v, %s\nwant %q", tc.site, err, out, tc.want)
			}
		})
	}
}
