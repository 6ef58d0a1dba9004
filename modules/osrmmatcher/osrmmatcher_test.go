package osrmmatcher_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/mapsedge/caddy-maps/modules/accounts"
	_ "github.com/mapsedge/caddy-maps/modules/adminapi"
	_ "github.com/mapsedge/caddy-maps/modules/auth"
	_ "github.com/mapsedge/caddy-maps/modules/mapmatch"
	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"
	_ "github.com/mapsedge/caddy-maps/modules/osrmmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/tokens"
	"github.com/mapsedge/caddy-maps/modules/upstream/upstreamtest"
)

const address = "/api/route/matching/"

func start(t testing.TB, upstreams, options string) *mapstest.Server {
	return mapstest.Start(t, mapstest.Config{Site: fmt.Sprintf(`
		handle {
			maps_match {
				matcher osrm %s {
					timeout 1500ms
					max_response 1MiB
					%s
				}
			}
		}`, upstreams, options)})
}

// question turns a recorded request into one of our API.
func question(t testing.TB, r upstreamtest.Recorded) (query string, points int) {
	t.Helper()
	var line string
	if err := json.Unmarshal(r.Request, &line); err != nil {
		t.Fatal(err)
	}
	line = strings.TrimPrefix(line, "GET /match/v1/driving/")
	line, _, _ = strings.Cut(line, "?")
	var pairs []string
	for pair := range strings.SplitSeq(line, ";") {
		lon, lat, _ := strings.Cut(pair, ",")
		pairs = append(pairs, "{"+lat+","+lon+"}")
	}
	return address + "?path=" + url.QueryEscape("["+strings.Join(pairs, ",")+"]"), len(pairs)
}

type drive struct {
	Coordinates [][2]float64
	Distance    float64
	Confidence  float64
	Duration    float64
	Tracepoints []struct {
		Location *[2]float64
		Distance *float64
		Name     string
		Matched  bool
	}
}

