package valhallamatcher_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "github.com/mapsedge/caddy-maps/modules/mapmatch"
	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"
	"github.com/mapsedge/caddy-maps/modules/upstream/upstreamtest"
	_ "github.com/mapsedge/caddy-maps/modules/valhallamatcher"
)

const address = "/api/route/matching/"

func start(t *testing.T, upstreams, options string) *mapstest.Server {
	return mapstest.Start(t, mapstest.Config{Site: fmt.Sprintf(`
		handle {
			maps_match {
				matcher valhalla %s {
					timeout 1500ms
					max_response 1MiB
					%s
				}
			}
		}`, upstreams, options)})
}

type sent struct {
	Path string
	Body struct {
		Shape []struct{ Lat, Lon float64 }
	}
}

// question turns a recorded request into the body of one of our API.
func question(t *testing.T, r upstreamtest.Recorded) string {
	t.Helper()
	var request sent
	if err := json.Unmarshal(r.Request, &request); err != nil {
		t.Fatal(err)
	}
	var path []string
	for _, p := range request.Body.Shape {
		path = append(path, fmt.Sprintf(`{"lat":%v,"lng":%v}`, p.Lat, p.Lon))
	}
	return `{"path":[` + strings.Join(path, ",") + `],"details":true}`
}

type drive struct {
	Coordinates                    [][2]float64
	Distance, Confidence, Duration float64
	Tracepoints                    []struct {
		Location *[2]float64
		Distance *float64
		Name     string
		Matched  bool
		Index    *int
	}
	Ways []struct {
		ID       int64
		Name     string
		From, To int
	}
}

// The recorded drive of Valhalla 3.5.1.
func TestRecordedDrive(t *testing.T) {
	u := upstreamtest.New(t)
	s := start(t, u.URL, "")
	r := upstreamtest.Read(t, "testdata/trace_attributes_ok.json")
	var request atomic.Pointer[[]byte]
	u.Answer(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		body = fmt.Appendf(nil, `{"method":%q,"path":%q,"body":%s}`, req.Method, req.RequestURI, body)
		request.Store(&body)
		w.Write(r.Body)
	})
	a := s.Do(http.MethodPost, address, "", question(t, r))
	if a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	var asked, recorded any
	_ = json.Unmarshal(*request.Load(), &asked)
	_ = json.Unmarshal(r.Request, &recorded)
	if diff := cmp.Diff(recorded, asked); diff != "" {
		t.Errorf("sent (+), recorded (-):\n%s", diff)
	}
	var got drive
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
		t.Fatal(err)
	}
	// The same drive as trace_route gives: 2.001 km in 199.384 s.
	if math.Abs(got.Distance-2001) > 10 || math.Abs(got.Duration-199.384) > 1 || got.Confidence != 1 {
		t.Errorf("distance %v, duration %v, confidence %v", got.Distance, got.Duration, got.Confidence)
	}
	var want struct {
		Points []struct {
			Lat, Lon float64
			Distance float64 `json:"distance_from_trace_point"`
		} `json:"matched_points"`
	}
	if err := json.Unmarshal(r.Body, &want); err != nil {
		t.Fatal(err)
	}
	if len(got.Tracepoints) != len(want.Points) {
		t.Fatalf("%d tracepoints, want %d", len(got.Tracepoints), len(want.Points))
	}
	for i, p := range want.Points {
		g := got.Tracepoints[i]
		if !g.Matched || *g.Location != [2]float64{p.Lat, p.Lon} || math.Abs(*g.Distance-p.Distance) > 0.3 {
			t.Errorf("tracepoint %d: %+v, want %+v", i, g, p)
		}
	}
	for i, p := range got.Tracepoints {
		if p.Index == nil || *p.Index >= len(got.Coordinates) || got.Coordinates[*p.Index] != *p.Location {
			t.Errorf("tracepoint %d is at no coordinate: %+v", i, p)
		}
	}
	var edges struct {
		Edges []struct {
			Way int64 `json:"way_id"`
		}
	}
	_ = json.Unmarshal(r.Body, &edges)
	var ways []int64
	for _, e := range edges.Edges {
		if len(ways) == 0 || ways[len(ways)-1] != e.Way {
			ways = append(ways, e.Way)
		}
	}
	at := 0
	for i, w := range got.Ways {
		if i >= len(ways) || w.ID != ways[i] || w.From != at || w.To <= at {
			t.Errorf("way %d is %+v, want %v", i, w, ways)
		}
		at = w.To
	}
	if len(got.Ways) != len(ways) || at != len(got.Coordinates)-1 || got.Ways[1].Name != "Avenida da Boavista" {
		t.Errorf("ways %+v, want %v", got.Ways, ways)
	}
	if name := got.Tracepoints[1].Name; name != "Avenida da Boavista" {
		t.Errorf("name %q", name)
	}
	ends := [2][2]float64{got.Coordinates[0], got.Coordinates[len(got.Coordinates)-1]}
	for i, want := range [2][2]float64{{41.15738, -8.628108}, {41.153527, -8.608443}} {
		if math.Abs(ends[i][0]-want[0]) > 2e-6 || math.Abs(ends[i][1]-want[1]) > 2e-6 {
			t.Errorf("end %d: %v, want %v", i, ends[i], want)
		}
	}
}

