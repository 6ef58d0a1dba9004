package photongeocoder_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

func check(t *testing.T, u *modulestest.Upstream, a modulestest.Response, status int, message string) {
	t.Helper()
	if want := `{"error":"` + message + `"}`; a.Status != status || strings.TrimSpace(a.Body) != want {
		t.Errorf("%d %s, want %d %s", a.Status, a.Body, status, want)
	}
	modulestest.CheckSilent(t, u, a)
}

func TestBadDays(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	r := read(t, "near")
	target := question(t, r)
	ask := func(s *modulestest.Server) modulestest.Response { return s.Do(http.MethodGet, target, "", "") }
	modulestest.CheckBadDays(t, s, u, string(r.Body), ask)
	const feature = `{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[1,2]}}`
	for name, body := range map[string]string{
		"no features":              `{"type":"FeatureCollection"}`,
		"features that are none":   `{"features":{}}`,
		"a feature that is none":   `{"features":[null]}`,
		"no geometry":              `{"features":[{"properties":{"osm_type":"N","osm_id":1}}]}`,
		"a geometry of null":       `{"features":[{"properties":{},"geometry":null}]}`,
		"a geometry off the globe": `{"features":[{"properties":{},"geometry":{"type":"Point","coordinates":[1,200]}}]}`,
		"infinity":                 `{"features":[{"properties":{},"geometry":{"type":"Point","coordinates":[1,1e999]}}]}`,
		"an unknown geometry":      `{"features":[{"properties":{},"geometry":{"type":"secret","coordinates":[1,2]}}]}`,
		"properties that are none": `{"features":[{"properties":[],"geometry":{"type":"Point","coordinates":[1,2]}}]}`,
		"a place far away": `{"features":[{"properties":{"osm_type":"N","osm_id":1,"osm_key":"place","osm_value":"city",` +
			`"name":"x"},"geometry":{"type":"Point","coordinates":[100,60]}}]}`,
		"more than asked for": `{"features":[` + feature + strings.Repeat(","+feature, 50) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			u.Send(200, body)
			check(t, u, ask(s.With(t)), 502, "bad gateway")
		})
	}
	// What has no id of OpenStreetMap or is nothing is left out.
	u.Send(200, `{"features":[`+feature+strings.Repeat(","+feature, 49)+`]}`)
	if got := short(t, s.Do(http.MethodGet, target+"&category=amenity", "", "")); got != nil {
		t.Errorf("%v", got)
	}
	t.Run("comes back", func(t *testing.T) {
		u.Replay(r)
		if got := short(t, ask(s.With(t))); len(got) != 1 {
			t.Error(got)
		}
	})
	t.Run("client gone", func(t *testing.T) { modulestest.CheckGone(t, s, u, target) })
}

// The bodies of refusals and of failures have the form of GeoJsonFormatter.formatError, all with the status 400.
func TestRefusals(t *testing.T) {
	u := modulestest.NewUpstream(t)
	r := read(t, "near")
	for _, tc := range []struct {
		body   string
		logged string
	}{
		{string(read(t, "refused").Body), "Allowed parameters"},
		{`{"message":"IO error during search"}`, "status 400: it says \\\"IO error during search"},
		{`{"message":"Unknown error."}`, "Unknown error."},
		{string(r.Body), "status 400"},
	} {
		s := start(t, u.URL, "")
		u.Send(http.StatusBadRequest, tc.body)
		check(t, u, s.Do(http.MethodGet, question(t, r), "", ""), 502, "bad gateway")
		if log := s.Log(); !strings.Contains(log, tc.logged) {
			t.Errorf("%s: the log does not tell %s", tc.body, tc.logged)
		}
	}
}

func TestUnreachable(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, modulestest.Unreachable(t), "")
	check(t, u, s.Do(http.MethodGet, question(t, read(t, "near")), "", ""), 503, "service unavailable")
}

// One of two upstreams is killed under load: with the documented options no request fails.
func TestUpstreamKilled(t *testing.T) {
	r := read(t, "near")
	modulestest.CheckKilled(t, r, question(t, r), func(upstreams, options string) *modulestest.Server {
		return start(t, upstreams, options)
	})
}
