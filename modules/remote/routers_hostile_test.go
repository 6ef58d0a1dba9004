package remote_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// routeAnswer is a response of OSRM's service `route` for 2,1 to 2,1.002. The road begins with two nodes at one place.
const routeAnswer = `{"code":"Ok","waypoints":[{"location":[1,2],"name":"A","distance":0},` +
	`{"location":[1.002,2],"name":"A","distance":0}],"routes":[{"legs":[{"distance":222,"duration":20,"summary":"A",` +
	`"annotation":{"distance":[0,111,111],"duration":[1,9,10]},"steps":[` +
	`{"geometry":{"coordinates":[[1,2],[1,2],[1.001,2],[1.002,2]]},"distance":222,"duration":20,"name":"A",` +
	`"mode":"driving","maneuver":{"type":"depart","bearing_after":90,"location":[1,2]},` +
	`"intersections":[{"location":[1,2],"bearings":[90],"entry":[true],"out":0}]},` +
	`{"geometry":{"coordinates":[[1.002,2],[1.002,2]]},"distance":0,"duration":0,"name":"A","mode":"driving",` +
	`"maneuver":{"type":"arrive","bearing_before":90,"location":[1.002,2]},` +
	`"intersections":[{"location":[1.002,2],"bearings":[270],"entry":[true],"in":0}]}]}]}]}`

const shortRoute = "/api/v1/route?origin=2,1&destination=2,1.002"

// routerSite is a public handler with a router.
func routerSite(at, name, upstreams, options string) string {
	return fmt.Sprintf("handle %s/* {\nmaps_route {\nprefix %s\nrouter %s %s {\n%s\n}\nprofile car\npublic\n}\n}\n",
		at, at, name, upstreams, options)
}

// The client gets the right error in time for every fault of a router's upstream, as for those of matchers.
func TestRouterTroubles(t *testing.T) {
	sites := ""
	upstreams := map[string]*modulestest.Upstream{}
	for _, name := range []string{"osrm", "valhalla"} {
		upstreams[name] = modulestest.NewUpstream(t)
		sites += routerSite("/"+name, name, upstreams[name].URL, "max_response 1MiB\ntimeout 1500ms")
		sites += routerSite("/none/"+name, name, modulestest.Unreachable(t), "")
	}
	s := modulestest.Start(t, modulestest.Config{Site: sites})
	for name, u := range upstreams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, e := s.With(t), engine{name: name}
			var flooded atomic.Int64
			for what, trouble := range troubles(routeAnswer, &flooded) {
				flooded.Store(0)
				u.Answer(trouble.answer)
				a := s.Do(http.MethodGet, "/"+name+shortRoute, "", "")
				t.Log(what)
				e.check(t, a, trouble.status)
				if n := flooded.Load(); n > floodSize/4 {
					t.Errorf("%s: %d bytes were taken", what, n)
				}
			}
			e.check(t, s.Do(http.MethodGet, "/none/"+name+shortRoute, "", ""), 503)
			u.Send(200, routeAnswer)
			if a := s.Do(http.MethodGet, "/"+name+shortRoute, "", ""); a.Status != 200 {
				t.Errorf("a good answer: %d %s", a.Status, a.Body)
			}
		})
	}
}

