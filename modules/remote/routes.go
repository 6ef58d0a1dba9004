package remote

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/routing/guidance"
)

// RouteResponse is a response in the format of OSRM's services `route`, `table` and `nearest`.
type RouteResponse struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	ErrorCode int    `json:"error_code"` // of Valhalla

	Routes       []routeOf    `json:"routes"`
	Waypoints    []waypointOf `json:"waypoints"`
	Sources      []waypointOf `json:"sources"`
	Destinations []waypointOf `json:"destinations"`
	Durations    [][]*float64 `json:"durations"`
	Distances    [][]*float64 `json:"distances"`

	// Matrix has the matrices of Valhalla, whose distances are kilometres.
	Matrix struct {
		Durations [][]*float64 `json:"durations"`
		Distances [][]*float64 `json:"distances"`
	} `json:"sources_to_targets"`
}

type routeOf struct {
	Legs []legOf `json:"legs"`
}

type legOf struct {
	Distance   float64  `json:"distance"`
	Duration   float64  `json:"duration"`
	Summary    Text     `json:"summary"`
	Steps      []stepOf `json:"steps"`
	Annotation struct {
		Distance []float64 `json:"distance"`
		Duration []float64 `json:"duration"`
	} `json:"annotation"`
}

type stepOf struct {
	Distance     float64  `json:"distance"`
	Duration     float64  `json:"duration"`
	Geometry     geometry `json:"geometry"`
	Name         Text     `json:"name"`
	Ref          Text     `json:"ref"`
	Destinations Text     `json:"destinations"`
	Exits        Text     `json:"exits"`
	RotaryName   Text     `json:"rotary_name"`
	Mode         Text     `json:"mode"`
	DrivingSide  Text     `json:"driving_side"`
	Maneuver     struct {
		Type          Text    `json:"type"`
		Modifier      Text    `json:"modifier"`
		BearingBefore float64 `json:"bearing_before"`
		BearingAfter  float64 `json:"bearing_after"`
		Exit          int     `json:"exit"`
		Instruction   Text    `json:"instruction"` // of Valhalla
	} `json:"maneuver"`
	Intersections []intersectionOf `json:"intersections"`
}

type intersectionOf struct {
	Location orb.Point `json:"location"`
	Bearings []int     `json:"bearings"`
	Entry    []bool    `json:"entry"`
	In       *int      `json:"in"`
	Out      *int      `json:"out"`
	Classes  []string  `json:"classes"`
	Lanes    []laneOf  `json:"lanes"`
}

type laneOf struct {
	Indications []string `json:"indications"`
	Valid       bool     `json:"valid"`
}

type waypointOf struct {
	Location orb.Point `json:"location"`
	Name     Text      `json:"name"`
	Distance float64   `json:"distance"`
}

// The most elements in a valid response, so that a hostile one cannot take much more memory or time than its bytes.
const (
	mostRoutes        = 8
	mostSteps         = 100_000 // of all routes
	mostIntersections = 200_000 // of all routes
	mostRoads         = 64      // at an intersection; also lanes, their signs, and classes of roads
	mostMisplaced     = 8       // intersections of a step that are not on its line. The rest of the step's are left out
)

// ReadRouteResponse reads a response with at most places waypoints and legs. The error is an InvalidResponse.
func ReadRouteResponse(body []byte, places int) (*RouteResponse, error) {
	r := new(RouteResponse)
	err := json.Unmarshal(body, r, json.WithUnmarshalers(json.JoinUnmarshalers(Positions, AtMost[routeOf](mostRoutes),
		AtMost[legOf](places), AtMost[waypointOf](places), InAll[stepOf](mostSteps),
		InAll[intersectionOf](mostIntersections), AtMost[int](mostRoads), AtMost[bool](mostRoads), AtMost[laneOf](mostRoads),
		AtMost[string](mostRoads), AtMost[[]*float64](places), AtMost[*float64](places))))
	if err != nil {
		return nil, InvalidResponse("%v", err)
	}
	return r, nil
}

// Result returns the routes through the waypoints of a request.
func (r *RouteResponse) Result(req *routing.Request) (*routing.Result, error) {
	if len(r.Routes) == 0 || len(r.Waypoints) != len(req.Waypoints) {
		return nil, InvalidResponse("%d routes and %d waypoints for %d places", len(r.Routes), len(r.Waypoints),
			len(req.Waypoints))
	}
	result := &routing.Result{}
	var err error
	if result.Waypoints, err = snapped(r.Waypoints, req.Waypoints); err != nil {
		return nil, err
	}
	for i := range r.Routes[:min(len(r.Routes), 1+req.Alternatives)] {
		route, err := r.Routes[i].route(req, result.Waypoints)
		if err != nil {
			return nil, err
		}
		result.Routes = append(result.Routes, route)
	}
	return result, nil
}

