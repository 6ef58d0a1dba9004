package remote_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/geocoding"
	_ "github.com/mapsedge/caddy-maps/modules/matching"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/remote/nominatim"
	_ "github.com/mapsedge/caddy-maps/modules/remote/osrm"
	_ "github.com/mapsedge/caddy-maps/modules/remote/photon"
	_ "github.com/mapsedge/caddy-maps/modules/remote/valhalla"
)

// engine is one of the four upstream engines, with one request of our API and its answer by the engine.
type engine struct {
	name  string // as in `matcher osrm`
	match bool   // a matcher, not a geocoder
	query string
	good  string
}

const reverseScope, matchScope = "REVERSEGEOCODING", "DIRECTION"

func engines(t testing.TB) []engine {
	poi, near := recorded(t, "nominatim/reverse_poi"), recorded(t, "photon/reverse_near")
	drive := "?path=" + path(row(4, 0))
	return []engine{
		{"osrm", true, drive, matchings("aaaa")},
		{"valhalla", true, drive, matchings("aaaa")},
		{"nominatim", false, positionOf(t, poi), string(poi.Body)},
		{"photon", false, positionOf(t, near), string(near.Body)},
	}
}

func recorded(t testing.TB, name string) modulestest.Recorded {
	t.Helper()
	return modulestest.ReadRecorded(t, "../../internal/testkit/testdata/"+name+".json")
}

// requestOf is the URL of a recorded GET.
func requestOf(t testing.TB, r modulestest.Recorded) string {
	t.Helper()
	var line string
	if err := json.Unmarshal(r.Request, &line); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(line, "GET ")
}

// positionOf is the query of our API for the position of a recorded reverse geocoding.
func positionOf(t testing.TB, r modulestest.Recorded) string {
	t.Helper()
	u, err := url.Parse(requestOf(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return "?lat=" + u.Query().Get("lat") + "&lon=" + u.Query().Get("lon")
}

// handler is the handler that asks an engine at a path of the site. inside is further options of the handler.
func (e *engine) handler(at, upstreams, options, inside string) string {
	directive, kind := "maps_reverse_geocode", "geocoder"
	if e.match {
		directive, kind = "maps_match", "matcher"
	}
	return fmt.Sprintf("%s {\nprefix %s\n%s\n%s %s %s {\n%s\n}\n}\n", directive, at, inside, kind, e.name, upstreams, options)
}

// site is a public handler, for the requests to its path.
func (e *engine) site(at, upstreams, options string) string {
	return "handle " + at + " {\n" + e.handler(at, upstreams, options, "public") + "}\n"
}

// check checks that a response is an error in the style of its API, and tells nothing of the upstream.
func (e *engine) check(t *testing.T, a modulestest.Response, status int) {
	t.Helper()
	codes := map[int][2]string{502: {"BadGateway", "bad gateway"}, 503: {"Unavailable", "service unavailable"},
		504: {"Timeout", "timeout"}, 404: {"NoRoute", ""}, 422: {"InvalidInput", ""}}
	want := `{"error":"` + codes[status][1] + `"}`
	if e.match {
		want = `"code":"` + codes[status][0] + `"`
	}
	if a.Status != status || !strings.Contains(a.Body, want) || !json.Valid([]byte(a.Body)) {
		t.Errorf("%d %s, want %d %s", a.Status, a.Body, status, want)
	}
	for _, secret := range []string{"127.0.0.1", "internal", "secret", "<html", "Proxy-Status", "Via"} {
		if text := a.Body + fmt.Sprint(a.Header); strings.Contains(text, secret) {
			t.Errorf("the response tells %q: %s", secret, text)
		}
	}
}

const floodSize = 100 << 20

// troubles is what can go wrong after a connection has been made, by the status that a client must get then.
func troubles(good string, flooded *atomic.Int64) map[string]trouble {
	half := good[:len(good)/2]
	send := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	hang := func(r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does a server notice that its client has gone
		<-r.Context().Done()
	}
	flood := func(w http.ResponseWriter) {
		chunk := []byte(strings.Repeat(" ", 1<<16))
		for range floodSize / len(chunk) {
			if n, err := w.Write(chunk); err != nil {
				return
			} else {
				flooded.Add(int64(n))
			}
		}
	}
	return map[string]trouble{
		"never answers": {504, func(_ http.ResponseWriter, r *http.Request) { hang(r) }},
		"stops in the middle": {504, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, half)
			w.(http.Flusher).Flush()
			hang(r)
		}},
		"is cut off": {502, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			fmt.Fprint(w, half)
		}},
		"hangs up":                {502, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		"answers half":            {502, send(200, half)},
		"answers twice":           {502, send(200, good+good)},
		"answers nothing":         {502, send(200, "")},
		"answers null":            {502, send(200, "null")},
		"answers an empty object": {502, send(200, "{}")},
		"answers a page":          {502, send(200, "<html>It works!</html>")},
		"answers a page with 400": {502, send(400, "<html>no</html>")},
		"is broken":               {502, send(500, "secret stack")},
		"redirects": {502, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://internal.example/", http.StatusFound)
		}},
		"is overloaded":         {503, send(503, "secret stack")},
		"limits requests":       {503, send(429, "")},
		"is a gateway, timeout": {504, send(504, "")},
		"floods":                {502, func(w http.ResponseWriter, _ *http.Request) { flood(w) }},
		"nests":                 {502, send(200, strings.Repeat(`{"a":[`, 1<<16))},
		"announces a flood": {502, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(floodSize))
			flood(w)
		}},
	}
}