// An answer that is not for the request, or breaks the protocol, is 502.
func TestRouterHostile(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Site: routerSite("/osrm", "osrm", u.URL, "")})
	const annotated = "/osrm/route/v1/driving/1,2;1.002,2?annotations=true"
	send := func(target, body string) modulestest.Response {
		u.Send(200, body)
		return s.Do(http.MethodGet, target, "", "")
	}
	for name, change := range map[string][2]string{
		"a waypoint elsewhere":         {`[{"location":[1,2],"name"`, `[{"location":[2,1],"name"`},
		"a line elsewhere":             {`[[1,2],[1,2],[1.001,2]`, `[[51,2],[51,2],[1.001,2]`},
		"a line that ends elsewhere":   {`[[1.002,2],[1.002,2]]`, `[[1.002,2],[1.9,2]]`},
		"a negative segment":           {`"duration":[1,9,10]`, `"duration":[1,-9,10]`},
		"an endless segment":           {`"duration":[1,9,10]`, `"duration":[1,1e300,10]`},
		"too few segments":             {`"duration":[1,9,10]`, `"duration":[1,9]`},
		"too many segments":            {`"distance":[0,111,111]`, `"distance":[0,111,111,1]`},
		"too many roads":               {`"bearings":[90]`, `"bearings":[90` + strings.Repeat(",1", 100) + `]`},
		"too many lanes":               {`"out":0`, `"out":0,"lanes":[{}` + strings.Repeat(",{}", 100) + `]`},
		"too many classes":             {`"out":0`, `"out":0,"classes":[""` + strings.Repeat(`,""`, 100) + `]`},
		"too many legs":                {`"legs":[`, `"legs":[{},{},`},
		"a waypoint without a place":   {`{"location":[1.002,2],"name":"A","distance":0}`, `{}`},
		"a waypoint that is too far":   {`"name":"A","distance":0}]`, `"name":"A","distance":1e300}]`},
		"a step without a valid place": {`[1.001,2]`, `[1.001,200]`},
	} {
		body := strings.Replace(routeAnswer, change[0], change[1], 1)
		if body == routeAnswer {
			t.Fatalf("nothing to change for %q", name)
		}
		if a := send(annotated, body); a.Status != http.StatusBadGateway {
			t.Errorf("%s: %d %.300s", name, a.Status, a.Body)
		}
	}
	if a := send(annotated, routeAnswer); a.Status != 200 || !strings.Contains(a.Body, `"duration":[10,10]`) {
		t.Errorf("a good answer: %d %s", a.Status, a.Body) // the segment without a length counts to the next
	}
	// A response with many more steps than a route has takes no memory for them.
	leg := `{"legs":[{"steps":[{}` + strings.Repeat(",{}", 90_000) + `]}]}`
	body := strings.Replace(routeAnswer, `"routes":[`, `"routes":[`+strings.Repeat(leg+",", 6), 1)
	if a := send(annotated, body); a.Status != http.StatusBadGateway || !strings.Contains(s.Log(), "too many elements") {
		t.Errorf("many steps: %d %.300s", a.Status, a.Body)
	}
}

// Intersections that are nowhere on a long line take little time.
func TestRouterIntersections(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Site: routerSite("/osrm", "osrm", u.URL, "timeout 60s")})
	line := strings.Repeat("[1.001,2],[1.0011,2],", 100_000)
	body := strings.Replace(routeAnswer, `[1.001,2],`, line, 1)
	body = strings.Replace(body, `"intersections":[`, `"intersections":[`+
		strings.Repeat(`{"location":[5,5]},`, 90_000), 1)
	u.Send(200, body)
	began := time.Now()
	a := s.Do(http.MethodGet, "/osrm"+shortRoute, "", "")
	if took := time.Since(began); a.Status != 200 || took > 10*time.Second {
		t.Errorf("%d after %v: %.300s", a.Status, took, a.Body)
	}
}

// What upstreams say of a coordinate without a road names that coordinate, and only if they name it.
func TestRouterSegments(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{
		Site: routerSite("/osrm", "osrm", u.URL, "") + routerSite("/valhalla", "valhalla", u.URL, ""),
	})
	for _, tc := range []struct{ target, answer, want, not string }{
		{"/osrm" + shortRoute, `{"code":"NoSegment","message":"Could not find a matching segment for coordinate 1"}`,
			"of coordinate 1", ""},
		{"/osrm" + shortRoute, `{"code":"NoSegment","message":"Could not find a matching segment for coordinate 7"}`,
			"of a coordinate", "coordinate 7"},
		{"/osrm/table/v1/driving/1,2;1.002,2;1.001,2?sources=1;2&destinations=0",
			`{"code":"NoSegment","message":"Could not find a matching segment for coordinate 2"}`, "for coordinate 0", ""},
		{"/valhalla" + shortRoute + "&radius=70", `{"code":"NoSegment","message":""}`, "within 70 m of a coordinate", ""},
		{"/valhalla/route/v1/driving/1,2;1.002,2", `{"code":"NoSegment","message":""}`, "of a coordinate",
			"matching segment for coordinate"},
	} {
		u.Send(400, tc.answer)
		a := s.Do(http.MethodGet, tc.target, "", "")
		if !strings.Contains(a.Body, tc.want) || tc.not != "" && strings.Contains(a.Body, tc.not) {
			t.Errorf("%s: %d %s, want %q", tc.target, a.Status, a.Body, tc.want)
		}
	}
}

