package remote_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

var valhalla = engine{name: "valhalla", match: true}

const (
	route      = "/trace_route"
	attributes = "/trace_attributes"
)

// exchange is a trace and what Valhalla answers.
type exchange struct {
	shape  []position
	answer struct {
		Code        string            `json:"code"`
		Matchings   []json.RawMessage `json:"matchings"`
		Tracepoints []json.RawMessage `json:"tracepoints"`
	}
}

type position struct {
	Lat, Lon, Accuracy float64
	Time               *float64
}

func recordedTrace(t testing.TB, name string) (r exchange) {
	t.Helper()
	recorded := recorded(t, "valhalla/"+name)
	var question sentTrace
	if err := json.Unmarshal(recorded.Request, &question); err != nil {
		t.Fatal(err)
	}
	r.shape = question.Shape
	if err := json.Unmarshal(recorded.Body, &r.answer); err != nil {
		t.Fatal(err)
	}
	return r
}

// traceOf is a trace along a line, with the answer of matchings.
func traceOf(points string, at, line orb.LineString) (r exchange) {
	for _, p := range at {
		r.shape = append(r.shape, position{Lat: p.Lat(), Lon: p.Lon()})
	}
	_ = json.Unmarshal([]byte(matchingsOf(points, line)), &r.answer)
	return r
}

// body is a request of our API for details of the trace, with more members.
func (r *exchange) body(more string) string {
	var points []string
	for _, p := range r.shape {
		text := fmt.Sprintf(`{"lat":%v,"lng":%v`, p.Lat, p.Lon)
		if p.Time != nil {
			text += fmt.Sprintf(`,"time":%v`, *p.Time)
		}
		if p.Accuracy > 0 {
			text += fmt.Sprintf(`,"accuracy":%v`, p.Accuracy)
		}
		points = append(points, text+"}")
	}
	return `{"path":[` + strings.Join(points, ",") + `],"details":true` + more + `}`
}

