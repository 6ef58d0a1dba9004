package remote_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

var osrm = engine{name: "osrm", match: true}

// pointsOf is the points of a recorded request to OSRM, as a parameter of our API.
func pointsOf(t testing.TB, r modulestest.Recorded) (query string, points int) {
	line := strings.TrimPrefix(requestOf(t, r), "/match/v1/driving/")
	line, _, _ = strings.Cut(line, "?")
	var pairs []string
	for pair := range strings.SplitSeq(line, ";") {
		lon, lat, _ := strings.Cut(pair, ",")
		pairs = append(pairs, "{"+lat+","+lon+"}")
	}
	return "?path=" + url.QueryEscape("["+strings.Join(pairs, ",")+"]"), len(pairs)
}

// The requests and responses of the recorded drives of OSRM 6.0.0.
func TestOSRMDrives(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Site: osrm.site("/osrm", u.URL, "")})
	for _, name := range []string{"ok_1", "ok_2", "ok_3", "gap_split"} {
		r := recorded(t, "osrm/match_"+name)
		var sent atomic.Pointer[http.Request]
		u.Answer(func(w http.ResponseWriter, req *http.Request) {
			sent.Store(req)
			w.Write(r.Body)
		})
		query, points := pointsOf(t, r)
		got := readDrive(t, s.Do(http.MethodGet, "/osrm"+query+"&details=true", "", ""))
		// The request is shorter, and as exact.
		line := strings.Replace(requestOf(t, r), "geometries=geojson", "geometries=polyline6&generate_hints=false", 1)
		if uri := sent.Load().RequestURI; uri != line {
			t.Errorf("%s: sent\n%s, want\n%s", name, uri, line)
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
		if got.Confidence == nil || math.Abs(*got.Confidence-m.Confidence) > 1e-4 || got.Duration != m.Duration ||
			math.Abs(got.Distance-m.Distance) > m.Distance/200 ||
			len(got.Coordinates) != len(m.Geometry.Coordinates) || len(got.Tracepoints) != points {
			t.Fatalf("%s: %+v, want %+v", name, got, m)
		}
		for i, c := range m.Geometry.Coordinates {
			if got.Coordinates[i] != [2]float64{c[1], c[0]} {
				t.Errorf("%s: coordinate %d: %v, want %v turned round", name, i, got.Coordinates[i], c)
			}
		}
		for i, p := range want.Tracepoints {
			g := got.Tracepoints[i]
			if !g.Matched || *g.Location != [2]float64{p.Location[1], p.Location[0]} || g.Name != p.Name ||
				math.Abs(*g.Distance-p.Distance) > 0.2+p.Distance/100 {
				t.Errorf("%s: tracepoint %d: %+v, want %+v", name, i, g, p)
			}
		}
	}
}

func TestOSRMErrors(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Site: osrm.site("/osrm", u.URL, "")})
	query := "?path=" + path(row(12, 0))
	for name, want := range map[string]int{
		"nomatch": 404, "nosegment": 404, "toobig": 422, "invalidquery": 502, "invalidoptions": 502,
	} {
		u.Replay(recorded(t, "osrm/match_"+name))
		osrm.check(t, s.Do(http.MethodGet, "/osrm"+query, "", ""), want)
	}
	for _, status := range []int{413, 414, 431} {
		u.Send(status, "too long")
		osrm.check(t, s.Do(http.MethodGet, "/osrm"+query, "", ""), 422)
	}
}

// OSRM has the profile in its path. A matcher answers only requests for its profile.
func TestOSRMProfiles(t *testing.T) {
	u := modulestest.NewUpstream(t)
	var asked atomic.Value
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(strings.Split(r.URL.Path, "/")[3])
		respond(400, `{"code":"NoSegment"}`)(w, r)
	})
	cases := []struct{ option, offered, asked string }{
		{"", "car", "driving"}, {"profile driving", "car", "driving"}, {"profile car", "car", "car"},
		{"profile cycling", "bicycle", "cycling"}, {"profile bicycle", "bicycle", "bicycle"},
		{"profile bike", "bicycle", "bike"}, {"profile walking", "foot", "walking"}, {"profile foot", "foot", "foot"},
		{"profile truck car", "car", "truck"}, {"profile hike-v5_15 foot", "foot", "hike-v5_15"},
		{"profile driving bicycle", "bicycle", "driving"},
	}
	sites := ""
	handle := func(i int, profile string) string {
		at := fmt.Sprint("/", i)
		return "handle " + at + " {\n" + osrm.handler(at, u.URL, cases[i].option, "public\nprofile "+profile) + "}\n"
	}
	for i, tc := range cases {
		sites += handle(i, tc.offered)
		for _, other := range []string{"car", "bicycle", "foot"} {
			want := "none of the matchers answers for " + other
			if _, err := modulestest.Adapt(":0 {\n" + handle(i, other) + "}"); (err == nil) != (other == tc.offered) ||
				err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q for %s: %v", tc.option, other, err)
			}
		}
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	for i, tc := range cases {
		s.Do(http.MethodGet, fmt.Sprint("/", i, "?path=[{41,-8},{41.1,-8.1}]"), "", "")
		if got := asked.Load(); got != tc.asked {
			t.Errorf("%q: %s was asked, want %s", tc.option, got, tc.asked)
		}
	}
}

