package valhallamatcher_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	_ "github.com/mapsedge/caddy-maps/modules/mapmatch"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/valhallamatcher"
)

const (
	matchPath  = "/api/route/matching/"
	route      = "/trace_route"
	attributes = "/trace_attributes"
)

func site(upstreams, options, handler string) modulestest.Config {
	return modulestest.Config{Site: fmt.Sprintf(`
		handle {
			maps_match {
				public
				matcher valhalla %s {
					max_response 1MiB
					%s
				}
				%s
			}
		}`, upstreams, modulestest.Quick(options), handler)}
}

func start(t testing.TB, upstreams, options string) *modulestest.Server {
	return modulestest.Start(t, site(upstreams, options, ""))
}

// post asks for details of a trace.
func post(t testing.TB, s *modulestest.Server, r *recording, more string) modulestest.Response {
	t.Helper()
	return s.With(t).Do(http.MethodPost, matchPath, "", r.question(more))
}

// The recorded drive of Valhalla 3.5.1.
func TestRecordedDrive(t *testing.T) {
	f := newFake(t, "ok_route_osrm")
	s := start(t, f.URL, "")
	r := &f.drives[0]
	a := post(t, s, r, "")
	got := modulestest.ReadDrive(t, a)
	if math.Abs(got.Distance-3479.702) > 10 || math.Abs(got.Duration-260.137) > 0.051 {
		t.Errorf("distance %v, duration %v", got.Distance, got.Duration)
	}
	if strings.Contains(a.Body, `"confidence"`) {
		t.Errorf("a confidence: %s", a.Body)
	}
	got.CheckLine(t, r.line(t, 0))
	if len(got.Tracepoints) != len(r.shape) {
		t.Fatalf("%d tracepoints, want %d", len(got.Tracepoints), len(r.shape))
	}
	for i, text := range r.answer.Tracepoints {
		var want struct {
			Location [2]float64
			Distance float64
			Name     string
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		// Valhalla rounds the location to a tenth of a metre, and has the distance from where it was before.
		g := got.Tracepoints[i]
		if !g.Matched || g.Name != want.Name || math.Abs(*g.Distance-want.Distance) > 0.2 ||
			math.Abs(g.Location[0]-want.Location[1]) > 1e-6 || math.Abs(g.Location[1]-want.Location[0]) > 1e-6 {
			t.Errorf("tracepoint %d: %+v, want %s", i, g, text)
		}
	}
	if n := len(f.requests(route)); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if a := s.Do(http.MethodGet, matchPath+"?path=[{41.159826,-8.639847},{41.170671,-8.66574}]", "", ""); a.Status != 200 {
		t.Errorf("without details: %d %s", a.Status, a.Body)
	}
	if n := len(f.requests(attributes)); n != 0 {
		t.Errorf("asked for ways of a response without details %d times", n)
	}
}

func TestErrors(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	r := read(t, "ok_route_osrm")
	const noRoute, invalid, badGateway = "NoRoute", "InvalidInput", "BadGateway"
	for _, tt := range []struct {
		status int
		body   string
		code   string
	}{
		{400, osrmError("NoSegment"), noRoute},
		{400, osrmError("NoRoute"), noRoute},
		{400, osrmError("BreakageDistanceExceeded"), noRoute},
		{400, osrmError("DistanceExceeded"), invalid},
		{400, osrmError("InvalidValue"), invalid},
		{400, osrmError("InvalidUrl"), badGateway},
		{400, osrmError("Ok"), badGateway},
		{400, ownError(171), noRoute},
		{400, ownError(442), noRoute},
		{400, ownError(444), noRoute},
		{400, ownError(123), invalid},
		{400, ownError(153), invalid},
		{400, ownError(154), invalid},
		{400, ownError(158), invalid},
		{400, ownError(999), badGateway},
		{413, "", invalid},
		{500, osrmError("NoRoute"), badGateway},
		{200, osrmError("Ok"), badGateway},
		{200, `{"code":"Ok","matchings":[{"geometry":"_p~iF~ps|U"}],"tracepoints":[{"matchings_index":1}]}`, badGateway},
	} {
		t.Run(fmt.Sprint(tt.status, tt.body), func(t *testing.T) {
			u.Send(tt.status, tt.body)
			check(t, u, post(t, s, &r, ""), tt.code)
		})
	}
}

func check(t *testing.T, u *modulestest.Upstream, a modulestest.Response, code string) {
	t.Helper()
	status := map[string]int{"NoRoute": 404, "InvalidInput": 422, "BadGateway": 502}[code]
	if a.Status != status || !strings.Contains(a.Body, `"code":"`+code+`"`) {
		t.Errorf("%d %s, want %d %s", a.Status, a.Body, status, code)
	}
	if code == "InvalidInput" && !strings.Contains(a.Body, `"message":"path: `) {
		t.Errorf("it does not tell the parameter: %s", a.Body)
	}
	modulestest.CheckSilent(t, u, a)
}

func TestBadDays(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := start(t, u.URL, "")
	r := read(t, "ok_route_osrm")
	good := string(modulestest.ReadRecorded(t, "../../internal/testkit/testdata/valhalla/ok_route_osrm.json").Body)
	modulestest.CheckBadDays(t, s, u, good, func(s *modulestest.Server) modulestest.Response {
		return s.Do(http.MethodPost, matchPath, "", r.question(""))
	})
	u.Send(200, strings.Replace(good, `"geometry":"`, `"geometry":" `, 1))
	check(t, u, post(t, s, &r, ""), "BadGateway")
}

// A POST is sent again, whole, where an upstream hangs up or is not there.
func TestRetries(t *testing.T) {
	bad, good := modulestest.NewUpstream(t), newFake(t, "ok_route_osrm")
	s := start(t, bad.URL+" "+modulestest.Unreachable(t)+" "+good.URL, "lb_policy round_robin\nlb_retries 3\nmax_calls 8")
	bad.Answer(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	})
	for range 6 {
		if got := modulestest.ReadDrive(t, post(t, s, &good.drives[0], "")); len(got.Ways) == 0 {
			t.Errorf("no ways: %+v", got)
		}
	}
}

// Each profile has its costing model; that for cars can be another one. It is the same for the drive and for its ways.
func TestCosting(t *testing.T) {
	f := newFake(t, "ok_route_osrm")
	s := start(t, f.URL, "")
	for _, tt := range []struct{ option, profile, want string }{
		{"", "", "auto"}, {"", "car", "auto"}, {"", "bicycle", "bicycle"}, {"", "foot", "pedestrian"},
		{"costing taxi", "", "taxi"}, {"costing taxi", "foot", "pedestrian"},
	} {
		if err := s.Load(site(f.URL, tt.option, "profile car bicycle foot")); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{route, attributes} {
			more := ""
			if tt.profile != "" {
				more = fmt.Sprintf(`,"profile":%q`, tt.profile)
			}
			modulestest.ReadDrive(t, post(t, s, &f.drives[0], more))
			if asked := f.requests(path); len(asked) != 1 || asked[0].Costing != tt.want {
				t.Errorf("%+v: %s was asked %+v", tt, path, asked)
			}
		}
	}
}