// line is the geometry of a matching.
func (r *exchange) line(t testing.TB, matching int) orb.LineString {
	t.Helper()
	var m struct{ Geometry string }
	if err := json.Unmarshal(r.answer.Matchings[matching], &m); err != nil {
		t.Fatal(err)
	}
	line, err := geo.DecodePolyline([]byte(m.Geometry), geo.Polyline6)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// only is the answer for some of the points; "" where there are others among them.
func (r *exchange) only(shape []position) string {
	answer := r.answer
	answer.Tracepoints = nil
	for i := 0; i < len(r.shape) && len(answer.Tracepoints) < len(shape); i++ {
		if p := shape[len(answer.Tracepoints)]; p.Lat == r.shape[i].Lat && p.Lon == r.shape[i].Lon {
			answer.Tracepoints = append(answer.Tracepoints, r.answer.Tracepoints[i])
		}
	}
	if len(answer.Tracepoints) < len(shape) {
		return ""
	}
	text, _ := json.Marshal(answer)
	return string(text)
}

// sentTrace is a request that came in.
type sentTrace struct {
	path    string
	members map[string]json.RawMessage
	Shape   []position
	Costing string
	Format  string
	Options map[string]float64 `json:"trace_options"`
}

// fakeValhalla answers traces that it knows by their positions, and the walk along the recorded drive.
type fakeValhalla struct {
	*modulestest.Upstream
	mu     sync.Mutex
	traces []exchange
	refuse func(*sentTrace) (status int, body string) // nil or 0 for what is answered
	walk   http.HandlerFunc                           // instead of the recorded walk
	got    []sentTrace
}

func newValhalla(t testing.TB, traces ...exchange) *fakeValhalla {
	f := &fakeValhalla{Upstream: modulestest.NewUpstream(t), traces: traces}
	walk := recorded(t, "valhalla/ok_route_ways")
	f.Answer(func(w http.ResponseWriter, r *http.Request) {
		q := sentTrace{path: r.URL.Path}
		body, _ := io.ReadAll(r.Body)
		if json.Unmarshal(body, &q) != nil || json.Unmarshal(body, &q.members) != nil {
			t.Errorf("sent %s", body)
		}
		f.mu.Lock()
		f.got = append(f.got, q)
		f.mu.Unlock()
		switch {
		case q.path == route:
			status, answer := 200, ""
			if f.refuse != nil {
				status, answer = f.refuse(&q)
			}
			if status == 0 || status == 200 {
				status, answer = 200, f.answer(q.Shape)
			}
			w.WriteHeader(status)
			fmt.Fprint(w, answer)
		case f.walk != nil:
			f.walk(w, r)
		default:
			w.Write(walk.Body)
		}
	})
	return f
}

// answer is that for a trace or, if it does not know that one, for some of the points of another.
func (f *fakeValhalla) answer(shape []position) (answer string) {
	for _, r := range f.traces {
		if text := r.only(shape); text != "" && (answer == "" || len(r.shape) == len(shape)) {
			answer = text
		}
	}
	return answer
}

// take returns the requests of an action that came in since the last time.
func (f *fakeValhalla) take(path string) []sentTrace {
	f.mu.Lock()
	defer f.mu.Unlock()
	got := slices.DeleteFunc(f.got, func(q sentTrace) bool { return q.path != path })
	f.got = nil
	return got
}

// leftOut is a search radius that is not sent.
const leftOut = -1.0

// options are those of some requests, by name; leftOut where there is none.
func options(sent []sentTrace, name string) (values []float64) {
	for _, q := range sent {
		value, named := q.Options[name]
		if !named {
			value = leftOut
		}
		values = append(values, value)
	}
	return values
}

func ownError(number int) string {
	return fmt.Sprintf(`{"error_code":%d,"error":"secret","status_code":400,"status":"Bad Request"}`, number)
}

func osrmError(code string) string { return fmt.Sprintf(`{"code":%q,"message":"secret"}`, code) }

// The recorded drive of Valhalla 3.5.1, with its ways, which are those of the recorded walk along it.
func TestValhallaDrive(t *testing.T) {
	r, walk := recordedTrace(t, "ok_route_osrm"), recorded(t, "valhalla/ok_route_ways")
	f := newValhalla(t, r)
	s := modulestest.Start(t, modulestest.Config{Site: valhalla.site("/valhalla", f.URL, "")})
	a := s.Do(http.MethodPost, "/valhalla", "", r.body(""))
	got := readDrive(t, a)
	if math.Abs(got.Distance-3479.702) > 10 || math.Abs(got.Duration-260.137) > 0.051 || got.Confidence != nil ||
		len(got.Tracepoints) != len(r.shape) {
		t.Errorf("%s", a.Body)
	}
	line := r.line(t, 0)
	got.checkLine(t, line)
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
	asked := f.take(attributes)
	if len(asked) != 1 {
		t.Fatalf("asked for ways %d times", len(asked))
	}
	var want, sent any
	_ = json.Unmarshal(walk.Request, &want)
	text, _ := json.Marshal(asked[0].members)
	_ = json.Unmarshal(text, &sent)
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("sent (+), recorded (-):\n%s", diff)
	}
	var edges struct {
		Edges []struct {
			ID    int64 `json:"way_id"`
			Names []string
			End   int `json:"end_shape_index"`
		}
	}
	if err := json.Unmarshal(walk.Body, &edges); err != nil {
		t.Fatal(err)
	}
	at, n := 0, 0
	for i, e := range edges.Edges {
		if i+1 < len(edges.Edges) && edges.Edges[i+1].ID == e.ID {
			continue
		}
		if n >= len(got.Ways) {
			t.Fatalf("%d ways: %+v", n, got.Ways)
		}
		w, end := got.Ways[n], line[e.End]
		if w.ID != e.ID || w.From != at || w.To <= at || w.Name != strings.Join(e.Names, "") ||
			got.Coordinates[w.To] != [2]float64{end.Lat(), end.Lon()} {
			t.Errorf("way %d is %+v, want %+v from %d", n, w, e, at)
		}
		at, n = w.To, n+1
	}
	if n != len(got.Ways) || at != len(got.Coordinates)-1 {
		t.Errorf("the ways end at %d of %d: %+v", at, len(got.Coordinates), got.Ways)
	}
	plain := strings.Replace(r.body(""), `"details":true`, `"details":false`, 1)
	if a := s.Do(http.MethodPost, "/valhalla", "", plain); a.Status != 200 || len(f.take(attributes)) != 0 {
		t.Errorf("without details: %d %s, or asked for ways", a.Status, a.Body)
	}
}

