package routing_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/service"
)

// Places of the village, latitude first.
const (
	main39 = "39.16,-75.525"
	oak39  = "39.165,-75.52"
	far39  = "39.16,-75.46"
	sea39  = "39.16,-75.58"
	ends   = "origin=" + main39 + "&destination=" + oak39
)

// Bad requests get errors in the style of their path that name the parameter.
func TestErrors(t *testing.T) {
	s := start(t, "maps_route village {\npublic\nmax_coordinates 4\nmax_elements 9\nprofile car foot\n}")
	const (
		platform  = "/api/v1/route?"
		direction = "/api/route/direction/?"
		matrix    = "/api/route/matrix/?"
		onm       = "/api/route/onm/?"
		tss       = "/api/route/tss/?"
		isochrone = "/api/v1/isochrone?"
	)
	list := func(n int) string {
		return "json=[" + strings.TrimSuffix(strings.Repeat("{39.16,-75.525},", n), ",") + "]"
	}
	for _, tc := range []struct {
		path   string
		status int
		code   string // of the path's style
		says   string
	}{
		{platform, 400, "FAILED_VALIDATION", "origin: is missing"},
		{platform + "origin=" + main39, 400, "FAILED_VALIDATION", "destination: is missing"},
		{platform + "origin=1&destination=2", 400, "FAILED_VALIDATION", "origin: "},
		{platform + "origin=91,0&destination=1,1", 400, "FAILED_VALIDATION", "origin: latitude"},
		{platform + "origin=1,181&destination=1,1", 400, "FAILED_VALIDATION", "origin: longitude"},
		{platform + "origin=NaN,1&destination=1,1", 400, "FAILED_VALIDATION", "origin: "},
		{platform + "origin=1,1;2,2&destination=1,1", 400, "FAILED_VALIDATION", "origin: "},
		{platform + "origin=[]&destination=1,1", 400, "FAILED_VALIDATION", "origin: "},
		{platform + ends + "&origin=1,1", 400, "FAILED_VALIDATION", "origin: appears more than once"},
		{platform + "origin=%zz&destination=1,1", 400, "FAILED_VALIDATION", "origin: "},
		{platform + ends + "&waypoints=x", 400, "FAILED_VALIDATION", "waypoints: "},
		{platform + ends + "&waypoints=[{39,-75}", 400, "FAILED_VALIDATION", "waypoints: "},
		{platform + ends + "&waypoints=[{39,-75},]", 400, "FAILED_VALIDATION", "waypoints: "},
		{platform + ends + "&waypoints=[{39,-75}{39,-75}]", 400, "FAILED_VALIDATION", "waypoints: "},
		{platform + ends + "&waypoints=[{39,-75},{39,-75},{39,-75}]", 422, "", "waypoints: more than 2"},
		{platform + ends + "&alternatives=4", 400, "FAILED_VALIDATION", "alternatives: "},
		{platform + ends + "&alternatives=1.5", 400, "FAILED_VALIDATION", "alternatives: "},
		{platform + ends + "&steps=maybe", 400, "FAILED_VALIDATION", "steps: "},
		{platform + ends + "&profile=bicycle", 400, "FAILED_VALIDATION", "profile: must be car or foot"},
		{platform + ends + "&avoid=tolls", 400, "FAILED_VALIDATION", "avoid: "},
		{platform + ends + "&heading=361", 400, "FAILED_VALIDATION", "heading: "},
		{platform + ends + "&curbside=left", 400, "FAILED_VALIDATION", "curbside: "},
		{platform + ends + "&format=kml", 400, "FAILED_VALIDATION", "format: "},
		{platform + ends + "&radius=0", 400, "FAILED_VALIDATION", "radius: "},
		{platform + ends + "&radius=x", 400, "FAILED_VALIDATION", "radius: "},
		{platform + ends + "&avoid_polygons=x", 400, "FAILED_VALIDATION", "avoid_polygons: "},
		{platform + "origin=" + main39 + "&destination=" + sea39, 404, "", ""},
		{platform + "origin=" + main39 + "&destination=" + far39, 404, "", ""},
		{direction, 422, "InvalidInput", "origin: is missing"},
		{direction + ends + "&instruction=x", 422, "InvalidInput", "instruction: "},
		{direction + ends + "&format=kml", 422, "InvalidInput", "format: "},
		{direction + "origin=" + main39 + "&destination=" + sea39, 404, "NoSegment", ""},
		{direction + "origin=" + main39 + "&destination=" + far39, 404, "NoRoute", ""},
		{matrix, 422, "InvalidInput", "origins: is missing"},
		{matrix + "origins=[{39,-75}]", 422, "InvalidInput", "destinations: is missing"},
		{matrix + "json=[]", 422, "InvalidInput", "json: "},
		{matrix + list(4), 422, "", "16 elements, more than 9"},
		{matrix + list(20), 422, "", "json: more than"},
		{onm, 422, "InvalidInput", "origin: is missing"},
		{onm + "origin=" + main39, 422, "InvalidInput", "json: is missing"},
		{onm + "origin=" + main39 + "&json=[1,2;3]", 422, "InvalidInput", "json: coordinate 1"},
		{onm + "origin=" + main39 + "&" + list(5), 422, "", "json: 5 coordinates, more than 4"},
		{tss + list(1), 422, "InvalidInput", "json: at least 2"},
		{tss + list(5), 422, "", "json: 5 coordinates, more than 4"},
		{tss + list(2) + "&destination=first", 422, "InvalidInput", "destination: "},
		{tss + list(2) + "&roundtrip=x", 422, "InvalidInput", "roundtrip: "},
		{isochrone + "origin=" + main39, 400, "FAILED_VALIDATION", "minutes: "},
		{isochrone + "origin=" + main39 + "&minutes=5&metres=5", 400, "FAILED_VALIDATION", "minutes: "},
		{isochrone + "origin=" + main39 + "&minutes=0", 400, "FAILED_VALIDATION", "minutes: "},
		{isochrone + "origin=" + main39 + "&metres=1e9", 400, "FAILED_VALIDATION", "metres: "},
		{isochrone + "origin=" + main39 + "&minutes=1,2,3,4,5,6,7,8,9", 400, "FAILED_VALIDATION", "minutes: "},
		{isochrone + "minutes=5", 400, "FAILED_VALIDATION", "origin: is missing"},
		{"/api/route/nonsense/", 404, "NotFound", ""},
		{"/api/v1/route/", 404, "", ""},
	} {
		a := s.Do(http.MethodGet, tc.path, "", "")
		if a.Status != tc.status || !strings.Contains(a.Body, tc.code) || !strings.Contains(a.Body, tc.says) {
			t.Errorf("%s: %d %s, want %d %s %s", tc.path, a.Status, a.Body, tc.status, tc.code, tc.says)
		}
		var top struct{ Message string }
		if err := json.Unmarshal([]byte(a.Body), &top); err != nil {
			t.Errorf("%s: %v", tc.path, err)
		} else if strings.HasPrefix(tc.path, direction) && top.Message == "" {
			t.Errorf("%s: no message at the top level: %s", tc.path, a.Body)
		}
	}
	for path, allow := range map[string]string{platform: "GET, HEAD, POST", isochrone: "GET, HEAD"} {
		if a := s.Do(http.MethodDelete, path, "", ""); a.Status != 405 || a.Header.Get("Allow") != allow {
			t.Errorf("DELETE %s: %d %v", path, a.Status, a.Header)
		}
	}
	const places = `{"origin":"39.16,-75.525","destination":[39.165,-75.52],"avoid_polygons":`
	for body, says := range map[string]string{
		`{`:              "",
		`[]`:             "",
		`{"origin":[1]}`: "origin: ",
		places + `{"type":"Point","coordinates":[1,2]}}`:                          "avoid_polygons: ",
		places + `{"type":"Polygon","coordinates":[]}}`:                           "avoid_polygons: ",
		places + `{"type":"Polygon","coordinates":[[[1,2],[2,3]]]}}`:              "avoid_polygons: ",
		places + `{"type":"Polygon","coordinates":[[[1,2],[2,99],[3,3],[1,2]]]}}`: "avoid_polygons: ",
	} {
		if a := s.Do(http.MethodPost, "/api/v1/route", "", body, "Content-Type", "application/json"); a.Status != 400 ||
			!strings.Contains(a.Body, says) {
			t.Errorf("%s: %d %s", body, a.Status, a.Body)
		}
	}
}