func (r *routeOf) route(req *routing.Request, places []routing.Snapped) (route routing.Route, err error) {
	if len(r.Legs) != len(req.Waypoints)-1 {
		return route, InvalidResponse("%d legs between %d waypoints", len(r.Legs), len(req.Waypoints))
	}
	for i := range r.Legs {
		l := &r.Legs[i]
		if len(l.Steps) == 0 || !isLength(l.Distance) || !isLength(l.Duration) {
			return route, InvalidResponse("leg %d has no steps, or no valid length", i)
		}
		leg := routing.Leg{Distance: l.Distance, Duration: l.Duration, Summary: string(l.Summary),
			First: max(len(route.Line)-1, 0)}
		for k := range l.Steps {
			step, err := l.Steps[k].step(&route, req, i == len(r.Legs)-1)
			if err != nil {
				return route, err
			}
			if req.Steps {
				leg.Steps = append(leg.Steps, step)
			}
		}
		leg.Last = len(route.Line) - 1
		if distance(route.Line[leg.First], places[i].Location) > farPath ||
			distance(route.Line[leg.Last], places[i+1].Location) > farPath {
			return route, InvalidResponse("leg %d does not lead from its waypoint to the next", i)
		}
		if req.Annotations {
			if leg.Segments, err = l.segments(leg.Last - leg.First); err != nil {
				return route, err
			}
		}
		route.Legs = append(route.Legs, leg)
		route.Distance, route.Duration = route.Distance+l.Distance, route.Duration+l.Duration
	}
	if len(route.Line) == 1 {
		route.Line = append(route.Line, route.Line[0])
		last := &route.Legs[len(route.Legs)-1]
		last.Last = 1
		if req.Annotations {
			last.Segments = make([]routing.Segment, 1)
		}
	}
	return route, nil
}

// segments returns what is known of the segments of a line. OSRM also counts segments without a length, which the line
// does not have: their durations go to the segment before, or to the first.
func (l *legOf) segments(count int) ([]routing.Segment, error) {
	metres, seconds := l.Annotation.Distance, l.Annotation.Duration
	if metres == nil || seconds == nil {
		return nil, routing.ErrUnsupported
	}
	all := make([]routing.Segment, 0, count)
	n, waiting := 0, 0.0
	for i := range l.Steps[:len(l.Steps)-1] { // the last one arrives
		line := l.Steps[i].Geometry
		for k := 1; k < len(line); k++ {
			if n >= min(len(metres), len(seconds)) || !isLength(metres[n]) || !isLength(seconds[n]) {
				return nil, InvalidResponse("segment %d has no length", n)
			}
			switch {
			case line[k] != line[k-1]:
				all = append(all, routing.Segment{Distance: metres[n], Duration: waiting + seconds[n]})
				waiting = 0
			case len(all) > 0:
				all[len(all)-1].Duration += seconds[n]
			default:
				waiting += seconds[n]
			}
			n++
		}
	}
	if len(all) != count || n != max(len(metres), len(seconds)) && count > 0 {
		return nil, InvalidResponse("%d and %d segments for %d of a line", len(metres), len(seconds), count)
	}
	return all, nil
}

// step adds the line of a step to a route.
func (s *stepOf) step(route *routing.Route, req *routing.Request, final bool) (step guidance.Step, err error) {
	if len(s.Geometry) == 0 || !isLength(s.Distance) || !isLength(s.Duration) {
		return step, InvalidResponse("a step has no line, or no valid length")
	}
	for i, p := range s.Geometry {
		if !onGlobe(p) {
			return step, InvalidResponse("a step lies nowhere")
		}
		if n := len(route.Line); n == 0 || route.Line[n-1] != p {
			route.Line = append(route.Line, p)
		}
		if i == 0 {
			step.First = len(route.Line) - 1
		}
	}
	m := &s.Maneuver
	step.Last = len(route.Line) - 1
	step.Distance, step.Duration, step.Name, step.Ref = s.Distance, s.Duration, string(s.Name), string(s.Ref)
	step.Destinations, step.Exits, step.RotaryName = string(s.Destinations), string(s.Exits), string(s.RotaryName)
	step.Mode, step.LeftDriving = guidance.Mode(s.Mode), s.DrivingSide == "left"
	step.Maneuver = guidance.Maneuver{Type: string(m.Type), Modifier: string(m.Modifier), Exit: max(m.Exit, 0),
		BearingBefore: bearing(m.BearingBefore), BearingAfter: bearing(m.BearingAfter)}
	if step.Instruction = string(m.Instruction); step.Instruction == "" {
		step.Instruction = guidance.Sentence(&step, req.Language, final)
	}
	at, misplaced := step.First, 0 // they follow each other on the line
	for i := 0; i < len(s.Intersections) && misplaced < mostMisplaced; i++ {
		in, ok := s.Intersections[i].intersection(route.Line, at, step.Last)
		if !ok {
			misplaced++
			continue
		}
		at = in.Index
		step.Intersections = append(step.Intersections, in)
	}
	return step, nil
}