// Where the ways cannot be had, or are not wanted, the drive is answered without them.
func TestValhallaWithoutWays(t *testing.T) {
	r := recordedTrace(t, "ok_route_osrm")
	f := newValhalla(t, r)
	s := modulestest.Start(t, modulestest.Config{
		Site: valhalla.site("/valhalla", f.URL, "timeout 1500ms") + valhalla.site("/off", f.URL, "ways off"),
	})
	good := string(recorded(t, "valhalla/ok_route_ways").Body)
	edges := func(list string) http.HandlerFunc {
		_, shape, _ := strings.Cut(good, `"shape":"`)
		shape, _, _ = strings.Cut(shape, `"`)
		return respond(200, fmt.Sprintf(`{"shape":"%s","edges":[%s]}`, shape, list))
	}
	const whole = `{"way_id":1,"begin_shape_index":0,"end_shape_index":57}`
	for name, tt := range map[string]struct {
		walk http.HandlerFunc
		ways int
	}{
		"one way":      {edges(whole), 1},
		"another line": {respond(200, strings.Replace(good, `"shape":"u`, `"shape":"v`, 1)), 0},
		"no line":      {respond(200, `{"edges":[`+whole+`]}`), 0},
		"a gap": {edges(`{"way_id":1,"begin_shape_index":0,"end_shape_index":20},` +
			`{"way_id":2,"begin_shape_index":21,"end_shape_index":57}`), 0},
		"it begins late":  {edges(`{"way_id":1,"begin_shape_index":1,"end_shape_index":57}`), 0},
		"it ends early":   {edges(`{"way_id":1,"begin_shape_index":0,"end_shape_index":56}`), 0},
		"it ends late":    {edges(`{"way_id":1,"begin_shape_index":0,"end_shape_index":58}`), 0},
		"back":            {edges(whole + `,{"way_id":2,"begin_shape_index":57,"end_shape_index":0}`), 0},
		"no way":          {edges(`{"begin_shape_index":0,"end_shape_index":57}`), 0},
		"half a response": {respond(200, good[:len(good)/2]), 0},
		"an error":        {respond(400, ownError(443)), 0},
		"it hangs":        {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0},
		"it hangs up":     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0},
	} {
		f.walk = tt.walk
		a := s.Do(http.MethodPost, "/valhalla", "", r.body(""))
		got := readDrive(t, a)
		got.checkLine(t, r.line(t, 0))
		if len(got.Ways) != tt.ways || strings.Contains(a.Body, `"ways"`) != (tt.ways > 0) {
			t.Errorf("%s: ways: %+v", name, got.Ways)
		}
	}
	f.walk = nil
	f.take(attributes)
	if got := readDrive(t, s.Do(http.MethodPost, "/off", "", r.body(""))); len(got.Ways)+len(f.take(attributes)) > 0 {
		t.Errorf("ways off: %+v, or asked for", got.Ways)
	}
}

func TestValhallaErrors(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Site: valhalla.site("/valhalla", u.URL, "")})
	for status, bodies := range map[int]map[string]int{
		404: {osrmError("NoSegment"): 400, osrmError("NoRoute"): 400, osrmError("BreakageDistanceExceeded"): 400,
			ownError(171): 400, ownError(442): 400, ownError(444): 400},
		422: {osrmError("DistanceExceeded"): 400, osrmError("InvalidValue"): 400, ownError(123): 400,
			ownError(153): 400, ownError(154): 400, ownError(158): 400, "": 413},
		502: {osrmError("InvalidUrl"): 400, osrmError("Ok"): 400, ownError(999): 400, osrmError("NoRoute"): 500,
			`{"code":"Ok","matchings":[{"geometry":"_p~iF~ps|U"}],"tracepoints":[{"matchings_index":1}]}`: 200},
	} {
		for body, sent := range bodies {
			u.Send(sent, body)
			a := s.Do(http.MethodGet, "/valhalla?path="+path(row(4, 0)), "", "")
			valhalla.check(t, a, status)
			if status == 422 && !strings.Contains(a.Body, `"message":"path: `) {
				t.Errorf("it does not tell the parameter: %s", a.Body)
			}
		}
	}
}

