package osrmmatcher_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

func TestBadDays(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	r := modulestest.ReadRecorded(t, "../../internal/testkit/testdata/osrm/match_ok_1.json")
	target, _ := question(t, r)
	ask := func(s *modulestest.Server) modulestest.Response { return s.Do(http.MethodGet, target, "", "") }
	modulestest.CheckBadDays(t, s, u, string(r.Body), ask)
	for name, body := range map[string]string{
		"no tracepoints": `{"code":"Ok","matchings":[{"geometry":{"coordinates":[[1,2],[1,3]]}}],"tracepoints":[]}`,
		"no matchings": `{"code":"Ok","matchings":[],"tracepoints":[` +
			strings.TrimSuffix(strings.Repeat("null,", 12), ",") + `]}`,
		"another trace":        made([]int{0, 0, 0}),
		"too many tracepoints": made(make([]int, 1000)),
		"a wrong index":        strings.Replace(string(r.Body), `"matchings_index": 0`, `"matchings_index": 7`, 1),
		"a negative index":     strings.Replace(string(r.Body), `"matchings_index": 0`, `"matchings_index": -1`, 1),
		"off the globe":        strings.Replace(string(r.Body), `-8.628108`, `-888.1`, 1),
		"another place":        strings.ReplaceAll(string(r.Body), `-8.6`, `-9.6`),
		"infinity":             strings.Replace(string(r.Body), `-8.628108`, `1e999`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			u.Send(200, body)
			check(t, u, ask(s.With(t)), 502, "BadGateway")
		})
	}
	t.Run("comes back", func(t *testing.T) {
		u.Replay(r)
		if a := ask(s.With(t)); a.Status != 200 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("client gone", func(t *testing.T) { modulestest.CheckGone(t, s, u, target) })
}

func TestUnreachable(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, modulestest.Unreachable(t), "")
	target, _ := question(t, modulestest.ReadRecorded(t, "../../internal/testkit/testdata/osrm/match_ok_1.json"))
	check(t, u, s.Do(http.MethodGet, target, "", ""), 503, "Unavailable")
}

// One of two upstreams is killed under load: with the documented options no request fails.
func TestUpstreamKilled(t *testing.T) {
	r := modulestest.ReadRecorded(t, "../../internal/testkit/testdata/osrm/match_ok_1.json")
	target, _ := question(t, r)
	modulestest.CheckKilled(t, r, target, func(upstreams, options string) *modulestest.Server {
		return start(t, upstreams, options)
	})
}