func TestErrors(t *testing.T) {
	u := upstreamtest.New(t)
	s := start(t, u.URL, "")
	body := question(t, upstreamtest.Read(t, "testdata/trace_attributes_ok.json"))
	for name, want := range map[string]struct {
		status int
		code   string
	}{
		"no_road": {404, "NoRoute"}, "one_point": {422, "InvalidInput"}, "bad_body": {502, "BadGateway"},
	} {
		t.Run(name, func(t *testing.T) {
			u.Replay(upstreamtest.Read(t, "testdata/trace_attributes_"+name+".json"))
			check(t, u, s.With(t).Do(http.MethodPost, address, "", body), want.status, want.code)
		})
	}
	for code, want := range map[int]struct {
		status int
		code   string
	}{153: {422, "InvalidInput"}, 154: {422, "InvalidInput"}, 444: {404, "NoRoute"}, 999: {502, "BadGateway"}} {
		u.Send(400, fmt.Sprintf(`{"error_code":%d,"error":"secret","status_code":400}`, code))
		check(t, u, s.Do(http.MethodPost, address, "", body), want.status, want.code)
	}
}

func check(t *testing.T, u *upstreamtest.Upstream, a mapstest.Answer, status int, code string) {
	t.Helper()
	if a.Status != status || !strings.Contains(a.Body, `"code":"`+code+`"`) {
		t.Errorf("%d %s, want %d %s", a.Status, a.Body, status, code)
	}
	upstreamtest.CheckSilent(t, u, a)
}

// made makes an answer: a letter for each point, m matched, u unmatched, and | for a gap between points.
func made(points string) string {
	var list []string
	for i := range len(points) {
		if points[i] == '|' {
			continue
		}
		kind := map[byte]string{'m': "matched", 'u': "unmatched"}[points[i]]
		list = append(list, fmt.Sprintf(`{"lat":41,"lon":-8,"type":%q,"edge_index":0,"begin_route_discontinuity":%v,"end_route_discontinuity":%v}`,
			kind, i > 0 && points[i-1] == '|', i+1 < len(points) && points[i+1] == '|'))
	}
	return fmt.Sprintf(`{"shape":"_gjnmA?_ibE_ibE","edges":[{"names":["A"]}],"matched_points":[%s]}`, strings.Join(list, ","))
}