// Recorded traces whose first response of Valhalla 3.5.1 has a gap. What is answered is on the roads of one drive, with
// no line across the gap. Times are not sent: Valhalla would split some drives for them.
func TestValhallaGaps(t *testing.T) {
	silent, ok, sea := recordedTrace(t, "silent_split_route_osrm"), recordedTrace(t, "ok_route_osrm"),
		recordedTrace(t, "sea_point_route_osrm")
	exact, floored := recordedTrace(t, "times_2hz_exact"), recordedTrace(t, "times_2hz_floored")
	equal := exact
	equal.shape = slices.Clone(exact.shape)
	for i := range equal.shape {
		equal.shape[i].Time = new(float64)
	}
	f := newValhalla(t)
	s := modulestest.Start(t, modulestest.Config{Site: valhalla.site("/valhalla", f.URL, "ways off")})
	allMatched := strings.Repeat("1", len(exact.shape))
	allButTenth := strings.Repeat("1", 9) + "0" + strings.Repeat("1", 10)
	for _, tt := range []struct {
		name    string
		sent    exchange
		more    string // of the request
		known   []exchange
		matched string
		line    orb.LineString
		asked   []int // points, each time
	}{
		{"no route", silent, ``, []exchange{silent}, "0000" + strings.Repeat("1", 40), silent.line(t, 1), []int{44, 44, 42}},
		{"a point in the sea", sea, ``, []exchange{sea, ok}, allButTenth, ok.line(t, 0), []int{20, 20, 19}},
		{"the first search is wide", sea, `,"radius":30`, []exchange{sea, ok}, allButTenth, ok.line(t, 0), []int{20, 19}},
		{"times", exact, ``, []exchange{exact}, allMatched, exact.line(t, 0), []int{len(allMatched)}},
		{"times in whole seconds", floored, ``, []exchange{exact}, allMatched, exact.line(t, 0), []int{len(allMatched)}},
		{"equal times", equal, ``, []exchange{exact}, allMatched, exact.line(t, 0), []int{len(allMatched)}},
	} {
		f.traces = tt.known
		got := readDrive(t, s.Do(http.MethodPost, "/valhalla", "", tt.sent.body(tt.more)))
		if got.matched() != tt.matched {
			t.Errorf("%s: matched %s, want %s", tt.name, got.matched(), tt.matched)
		}
		got.checkLine(t, tt.line)
		var asked []int
		for _, q := range f.take(route) {
			asked = append(asked, len(q.Shape))
			if q.members["use_timestamps"] != nil || strings.Contains(string(q.members["shape"]), "time") {
				t.Errorf("%s: times were sent: %s", tt.name, q.members["shape"])
			}
		}
		if !slices.Equal(asked, tt.asked) {
			t.Errorf("%s: asked for %v points, want %v", tt.name, asked, tt.asked)
		}
	}
}