// intersection places an intersection on a part of a line. One that is malformed, or lies elsewhere, is left out.
func (s *intersectionOf) intersection(line orb.LineString, first, last int) (in guidance.Intersection, ok bool) {
	in = guidance.Intersection{Index: -1, Bearings: s.Bearings, Entry: s.Entry, In: -1, Out: -1, Classes: s.Classes}
	for i := first; i <= last && in.Index < 0; i++ {
		if math.Abs(line[i][0]-s.Location[0]) < onVertex && math.Abs(line[i][1]-s.Location[1]) < onVertex {
			in.Index = i
		}
	}
	if in.Index < 0 || len(s.Bearings) != len(s.Entry) {
		return in, false
	}
	for of, from := range map[*int]*int{&in.In: s.In, &in.Out: s.Out} {
		if from != nil && *from >= 0 && *from < len(s.Bearings) {
			*of = *from
		}
	}
	for i := range s.Lanes {
		in.Lanes = append(in.Lanes, guidance.Lane{Indications: s.Lanes[i].Indications, Valid: s.Lanes[i].Valid})
	}
	return in, true
}

// onVertex is the greatest difference in degrees between a vertex and its intersection: services round both.
const onVertex = 2e-6

func isLength(v float64) bool { return v >= 0 && v < 1e9 }

func bearing(degrees float64) int {
	if !(degrees >= 0 && degrees < 360) {
		return 0
	}
	return int(degrees)
}

// Reach returns the greatest distance of a waypoint from its road, in metres.
func Reach(w *routing.Waypoint) float64 {
	if w.Radius > 0 {
		return w.Radius
	}
	return routing.MaxRadius
}

// NoSegment returns the error for a service that finds no road near a waypoint. message may end with its index.
func NoSegment(asked []routing.Waypoint, message string) error {
	n, err := strconv.Atoi(message[strings.LastIndexByte(message, ' ')+1:])
	if err == nil && n >= 0 && n < len(asked) {
		return &routing.SegmentError{Waypoint: n, Radius: Reach(&asked[n])}
	}
	farthest := 0.0
	for i := range asked {
		farthest = max(farthest, Reach(&asked[i]))
	}
	return &routing.SegmentError{Waypoint: -1, Radius: farthest}
}

// snapped returns the places on roads of the waypoints that were asked for.
func snapped(places []waypointOf, asked []routing.Waypoint) ([]routing.Snapped, error) {
	if len(places) != len(asked) {
		return nil, InvalidResponse("%d places, not %d", len(places), len(asked))
	}
	all := make([]routing.Snapped, len(places))
	for i := range places {
		if !onGlobe(places[i].Location) || !isLength(places[i].Distance) {
			return nil, InvalidResponse("place %d lies nowhere", i)
		}
		if far := distance(asked[i].Location, places[i].Location); far > Reach(&asked[i])+farSnap {
			return nil, InvalidResponse("place %d lies %.0f m from its waypoint", i, far)
		}
		all[i] = routing.Snapped{Location: places[i].Location, Name: string(places[i].Name), Distance: places[i].Distance}
	}
	return all, nil
}

// Table returns the matrices of a request.
func (r *RouteResponse) Table(req *routing.TableRequest) (t *routing.Table, err error) {
	t = new(routing.Table)
	if t.Sources, err = snapped(r.Sources, req.Sources); err != nil {
		return nil, err
	}
	if t.Destinations, err = snapped(r.Destinations, req.Destinations); err != nil {
		return nil, err
	}
	if req.Durations {
		if t.Durations, err = Matrix(r.Durations, len(req.Sources), len(req.Destinations)); err != nil {
			return nil, err
		}
	}
	if req.Distances {
		t.Distances, err = Matrix(r.Distances, len(req.Sources), len(req.Destinations))
	}
	return t, err
}

// Matrix returns rows of numbers, NaN for null.
func Matrix(rows [][]*float64, sources, destinations int) ([][]float64, error) {
	if len(rows) != sources {
		return nil, InvalidResponse("a matrix of %d rows, not %d", len(rows), sources)
	}
	all := make([][]float64, sources)
	for i, row := range rows {
		if len(row) != destinations {
			return nil, InvalidResponse("a row of %d elements, not %d", len(row), destinations)
		}
		for _, v := range row {
			switch {
			case v == nil:
				all[i] = append(all[i], math.NaN())
			case !isLength(*v):
				return nil, InvalidResponse("an element of a matrix is no length")
			default:
				all[i] = append(all[i], *v)
			}
		}
	}
	return all, nil
}

// Nearest returns the places of a response of `nearest`.
func (r *RouteResponse) Nearest(at *routing.Waypoint) ([]routing.Snapped, error) {
	return snapped(r.Waypoints, slices.Repeat([]routing.Waypoint{*at}, len(r.Waypoints)))
}

// Refusal returns the error for a code of OSRM's API, nil for Ok. asked are the waypoints of the request.
func (r *RouteResponse) Refusal(asked []routing.Waypoint) error {
	switch r.Code {
	case "Ok":
		return nil
	case "NoRoute", "NoTable", "NoTrips":
		return routing.ErrNoRoute
	case "NoSegment":
		return NoSegment(asked, r.Message)
	case "TooBig":
		return routing.ErrWork
	case "NotImplemented", "InvalidValue", "InvalidOptions":
		return routing.ErrUnsupported
	}
	return InvalidResponse("code %.40q", r.Code)
}
