package routing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// osrmBody is an answer of OSRM's API.
type osrmBody struct {
	Code, Message            string
	Routes, Trips, Matchings []osrmRouteBody
	Waypoints, Tracepoints   []*osrmWaypoint
	Sources, Destinations    []*osrmWaypoint
	Durations, Distances     [][]*float64
	FallbackSpeedCells       [][2]int `json:"fallback_speed_cells"`
}

type osrmRouteBody struct {
	Distance, Duration, Weight float64
	WeightName                 string `json:"weight_name"`
	Geometry                   struct {
		Type        string
		Coordinates orb.LineString
	}
	Confidence *float64
	Legs       []osrmLegBody
}

type osrmLegBody struct {
	Distance, Duration float64
	Summary            string
	Steps              []osrmStepBody
	Annotation         *struct {
		Distance, Duration, Speed, Weight, Datasources []float64
	}
}

type osrmStepBody struct {
	Distance, Duration float64
	Name, Mode         string
	DrivingSide        string `json:"driving_side"`
	Geometry           struct{ Coordinates orb.LineString }
	Maneuver           struct {
		Type          string
		Location      orb.Point
		BearingBefore *int `json:"bearing_before"`
		BearingAfter  *int `json:"bearing_after"`
	}
	Intersections []struct {
		Location orb.Point
		Bearings []int
		Entry    []bool
		In, Out  *int
	}
}

// check checks what clients rely on in the steps of a leg, and returns their line without repeated coordinates.
func (leg *osrmLegBody) check(t *testing.T) (line orb.LineString) {
	t.Helper()
	distance, duration := 0.0, 0.0
	last := len(leg.Steps) - 1
	for i := range leg.Steps {
		s := &leg.Steps[i]
		coordinates := s.Geometry.Coordinates
		if i > 0 && line[len(line)-1] != coordinates[0] || s.Maneuver.Location != coordinates[0] {
			t.Errorf("step %d at %v does not go on from %v", i, s.Maneuver, line[len(line)-1])
		}
		line = append(line, coordinates[min(i, 1):]...)
		if m := &s.Maneuver; (m.Type == "depart") != (i == 0) || (m.Type == "arrive") != (i == last) ||
			*m.BearingBefore < 0 || *m.BearingBefore > 359 || *m.BearingAfter < 0 || *m.BearingAfter > 359 {
			t.Errorf("step %d of %d: %+v", i, last+1, *m)
		}
		if s.Mode != "driving" || s.DrivingSide != "right" || len(s.Intersections) == 0 || s.Intersections[0].Location != coordinates[0] {
			t.Errorf("step %d: %+v", i, *s)
		}
		for k := range s.Intersections {
			if n := &s.Intersections[k]; len(n.Bearings) == 0 || len(n.Entry) != len(n.Bearings) || (n.In == nil) != (i == 0 && k == 0) ||
				(n.Out == nil) != (i == last) || n.In != nil && *n.In >= len(n.Bearings) ||
				n.Out != nil && (*n.Out >= len(n.Bearings) || !n.Entry[*n.Out]) ||
				!slices.IsSorted(n.Bearings) || !slices.Contains(coordinates, n.Location) {
				t.Errorf("step %d of %d, intersection %d: %+v", i, last+1, k, *n)
			}
		}
		distance, duration = distance+s.Distance, duration+s.Duration
	}
	if math.Abs(distance-leg.Distance) > 0.1*float64(last+2) || math.Abs(duration-leg.Duration) > 0.1*float64(last+2) ||
		len(leg.Steps) < 2 {
		t.Errorf("the steps have %v m and %v s, the leg %v and %v", distance, duration, leg.Distance, leg.Duration)
	}
	return slices.Compact(line)
}

type osrmWaypoint struct {
	Location      orb.Point
	Name, Hint    string
	Distance      float64
	Nodes         []int
	WaypointIndex *int `json:"waypoint_index"`
	TripsIndex    *int `json:"trips_index"`
}

// sketched is the engine of a sketch, which is a matcher as well.
type sketched struct {
	*roadgraphtest.Drawn
	*routing.Engine
	matching.Matcher
}

func draw(t testing.TB, sketch roadgraphtest.Sketch) *sketched {
	t.Helper()
	s := &sketched{Drawn: sketch.Draw(t)}
	graphs := []*roadgraph.Graph{s.Graph, roadgraphtest.Open(t, s.File, region.Bicycle), roadgraphtest.Open(t, s.File, region.Foot)}
	s.Engine = routing.NewEngine(s.File, graphs...)
	s.Matcher = matching.NewLocal(matching.Networks(graphs), matching.Options{})
	return s
}

