package routing_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	_ "github.com/mapsedge/caddy-maps/modules/access"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/routing"
)

// Places of the village: on Main Street, on Oak Street, on Far Road and nowhere.
const (
	mainStreet = "-75.525,39.16"
	oakStreet  = "-75.52,39.165"
	farRoad    = "-75.46,39.16"
	nowhere    = "-75.58,39.16"
)

func start(t *testing.T, site string) *modulestest.Server {
	t.Helper()
	region := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	return modulestest.Start(t, modulestest.Config{Maps: "region village " + region, Site: site})
}

// Bad requests get OSRM's codes, and a message that names what is wrong.
func TestOSRMErrors(t *testing.T) {
	s := start(t, "maps_route village {\npublic\nmax_coordinates 4\nmax_elements 9\nprofile car foot\n}")
	const two = mainStreet + ";" + oakStreet
	five := strings.Repeat(mainStreet+";", 4) + oakStreet
	car := "/v1/car/" + two + "?"
	for _, tc := range []struct{ path, code, says string }{
		{"/route/v1/driving", "InvalidUrl", "/{service}/v1/{profile}/{coordinates}"},
		{"/route/v1/driving/", "InvalidUrl", "/{service}/v1/{profile}/{coordinates}"},
		{"/nonsense/v1/driving/" + two, "InvalidService", "nonsense"},
		{"/tile/v1/car/tile(1310,3166,13).mvt", "InvalidService", "tile"},
		{"/route/v2/driving/" + two, "InvalidVersion", "v2"},
		{"/route/v1/plane/" + two, "InvalidValue", "profile"},
		{"/route/v1/bike/" + two, "InvalidValue", "profile: there are no routes for bicycle"},
		{"/route/v1/car/" + two + ".flatbuffers", "NotImplemented", "flatbuffers"},

		{"/route/v1/car/x", "InvalidQuery", "coordinate 0"},
		{"/route/v1/car/1", "InvalidQuery", "coordinate 0"},
		{"/route/v1/car/x,y", "InvalidQuery", "coordinate 0"},
		{"/route/v1/car/1,1,1", "InvalidQuery", "coordinate 0"},
		{"/route/v1/car/1,1;", "InvalidQuery", "coordinate 1"},
		{"/route/v1/car/1,1;2", "InvalidQuery", "coordinate 1"},
		{"/route/v1/car/1,1;2,2/3", "InvalidQuery", "coordinate 1"},
		{"/route/v1/car/polyline()", "InvalidOptions", "at least two"},
		{"/route/v1/car/polyline(_p~iF", "InvalidQuery", "polyline"},
		{"/route/v1/car/polyline(_)", "InvalidQuery", "polyline"},
		{"/route/v1/car/polyline5(_p~iF~ps|U_ulLnnqC)", "InvalidQuery", "polyline"},
		{"/route/v1/car/1,1", "InvalidOptions", "at least two"},
		{"/route/v1/car/200,5.19;44,5", "InvalidValue", "coordinate 0"},
		{"/trip/v1/car/44,5;44,-90.1", "InvalidValue", "coordinate 1"},
		{"/match/v1/car/44,5;1e999,0", "InvalidQuery", "coordinate 1"},
		{"/table/v1/car/200,5;44,5", "InvalidOptions", "coordinate 0"},
		{"/nearest/v1/car/200,5", "InvalidOptions", "coordinate 0"},
		{"/nearest/v1/car/" + two, "InvalidOptions", "only one"},
		{"/route/v1/car/" + five, "TooBig", "4"},
		{"/trip/v1/car/" + five, "TooBig", "4"},
		{"/table/v1/car/" + five, "TooBig", "5 × 5"},
		{"/trip/v1/car/" + two + ";" + two, "TooBig", "4 × 4"},

		{"/route" + car + "geometry=geojson", "InvalidQuery", "geometry"},
		{"/route" + car + "sources=0", "InvalidQuery", "sources"},
		{"/table" + car + "steps=true", "InvalidQuery", "steps"},
		{"/trip" + car + "alternatives=true", "InvalidQuery", "alternatives"},
		{"/match" + car + "continue_straight=true", "InvalidQuery", "continue_straight"},
		{"/route" + car + "steps=true&steps=true", "InvalidQuery", "steps: appears more than once"},
		{"/route" + car + "steps=%2", "InvalidQuery", "steps: a percent-encoding"},
		{"/route" + car + "steps=yes", "InvalidQuery", "steps: must be true or false"},
		{"/route" + car + "geometries=wkt", "InvalidQuery", "geometries: must be polyline, polyline6 or geojson"},
		{"/route" + car + "overview=", "InvalidQuery", "overview: must be simplified, full or false"},
		{"/route" + car + "alternatives=some", "InvalidQuery", "alternatives: must be"},
		{"/route" + car + "alternatives=-1", "InvalidQuery", "alternatives: must be"},
		{"/route" + car + "alternatives=4", "TooBig", "alternatives: 4"},
		{"/route" + car + "continue_straight=1", "InvalidQuery", "continue_straight: must be"},
		{"/route" + car + "annotations=duration,power", "InvalidQuery", "annotations: must be"},
		{"/route" + car + "annotations=nodes", "InvalidValue", "annotations: nodes"},
		{"/table" + car + "annotations=speed", "InvalidQuery", "annotations: must be of distance or duration"},
		{"/table" + car + "annotations=true", "InvalidQuery", "annotations: must be"},
		{"/route" + car + "bearings=90,10", "InvalidOptions", "bearings: the number of elements, 1, does not match the 2"},
		{"/route" + car + "bearings=90;", "InvalidQuery", "bearings: must be"},
		{"/route" + car + "bearings=;north,10", "InvalidQuery", "bearings: must be"},
		{"/route" + car + "bearings=361,10;", "InvalidOptions", "bearings: 361,10"},
		{"/route" + car + "bearings=;-1,10", "InvalidOptions", "bearings: -1,10"},
		{"/route" + car + "bearings=;90,181", "InvalidOptions", "bearings: 90,181"},
		{"/route" + car + "radiuses=1;2;3", "InvalidOptions", "radiuses: the number of elements, 3"},
		{"/route" + car + "radiuses=1;all", "InvalidQuery", "radiuses: must be metres or unlimited"},
		{"/route" + car + "radiuses=1;-2", "InvalidOptions", "radiuses: -2"},
		{"/route" + car + "approaches=curb", "InvalidOptions", "approaches: the number"},
		{"/route" + car + "approaches=left;", "InvalidQuery", "approaches: must be"},
		{"/route" + car + "hints=abcd", "InvalidOptions", "hints: the number"},
		{"/route" + car + "hints=abcd;%3F", "InvalidQuery", "hints: must be"},
		{"/route" + car + "generate_hints=0", "InvalidQuery", "generate_hints: must be"},
		{"/route" + car + "skip_waypoints=0", "InvalidQuery", "skip_waypoints: must be"},
		{"/route" + car + "snapping=all", "InvalidQuery", "snapping: must be default or any"},
		{"/route" + car + "exclude=toll,foo", "InvalidValue", `exclude: "foo"`},
		{"/route" + car + "waypoints=0;x", "InvalidQuery", "waypoints: must be"},
		{"/route" + car + "waypoints=0;2", "InvalidOptions", "waypoints: there is no coordinate 2"},
		{"/route" + car + "waypoints=1", "InvalidValue", "waypoints: must begin"},
		{"/route" + car + "waypoints=0", "InvalidValue", "waypoints: must begin"},
		{"/table" + car + "sources=0;2", "InvalidOptions", "sources: there is no coordinate 2"},
		{"/table" + car + "sources=", "InvalidQuery", "sources: must be"},
		{"/table" + car + "destinations=-1", "InvalidQuery", "destinations: must be"},
		{"/table" + car + "fallback_speed=0", "InvalidOptions", "fallback_speed: must be more than 0"},
		{"/table" + car + "fallback_speed=fast", "InvalidQuery", "fallback_speed: must be a number"},
		{"/table" + car + "fallback_coordinate=road", "InvalidQuery", "fallback_coordinate: must be"},
		{"/table" + car + "scale_factor=-1", "InvalidOptions", "scale_factor: must be more than 0"},
		{"/trip" + car + "roundtrip=no", "InvalidQuery", "roundtrip: must be"},
		{"/trip" + car + "source=last", "InvalidQuery", "source: must be any or first"},
		{"/trip" + car + "destination=first", "InvalidQuery", "destination: must be any or last"},
		{"/trip" + car + "roundtrip=false", "NotImplemented", "source=first or destination=last"},
		{"/match" + car + "timestamps=1", "InvalidOptions", "timestamps: the number"},
		{"/match" + car + "timestamps=1;now", "InvalidQuery", "timestamps: must be"},
		{"/match" + car + "timestamps=2;1", "InvalidValue", "timestamps: must be increasing"},
		{"/match" + car + "gaps=join", "InvalidQuery", "gaps: must be"},
		{"/match" + car + "tidy=1", "InvalidQuery", "tidy: must be"},
		{"/match" + car + "steps=true", "NotImplemented", "does not support"},
		{"/nearest/v1/car/" + mainStreet + "?number=0", "InvalidOptions", "number: must be at least 1"},
		{"/nearest/v1/car/" + mainStreet + "?number=all", "InvalidQuery", "number: must be"},
		{"/nearest/v1/car/" + mainStreet + "?number=5", "TooBig", "number: 5"},

		{"/route/v1/car/" + mainStreet + ";" + nowhere, "NoSegment", "coordinate 1"},
		{"/table/v1/car/" + nowhere + ";" + mainStreet + "?sources=1&destinations=1;0", "NoSegment", "coordinate 0"},
		{"/nearest/v1/car/" + nowhere, "NoSegment", "coordinate 0"},
		{"/match/v1/car/" + nowhere + ";-75.59,39.16", "NoMatch", "no matching route"},
	} {
		a := s.Do(http.MethodGet, tc.path, "", "")
		var body struct{ Code, Message string }
		dec := json.NewDecoder(strings.NewReader(a.Body))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&body); err != nil || a.Status != http.StatusBadRequest || body.Code != tc.code ||
			!strings.Contains(body.Message, tc.says) || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s, want %s %q", tc.path, a.Status, a.Body, tc.code, tc.says)
		}
	}
	if a := s.Do(http.MethodPost, "/route"+car, "", ""); a.Status != 405 || a.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", a.Status, a.Header)
	}
}