// option is the values of an option of a request to OSRM.
func option(query, name string) []string {
	_, value, found := strings.Cut("&"+query, "&"+name+"=")
	if !found {
		return nil
	}
	value, _, _ = strings.Cut(value, "&")
	return strings.Split(value, ";")
}

// queries collects the queries that an upstream gets, until they are taken.
type queries struct {
	mu  sync.Mutex
	got []string
}

func (q *queries) add(query string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.got = append(q.got, query)
}

func (q *queries) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	got := q.got
	q.got = nil
	return got
}

// If no road is near, radiuses grow to the limit of the request. A radius that OSRM refuses is the client's mistake
// only if the client has set it. Otherwise a smaller one is sent, then and later.
func TestOSRMRadius(t *testing.T) {
	u := modulestest.NewUpstream(t)
	type sent struct {
		more   string // what the request says beside the points
		points string // what each point says beside its position; only the second where it begins with "-"
		status int
		asked  string // the radius of the first point in each request, _ for none
	}
	const plain, accurate = "", `,"accuracy":30`
	cases := []struct {
		name      string
		max       float64 // metres, the largest radius that OSRM takes; 0 for any
		maxPoints int     // that it takes; 0 for any
		roadless  bool    // no road is near
		requests  []sent
	}{
		{"no limit", 0, 0, false, []sent{{plain, plain, 200, "10"}, {`,"radius":20`, plain, 200, "20"}}},
		{"no road", 0, 0, true, []sent{{`,"radius":20`, `,"accuracy":4`, 404, "4 33.3"}, {plain, `,"accuracy":70`, 404, "33.3"}}},
		{"5 m", 5, 0, false, []sent{
			{plain, plain, 200, "10 _"}, {plain, plain, 200, "_"}, {`,"radius":4`, plain, 200, "4"},
			{`,"radius":50`, plain, 422, ""}, {plain, accurate, 422, ""}, {plain, `,"accuracy":3`, 200, "3"},
		}},
		{"5 m, the client names one first", 5, 0, false, []sent{
			{`,"radius":50`, plain, 422, "33.3"}, {plain, plain, 200, "10 _"}, {plain, plain, 200, "_"},
		}},
		{"5 m, accuracies first", 5, 0, false, []sent{
			{plain, accurate, 422, "30"}, {plain, accurate, 422, ""}, {plain, plain, 200, "10 _"},
		}},
		{"5 m, one accuracy", 5, 0, false, []sent{{plain, `-,"accuracy":4`, 200, "10 "}}},
		{"5 m, no road", 5, 0, true, []sent{{plain, plain, 404, "10 _"}, {plain, plain, 404, "_"}}},
		// A radius between the first search and the wide one rules only the wide one out.
		{"20 m, no road", 20, 0, true, []sent{
			{plain, plain, 404, "10 33.3"}, {plain, plain, 404, "10"}, {`,"radius":15`, plain, 404, "15"},
		}},
		{"60 m, no road", 60, 0, true, []sent{{plain, plain, 404, "10 33.3"}, {`,"radius":50`, plain, 404, "33.3"}}},
		{"too many points", 5, 3, false, []sent{{plain, plain, 422, "10"}}},
	}
	sites := osrm.site("/nonsense", u.URL, "")
	for i := range cases {
		sites += osrm.site(fmt.Sprint("/", i), u.URL, "")
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	const tooLarge = `{"code":"TooBig","message":"Radius search size is too large for map matching."}`
	for i, tc := range cases {
		var asked queries
		u.Answer(func(w http.ResponseWriter, r *http.Request) {
			asked.add(r.URL.RawQuery)
			points := strings.Count(r.URL.Path, ";") + 1
			largest := 0.0
			for _, text := range option(r.URL.RawQuery, "radiuses") {
				var radius float64
				_, _ = fmt.Sscan(text, &radius)
				largest = max(largest, radius)
			}
			switch { // as src/engine/plugins/match.cpp
			case tc.maxPoints > 0 && points > tc.maxPoints:
				respond(400, `{"code":"TooBig","message":"Too many trace coordinates"}`)(w, r)
			case tc.max > 0 && largest > tc.max:
				respond(400, tooLarge)(w, r)
			case tc.roadless:
				respond(400, `{"code":"NoSegment"}`)(w, r)
			default:
				fmt.Fprint(w, matchings(strings.Repeat("a", points)))
			}
		})
		for k, request := range tc.requests {
			var points []string
			for n, p := range row(4, 0) {
				more, second := strings.CutPrefix(request.points, "-")
				if second && n != 1 {
					more = ""
				}
				points = append(points, fmt.Sprintf(`{"lat":%v,"lng":%v%s}`, p.Lat(), p.Lon(), more))
			}
			a := s.Do(http.MethodPost, fmt.Sprint("/", i), "", `{"path":[`+strings.Join(points, ",")+`]`+request.more+`}`)
			radiuses := ""
			for _, query := range asked.take() {
				radiuses += " " + append(option(query, "radiuses"), "_")[0]
			}
			if a.Status != request.status || strings.TrimPrefix(radiuses, " ") != request.asked {
				t.Errorf("%s, request %d: %d %s, asked with %q, want %d, %q",
					tc.name, k, a.Status, a.Body, radiuses, request.status, request.asked)
			}
			parameter := map[bool]string{true: "accuracy", false: "radius"}[request.points == accurate]
			if tc.maxPoints > 0 {
				parameter = "path"
			}
			if a.Status == 422 && !strings.Contains(a.Body, parameter+": ") {
				t.Errorf("%s, request %d: %s, want it to name %s", tc.name, k, a.Body, parameter)
			}
		}
	}
	u.Send(400, tooLarge) // although no radius was sent
	osrm.check(t, s.Do(http.MethodGet, "/nonsense?path=[{41,-8},{41,-8.001}]", "", ""), 502)
}

// OSRM takes whole seconds, and finds no way between points of the same one, so times go along where each is in a later
// second. A drive that is cut at a pause, as `gaps split` says, is not asked for again; one with a gap elsewhere is.
func TestOSRMTimes(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{
		Site: osrm.site("/osrm", u.URL, "") + osrm.site("/split", u.URL, "gaps split"),
	})
	send := func(at string, times []float64) modulestest.Response {
		var points []string
		for i, p := range row(len(times), 0) {
			points = append(points, fmt.Sprintf(`{"lat":%v,"lng":%v,"time":%v}`, p.Lat(), p.Lon(), times[i]))
		}
		return s.Do(http.MethodPost, at, "", `{"path":[`+strings.Join(points, ",")+`]}`)
	}
	for name, tc := range map[string]struct {
		times []float64
		sent  string
	}{
		"2 Hz":                    {[]float64{0, 0.5, 1, 1.5, 2}, ""},
		"1 Hz":                    {[]float64{7, 8, 9, 10}, "7;8;9;10"},
		"1 Hz, fractions":         {[]float64{0.9, 1.95, 3.0}, "0;1;3"},
		"1 Hz, early by a little": {[]float64{1.0, 1.99, 3.0}, ""},
		"pauses":                  {[]float64{5, 65.5, 4000}, "5;65;4000"},
		"two of a second":         {[]float64{1, 2, 2, 3}, ""},
		"all of a second":         {[]float64{4, 4, 4}, ""},
	} {
		var asked queries
		u.Answer(func(w http.ResponseWriter, r *http.Request) {
			asked.add(r.URL.RawQuery)
			_, _ = io.WriteString(w, matchings(strings.Repeat("a", len(tc.times))))
		})
		a, got := send("/osrm", tc.times), asked.take()
		if a.Status != 200 || len(got) != 1 || strings.Join(option(got[0], "timestamps"), ";") != tc.sent ||
			(option(got[0], "gaps") != nil) != (tc.sent != "") {
			t.Errorf("%s: %d %s, asked %q", name, a.Status, a.Body, got)
		}
	}
	for parts, want := range map[string]int64{"aaabbbbb": 1, "aaaaabbb": 2} { // a pause is behind the third point
		first := true
		asked := counted(u, func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.URL.RawQuery, "&gaps=split&") {
				t.Errorf("sent %s", r.URL.RawQuery)
			}
			if first {
				fmt.Fprint(w, matchings(parts))
			} else {
				fmt.Fprint(w, matchings("aaaaaa"))
			}
			first = false
		})
		a := send("/split", []float64{0, 2, 4, 30, 32, 34, 36, 38})
		if n := asked.Load(); a.Status != 200 || n != want {
			t.Errorf("%s: %d %s, asked %d times, want %d", parts, a.Status, a.Body, n, want)
		}
	}
}