type trouble struct {
	status int
	answer http.HandlerFunc
}

// The client gets the right error in time for every fault of an upstream. Too large responses are not read. The next good
// response is served. A response that breaks the engine's protocol is 502.
func TestTroubles(t *testing.T) {
	invalid := map[string]map[string]string{"osrm": {
		"no tracepoints": `{"code":"Ok","matchings":[{"geometry":{"coordinates":[[1,2],[1,3]]}}],"tracepoints":[]}`,
		"no matchings":   `{"code":"Ok","matchings":[],"tracepoints":[null,null,null,null]}`,
		"another trace":  matchings("aaa"),
		"another place":  strings.ReplaceAll(matchings("aaaa"), "41", "43"),
	}, "photon": {
		"no features":              `{"type":"FeatureCollection"}`,
		"features that are none":   `{"features":{}}`,
		"a feature that is none":   `{"features":[null]}`,
		"no geometry":              `{"features":[{"properties":{"osm_type":"N","osm_id":1}}]}`,
		"a geometry off the globe": `{"features":[{"properties":{},"geometry":{"type":"Point","coordinates":[1,200]}}]}`,
		"an unknown geometry":      `{"features":[{"properties":{},"geometry":{"type":"secret","coordinates":[1,2]}}]}`,
		"properties that are none": `{"features":[{"properties":[],"geometry":{"type":"Point","coordinates":[1,2]}}]}`,
		"a place far away": `{"features":[{"properties":{"osm_type":"N","osm_id":1,"osm_key":"place","osm_value":"city",` +
			`"name":"x"},"geometry":{"type":"Point","coordinates":[100,60]}}]}`,
		"too many features": `{"features":[` + strings.Repeat(noObject+",", 50) + noObject + `]}`,
	}, "nominatim": {}, "valhalla": {
		"no geometry":       strings.Replace(matchings("aaaa"), `"coordinates"`, `"x"`, 1),
		"Ok without a body": `{"code":"Ok"}`,
	}}
	for name, change := range map[string][2]string{
		"no latitude":                  {`"lat": "44.5015307",`, ``},
		"a latitude off the globe":     {`"lat": "44.5015307"`, `"lat": "444.5"`},
		"no number":                    {`"lon": "11.3398676"`, `"lon": "NaN"`},
		"no category":                  {`"category": "amenity"`, `"category": null`},
		"no id":                        {`"osm_id": 1704756187,`, ``},
		"a negative id":                {`1704756187`, `-5`},
		"half an id":                   {`1704756187`, `0.5`},
		"an enormous id":               {`1704756187`, `1e999`},
		"another error":                {`"place_id"`, `"error": "secret", "place_id"`},
		"an error that is no text":     {`"place_id"`, `"error": {"code": 400}, "place_id"`},
		"an unknown geometry":          {`"type": "Point"`, `"type": "secret"`},
		"an address that is no object": {`"address": {`, `"address": 5, "x": {`},
	} {
		good := string(recorded(t, "nominatim/reverse_poi").Body)
		if invalid["nominatim"][name] = strings.Replace(good, change[0], change[1], 1); invalid["nominatim"][name] == good {
			t.Fatalf("nothing to change for %q", name)
		}
	}

	all, sites := engines(t), ""
	upstreams := make([]*modulestest.Upstream, len(all))
	for i := range all {
		upstreams[i] = modulestest.NewUpstream(t)
		sites += all[i].site("/"+all[i].name, upstreams[i].URL, "max_response 1MiB\ntimeout 1500ms")
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	for i, e := range all {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			s := s.With(t)
			var flooded atomic.Int64
			answers := troubles(e.good, &flooded)
			for name, body := range invalid[e.name] {
				answers[name] = trouble{502, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }}
			}
			for name, trouble := range answers {
				flooded.Store(0)
				upstreams[i].Answer(trouble.answer)
				a := s.Do(http.MethodGet, "/"+e.name+e.query, "", "")
				t.Log(name)
				e.check(t, a, trouble.status)
				if n := flooded.Load(); n > floodSize/4 {
					t.Errorf("%s: %d bytes were taken", name, n)
				}
			}
			upstreams[i].Send(200, e.good)
			if a := s.Do(http.MethodGet, "/"+e.name+e.query, "", ""); a.Status != 200 {
				t.Errorf("a good answer: %d %s", a.Status, a.Body)
			}
		})
	}
}