// All forms of a request get the same answer.
func TestOSRMForms(t *testing.T) {
	s := start(t, "maps_route village {\nprefix /osrm\npublic\n}")
	const two = mainStreet + ";" + oakStreet
	get := func(path string) modulestest.Response { return s.Do(http.MethodGet, "/osrm"+path, "", "") }
	want := get("/route/v1/driving/" + two)
	if want.Status != 200 || !strings.Contains(want.Body, `"code":"Ok"`) || want.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s", want.Status, want.Body)
	}
	places := orb.LineString{{-75.525, 39.16}, {-75.52, 39.165}}
	line, line6 := geo.AppendPolyline(nil, places, geo.Polyline5), geo.AppendPolyline(nil, places, geo.Polyline6)
	for _, path := range []string{
		two + ".json", url.PathEscape(two), "polyline(" + url.PathEscape(string(line)) + ")",
		"polyline6(" + url.PathEscape(string(line6)) + ").json",
		two + "?", two + "?steps=false&geometries=polyline&overview=simplified&alternatives=false&annotations=false" +
			"&continue_straight=default&skip_waypoints=false&snapping=default&generate_hints=true&bearings=;&radiuses=;" +
			"&approaches=;&hints=;&exclude=none", two + "?hints=&radiuses=unlimited%3Bunlimited&bearings=",
	} {
		if a := get("/route/v1/car/" + path); a.Body != want.Body {
			t.Errorf("%s: %d %s, want %s", path, a.Status, a.Body, want.Body)
		}
	}
	// Its own hints are accepted.
	var hints struct{ Waypoints []struct{ Hint string } }
	if err := json.Unmarshal([]byte(want.Body), &hints); err != nil {
		t.Fatal(err)
	}
	if a := get("/route/v1/car/" + two + "?hints=" + hints.Waypoints[0].Hint + ";" + hints.Waypoints[1].Hint); a.Body != want.Body {
		t.Errorf("with hints: %s", a.Body)
	}
	for path, want := range map[string]int{
		"/%72oute/v1/car/" + two: 404, "/route//v1/car/" + two: 400, "/api/v1/car/" + two: 404, "/routes": 404,
	} {
		if a := get(path); a.Status != want {
			t.Errorf("%s: %d %s, want %d", path, a.Status, a.Body, want)
		}
	}
}