var testLimits = osrmLimits{coordinates: 100, elements: 10000, trace: 1000}

// ask answers a request.
func (s *sketched) ask(t testing.TB, target string) (body osrmBody) {
	t.Helper()
	text := s.answer(t, target)
	if err := json.Unmarshal(text, &body); err != nil {
		t.Fatalf("%s: %v: %s", target, err, text)
	}
	return body
}

func (s *sketched) answer(t testing.TB, target string) []byte {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	text, err := answerOSRM(context.Background(), nil, u, testLimits, s)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); { // costs may have to be customized first
		if _, early := errors.AsType[*routing.NotReadyError](err); !early {
			break
		}
		text, err = answerOSRM(context.Background(), nil, u, testLimits, s)
	}
	if wrong, ok := errors.AsType[*osrmError](err); ok {
		return fmt.Appendf(nil, `{"code":%q,"message":%q}`, wrong.code, wrong.message)
	}
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return text
}

func answerOSRM(ctx context.Context, dst []byte, u *url.URL, limits osrmLimits, s *sketched) ([]byte, error) {
	q, err := parseOSRM(u.Path, u.RawQuery, limits)
	if err != nil {
		return nil, err
	}
	return q.appendAnswer(ctx, dst, s, nil)
}

// target is the address of a request for places of the sketch, with the whole line as GeoJSON: "route car ae steps=true".
func (s *sketched) target(t testing.TB, request string) string {
	t.Helper()
	fields := strings.Fields(request)
	var list []string
	for _, place := range fields[2] {
		p := s.At(t, place)
		list = append(list, fmt.Sprintf("%.7f,%.7f", p[0], p[1]))
	}
	options := fields[3:]
	if fields[0] != "table" && fields[0] != "nearest" {
		options = append(options, "geometries=geojson", "overview=full")
	}
	return "/" + fields[0] + "/v1/" + fields[1] + "/" + strings.Join(list, ";") + "?" + strings.Join(options, "&")
}

// letters are the letters that a line passes, in its order.
func (s *sketched) letters(t testing.TB, ways string, line orb.LineString) string {
	t.Helper()
	var passed []rune
	for _, p := range line {
		for _, letter := range ways {
			if letter < 'a' || letter > 'z' {
				continue
			}
			q := s.At(t, letter)
			if math.Abs(p[0]-q[0]) < 2e-6 && math.Abs(p[1]-q[1]) < 2e-6 && (len(passed) == 0 || passed[len(passed)-1] != letter) {
				passed = append(passed, letter)
			}
		}
	}
	return string(passed)
}

// row is a request, and what its answer says: for routes the letters that they pass, for tables the distances in units
// of the grid, else the code of an error.
type row struct{ request, want string }

// result describes an answer as in a row.
func (s *sketched) result(t testing.TB, grid string, step float64, body *osrmBody) string {
	t.Helper()
	if body.Code != "Ok" {
		return body.Code
	}
	var words []string
	for _, list := range [][]osrmRouteBody{body.Routes, body.Trips, body.Matchings} {
		for i := range list {
			words = append(words, s.letters(t, grid, list[i].Geometry.Coordinates))
		}
	}
	for _, line := range body.Distances {
		var cells []string
		for _, metres := range line {
			cell := "-"
			if metres != nil {
				cell = fmt.Sprint(math.Round(*metres/step*10) / 10)
			}
			cells = append(cells, cell)
		}
		words = append(words, strings.Join(cells, ","))
	}
	if body.Routes == nil && body.Trips == nil && body.Matchings == nil {
		for _, w := range body.Waypoints {
			words = append(words, w.Name)
		}
	}
	return strings.Join(words, " ")
}