// The geometry as it is asked for; the recorded answers have it as GeoJSON.
func TestPolyline(t *testing.T) {
	u := upstreamtest.New(t)
	s := start(t, u.URL, "")
	for text, want := range map[string]string{
		`_p~iF~ps|U_ulLnnqC_mqNvxq` + "`@" + ``: `{"coordinates":[[3.8500000,-12.0200000],[4.0700000,-12.0950000],[4.3252000,-12.6453000]],"distance":`,
		`_p~iF~ps|`:                             `{"error":{"code":"BadGateway",`,
		``:                                      `{"error":{"code":"BadGateway",`,
	} {
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"code":"Ok","matchings":[{"geometry":%q}],"tracepoints":[{"matchings_index":0,"location":[-12.02,3.85]},`+
				`{"matchings_index":0,"location":[-12.6453,4.3252]}]}`, text)
		})
		if a := s.Do(http.MethodGet, address+"?path=[{3.85,-12.02},{4.3252,-12.6453}]", "", ""); !strings.HasPrefix(a.Body, want) {
			t.Errorf("%q: %d %s, want %s", text, a.Status, a.Body, want)
		}
	}
}

// The recorded answers of OSRM 6.0.0, each with the request that it belongs to.
func TestRecordedDrives(t *testing.T) {
	u := upstreamtest.New(t)
	s := start(t, u.URL, "")
	for _, name := range []string{"ok_1", "ok_2", "ok_3", "gap_split"} {
		t.Run(name, func(t *testing.T) {
			r := upstreamtest.Read(t, "testdata/match_"+name+".json")
			var sent atomic.Pointer[http.Request]
			u.Answer(func(w http.ResponseWriter, req *http.Request) {
				sent.Store(req)
				w.WriteHeader(r.Status)
				w.Write(r.Body)
			})
			target, points := question(t, r)
			a := s.With(t).Do(http.MethodGet, target+"&details=true", "", "")
			if a.Status != 200 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			var line string
			_ = json.Unmarshal(r.Request, &line)
			line = strings.Replace(line, "geometries=geojson", "geometries=polyline6&generate_hints=false", 1) // shorter, and as exact
			if got := "GET " + sent.Load().RequestURI; got != line {
				t.Errorf("sent\n%s, want\n%s", got, line)
			}
			var got drive
			if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
				t.Fatal(err)
			}
			var want struct {
				Matchings []struct {
					Confidence, Duration, Distance float64
					Geometry                       struct{ Coordinates [][2]float64 }
				}
				Tracepoints []struct {
					Location [2]float64
					Distance float64
					Name     string
				}
			}
			if err := json.Unmarshal(r.Body, &want); err != nil {
				t.Fatal(err)
			}
			m := want.Matchings[0]
			if len(got.Coordinates) != len(m.Geometry.Coordinates) {
				t.Fatalf("%d coordinates, want %d", len(got.Coordinates), len(m.Geometry.Coordinates))
			}
			for i, c := range m.Geometry.Coordinates {
				if got.Coordinates[i] != [2]float64{c[1], c[0]} {
					t.Errorf("coordinate %d: %v, want %v turned round", i, got.Coordinates[i], c)
				}
			}
			if math.Abs(got.Distance-m.Distance) > m.Distance/200 {
				t.Errorf("distance %v, want about %v", got.Distance, m.Distance)
			}
			if math.Abs(got.Confidence-m.Confidence) > 1e-4 || got.Duration != m.Duration {
				t.Errorf("confidence %v, duration %v, want %v, %v", got.Confidence, got.Duration, m.Confidence, m.Duration)
			}
			if len(got.Tracepoints) != points {
				t.Fatalf("%d tracepoints, want %d", len(got.Tracepoints), points)
			}
			for i, p := range want.Tracepoints {
				g := got.Tracepoints[i]
				if !g.Matched || *g.Location != [2]float64{p.Location[1], p.Location[0]} || g.Name != p.Name ||
					math.Abs(*g.Distance-p.Distance) > 0.2+p.Distance/100 {
					t.Errorf("tracepoint %d: %+v, want %+v", i, g, p)
				}
			}
		})
	}
}

func TestRecordedErrors(t *testing.T) {
	u := upstreamtest.New(t)
	s := start(t, u.URL, "")
	ok := upstreamtest.Read(t, "testdata/match_ok_1.json")
	target, _ := question(t, ok)
	for name, want := range map[string]struct {
		status int
		code   string
	}{
		"nomatch":        {404, "NoRoute"},
		"nosegment":      {404, "NoRoute"},
		"toobig":         {422, "InvalidInput"},
		"invalidquery":   {502, "BadGateway"},
		"invalidoptions": {502, "BadGateway"},
	} {
		t.Run(name, func(t *testing.T) {
			u.Replay(upstreamtest.Read(t, "testdata/match_"+name+".json"))
			check(t, u, s.With(t).Do(http.MethodGet, target, "", ""), want.status, want.code)
		})
	}
	for _, status := range []int{413, 414, 431} {
		u.Send(status, "too long")
		check(t, u, s.Do(http.MethodGet, target, "", ""), 422, "InvalidInput")
	}
}

func check(t *testing.T, u *upstreamtest.Upstream, a mapstest.Answer, status int, code string) {
	t.Helper()
	if a.Status != status || !strings.Contains(a.Body, `"code":"`+code+`"`) {
		t.Errorf("%d %s, want %d %s", a.Status, a.Body, status, code)
	}
	upstreamtest.CheckSilent(t, u, a)
}

// made makes an answer of OSRM: parts tells the matching of each point, -1 for none.
func made(parts []int) string {
	count := 0
	var points []string
	for i, p := range parts {
		count = max(count, p+1)
		if p < 0 {
			points = append(points, "null")
			continue
		}
		points = append(points, fmt.Sprintf(`{"matchings_index":%d,"location":[%v,41],"name":"Street %d","distance":1}`, p, -8-float64(i)/1000, p))
	}
	var matchings []string
	for p := range count {
		matchings = append(matchings, fmt.Sprintf(`{"confidence":0.5,"duration":%d,"geometry":{"type":"LineString","coordinates":[[-8,41],[-8.%03d,41]]}}`, p+1, p+1))
	}
	return fmt.Sprintf(`{"code":"Ok","matchings":[%s],"tracepoints":[%s]}`, strings.Join(matchings, ","), strings.Join(points, ","))
}

// An answer in parts loses the smaller ones, as ours does, and says NoRoute where too little is left.
func TestParts(t *testing.T) {
	u := upstreamtest.New(t)
	s := start(t, u.URL, "")
	for _, tt := range []struct {
		name     string
		answers  [][]int // one for each request; the last one stands for all that follow
		status   int
		duration float64
		matched  string
	}{
		{"one part", [][]int{{0, 0, 0, 0}}, 200, 1, "1111"},
		{"outliers", [][]int{{-1, 0, 0, -1}}, 200, 1, "0110"},
		{"too many outliers", [][]int{{-1, 0, 0, -1, -1}}, 404, 0, ""},
		{"a single point", [][]int{{0, -1}}, 404, 0, ""},
		{"the second is smaller", [][]int{{0, 0, 0, 1, 1}}, 200, 1, "11100"},
		{"the first is smaller", [][]int{{0, 0, 1, 1, 1}}, 200, 2, "00111"},
		{"equal", [][]int{{0, 0, 1, 1}}, 200, 2, "0011"},
		{"too little left", [][]int{{0, 0, 1, 1, -1}}, 404, 0, ""},
		{"joined without the one between", [][]int{{0, 0, 1, 2, 2, 2}, {0, 0, 0, 0, 0}}, 200, 1, "110111"},
		{"not joined", [][]int{{0, 0, 1, 2, 2, 2}, {0, 0, 1, 1, 1}}, 200, 2, "000111"},
		{"nonsense when asked again", [][]int{{0, 0, 1, 2, 2, 2}}, 200, 3, "000111"},
		{"never joined", [][]int{{0, 0, 1, 2, 3, 4}, {0, 0, 1, 2, 3}, {0, 0, 1, 2}, {0, 0, 1}}, 404, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked atomic.Int64
			u.Answer(func(w http.ResponseWriter, r *http.Request) {
				n := min(int(asked.Add(1)), len(tt.answers))
				fmt.Fprint(w, made(tt.answers[n-1]))
			})
			var path []string
			for i := range tt.answers[0] {
				path = append(path, fmt.Sprintf(`{"lat":41,"lng":%v}`, -8-float64(i)/1000))
			}
			a := s.With(t).Do(http.MethodPost, address, "", `{"path":[`+strings.Join(path, ",")+`],"details":true}`)
			if a.Status != tt.status {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			if n := asked.Load(); n > 8 {
				t.Errorf("asked %d times", n)
			}
			if tt.status != 200 {
				return
			}
			var got drive
			if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
				t.Fatal(err)
			}
			matched := ""
			for _, p := range got.Tracepoints {
				matched += map[bool]string{true: "1", false: "0"}[p.Matched]
			}
			if matched != tt.matched || got.Duration != tt.duration {
				t.Errorf("matched %s, duration %v, want %s, %v", matched, got.Duration, tt.matched, tt.duration)
			}
		})
	}
}

// What is sent: hints widen to the limit of the request, accuracy and times go along, credentials and addresses do not.
func TestRequests(t *testing.T) {
	u := upstreamtest.New(t)
	s := mapstest.Start(t, mapstest.Config{Site: fmt.Sprintf(`
		handle {
			maps_auth DIRECTION {
				api_key_query apiKey
				forward_token
			}
			maps_match {
				matcher osrm %s {
					profile car
					gaps split
					rewrite /osrm{uri}
					header_up X-Account {http.auth.user.id}
				}
			}
		}
		handle /api/v1/external/* {
			maps_tokens
		}
		handle /api/v1/service-accounts {
			maps_accounts
		}`, u.URL)})
	account, token := s.Token("org", "DIRECTION")
	var requests []*http.Request
	var mu sync.Mutex
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		requests = append(requests, r)
		mu.Unlock()
		w.WriteHeader(400)
		fmt.Fprint(w, `{"code":"NoSegment"}`)
	})
	body := `{"path":[{"lat":41,"lng":-8,"time":100.7,"accuracy":4},{"lat":41.1,"lng":-8.1,"time":160,"accuracy":70}],"radius":20}`
	if a := s.Do(http.MethodPost, address, token, body, "Cookie", "a=b", "X-Forwarded-For", "1.2.3.4"); a.Status != 404 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	const where = "/osrm/match/v1/car/-8,41;-8.1,41.1?overview=full&geometries=polyline6&generate_hints=false&radiuses=%s&gaps=split&timestamps=100;160"
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	for i, radiuses := range []string{"4;33.3", "33.3;33.3"} {
		if want := fmt.Sprintf(where, radiuses); requests[i].RequestURI != want {
			t.Errorf("sent %s, want %s", requests[i].RequestURI, want)
		}
	}
	header := requests[0].Header
	if got := header.Get("X-Account"); got != account.ID {
		t.Errorf("account %q, want %q", got, account.ID)
	}
	for _, name := range []string{"Authorization", "Cookie", "X-Forwarded-For", "X-Forwarded-Host"} {
		if got := header.Get(name); got != "" {
			t.Errorf("%s: %s was sent", name, got)
		}
	}
	if strings.Contains(fmt.Sprint(header), token) {
		t.Error("the token was sent")
	}
	if host := requests[0].Host; host != u.Listener.Addr().String() {
		t.Errorf("Host: %s", host)
	}
}

func TestBadDays(t *testing.T) {
	u := upstreamtest.New(t)
	s := start(t, u.URL, "")
	r := upstreamtest.Read(t, "testdata/match_ok_1.json")
	target, _ := question(t, r)
	ask := func(s *mapstest.Server) mapstest.Answer { return s.Do(http.MethodGet, target, "", "") }
	upstreamtest.CheckBadDays(t, s, u, string(r.Body), ask)
	for name, body := range map[string]string{
		"no tracepoints":       `{"code":"Ok","matchings":[{"geometry":{"coordinates":[[1,2],[1,3]]}}],"tracepoints":[]}`,
		"no matchings":         `{"code":"Ok","matchings":[],"tracepoints":[null,null,null,null,null,null,null,null,null,null,null,null]}`,
		"another trace":        made([]int{0, 0, 0}),
		"too many tracepoints": made(make([]int, 1000)),
		"a wrong index":        strings.Replace(string(r.Body), `"matchings_index": 0`, `"matchings_index": 7`, 1),
		"a negative index":     strings.Replace(string(r.Body), `"matchings_index": 0`, `"matchings_index": -1`, 1),
		"off the globe":        strings.Replace(string(r.Body), `-8.628108`, `-888.1`, 1),
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
	t.Run("client gone", func(t *testing.T) { upstreamtest.CheckGone(t, s, u, target) })
}

func TestUnreachable(t *testing.T) {
	u := upstreamtest.New(t)
	s := start(t, upstreamtest.Unreachable(t), "")
	target, _ := question(t, upstreamtest.Read(t, "testdata/match_ok_1.json"))
	check(t, u, s.Do(http.MethodGet, target, "", ""), 503, "Unavailable")
}

// One of three upstreams is killed under load: with retries no request fails.
func TestUpstreamKilled(t *testing.T) {
	r := upstreamtest.Read(t, "testdata/match_ok_1.json")
	target, _ := question(t, r)
	upstreamtest.CheckKilled(t, r, target, func(upstreams, options string) *mapstest.Server { return start(t, upstreams, options) })
}

func TestCaddyfileErrors(t *testing.T) {
	for block, want := range map[string]string{
		"matcher osrm":                                           "at least one upstream",
		"matcher osrm ftp://a":                                   "unsupported URL scheme",
		"matcher osrm http://a:1 {\nnonsense\n}":                 "unrecognized subdirective",
		"matcher osrm http://a:1 {\nhandle_response {\n}\n}":     "handle_response cannot be used",
		"matcher osrm http://a:1 {\ntimeout soon\n}":             "timeout",
		"matcher osrm http://a:1 {\ntimeout -1s\n}":              "not positive",
		"matcher osrm http://a:1 {\nmax_response 0\n}":           "not positive",
		"matcher osrm http://a:1 {\nprofile\n}":                  "wrong argument count",
		"matcher osrm http://a:1 {\nprofile a b c\n}":            "wrong argument count",
		"matcher osrm http://a:1 {\nprofile a/b\n}":              `profile: "a/b" is not a name`,
		"matcher osrm http://a:1 {\nprofile velo\n}":             `profile: "velo" does not tell whom it is for`,
		"matcher osrm http://a:1 {\nprofile velo bike\n}":        `answers_for: "bike" is not known`,
		"matcher osrm http://a:1 {\nlb_policy no_such_thing\n}":  "no_such_thing",
		"matcher osrm http://a:1 {\ntransport http {\nfoo\n}\n}": "foo",
		"matcher osrm http://a:1/path":                           "path",
	} {
		_, err := mapstest.Adapt(":0 {\nmaps_match {\n" + block + "\n}\n}")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", block, err, want)
		}
	}
}