// Each service needs its scope, and counts for the elements of a matrix or the points of a trace.
func TestOSRMScopes(t *testing.T) {
	s := start(t, `handle /api/v1/external/* {
			maps_tokens
		}
		handle /api/v1/service-accounts* {
			maps_accounts
		}
		handle {
			maps_auth * {
				error_style routing
			}
			maps_route village
		}`)
	const two = "/v1/car/" + mainStreet + ";" + oakStreet
	for service, want := range map[string]struct {
		scope string
		units int64
	}{
		"/route" + two: {"DIRECTION", 1}, "/table" + two: {"MATRIX", 4}, "/trip" + two: {"TSS", 4}, "/match" + two: {"DIRECTION", 2},
		"/table" + two + "?sources=1": {"MATRIX", 2}, "/nearest/v1/car/" + mainStreet: {"DIRECTION", 1},
	} {
		for _, has := range []string{"DIRECTION", "MATRIX", "TSS"} {
			acc, token := s.Token("osrm", has)
			status, units := 403, int64(1) // maps_auth let it through
			if has == want.scope {
				status, units = 200, want.units
			}
			if a := s.Do(http.MethodGet, service, token, ""); a.Status != status {
				t.Errorf("%s with %s: %d %s, want %d", service, has, a.Status, a.Body, status)
			}
			if got := s.Usage(s.UserToken("osrm"), acc.ID)["*"].Units; got != units {
				t.Errorf("%s with %s: %d units, want %d", service, has, got, units)
			}
		}
	}
}

