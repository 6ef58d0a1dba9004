package app_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// TestMapHandlersFailClosed: a map handler serves what maps_auth let through with its scope, or is public.
func TestMapHandlersFailClosed(t *testing.T) {
	const (
		platform = `{"error":"internal server error"}`
		routing  = `{"error":{"code":"InternalError","message":"internal server error","status":500}}`
		tokens   = "\nhandle /api/v1/external/* {\nmaps_tokens\n}\nhandle /api/v1/service-accounts* {\nmaps_accounts\n}\n"
	)
	region := filepath.Join(t.TempDir(), "delaware.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	maps := "region delaware " + region
	s := modulestest.Start(t, modulestest.Config{Maps: maps, Site: tokens})
	_, token := s.Token("acme", "TILE DIRECTION GEOCODING REVERSEGEOCODING MATRIX")
	_, lacking := s.Token("acme", "MATRIX")
	for _, h := range []struct{ directive, block, scope, path, unknown, refusal string }{
		{"maps_tiles", "delaware {\n%s\n}", "TILE", "/tiles/delaware.json", "/tiles/x", platform},
		{"maps_match", "{\nmatcher local delaware\n%s\n}", "DIRECTION", "/api/route/matching/?path=[{39.16,-75.528},{39.16,-75.524}]",
			"/api/route/matching/x", routing},
		{"maps_geocode", "{\ngeocoder local delaware\n%s\n}", "GEOCODING", "/v2/search/geocode?query=x", "/v2/search", platform},
		{"maps_reverse_geocode", "{\ngeocoder local delaware\n%s\n}", "REVERSEGEOCODING",
			"/v2/search/reverse-geocoding?lat=39.16&lon=-75.52", "/v2/search/coverage", platform},
		{"maps_photon", "{\ngeocoder local delaware\n%s\n}", "GEOCODING", "/api?q=main", "/x", platform},
		{"maps_nominatim", "{\ngeocoder local delaware\n%s\n}", "GEOCODING", "/search?q=main", "/x", platform},
	} {
		closed, open := strings.Replace(h.block, "%s", "", 1), strings.Replace(h.block, "%s", "public", 1)
		for _, tc := range []struct {
			name, site string
			served     bool
		}{
			{"its scope", "maps_auth " + h.scope + "\n" + h.directive + " " + closed, true},
			{"its scope among others", "maps_auth MATRIX " + h.scope + "\n" + h.directive + " " + closed, true},
			{"its scope further out", "route {\nmaps_auth " + h.scope + " {\nforward_token\n}\nmaps_auth MATRIX\n" +
				h.directive + " " + closed + "\n}", true},
			{"any scope", "maps_auth *\n" + h.directive + " " + closed, true},
			{"any scope further out", "route {\nmaps_auth * {\nforward_token\n}\nmaps_auth MATRIX\n" +
				h.directive + " " + closed + "\n}", true},
			{"a fallback behind an error", "maps_auth " + h.scope + "\nerror 502\n}\nhandle_errors {\n" +
				h.directive + " " + closed, true},
			{"public", h.directive + " " + open, true},
			{"public behind another scope", "maps_auth MATRIX\n" + h.directive + " " + open, true},
			{"no maps_auth", h.directive + " " + closed, false},
			{"another scope", "maps_auth MATRIX\n" + h.directive + " " + closed, false},
			{"maps_auth for other paths", "maps_auth /elsewhere/* " + h.scope + "\n" + h.directive + " " + closed, false},
			{"maps_auth behind it", "route {\n" + h.directive + " " + closed + "\nmaps_auth " + h.scope + "\n}", false},
			{"variables of the configuration", "route {\nvars http.handlers.maps_auth " + h.scope +
				"\nvars {\nhttp.handlers.maps_auth {http.vars.http.handlers.maps_auth}\n}\n" + h.directive + " " + closed + "\n}", false},
			{"variables over a pass", "route {\nmaps_auth MATRIX\nvars http.handlers.maps_auth " + h.scope + "\n" +
				h.directive + " " + closed + "\n}", false},
		} {
			t.Run(h.directive+" "+tc.name, func(t *testing.T) {
				before := len(s.Log())
				if err := s.Load(modulestest.Config{Maps: maps, Site: "handle {\n" + tc.site + "\n}\n" + tokens}); err != nil {
					t.Fatal(err)
				}
				for _, path := range []string{h.path, h.path, h.unknown} {
					got := s.Do(http.MethodGet, path, token, "")
					if refused := got.Status == 500 && got.Body == h.refusal; refused == tc.served || tc.served && path == h.path &&
						got.Status != 200 {
						t.Errorf("%s: %d %.200s", path, got.Status, got.Body)
					}
				}
				want := h.directive + " refuses requests that no maps_auth let through with the scope " + h.scope +
					": write `maps_auth " + h.scope + "` in front of it, or `public` in its block"
				if strings.HasPrefix(tc.name, "any scope") {
					forbidden := map[string]string{platform: `{"error":"insufficient scope","code":"INSUFFICIENT_SCOPE"}`,
						routing: `{"error":{"code":"InsufficientScope","message":"insufficient scope","status":403}}`}[h.refusal]
					challenge := `Bearer error="insufficient_scope", scope="` + h.scope + `"`
					got := s.Do(http.MethodGet, h.path, lacking, "")
					if got.Status != 403 || got.Body != forbidden || got.Header.Get("WWW-Authenticate") != challenge {
						t.Errorf("without the scope: %d %s %v", got.Status, got.Body, got.Header)
					}
				}
				if said := strings.Count(s.Log()[before:], want); (said == 1) == tc.served || said > 1 {
					t.Errorf("logged %d times", said)
				}
			})
		}
	}
}