// Valhalla gets whole numbers, which it needs, and all of what it can do. The rest is refused.
func TestRouterValhalla(t *testing.T) {
	u := modulestest.NewUpstream(t)
	s := modulestest.Start(t, modulestest.Config{Site: routerSite("/valhalla", "valhalla", u.URL, "")})
	var sent atomic.Pointer[string]
	answer := func(status int, body string) {
		u.Answer(func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			request := r.URL.Path + " " + string(text)
			sent.Store(&request)
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
	}
	const ring = "[[1,2],[2,2],[2,3],[1,2]]"
	polygon := func(rings string) string { return `&avoid_polygons={"type":"Polygon","coordinates":[` + rings + `]}` }
	for _, tc := range []struct {
		target, answer string
		status, want   int
		sent           []string
	}{
		{"/route/v1/driving/1,2;1.002,2?bearings=90,0;&radiuses=50.5;", routeAnswer, 200, 200,
			[]string{`"heading":90,"heading_tolerance":1`, `"search_cutoff":51`, `"search_cutoff":1000`}},
		{shortRoute + "&avoid=toll,ferry,motorway" + polygon(ring), routeAnswer, 200, 200,
			[]string{`"use_tolls":0`, `"use_ferry":0`, `"use_highways":0`, `"exclude_polygons":[` + ring + `]`}},
		{shortRoute + polygon(""), routeAnswer, 200, 400, nil},
		{shortRoute + polygon(ring+","+ring), routeAnswer, 200, 400, nil},
		{shortRoute + "&avoid=unpaved", routeAnswer, 200, 400, nil},
		{"/route/v1/driving/1,2;1.002,2?annotations=true", strings.Replace(routeAnswer, `"annotation"`, `"x"`, 1), 200, 400,
			nil},
		{"/nearest/v1/driving/1,2", "[]", 200, 400, nil},
		{shortRoute, `{"code":"InvalidValue","message":""}`, 400, 422, nil}, // too many locations
		{shortRoute, `{"code":"PerimeterExceeded","message":""}`, 400, 422, nil},
		{shortRoute, `{"code":"BreakageDistanceExceeded","message":""}`, 400, 422, nil},
		{shortRoute, ``, 413, 422, nil},
		{"/api/v1/isochrone?origin=2,1&minutes=5", `{"error_code":166,"error":""}`, 400, 422, nil},
		{"/api/v1/isochrone?origin=2,1&minutes=5", `{"features":[{"properties":{"contour":5},"geometry":{"type":"Polygon",` +
			`"coordinates":[` + ring + `]}}]}`, 200, 200, []string{`/isochrone `, `"contours":[{"time":5}]`, `"polygons":true`}},
		{"/api/v1/isochrone?origin=2,1&minutes=5", `{"features":[{"properties":{"contour":5},"geometry":{"type":"Polygon",` +
			`"coordinates":[[[1,200],[2,2],[2,3],[1,200]]]}}]}`, 200, 502, nil},
		{"/api/v1/isochrone?origin=2,1&minutes=5", `{"features":[]}`, 200, 502, nil},
		{"/table/v1/driving/1,2;1.002,2?annotations=duration,distance", `{"sources_to_targets":{` +
			`"durations":[[0,20],[null,0]],"distances":[[0,0.222],[null,0]]}}`, 200, 200, []string{`/sources_to_targets `}},
		{"/table/v1/driving/1,2;1.002,2", `{"sources_to_targets":{"durations":[[0,20]]}}`, 200, 502, nil},
		{"/table/v1/driving/1,2;1.002,2", `{"sources_to_targets":{"durations":[[0,20],[-1,0]]}}`, 200, 502, nil},
	} {
		answer(tc.status, tc.answer)
		none := ""
		sent.Store(&none)
		a := s.Do(http.MethodGet, "/valhalla"+tc.target, "", "")
		if a.Status != tc.want || !json.Valid([]byte(a.Body)) {
			t.Errorf("%s, %.60s: %d %.300s, want %d", tc.target, tc.answer, a.Status, a.Body, tc.want)
		}
		for _, part := range tc.sent {
			if !strings.Contains(*sent.Load(), part) {
				t.Errorf("%s: sent %s, want %s", tc.target, *sent.Load(), part)
			}
		}
		if strings.HasPrefix(tc.target, "/table") && a.Status == 200 && !bytes.Contains([]byte(a.Body), []byte("222")) {
			t.Errorf("the distances are not metres: %s", a.Body)
		}
	}
}