// VROOM's requests for matrices and lines, on connections that it closes, and what it reads of the answers: the text
// from the first brace to the last one.
func TestVROOM(t *testing.T) {
	s := start(t, "maps_route village {\npublic\n}")
	ask := func(target string, body any) {
		t.Helper()
		a := s.Raw("GET " + target + " HTTP/1.1\r\nHost: " + strings.TrimPrefix(s.URL, "http://") +
			"\r\nAccept: */*\r\nConnection: close\r\n\r\n")
		for name, values := range a.Header {
			if strings.ContainsAny(name+strings.Join(values, ""), "{}") || name == "Transfer-Encoding" {
				t.Errorf("VROOM does not understand the header %s: %v", name, values)
			}
		}
		if err := json.Unmarshal([]byte(a.Body), body); err != nil {
			t.Fatalf("%v: %s", err, a.Body)
		}
	}
	places := "-75.525000,39.160000;-75.520000,39.165000;-75.460000,39.160000"
	const radiuses = "&radiuses=35000;35000;35000"
	var table struct {
		Code                 string
		Durations, Distances [][]*float64
	}
	ask("/table/v1/car/"+places+"?annotations=duration,distance"+radiuses, &table)
	for i := range 3 {
		for k := range 3 {
			joined := i == k || i < 2 && k < 2 // Far Road is joined to nothing
			if table.Code != "Ok" || (table.Durations[i][k] != nil) != joined || (table.Distances[i][k] != nil) != joined {
				t.Fatalf("from %d to %d: %+v", i, k, table)
			}
		}
	}
	ask("/table/v1/car/"+places+"?generate_hints=false", &table)
	var route struct {
		Code   string
		Routes []struct {
			Geometry string
			Legs     []struct{ Duration, Distance *float64 }
		}
	}
	ask("/route/v1/car/"+places[:41]+"?alternatives=false&steps=false&overview=full&continue_straight=false&radiuses=35000;35000",
		&route)
	if route.Code != "Ok" || len(route.Routes) != 1 || len(route.Routes[0].Legs) != 1 ||
		fmt.Sprint(*route.Routes[0].Legs[0].Duration, *route.Routes[0].Legs[0].Distance) !=
			fmt.Sprint(*table.Durations[0][1], *table.Distances[0][1]) {
		t.Errorf("%+v, in the table %v s and %v m", route, *table.Durations[0][1], *table.Distances[0][1])
	}
	if line, err := geo.DecodePolyline([]byte(route.Routes[0].Geometry), geo.Polyline5); err != nil || len(line) < 3 {
		t.Errorf("the line is %v: %v", line, err)
	}
	var failure struct{ Code, Message string }
	ask("/table/v1/car/"+places+";-75.580000,39.160000?annotations=duration,distance"+radiuses+";35000", &failure)
	number, ok := strings.CutPrefix(failure.Message, "Could not find a matching segment for coordinate ")
	if i, err := strconv.Atoi(number); !ok || err != nil || i != 3 || failure.Code != "NoSegment" {
		t.Errorf("%+v", failure)
	}
}