// An upstream that cannot be reached is 503. One that hears of a client that leaves is not asked any longer.
func TestUnreachableAndGone(t *testing.T) {
	all, sites := engines(t), ""
	asked, left := make(chan struct{}, 16), make(chan struct{}, 16)
	u := modulestest.NewUpstream(t)
	u.Answer(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does a server notice that its client has gone
		asked <- struct{}{}
		<-r.Context().Done()
		left <- struct{}{}
	})
	for _, e := range all {
		sites += e.site("/none/"+e.name, modulestest.Unreachable(t), "") + e.site("/slow/"+e.name, u.URL, "timeout 10m")
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	for _, e := range all {
		e.check(t, s.Do(http.MethodGet, "/none/"+e.name+e.query, "", ""), 503)

		host := strings.TrimPrefix(s.URL, "http://")
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET /slow/%s HTTP/1.1\r\nHost: %s\r\n\r\n", e.name+e.query, host)
		await(t, "the upstream is asked", asked)
		conn.Close()
		await(t, "the upstream hears that the client has gone", left)
	}
}

// await waits for something that must happen, however busy the machine is.
func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Fatalf("not within 20 s: %s", what)
	}
}

// One of two upstreams is killed under load: with the documented options no request fails.
func TestUpstreamKilled(t *testing.T) {
	all, sites := engines(t), ""
	pairs := make([][2]*modulestest.Upstream, len(all))
	for i, e := range all {
		urls := ""
		for k := range pairs[i] {
			pairs[i][k] = modulestest.NewUpstream(t)
			pairs[i][k].Send(200, e.good)
			urls += pairs[i][k].URL + " "
		}
		sites += e.site("/"+e.name, urls, "timeout 20s\nlb_retries 1\nfail_duration 10s")
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites, Level: "INFO", NoAccessLog: true})
	for i, e := range all {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			var served atomic.Int64
			var clients sync.WaitGroup
			warm, done := make(chan struct{}), make(chan struct{})
			for range 4 {
				clients.Go(func() {
					for {
						a, err := s.Try("/"+e.name+e.query, "")
						if err != nil || a.Status != 200 {
							t.Errorf("%v %d %s", err, a.Status, a.Body)
						}
						switch n := served.Add(1); {
						case n == 50:
							close(warm)
						case n == 250:
							close(done)
						}
						select {
						case <-done:
							return
						default:
						}
					}
				})
			}
			<-warm
			dead := pairs[i][1]
			dead.CloseClientConnections()
			dead.Listener.Close()
			dead.CloseClientConnections()
			clients.Wait()
		})
	}
}