// All forms of coordinates ask for the same route.
func TestForms(t *testing.T) {
	s := start(t, "maps_route village {\npublic\n}")
	want := s.Do(http.MethodGet, "/api/v1/route?"+ends+"&waypoints=39.16,-75.515", "", "")
	if want.Status != 200 {
		t.Fatalf("%d %s", want.Status, want.Body)
	}
	get := func(origin, via, destination string) string {
		return "/api/v1/route?" + url.Values{"origin": {origin}, "waypoints": {via}, "destination": {destination}}.Encode()
	}
	for _, path := range []string{
		get("{39.16,-75.525}", "[{39.16,-75.515}]", "{39.165,-75.52}"),
		get(`{"lat":39.16,"lng":-75.525}`, `[{"lat":39.16,"lng":-75.515}]`, `{"lng":-75.52,"lat":39.165}`),
		get("[39.16,-75.525]", "[[39.16,-75.515]]", " 39.165 , -75.52 "),
		get(`{lat:39.16,lon:-75.525}`, `[39.16,-75.515]`, `+39.165,-75.52`),
		"/api/v1/route?origin={39.16,-75.525}&destination={39.165,-75.52}&waypoints=[{39.16,-75.515}]&apiKey=x",
	} {
		if a := s.Do(http.MethodGet, path, "", ""); a.Body != want.Body {
			t.Errorf("%s: %d %s\nwant %s", path, a.Status, a.Body, want.Body)
		}
	}
	body := `{"origin":{"lat":39.16,"lng":-75.525},"destination":[39.165,-75.52],` +
		`"waypoints":[{"lat":39.16,"lon":-75.515}]}`
	if a := s.Do(http.MethodPost, "/api/v1/route", "", body, "Content-Type", "application/json"); a.Body != want.Body {
		t.Errorf("POST: %d %s", a.Status, a.Body)
	}
}

