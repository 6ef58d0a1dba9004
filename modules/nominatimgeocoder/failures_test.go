package nominatimgeocoder_test

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

// An object in another part of the world is no answer, unless it is so large that its middle may be there.
func TestAstray(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	const moscow = `"55", "56", "37", "38"`
	for name, tc := range map[string]struct {
		kind, box string
		status    int
	}{
		"a node":                         {"node", "", 502},
		"a way":                          {"way", "", 502},
		"a relation":                     {"relation", "", 200},
		"a relation around":              {"relation", `"41", "82", "-180", "180"`, 200},
		"a relation elsewhere":           {"relation", `"59", "61", "99", "101"`, 502},
		"a way that is near":             {"way", moscow, 200},
		"across the antimeridian":        {"relation", `"55", "56", "-179.9", "-179"`, 502},
		"a box that is none":             {"relation", `"61", "59", "x"`, 200},
		"900 km away":                    {"relation", `"55", "56", "52", "60"`, 200},
		"east of the antimeridian, near": {"way", `"-17", "-16", "-179.9", "-179"`, 200},
	} {
		t.Run(name, func(t *testing.T) {
			target := endpoint + "?lat=55.75&lon=37.6"
			if strings.HasPrefix(name, "east") {
				target = endpoint + "?lat=-16.5&lon=179.9"
			}
			u.Send(200, `{"osm_type":"`+tc.kind+`","osm_id":1,"lat":"60","lon":"100","category":"boundary",`+
				`"type":"administrative","name":"Russia","boundingbox":[`+tc.box+`]}`)
			if a := s.With(t).Do(http.MethodGet, target, "", ""); a.Status != tc.status {
				t.Errorf("%d %s, want %d", a.Status, a.Body, tc.status)
			}
		})
	}
}

func TestBadDays(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	r := read(t, "poi")
	target := question(t, r)
	ask := func(s *modulestest.Server) modulestest.Response { return s.Do(http.MethodGet, target, "", "") }
	modulestest.CheckBadDays(t, s, u, string(r.Body), ask)
	for name, change := range map[string][2]string{
		"no latitude":              {`"lat": "44.5015307",`, ``},
		"off the globe":            {`"lat": "44.5015307"`, `"lat": "444.5"`},
		"nowhere":                  {`"lon": "11.3398676"`, `"lon": "NaN"`},
		"no category":              {`"category": "amenity"`, `"category": null`},
		"no id":                    {`"osm_id": 1704756187,`, ``},
		"a negative id":            {`1704756187`, `-5`},
		"half an id":               {`1704756187`, `0.5`},
		"an enormous id":           {`1704756187`, `1e999`},
		"another error":            {`"place_id"`, `"error": "secret", "place_id"`},
		"an error that is no text": {`"place_id"`, `"error": {"code": 400}, "place_id"`},
		"an unknown geometry":      {`"type": "Point"`, `"type": "secret"`},
		"a geometry nowhere": {`[
    11.3398676,`, `[
    1111,`},
		"an address that is no object": {`"address": {`, `"address": 5, "x": {`},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.Replace(string(r.Body), change[0], change[1], 1)
			if body == string(r.Body) {
				t.Fatalf("nothing to change in %s", body)
			}
			u.Send(200, body)
			check(t, u, ask(s.With(t)), 502, "bad gateway")
		})
	}
	// No object of OpenStreetMap: an id that has no kind (format_json.py), a kind that is none of its three.
	for change, to := range map[string]string{`"osm_type": "node",`: ``, `"osm_type": "node"`: `"osm_type": "postcode"`} {
		u.Send(200, strings.Replace(string(r.Body), change, to, 1))
		if got := results(t, ask(s)); got != "[]" {
			t.Errorf("%s: %s", change, got)
		}
	}
	u.Send(404, `{"error":"Unable to geocode"}`) // by others that speak its protocol
	if got := results(t, ask(s)); got != "[]" {
		t.Errorf("404: %s", got)
	}
	t.Run("comes back", func(t *testing.T) {
		u.Replay(r)
		if got := results(t, ask(s.With(t))); got != restaurant {
			t.Error(got)
		}
	})
	t.Run("client gone", func(t *testing.T) { modulestest.CheckGone(t, s, u, target) })
}

// Statuses and bodies of the Python frontend, in the forms of server/asgi_adaptor.py and server/falcon/server.py, and
// what the log tells of them.
func TestStatuses(t *testing.T) {
	u := modulestest.NewUpstream(t)
	r := read(t, "poi")
	for _, tc := range []struct {
		status  int
		body    string
		want    int
		message string
		logged  string
	}{
		{400, string(read(t, "refused").Body), 502, "bad gateway", "Parameter 'lat' must be a number."},
		{400, `{"error":{"code":400}}`, 502, "bad gateway", "an error"},
		{400, string(r.Body), 502, "bad gateway", "status 400"},
		{400, `{"error":"Unable to geocode"}`, 502, "bad gateway", "status 400"},
		{404, `{"title": "404 Not Found"}`, 502, "bad gateway", "status 404"},
		{500, "Internal server error.", 502, "bad gateway", "status 500"},
		{500, string(read(t, "broken").Body), 502, "bad gateway", "status 500"},
		{503, "Query took too long to process.", 503, "service unavailable", ""},
	} {
		s := start(t, u.URL, "")
		u.Send(tc.status, tc.body)
		check(t, u, s.Do(http.MethodGet, question(t, r), "", ""), tc.want, tc.message)
		if log := s.Log(); !strings.Contains(log, tc.logged) {
			t.Errorf("%d %s: the log does not tell %q", tc.status, tc.body, tc.logged)
		}
	}
}

func TestUnreachable(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, modulestest.Unreachable(t), "")
	check(t, u, s.Do(http.MethodGet, question(t, read(t, "poi")), "", ""), 503, "service unavailable")
}

// One of two upstreams is killed under load: with the documented options no request fails.
func TestUpstreamKilled(t *testing.T) {
	r := read(t, "poi")
	modulestest.CheckKilled(t, r, question(t, r), func(upstreams, options string) *modulestest.Server {
		return start(t, upstreams, options)
	})
}
