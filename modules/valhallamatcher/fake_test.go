package valhallamatcher_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// fake behaves as Valhalla does with the traces that are recorded: it knows them by their positions, whatever else is
// asked for, and it has Valhalla's limits and errors.
type fake struct {
	*modulestest.Upstream
	drives    []recording
	walks     map[string]json.RawMessage // by the line that was walked along
	tooFar    json.RawMessage            // error 158 in Valhalla's own form
	maxRadius float64                    // service_limits.trace.max_search_radius, in metres
	maxShape  int                        // service_limits.trace.max_shape
	ownForm   bool                       // errors come in Valhalla's form, not OSRM's
	walk      http.HandlerFunc           // instead of walks, where it is set

	mu    sync.Mutex // guards all above but Upstream
	asked []sent
}

// recording is a trace and what is answered.
type recording struct {
	shape  []position
	radius float64 // metres, how far away it must be looked for roads for this response
	answer document
}

type document struct {
	Code        string            `json:"code"`
	Matchings   []json.RawMessage `json:"matchings"`
	Tracepoints []json.RawMessage `json:"tracepoints"`
}

// sent is a request that came in.
type sent struct {
	path       string
	members    map[string]json.RawMessage
	Shape      []position
	Costing    string
	Format     string
	Line       string             `json:"encoded_polyline"`
	ShapeMatch string             `json:"shape_match"`
	Options    map[string]float64 `json:"trace_options"`
}

type position struct {
	Lat, Lon float64
	Time     *float64
}

// newFake starts a server that knows the named recordings and the walk along ok_route.
func newFake(t testing.TB, names ...string) *fake {
	f := &fake{Upstream: modulestest.NewUpstream(t), walks: map[string]json.RawMessage{}, maxRadius: 100, maxShape: 16000}
	for _, name := range names {
		f.drives = append(f.drives, read(t, name))
	}
	walk := modulestest.ReadRecorded(t, "../../internal/testkit/testdata/valhalla/ok_route_ways.json")
	var question sent
	if err := json.Unmarshal(walk.Request, &question); err != nil {
		t.Fatal(err)
	}
	f.walks[question.Line] = walk.Body
	f.tooFar = modulestest.ReadRecorded(t, "../../internal/testkit/testdata/valhalla/error_158_radius.json").Body
	f.Answer(f.serve)
	return f
}

// read reads a recorded exchange of trace_route.
func read(t testing.TB, name string) (r recording) {
	t.Helper()
	recorded := modulestest.ReadRecorded(t, "../../internal/testkit/testdata/valhalla/"+name+".json")
	var question sent
	if err := json.Unmarshal(recorded.Request, &question); err != nil {
		t.Fatal(err)
	}
	r.shape = question.Shape
	if err := json.Unmarshal(recorded.Body, &r.answer); err != nil {
		t.Fatal(err)
	}
	return r
}

// rowOf is a trace of a number of points, so many metres from the street of modulestest.Matchings.
func rowOf(points int, metres float64) *recording {
	r := new(recording)
	for _, p := range modulestest.Row(points, metres) {
		r.shape = append(r.shape, position{Lat: p.Lat(), Lon: p.Lon()})
	}
	return r
}

// question is a request of our API for details of the trace, with more members.
func (r *recording) question(more string) string {
	var path []string
	for _, p := range r.shape {
		time := ""
		if p.Time != nil {
			time = fmt.Sprintf(`,"time":%v`, *p.Time)
		}
		path = append(path, fmt.Sprintf(`{"lat":%v,"lng":%v%s}`, p.Lat, p.Lon, time))
	}
	return `{"path":[` + strings.Join(path, ",") + `],"details":true` + more + `}`
}

// line is the recorded geometry of a matching.
func (r *recording) line(t testing.TB, matching int) orb.LineString {
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

// set changes what the server knows or does.
func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// requests returns those of an action that came in since it was last asked for any.
func (f *fake) requests(path string) []sent {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := slices.DeleteFunc(f.asked, func(q sent) bool { return q.path != path })
	f.asked = nil
	return asked
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	q := sent{path: r.URL.Path}
	if r.Method != http.MethodPost || json.Unmarshal(body, &q) != nil || json.Unmarshal(body, &q.members) != nil {
		f.refuse(w, &q, 100)
		return
	}
	f.mu.Lock()
	f.asked = append(f.asked, q)
	walk := f.walk
	f.mu.Unlock()
	if q.path == attributes && walk != nil {
		walk(w, r)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch q.path {
	case route:
		f.route(w, &q)
	case attributes:
		if answer := f.walks[q.Line]; answer != nil && q.ShapeMatch == "edge_walk" {
			w.Write(answer)
			return
		}
		f.refuse(w, &q, 443)
	default:
		f.refuse(w, &q, 106)
	}
}

// route answers trace_route, which checks in this order (src/loki/trace_route_action.cc). The accuracy of a point has
// no limit.
func (f *fake) route(w http.ResponseWriter, q *sent) {
	radius, named := q.Options["search_radius"]
	if !named {
		radius = min(50, f.maxRadius)
	}
	switch answer := f.find(q.Shape, radius); {
	case len(q.Shape) > f.maxShape:
		f.refuse(w, q, 153)
	case radius > f.maxRadius:
		f.refuse(w, q, 158)
	case answer == nil:
		f.refuse(w, q, 171)
	default:
		_ = json.NewEncoder(w).Encode(answer)
	}
}

// find returns what is recorded for a trace, for the one of several answers that looked the farthest. A recorded trace
// without some of its points is answered as with them.
func (f *fake) find(shape []position, radius float64) *document {
	var found *document
	farthest := -1.0
	for i := range f.drives {
		if r := &f.drives[i]; len(r.shape) == len(shape) && r.radius <= radius && r.radius > farthest {
			if a := r.only(shape); a != nil {
				found, farthest = a, r.radius
			}
		}
	}
	for i := range f.drives {
		if found == nil {
			found = f.drives[i].only(shape)
		}
	}
	return found
}

// only returns the response for some of the points; nil where there are others among them.
func (r *recording) only(shape []position) *document {
	a := &document{Code: r.answer.Code, Matchings: r.answer.Matchings}
	for i := 0; i < len(r.shape) && len(a.Tracepoints) < len(shape); i++ {
		if r.shape[i].is(shape[len(a.Tracepoints)]) {
			a.Tracepoints = append(a.Tracepoints, r.answer.Tracepoints[i])
		}
	}
	if len(a.Tracepoints) < len(shape) {
		return nil
	}
	return a
}

// is reports whether a point was sent; without its time it is any recorded one there.
func (p position) is(sent position) bool {
	return p.Lat == sent.Lat && p.Lon == sent.Lon && (sent.Time == nil || p.Time != nil && *p.Time == *sent.Time)
}

// refuse answers one of Valhalla's errors, which are OSRM's in its format (src/worker.cc).
func (f *fake) refuse(w http.ResponseWriter, q *sent, number int) {
	w.WriteHeader(http.StatusBadRequest)
	switch {
	case q.Format == "osrm" && !f.ownForm:
		fmt.Fprint(w, osrmError(map[int]string{153: "InvalidValue", 158: "InvalidValue", 171: "NoSegment"}[number]))
	case number == 158:
		w.Write(f.tooFar)
	default:
		fmt.Fprint(w, ownError(number))
	}
}

func ownError(number int) string {
	return fmt.Sprintf(`{"error_code":%d,"error":"secret","status_code":400,"status":"Bad Request"}`, number)
}

func osrmError(code string) string { return fmt.Sprintf(`{"code":%q,"message":"secret"}`, code) }