// get asks for JSON.
func get(t *testing.T, s *modulestest.Server, path string, into any) {
	t.Helper()
	a := s.Do(http.MethodGet, path, "", "")
	if err := json.Unmarshal([]byte(a.Body), into); a.Status != 200 || err != nil {
		t.Fatalf("%s: %d %v %s", path, a.Status, err, a.Body)
	}
}

// The bodies have what clients of the origin service and of Valhalla read, in their units and orders.
func TestBodies(t *testing.T) {
	s := start(t, "maps_route village {\npublic\n}")
	var direction struct {
		Msg                      string
		Timetaken, TotalDistance float64
		Direction                [][2]float64
		Instruction              []struct {
			Turn, Path        string
			Turning_latitude  float64
			Turning_longitude float64
		}
	}
	get(t, s, "/api/route/direction/?"+ends+"&instruction=1", &direction)
	// 0.005° east and 0.005° north at 39.16°.
	if d := direction; d.Msg != "Ok" || d.TotalDistance < 960 || d.TotalDistance > 1010 || d.Timetaken < 50 ||
		fmt.Sprint(d.Direction) != "[[39.16 -75.525] [39.16 -75.52] [39.165 -75.52]]" || len(d.Instruction) != 3 ||
		d.Instruction[1].Turn != "turn left" || !strings.Contains(d.Instruction[1].Path, "Oak Street") ||
		d.Instruction[1].Turning_latitude != 39.16 || d.Instruction[1].Turning_longitude != -75.52 {
		t.Errorf("%+v", direction)
	}

	var route struct {
		Data struct {
			Routes []struct {
				Distance, Duration float64
				Coordinates        [][2]float64
				Legs               []struct {
					Steps []struct{ Instruction string }
				}
			}
			Waypoints []struct{ Location [2]float64 }
		}
	}
	get(t, s, "/api/v1/route?"+ends, &route)
	if r := route.Data.Routes; len(r) != 1 || r[0].Distance != direction.TotalDistance ||
		r[0].Duration != direction.Timetaken || len(r[0].Legs) != 1 || len(r[0].Legs[0].Steps) != 3 ||
		len(route.Data.Waypoints) != 2 {
		t.Errorf("%+v", route)
	}

	var matrix struct {
		Durations, Distances  []struct{ Duration []*float64 }
		Origins, Destinations []struct{ Location struct{ Lat, Lng float64 } }
	}
	get(t, s, "/api/route/matrix/?json=[{"+main39+"},{"+oak39+"},{"+far39+"}]", &matrix)
	if m := matrix; len(m.Durations) != 3 || len(m.Origins) != 3 || len(m.Destinations) != 3 ||
		*m.Durations[0].Duration[1] != direction.Timetaken || *m.Distances[0].Duration[1] != direction.TotalDistance ||
		m.Durations[0].Duration[2] != nil || m.Distances[2].Duration[0] != nil || *m.Durations[2].Duration[2] != 0 ||
		m.Origins[0].Location.Lat != 39.16 {
		t.Errorf("%+v", matrix)
	}

	var onm struct {
		Directions []struct {
			Msg       string
			Timetaken *float64
			Direction [][2]float64
		}
	}
	get(t, s, "/api/route/onm/?origin={"+main39+"}&json=["+oak39+";"+far39+"]&includeCoordinate=1", &onm)
	if d := onm.Directions; len(d) != 2 || d[0].Msg != "Ok" || *d[0].Timetaken != direction.Timetaken ||
		len(d[0].Direction) != 3 || d[1].Msg != "NoRoute" || d[1].Timetaken != nil {
		t.Errorf("%+v", onm)
	}

	var tss struct{ Bestorder, Originalorder, Direction [][2]float64 }
	const stops = "json=[{39.16,-75.525},{39.165,-75.52},{39.16,-75.522}]"
	get(t, s, "/api/route/tss/?"+stops, &tss)
	if fmt.Sprint(tss.Bestorder) != "[[39.16 -75.525] [39.16 -75.522] [39.165 -75.52]]" || len(tss.Originalorder) != 3 ||
		tss.Direction != nil {
		t.Errorf("%+v", tss)
	}
	get(t, s, "/api/route/tss/?"+stops+"&destination=last&includeCoordinate=1", &tss)
	if fmt.Sprint(tss.Bestorder) != fmt.Sprint(tss.Originalorder) || len(tss.Direction) < 3 {
		t.Errorf("%+v", tss)
	}

	var areas struct {
		Type     string
		Features []struct {
			Properties struct{ Minutes float64 }
			Geometry   struct{ Type string }
		}
	}
	get(t, s, "/api/v1/isochrone?origin="+main39+"&minutes=1,2", &areas)
	if f := areas.Features; areas.Type != "FeatureCollection" || len(f) != 2 || f[0].Properties.Minutes != 2 ||
		f[1].Properties.Minutes != 1 || f[0].Geometry.Type != "MultiPolygon" {
		t.Errorf("%+v", areas)
	}

	var valhalla struct {
		Trip struct {
			Locations []any
			Units     string
			Status    int
			Legs      []struct {
				Shape     string
				Maneuvers []struct {
					Begin_shape_index, End_shape_index int
					Length                             float64
				}
				Summary struct{ Length, Time, Min_lat float64 }
			}
		}
	}
	get(t, s, "/api/route/direction/?"+ends+"&waypoints=[{39.16,-75.515}]&format=valhalla", &valhalla)
	trip := valhalla.Trip
	if len(trip.Locations) != 3 || len(trip.Legs) != 1 || trip.Units != "kilometers" ||
		trip.Legs[0].Summary.Min_lat != 39.16 {
		t.Fatalf("%+v", trip)
	}
	at, length := 0, 0.0
	for _, m := range trip.Legs[0].Maneuvers {
		if m.Begin_shape_index != at {
			t.Errorf("a maneuver begins at %d, and the one before it ends at %d", m.Begin_shape_index, at)
		}
		at, length = m.End_shape_index, length+m.Length
	}
	if d := length - trip.Legs[0].Summary.Length; d > 0.01 || d < -0.01 {
		t.Errorf("the maneuvers are %v km, the leg %v km", length, trip.Legs[0].Summary.Length)
	}

	a := s.Do(http.MethodGet, "/api/v1/route?"+ends+"&format=gpx", "", "")
	if a.Header.Get("Content-Type") != "application/gpx+xml" || strings.Count(a.Body, "<trkpt ") != 3 ||
		strings.Count(a.Body, "<rtept ") != 3 {
		t.Errorf("%v %s", a.Header, a.Body)
	}
}

// A matrix counts as its elements / 100 in rate limits.
func TestMatrixInRateLimit(t *testing.T) {
	s := start(t, `
	maps_limit 10 1h
	maps_route village {
		public
	}`)
	matrix := "/api/route/matrix/?json=[" + strings.TrimSuffix(strings.Repeat("{39.16,-75.525},", 20), ",") + "]"
	for i, want := range []int{200, 200, 429} { // 400 elements each
		if a := s.Do(http.MethodGet, matrix, "", ""); a.Status != want || want == 429 && a.Header.Get("Retry-After") == "" {
			t.Errorf("matrix %d: %d %v", i, a.Status, a.Header)
		}
	}
}