// A drive with a gap is asked for again without the smaller part, or refused.
func TestGaps(t *testing.T) {
	u := upstreamtest.New(t)
	s := start(t, u.URL, "")
	for _, tt := range []struct {
		answers []string
		status  int
		matched string
	}{
		{[]string{"mmm"}, 200, "111"},
		{[]string{"umm"}, 200, "011"},
		{[]string{"uuumm"}, 404, ""},
		{[]string{"mm|mmm", "mmm"}, 200, "00111"},
		{[]string{"mmm|mm", "mmm"}, 200, "11100"},
		{[]string{"m|mmmm|m", "mmmm"}, 200, "011110"},
		{[]string{"mm|mm|mm|m"}, 404, ""},
		{[]string{"mmm|m", "mm|m"}, 200, "1100"},
	} {
		asked := 0
		u.Answer(func(w http.ResponseWriter, r *http.Request) {
			answer := "mm"
			if asked < len(tt.answers) {
				answer = tt.answers[asked]
			}
			asked++
			fmt.Fprint(w, made(answer))
		})
		points := strings.Count(tt.answers[0], "m") + strings.Count(tt.answers[0], "u")
		path := strings.TrimSuffix(strings.Repeat(`{"lat":41,"lng":-8},`, points), ",")
		a := s.Do(http.MethodPost, address, "", `{"path":[`+path+`],"radius":100,"details":true}`)
		if a.Status != tt.status {
			t.Errorf("%v: %d %s", tt.answers, a.Status, a.Body)
			continue
		}
		if tt.status != 200 {
			continue
		}
		var got drive
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
			t.Fatal(err)
		}
		matched := ""
		for _, p := range got.Tracepoints {
			matched += map[bool]string{true: "1", false: "0"}[p.Matched]
		}
		if matched != tt.matched {
			t.Errorf("%v: matched %s, want %s", tt.answers, matched, tt.matched)
		}
	}
}

func TestBadDays(t *testing.T) {
	u := upstreamtest.New(t)
	s := start(t, u.URL, "")
	r := upstreamtest.Read(t, "testdata/trace_attributes_ok.json")
	body := question(t, r)
	upstreamtest.CheckBadDays(t, s, u, string(r.Body), func(s *mapstest.Server) mapstest.Answer {
		return s.Do(http.MethodPost, address, "", body)
	})
	u.Send(200, strings.Replace(string(r.Body), `"shape": "`, `"shape": " `, 1))
	check(t, u, s.Do(http.MethodPost, address, "", body), 502, "BadGateway")
}

// A POST is sent again, whole, where an upstream hangs up or is not there.
func TestRetries(t *testing.T) {
	bad, good := upstreamtest.New(t), upstreamtest.New(t)
	s := start(t, bad.URL+" "+upstreamtest.Unreachable(t)+" "+good.URL, "lb_policy round_robin\nlb_retries 3")
	bad.Answer(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	})
	r := upstreamtest.Read(t, "testdata/trace_attributes_ok.json")
	body := question(t, r)
	good.Answer(func(w http.ResponseWriter, req *http.Request) {
		if text, err := io.ReadAll(req.Body); err != nil || !json.Valid(text) {
			t.Errorf("received %q, %v", text, err)
		}
		w.Write(r.Body)
	})
	for range 6 {
		if a := s.Do(http.MethodPost, address, "", body); a.Status != 200 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
}

// Each profile has its costing model; that for cars can be another one.
func TestCosting(t *testing.T) {
	u := upstreamtest.New(t)
	var costing string
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Costing string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		costing = body.Costing
		w.WriteHeader(400)
		fmt.Fprint(w, `{"error_code":442,"error":"No path could be found for input"}`)
	})
	site := func(option string) mapstest.Config {
		return mapstest.Config{Site: fmt.Sprintf("maps_match {\nmatcher valhalla %s {\n%s\n}\nprofile car bicycle foot\n}",
			u.URL, option)}
	}
	s := mapstest.Start(t, site(""))
	for _, tc := range []struct{ option, profile, want string }{
		{"", "", "auto"}, {"", "&profile=car", "auto"}, {"", "&profile=bicycle", "bicycle"},
		{"", "&profile=foot", "pedestrian"},
		{"costing taxi", "", "taxi"}, {"costing taxi", "&profile=foot", "pedestrian"},
	} {
		if err := s.Load(site(tc.option)); err != nil {
			t.Fatal(err)
		}
		costing = ""
		a := s.Do(http.MethodGet, address+"?path=[{41,-8},{41.1,-8.1}]"+tc.profile, "", "")
		if costing != tc.want || a.Status != 404 {
			t.Errorf("%+v: costing %q; %d %s", tc, costing, a.Status, a.Body)
		}
	}
}