// Small maps with the facts of OSRM's own tests of cars and options.
func TestOSRMMaps(t *testing.T) {
	for name, tc := range map[string]struct {
		roadgraphtest.Sketch
		rows []row
	}{
		"one-way streets": {roadgraphtest.Sketch{Step: 100, Grid: "a b c\nd e f", Ways: "ab oneway=yes\nbc oneway=yes\n" +
			"cf oneway=-1\nfc oneway=no\nfe oneway=yes\ned\nda\nbe oneway=-1"}, []row{
			{"route car ac", "abc"}, {"route car ca", "cfeda"}, {"route car be", "bcfe"}, {"route car eb", "eb"},
			{"route bike ca", "cfeda"}, {"route foot ca", "cba"},
		}},
		"a ring of one-way streets": {roadgraphtest.Sketch{Step: 100, Grid: "  x           g\n  a 1 b 2 c 3 d\ni f           e h",
			Ways: "xa\nif\ngd\neh\nab oneway=yes\nbc oneway=yes\ncd oneway=yes\nde oneway=yes\nef oneway=yes\nfa oneway=yes"}, []row{
			{"route car 13", "bc"}, {"route car 31", "defa"}, {"route car 123", "bc"}, {"route car 132", "bcdefab"},
			{"route car 321", "defabcdefa"}, {"table car 13 annotations=distance", "0,8 18,0"},
			{"route car 132 waypoints=0;2", "bcdefab"},
		}},
		"turn restrictions": {roadgraphtest.Sketch{Step: 200, Grid: "  a\nd j b\n  c", Ways: "cj oneway=yes\naj oneway=-1\n" +
			"dj oneway=-1\nbj oneway=-1\ncj/j/dj restriction=no_left_turn"}, []row{
			{"route car cd", "NoRoute"}, {"route car ca", "cja"}, {"route car cb", "cjb"}, {"route foot cd", "cjd"},
			{"table car cdab sources=0 annotations=distance", "0,-,2,3"},
			{"table car cd sources=0 destinations=1 annotations=distance,duration fallback_speed=10", "2.2"},
			{"trip car cd", "NoTrips"},
		}},
		"no straight on": {roadgraphtest.Sketch{Step: 200, Grid: "a b j d e\nv       z\n  w x y", Ways: "ab\nbj\njd\nde\n" +
			"av oneway=yes\nvw oneway=yes\nwx oneway=yes\nxy oneway=yes\nyz oneway=yes\nze oneway=yes\n" +
			"bj/j/jd restriction=no_straight_on"}, []row{{"route car ae", "avwxyze"}, {"route car ea", "edjba"}}},
		"only straight on": {roadgraphtest.Sketch{Step: 20, Grid: "  b\na j c e\n  d   f", Ways: "aj\njb\njc\njd\nce\nef\ndf\n" +
			"aj/j/jc restriction=only_straight_on"}, []row{{"route car ad", "ajcefd"}, {"route car af", "ajcef"}}},
		"restrictions over a way": {roadgraphtest.Sketch{Step: 100, Grid: "a b c\n\nd e f", Ways: "ab\nbc\nbe\nde\nef\ncf\n" +
			"ab/be/de restriction=no_right_turn"}, []row{{"route car ad", "abcfed"}, {"route foot ad", "abed"}}},
		"closed roads": {roadgraphtest.Sketch{Step: 100, Grid: "a b c d\n\ne     f", Ways: "ab\nbc access=no\ncd\nae\nef\nfd"}, []row{
			{"route car ad", "aefd"}, {"route bike ad", "aefd"}, {"route foot ad", "aefd"},
		}},
		"roads closed to cars": {roadgraphtest.Sketch{Step: 100, Grid: "a b c d\n\ne     f",
			Ways: "ab\nbc motor_vehicle=no\ncd\nae\nef\nfd"}, []row{
			{"route car ad", "aefd"}, {"route bike ad", "abcd"}, {"route foot ad", "abcd"},
		}},
		"roads for their destinations": {roadgraphtest.Sketch{Step: 100, Grid: "a         e\n  b1 c 2d\nx         y",
			Ways: "ab\nbcd access=destination\nde\naxye"}, []row{
			{"route car ab", "ab"}, {"route car ac", "abc"}, {"route car a2", "abc"}, {"route car ae", "axye"},
			{"route car ed", "ed"}, {"route car ec", "edc"}, {"route car e1", "edc"}, {"route car ea", "eyxa"},
		}},
		"an area for its destinations": {roadgraphtest.Sketch{Step: 100, Grid: "a   c   e\n  b   d\nx       y",
			Ways: "ab access=destination\nbc access=destination\ncd access=destination\nde access=destination\naxye"}, []row{
			{"route car bd", "bcd"}, {"route car db", "dcb"},
		}},
		"barriers": {roadgraphtest.Sketch{Step: 100, Grid: "a b c\n\nd   f", Ways: "ab\nbc\nad\ndf\nfc\nb barrier=bollard"}, []row{
			{"route car ac", "adfc"}, {"route bike ac", "abc"}, {"route foot ac", "abc"},
		}},
		"roundabouts": {roadgraphtest.Sketch{Step: 30, Grid: "    a\n\n    b\nh g   c d\n    e\n\n    f",
			Ways: "bgecb junction=roundabout\nab\nhg\ncd\nef"}, []row{
			{"route car ad", "abgecd"}, {"route car ah", "abgh"}, {"route car da", "dcba"}, {"route car fh", "fecbgh"},
		}},
		"around the block": {roadgraphtest.Sketch{Step: 100, Grid: "  a b\nf d c e", Ways: "ab oneway=yes\nbc\ncd\nda\nce\ndf"}, []row{
			{"route car ab", "ab"}, {"route car ba", "bcda"}, {"route car aa", "a"},
		}},
		"waypoints on one road": {roadgraphtest.Sketch{Step: 20, Grid: "    4   3\n  a-------b\n    1   2", Ways: "ab"}, []row{
			{"route car 12 approaches=curb;curb", ""}, {"route car 23 approaches=curb;curb", "b"},
			{"route car 34 approaches=curb;curb", ""}, {"route car 41 approaches=curb;curb", "a"},
			{"route car 43 approaches=curb;curb", "ab"}, {"route car 32 approaches=curb;curb", "a"},
			{"route car 21 approaches=curb;curb", "ba"}, {"route car 14 approaches=curb;curb", "b"},
			{"route car 12 approaches=curb;opposite", "b"}, {"route car 14 approaches=;", ""},
			{"route car 14 approaches=unrestricted;unrestricted", ""}, {"route car 41 approaches=;curb", ""},
			{"route car 21 bearings=90,10;90,10", "ba"}, {"route car 43 bearings=270,10;270,10", "ab"},
			{"route car 12 bearings=80,10;", ""}, {"route car 12 bearings=79,10;", "NoSegment"}, {"route car 12 bearings=79,11;", ""},
			{"route car 12 bearings=79,180;0,180", ""}, {"route car 12 radiuses=10;", "NoSegment"},
			{"route car 12 radiuses=25;unlimited", ""}, {"route car 112", ""},
			{"table car 12 bearings=90,10;270,10 annotations=distance", "0,8 8,0"}, {"nearest car 3 radiuses=10", "NoSegment"},
		}},
		"bearings": {roadgraphtest.Sketch{Step: 10, Grid: "g d 2       1         c f\nh a         0         b e", Ways: "ab oneway=yes\n" +
			"bc oneway=yes\ncd oneway=yes\nda oneway=yes\nbe oneway=yes\nfc oneway=yes\ndg oneway=yes\nha oneway=yes"}, []row{
			{"route car 0b bearings=90,10;90,10", "b"}, {"route car 0b bearings=170,10;170,10", "a"},
			{"route car 01 bearings=90,10;270,10", "bc"}, {"route car 12 bearings=90,10;90,10", "bcda"},
			{"route car 12 bearings=270,10;270,10", ""}, {"route car 12 bearings=349,10;349,10", "NoSegment"},
		}},
		"alternatives": {roadgraphtest.Sketch{Step: 200, Grid: "  b c d\na   k     z\n  g h i j",
			Ways: "ab\nbc\ncd\ndz\nag\ngh\nck\nkh\nhi\nij\njz"}, []row{
			{"route car az", "abcdz"}, {"route car az alternatives=false", "abcdz"}, {"route car az alternatives=0", "abcdz"},
			{"route car ahz alternatives=true", "aghijz"},
		}},
		"waypoints in between": {roadgraphtest.Sketch{Step: 100, Grid: "a b c\n  1\n\n\n  e f", Ways: "ab\nbc\nbe\nef\nfc"}, []row{
			{"route car a1c", "abefc"}, {"route car a1c continue_straight=true", "abefc"},
			{"route car a1c continue_straight=default", "abefc"}, {"route car a1c continue_straight=false", "abc"},
			{"route bike a1c", "abc"}, {"route foot a1c", "abc"}, {"route bike a1c continue_straight=true", "abefc"},
		}},
		"dead ends": {roadgraphtest.Sketch{Step: 100, Grid: "a b c\n  d", Ways: "abc\nbd"}, []row{
			{"route car adc", "abdbc"}, {"route car cda", "cbdba"},
		}},
		"places beside a road": {roadgraphtest.Sketch{Step: 100, Grid: "a 1 b 2 c 3 d\ne   f   g   h", Ways: "aefghd\nabcd\nbf\ncg"}, []row{
			{"route car a1d", "abcd"}, {"route car a2d", "abcd"}, {"route car a3d", "abcd"},
			{"nearest car 1", "abcd"}, {"nearest car 1 number=3", "abcd aefghd abcd"},
		}},
		"classes": {roadgraphtest.Sketch{Step: 50, Grid: "a....b-----c---d\n     |     |   |\n     e-----f---g", Ways: "ab highway=primary\n" +
			"bc highway=motorway\nbe highway=primary toll=yes\nef highway=primary toll=yes\nfc highway=primary toll=yes\n" +
			"cd highway=motorway toll=yes\nfg highway=primary\ngd highway=primary"}, []row{
			{"route car ad", "abcd"}, {"route car ad exclude=none", "abcd"}, {"route car ad exclude=motorway", "abefgd"},
			{"route car ag exclude=motorway", "abefg"}, {"route car ac exclude=toll", "abc"}, {"route car fd exclude=motorway,toll", "fgd"},
			{"table car ad exclude=motorway annotations=distance", "0,19 19,0"}, {"route car ad exclude=ferry", "abcd"},
		}},
		"ferries": {roadgraphtest.Sketch{Step: 100, Grid: "a b c\n    d\n    e f g", Ways: "abc highway=primary\ncde route=ferry\n" +
			"efg highway=primary"}, []row{{"route car ag", "abcdefg"}, {"route car ag exclude=ferry", "abcdefg"},
			{"route car ag snapping=any", "abcdefg"}}},
		"trips": {roadgraphtest.Sketch{Step: 100, Grid: "a b\nd c", Ways: "ab oneway=yes\nbc oneway=yes\ncd oneway=yes\nda oneway=yes"}, []row{
			{"trip car acbd", "abcda"}, {"trip car aa", "a"}, {"trip car cabd", "cdabc"},
			{"trip car cabd source=first roundtrip=false", "cdab"}, {"trip car cabd destination=last roundtrip=false", "abcd"},
			{"trip car cbad source=first destination=last roundtrip=false", "cdabcd"},
			{"trip car cabd source=first destination=last", "cdabcdabc"}, {"trip bike acbd source=any destination=any roundtrip=true", "abcda"},
		}},
		"drives": {roadgraphtest.Sketch{Step: 50, Grid: "a 1 b 2 c\n    |\n    d 3 e", Ways: "abc\nbd\nde"}, []row{
			{"match car 12", "b"}, {"match car 123", "bcbd"}, {"match foot 12", "b"}, {"match car 12 radiuses=5;5 gaps=ignore tidy=true", "b"},
			{"match car 12 timestamps=100;120", "b"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := draw(t, tc.Sketch)
			for _, r := range tc.rows {
				body := s.ask(t, s.target(t, r.request))
				if got := s.result(t, tc.Grid, tc.Step, &body); got != r.want {
					t.Errorf("%s: %s, want %s (%s)", r.request, got, r.want, body.Message)
				}
			}
		})
	}
}

// What is asked for beside routes: names, hints, indexes of waypoints, estimates and scales.
func TestOSRMOptions(t *testing.T) {
	s := draw(t, roadgraphtest.Sketch{Step: 100, Grid: "a 1 b 2 c\n    |\n    d 3 e             f 4 g", Ways: "abc name=High~Street\nbd\nde\nfg"})
	ask := func(request string) osrmBody { return s.ask(t, s.target(t, request)) }

	with, without := ask("route car 13"), ask("route car 13 generate_hints=false")
	if with.Waypoints[0].Name != "High Street" || with.Waypoints[1].Name != "de" || with.Waypoints[0].Hint == with.Waypoints[1].Hint ||
		len(with.Waypoints[0].Hint) != 11 || without.Waypoints[0].Hint != "" {
		t.Errorf("%+v, without hints %+v", *with.Waypoints[0], *without.Waypoints[0])
	}
	for _, request := range []string{"route car 13", "trip car 13", "nearest car 1", "match car 12", "table car 13"} {
		body := ask(request + " skip_waypoints=true")
		if body.Code != "Ok" || body.Waypoints != nil || body.Tracepoints != nil || body.Sources != nil || body.Destinations != nil {
			t.Errorf("%s: %+v", request, body)
		}
	}

	trip := ask("trip car 132 source=first")
	var order []int
	for _, w := range trip.Waypoints {
		if order = append(order, *w.WaypointIndex); *w.TripsIndex != 0 {
			t.Errorf("%+v", w)
		}
	}
	if !slices.Equal(order, []int{0, 1, 2}) && !slices.Equal(order, []int{0, 2, 1}) || len(trip.Trips[0].Legs) != 3 {
		t.Errorf("the order is %v with %d legs", order, len(trip.Trips[0].Legs))
	}

	nearest := ask("nearest car 1")
	if w := nearest.Waypoints[0]; !slices.Equal(w.Nodes, []int{0, 0}) || w.Distance != 0 {
		t.Errorf("%+v", w)
	}

	plain := ask("table car 14 annotations=duration,distance")
	if plain.FallbackSpeedCells != nil || plain.Durations[0][1] != nil || plain.Distances[1][0] != nil {
		t.Errorf("a table without routes: %+v", plain)
	}
	for from, metres := range map[string]float64{"": 2209, "&fallback_coordinate=input": 2209, "&fallback_coordinate=snapped": 2209} {
		table := ask("table car 14 annotations=duration,distance fallback_speed=10 scale_factor=2" + from)
		if fmt.Sprint(table.FallbackSpeedCells) != "[[0 1] [1 0]]" || math.Abs(*table.Distances[0][1]-metres) > 2 ||
			math.Abs(*table.Durations[0][1]-2*metres/10) > 1 || *table.Durations[0][0] != 0 {
			t.Errorf("%s: %v m and %v s, estimated %v", from, *table.Distances[0][1], *table.Durations[0][1], table.FallbackSpeedCells)
		}
	}
	one := ask("table car 13 sources=0 destinations=1 annotations=distance,duration")
	twice := ask("table car 13 sources=0 destinations=1 annotations=distance,duration scale_factor=2")
	if *twice.Distances[0][0] != *one.Distances[0][0] || math.Abs(*twice.Durations[0][0]-2**one.Durations[0][0]) > 0.1 ||
		one.Sources[0].Name != "High Street" || one.Destinations[0].Name != "de" {
		t.Errorf("%+v, scaled %+v", one, twice)
	}
	if only := ask("table car 13"); only.Distances != nil || len(only.Durations) != 2 {
		t.Errorf("%+v", only)
	}
	if only := ask("table car 13 annotations=distance"); only.Durations != nil || len(only.Distances) != 2 {
		t.Errorf("%+v", only)
	}
}

// A drive is one matching with a leg between its points, unless only some of them are waypoints.
func TestOSRMMatch(t *testing.T) {
	s := draw(t, roadgraphtest.Sketch{Step: 20, Grid: "a 1 2 3 b   9\n\n        4\n\n        5\n\n        d", Ways: "ab maxspeed=36\nbd maxspeed=18"})
	ask := func(request string) osrmBody { return s.ask(t, s.target(t, request)) }
	all := ask("match car 12345 annotations=true timestamps=0;4;8;16;24")
	if len(all.Matchings) != 1 || len(all.Matchings[0].Legs) != 4 || len(all.Tracepoints) != 5 || all.Matchings[0].Confidence == nil {
		t.Fatalf("%+v", all)
	}
	for i, want := range []struct{ metres, seconds float64 }{{40, 4}, {40, 4}, {80, 12}, {40, 8}} {
		leg := &all.Matchings[0].Legs[i]
		metres, seconds := 0.0, 0.0
		for k := range leg.Annotation.Distance {
			metres, seconds = metres+leg.Annotation.Distance[k], seconds+leg.Annotation.Duration[k]
		}
		if math.Abs(leg.Distance-want.metres) > 1 || math.Abs(leg.Duration-want.seconds) > 0.3 ||
			math.Abs(metres-want.metres) > 1 || math.Abs(seconds-want.seconds) > 0.3 {
			t.Errorf("leg %d: %v m and %v s, segments %v and %v, want %v", i, leg.Distance, leg.Duration, metres, seconds, want)
		}
		if p := all.Tracepoints[i]; *p.WaypointIndex != i || !slices.Contains(all.Matchings[0].Geometry.Coordinates, p.Location) {
			t.Errorf("tracepoint %d: %+v", i, *p)
		}
	}
	ends := ask("match car 12345 waypoints=0;3;4")
	if len(ends.Matchings[0].Legs) != 2 || math.Abs(ends.Matchings[0].Legs[0].Distance-160) > 2 ||
		ends.Tracepoints[1].WaypointIndex != nil || *ends.Tracepoints[3].WaypointIndex != 1 || *ends.Tracepoints[4].WaypointIndex != 2 {
		t.Errorf("%+v", ends)
	}
	if outlier := ask("match car 12933 radiuses=3;3;3;3;3"); len(outlier.Tracepoints) != 5 || outlier.Tracepoints[2] != nil ||
		len(outlier.Matchings[0].Legs) != 3 {
		t.Errorf("%+v", outlier)
	}
	if lost := ask("match car 12933 radiuses=3;3;3;3;3 waypoints=0;2;4"); lost.Code != "NoMatch" {
		t.Errorf("%+v", lost)
	}
}

// A request is read without a panic, whatever it is, and asks for no more than is allowed.
func FuzzOSRM(f *testing.F) {
	f.Add("/route/v1/car/9,45;9.1,45.1", "steps=true&annotations=duration&bearings=90,10;&radiuses=;5&waypoints=0;1&alternatives=2")
	f.Add("/table/v1/foot/polyline6(_izlhA~rlgdF_{geC~ywl@).json", "sources=0&destinations=all&fallback_speed=3.5&hints=")
	f.Add("/trip/v1/bike/9,45;9.1,45.1", "roundtrip=false&source=first&exclude=toll,ferry&approaches=curb;")
	f.Add("/match/v1/driving/9,45;9.1,45.1", "timestamps=1;2&gaps=ignore&tidy=true&overview=false&geometries=geojson")
	f.Add("/nearest/v1/walking/9,45", "number=3&generate_hints=false&skip_waypoints=true&snapping=any")
	limits := osrmLimits{coordinates: 5, elements: 9, trace: 7}
	f.Fuzz(func(t *testing.T, path, query string) {
		q, err := parseOSRM(path, query, limits)
		if err != nil {
			if wrong, ok := errors.AsType[*osrmError](err); !ok || wrong.code == "" || wrong.message == "" {
				t.Errorf("%#v", err)
			}
			return
		}
		if n := len(q.points); n < 1 || n > 10 || len(q.sources)*len(q.destinations) > 9 || q.number > 5 || q.alternatives > 3 {
			t.Errorf("%+v", q)
		}
		for _, p := range q.points {
			if !(math.Abs(p.Location[0]) <= 180 && math.Abs(p.Location[1]) <= 90 && p.Radius >= 0 && p.Radius <= routing.MaxRadius) {
				t.Errorf("%+v", p)
			}
		}
		for _, i := range slices.Concat(q.sources, q.destinations, q.ends) {
			if i < 0 || i >= len(q.points) {
				t.Errorf("%+v", q)
			}
		}
	})
}

// delaware is the engine of Delaware, and n random places near its roads.
func delaware(t testing.TB, n int) (*sketched, []orb.Point) {
	t.Helper()
	f := roadgraphtest.DelawareFile(t)
	g := roadgraphtest.Open(t, f, region.Car)
	engine := routing.NewEngine(f, g)
	edges := slices.Collect(g.Edges())
	r := rand.New(rand.NewPCG(1, 2))
	places := make([]orb.Point, n)
	for i := range places {
		places[i] = g.At(edges[r.IntN(len(edges))], 10*r.Float64())
		places[i][0] += r.Float64() / 1e4
	}
	return &sketched{Engine: engine}, places
}

// In Delaware, waypoints are coordinates of the lines, legs and segments add up, and routes are those of the table.
func TestOSRMDelaware(t *testing.T) {
	s, places := delaware(t, 60)
	list := func(points ...orb.Point) string {
		var parts []string
		for _, p := range points {
			parts = append(parts, fmt.Sprintf("%f,%f", p[0], p[1]))
		}
		return strings.Join(parts, ";")
	}
	near := func(a, b, within float64) bool { return math.Abs(a-b) <= within }
	table := s.ask(t, "/table/v1/car/"+list(places...)+"?annotations=duration,distance&skip_waypoints=true&scale_factor=2")
	more := 0
	for i := 0; i+3 < len(places); i += 2 {
		for _, overview := range []string{"full", "simplified"} {
			three := s.ask(t, "/route/v1/car/"+list(places[i:i+3]...)+
				"?geometries=geojson&annotations=true&continue_straight=false&overview="+overview)
			if three.Code != "Ok" || len(three.Routes) != 1 || len(three.Routes[0].Legs) != 2 || len(three.Waypoints) != 3 {
				t.Fatalf("%d: %+v", i, three)
			}
			r := &three.Routes[0]
			line := r.Geometry.Coordinates
			for k, w := range three.Waypoints {
				at := slices.Index(line, w.Location)
				if at < 0 || k == 0 && at != 0 || k == 2 && w.Location != line[len(line)-1] || w.Hint == "" {
					t.Errorf("%d: waypoint %v is coordinate %d of %d", i, w, at, len(line))
				}
			}
			distance, duration, points := 0.0, 0.0, 1
			for k, leg := range r.Legs {
				a := leg.Annotation
				metres, seconds := 0.0, 0.0
				for n := range a.Distance {
					metres, seconds = metres+a.Distance[n], seconds+a.Duration[n]
				}
				if n := len(a.Distance); n == 0 || len(a.Duration) != n || len(a.Speed) != n || len(a.Weight) != n ||
					len(a.Datasources) != n || !near(metres, leg.Distance, 0.3+leg.Distance/1000) ||
					seconds > leg.Duration+1 || seconds < 0.98*leg.Duration-10 { // some turns are on no segment
					t.Errorf("%d: the segments of leg %d have %v m and %v s: %+v", i, k, metres, seconds, leg)
				}
				distance, duration, points = distance+leg.Distance, duration+leg.Duration, points+len(a.Distance)
				cell := func(of [][]*float64) float64 { return *of[i+k][i+k+1] }
				if !near(leg.Distance, cell(table.Distances), 0.3+leg.Distance/1000) || !near(2*leg.Duration, cell(table.Durations), 1.5) {
					t.Errorf("%d: leg %d has %v m and %v s, in the table %v and %v", i, k, leg.Distance, leg.Duration,
						cell(table.Distances), cell(table.Durations))
				}
			}
			if !near(distance, r.Distance, 0.3) || !near(duration, r.Duration, 0.3) || r.Weight != r.Duration || r.WeightName != "duration" {
				t.Errorf("%d: the legs have %v m and %v s: %+v", i, distance, duration, r)
			}
			if overview == "full" && points != len(line) || overview == "simplified" && points < len(line) {
				t.Errorf("%d: %s: %d coordinates of %d", i, overview, len(line), points)
			}
		}
		two := s.ask(t, "/route/v1/car/"+list(places[i:i+2]...)+"?geometries=geojson&alternatives=3&steps=true&overview=full")
		if more += len(two.Routes) - 1; len(two.Routes) > 4 {
			t.Errorf("%d: %d routes", i, len(two.Routes))
		}
		for _, r := range two.Routes {
			if line := r.Legs[0].check(t); !slices.Equal(line, slices.Compact(r.Geometry.Coordinates)) || r.Legs[0].Summary == "" {
				t.Errorf("%d: the steps have %d coordinates of %d, the summary is %q", i, len(line), len(r.Geometry.Coordinates),
					r.Legs[0].Summary)
			}
		}
		// A coordinate that is no waypoint ends no leg.
		joined := s.ask(t, "/route/v1/car/"+list(places[i:i+3]...)+"?geometries=geojson&steps=true&overview=full&waypoints=0;2")
		if r := &joined.Routes[0]; len(joined.Waypoints) != 2 || len(r.Legs) != 1 ||
			!slices.Equal(r.Legs[0].check(t), slices.Compact(r.Geometry.Coordinates)) {
			t.Errorf("%d: %d waypoints, %d legs", i, len(joined.Waypoints), len(r.Legs))
		}
	}
	if more < 10 {
		t.Errorf("%d alternatives", more)
	}
}

// One request for a long route with everything that OSRM's clients ask for, without the network.
func BenchmarkOSRM(b *testing.B) {
	s, places := delaware(b, 400)
	var paths []string
	kilometres := 0.0
	for i := 0; i+1 < len(places); i += 2 {
		from, to := places[i], places[i+1]
		path := fmt.Sprintf("/route/v1/car/%f,%f;%f,%f", from[0], from[1], to[0], to[1])
		if s.ask(b, path+"?overview=false").Code == "Ok" {
			paths = append(paths, path)
			kilometres += distance(from, to) / 1000
		}
	}
	for _, query := range []string{"overview=false", "overview=full", "overview=simplified&steps=true",
		"overview=full&steps=true&annotations=true&geometries=geojson"} {
		b.Run(query, func(b *testing.B) {
			bytes := 0
			var dst []byte
			for i := 0; b.Loop(); i++ {
				u := &url.URL{Path: paths[i%len(paths)], RawQuery: query}
				var err error
				if dst, err = answerOSRM(context.Background(), dst[:0], u, testLimits, s); err != nil {
					b.Fatal(err)
				}
				bytes += len(dst)
			}
			b.ReportMetric(float64(bytes)/float64(b.N), "bytes/op")
			b.ReportMetric(kilometres/float64(len(paths)), "km/op")
		})
	}
}