// The radius and the accuracies of a request say how exact its points are, and so how far Valhalla looks and what a
// turn costs. Where it finds nothing, it is asked to look as far as the request allows.
func TestValhallaOptions(t *testing.T) {
	f := newValhalla(t)
	f.refuse = func(*sentTrace) (int, string) { return 400, osrmError("NoSegment") }
	sites := ""
	for _, most := range []int{30, 100, 300} {
		at := fmt.Sprint("/", most)
		sites += "handle " + at + " {\n" + valhalla.handler(at, f.URL, "", fmt.Sprint("public\nmax_radius ", most)) + "}\n"
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	type options struct{ SearchRadius, TurnPenalty, Interpolation float64 }
	for name, tt := range map[string]struct {
		max        int
		step       float64 // degrees of latitude between points, 0.001 being 111.2 m
		radius     float64
		accuracies []float64 // of the first points
		first      options
		sent       []float64 // accuracies in the first request
		wide       float64   // radius of the second request; 0 for none
	}{
		"nothing is said":     {100, 0.001, 0, nil, options{50, 100, 0}, nil, 100},
		"exact points":        {100, 0.001, 1, nil, options{50, 50, 0}, nil, 100},
		"a radius":            {100, 0.002, 20, nil, options{80, 200, 0}, nil, 100},
		"dense points":        {100, 0.0002, 10, nil, options{50, 100, 55}, nil, 100},
		"very dense points":   {100, 0.0001, 40, nil, options{100, 400, 120}, nil, 0},
		"a small max_radius":  {30, 0.001, 0, nil, options{30, 100, 0}, nil, 0},
		"one inexact point":   {300, 0.001, 0, []float64{60}, options{50, 100, 0}, []float64{240}, 300},
		"no farther than may": {100, 0.001, 0, []float64{0, 60, 5}, options{50, 100, 0}, []float64{0, 100}, 100},
		"half of the points":  {300, 0.001, 0, []float64{20, 20, 20}, options{50, 100, 0}, []float64{80, 80, 80}, 300},
		"most of the points":  {300, 0.002, 0, []float64{30, 20, 40, 20}, options{120, 300, 0}, []float64{0, 0, 160}, 300},
	} {
		var r exchange
		for i := range 6 {
			p := position{Lat: 41 + tt.step*float64(i), Lon: -8}
			if i < len(tt.accuracies) {
				p.Accuracy = tt.accuracies[i]
			}
			r.shape = append(r.shape, p)
		}
		more := ""
		if tt.radius > 0 {
			more = fmt.Sprintf(`,"radius":%v`, tt.radius)
		}
		valhalla.check(t, s.Do(http.MethodPost, fmt.Sprint("/", tt.max), "", r.body(more)), 404)
		asked := f.take(route)
		got := options{asked[0].Options["search_radius"], asked[0].Options["turn_penalty_factor"],
			asked[0].Options["interpolation_distance"]}
		if got != tt.first {
			t.Errorf("%s: %+v, want %+v", name, got, tt.first)
		}
		for i, p := range asked[0].Shape {
			want := 0.0
			if i < len(tt.sent) {
				want = tt.sent[i]
			}
			if p.Accuracy != want {
				t.Errorf("%s: accuracy %d: %v, want %v", name, i, p.Accuracy, want)
			}
		}
		if (len(asked) == 2) != (tt.wide > 0) || len(asked) == 2 && asked[1].Options["search_radius"] != tt.wide {
			t.Errorf("%s: %d requests, want a second of %v m", name, len(asked), tt.wide)
		}
	}
}

// Points that turn out to be less exact are asked for again, and so are dense ones whose drive has a gap.
func TestValhallaSigma(t *testing.T) {
	f := newValhalla(t)
	s := modulestest.Start(t, modulestest.Config{Site: valhalla.site("/valhalla", f.URL, "ways off")})
	dense := orb.LineString{}
	for i := range 6 {
		dense = append(dense, orb.Point{-8, 41 + math.Round(float64(i)*12/metresOfDegree*1e6)/1e6})
	}
	for name, tt := range map[string]struct {
		trace exchange
		more  string
		turns []float64
	}{
		// Half of the points are nearer than 0.6745 sigma to their road.
		"33 m off": {traceOf("aaaaaaaa", row(8, 33), row(8, 0)), "", []float64{100, 10 * 33 / 0.6745}},
		"a gap":    {traceOf("aaabbb", dense, dense), `,"radius":5`, []float64{50, 100, 100}},
	} {
		f.traces = []exchange{tt.trace}
		readDrive(t, s.Do(http.MethodPost, "/valhalla", "", tt.trace.body(tt.more)))
		got := options(f.take(route), "turn_penalty_factor")
		if !slices.EqualFunc(got, tt.turns, func(a, b float64) bool { return math.Abs(a-b) < 1 }) {
			t.Errorf("%s: a turn costs %v, want %v", name, got, tt.turns)
		}
	}
}

// A radius beyond the limit of the service is not the client's fault: it is asked for less, and from then on at once.
// OSRM's form has one code for a radius and for a number of points beyond the limits.
func TestValhallaLimits(t *testing.T) {
	r := recordedTrace(t, "ok_route_osrm")
	cases := []struct {
		limit   float64
		ownForm bool
		first   []float64
		next    float64
	}{
		{400, false, []float64{300}, 300},
		{100, false, []float64{300, 100}, 100},
		{100, true, []float64{300, 100}, 100},
		{60, false, []float64{300, 100, 50}, 50},
		{40, false, []float64{300, 100, 50, leftOut}, leftOut},
	}
	fakes, sites := make([]*fakeValhalla, len(cases)+1), ""
	for i := range fakes {
		fakes[i] = newValhalla(t, r)
		at := fmt.Sprint("/", i)
		sites += "handle " + at + " {\n" + valhalla.handler(at, fakes[i].URL, "", "public\nmax_radius 300") + "}\n"
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	tooFar := string(recorded(t, "valhalla/error_158_radius").Body)
	for i, tt := range cases {
		fakes[i].refuse = func(q *sentTrace) (int, string) {
			switch {
			case q.Options["search_radius"] <= tt.limit:
				return 0, ""
			case tt.ownForm:
				return 400, tooFar
			}
			return 400, osrmError("InvalidValue")
		}
		for n, want := range [][]float64{tt.first, {tt.next}} {
			readDrive(t, s.Do(http.MethodPost, fmt.Sprint("/", i), "", r.body(`,"radius":300`)))
			if got := options(fakes[i].take(route), "search_radius"); !slices.Equal(got, want) {
				t.Errorf("limit %v, request %d: asked for %v m, want %v", tt.limit, n, got, want)
			}
		}
	}
	if n := strings.Count(s.Log(), "service_limits.trace.max_search_radius"); n != len(cases)-1 {
		t.Errorf("%d of %d services with a limit are in the log", n, len(cases)-1)
	}

	at, f := fmt.Sprint("/", len(cases)), fakes[len(cases)]
	f.refuse = func(q *sentTrace) (int, string) {
		if len(q.Shape) > 18 {
			return 400, osrmError("InvalidValue")
		}
		return 0, ""
	}
	valhalla.check(t, s.Do(http.MethodPost, at, "", r.body("")), 422)
	f.take(route)
	short := r
	short.shape = r.shape[:18]
	readDrive(t, s.Do(http.MethodPost, at, "", short.body("")))
	if got := options(f.take(route), "search_radius"); !slices.Equal(got, []float64{50}) {
		t.Errorf("asked for %v m after a trace of too many points", got)
	}
}

// The service gets no more than max_calls requests, and the client gets what was found by then. Each
// profile has its costing model; that for cars can be another one.
func TestValhallaCallsAndCosting(t *testing.T) {
	sea, ok := recordedTrace(t, "sea_point_route_osrm"), recordedTrace(t, "ok_route_osrm")
	f := newValhalla(t, sea, ok)
	sites := ""
	for calls := 1; calls <= 5; calls++ {
		sites += valhalla.site(fmt.Sprint("/", calls), f.URL, fmt.Sprint("max_calls ", calls))
	}
	for at, option := range map[string]string{"/auto": "", "/taxi": "costing taxi"} {
		sites += "handle " + at + " {\n" + valhalla.handler(at, f.URL, option, "public\nprofile car bicycle foot") + "}\n"
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	for calls := 1; calls <= 5; calls++ {
		for _, tt := range []struct {
			trace  exchange
			wanted int // without the ways
		}{{ok, 1}, {sea, 3}} {
			got := readDrive(t, s.Do(http.MethodPost, fmt.Sprint("/", calls), "", tt.trace.body("")))
			f.mu.Lock()
			asked := len(f.got)
			f.got = nil
			f.mu.Unlock()
			if asked != min(tt.wanted+1, calls) || (calls > tt.wanted) != (len(got.Ways) > 0) {
				t.Errorf("at most %d calls: asked %d times, %d ways", calls, asked, len(got.Ways))
			}
		}
	}
	for _, tt := range [][3]string{
		{"/auto", "", "auto"}, {"/auto", "car", "auto"}, {"/auto", "bicycle", "bicycle"}, {"/auto", "foot", "pedestrian"},
		{"/taxi", "", "taxi"}, {"/taxi", "foot", "pedestrian"},
	} {
		for _, action := range []string{route, attributes} {
			more := ""
			if tt[1] != "" {
				more = fmt.Sprintf(`,"profile":%q`, tt[1])
			}
			readDrive(t, s.Do(http.MethodPost, tt[0], "", ok.body(more)))
			if asked := f.take(action); len(asked) != 1 || asked[0].Costing != tt[2] {
				t.Errorf("%v: %s was asked %+v", tt, action, asked)
			}
		}
	}
}