// An upstream gets what is asked for, in the form of the engine, and of the client no more than its account, in a
// header that the site adds.
func TestPrivacy(t *testing.T) {
	var received atomic.Pointer[http.Request]
	u := modulestest.NewUpstream(t)
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		received.Store(r)
		w.WriteHeader(500)
	})
	sites := "handle /api/v1/external/* {\nmaps_tokens\n}\nhandle /api/v1/service-accounts {\nmaps_accounts\n}\n"
	for _, e := range engines(t) {
		scope := map[bool]string{true: matchScope, false: reverseScope}[e.match]
		sites += "handle /" + e.name + " {\nmaps_auth " + scope + " {\napi_key_query apiKey\nforward_token\n}\n" +
			e.handler("/"+e.name, u.URL, "rewrite /proxied{uri}\nheader_up X-Account {http.auth.user.id}", "") + "}\n"
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	account, token := s.Token("org", matchScope+" "+reverseScope)
	for _, e := range engines(t) {
		received.Store(nil)
		s.Do(http.MethodGet, "/"+e.name+e.query, token, "", "Cookie", "a=b", "X-Forwarded-For", "1.2.3.4")
		r := received.Load()
		if r == nil {
			t.Errorf("%s was not asked", e.name)
			continue
		}
		if r.Header.Get("X-Account") != account.ID || r.Host != u.Listener.Addr().String() ||
			!strings.HasPrefix(r.URL.Path, "/proxied/") {
			t.Errorf("%s: %s %s %v", e.name, r.Host, r.URL, r.Header)
		}
		for _, name := range []string{"Authorization", "Cookie", "X-Forwarded-For", "X-Forwarded-Host"} {
			if got := r.Header.Get(name); got != "" {
				t.Errorf("%s: %s: %s was sent", e.name, name, got)
			}
		}
		if strings.Contains(fmt.Sprint(r.Header, r.URL), token) {
			t.Errorf("%s: the token was sent", e.name)
		}
	}
}

func TestCaddyfileErrors(t *testing.T) {
	type blocks map[string]string // by the error
	refused := func(e engine, inside, want string) {
		t.Helper()
		_, err := modulestest.Adapt(":0 {\n" + e.handler("/x", "http://a:1", inside, "") + "}")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s { %s }: %v, want %q", e.name, inside, err, want)
		}
	}
	own := map[string]blocks{
		"osrm": {
			"wrong argument count":                         "profile",
			`profile: "a/b" is not a name`:                 "profile a/b",
			`profile: "velo" does not tell whom it is for`: "profile velo",
			`answers_for: "bike" is not known`:             "profile velo bike",
			`gaps: "join" is not known`:                    "gaps join",
		},
		"valhalla":  {"wrong argument count": "costing", "it is on or off, not maybe": "ways maybe"},
		"nominatim": {"wrong argument count": "geometry", "it is on or off, not maybe": "geometry maybe"},
		"photon":    {"wrong argument count": "geometry", "it is on or off, not maybe": "geometry maybe"},
	}
	for _, e := range engines(t) {
		for want, inside := range (blocks{
			"unrecognized subdirective":      "nonsense",
			"handle_response cannot be used": "handle_response {\n}",
			"timeout":                        "timeout soon",
			"must be positive":               "timeout -1s",
			"is not a positive size":         "max_response 0",
			"no_such_thing":                  "lb_policy no_such_thing",
			"foo":                            "transport http {\nfoo\n}",
			"did you mean max_calls?":        "max_cals 3",
		}) {
			refused(e, inside, want)
		}
		for want, inside := range own[e.name] {
			refused(e, inside, want)
		}
		for upstreams, want := range map[string]string{
			"": "at least one upstream", "ftp://a": "unsupported URL scheme", "http://a:1/path": "path",
		} {
			_, err := modulestest.Adapt(":0 {\n" + e.handler("/x", upstreams, "", "") + "}")
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want %q", e.name, upstreams, err, want)
			}
		}
	}
}
