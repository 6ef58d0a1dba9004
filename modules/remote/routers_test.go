package remote_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/routing"
)

// routed is what the tests compare of a route.
type routed struct {
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

// routers starts a server with a region behind OSRM's API, and with that API behind `router osrm` and `router valhalla`.
func routers(t *testing.T) (*modulestest.Server, *modulestest.Upstream) {
	t.Helper()
	region := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	u := modulestest.NewUpstream(t)
	site := fmt.Sprintf(`
		handle /here/* {
			maps_route village {
				prefix /here
				public
			}
		}
		handle /osrm/* {
			maps_route {
				prefix /osrm
				router osrm %[1]s
				profile car
				public
			}
		}
		handle /valhalla/* {
			maps_route {
				prefix /valhalla
				router valhalla %[1]s
				profile car
				public
			}
		}`, u.URL)
	return modulestest.Start(t, modulestest.Config{Maps: "region village " + region, Site: site}), u
}

// between is a request for a route across the village.
const between = "origin=%v,%v&destination=%v,%v"

// TestRouters: a route that comes from OSRM's API, or in its format from Valhalla, is the one of the region.
func TestRouters(t *testing.T) {
	s, u := routers(t)
	var body atomic.Value
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.RequestURI()
		if r.Method == http.MethodPost { // Valhalla
			sent, _ := io.ReadAll(r.Body)
			body.Store(string(sent))
			var q struct{ Locations []struct{ Lat, Lon float64 } }
			if err := json.Unmarshal(sent, &q); err != nil || len(q.Locations) != 2 {
				t.Errorf("%s: %v", sent, err)
				return
			}
			path = fmt.Sprintf("/route/v1/driving/%v,%v;%v,%v?steps=true&geometries=polyline6", q.Locations[0].Lon,
				q.Locations[0].Lat, q.Locations[1].Lon, q.Locations[1].Lat)
		}
		a := s.Do(http.MethodGet, "/here"+path, "", "")
		w.WriteHeader(a.Status)
		_, _ = w.Write([]byte(a.Body))
	})
	box := [...]float64{39.1601, -75.5225, 39.1585, -75.52} // from Main Street to Oak Street
	query := fmt.Sprintf(between, box[0], box[1], box[2], box[3])
	ask := func(router string) (a routed) {
		t.Helper()
		got := s.Do(http.MethodGet, "/"+router+"/api/v1/route?"+query, "", "")
		if got.Status != http.StatusOK {
			t.Fatalf("%s: %d %s", router, got.Status, got.Body)
		}
		if err := json.Unmarshal([]byte(got.Body), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	want := ask("here")
	for _, router := range []string{"osrm", "valhalla"} {
		got := ask(router)
		w, g := want.Data.Routes[0], got.Data.Routes[0]
		if math.Abs(w.Distance-g.Distance) > 0.5 || math.Abs(w.Duration-g.Duration) > 0.5 ||
			len(w.Coordinates) != len(g.Coordinates) || len(got.Data.Waypoints) != 2 {
			t.Errorf("%s: %+v, want %+v", router, g, w)
		}
		if steps := g.Legs[0].Steps; len(steps) != len(w.Legs[0].Steps) || steps[0].Instruction == "" {
			t.Errorf("%s: steps %+v, want %+v", router, steps, w.Legs[0].Steps)
		}
	}
	if sent := body.Load().(string); !strings.Contains(sent, `"costing":"auto"`) || !strings.Contains(sent, `"format":"osrm"`) {
		t.Errorf("Valhalla was sent %s", sent)
	}
	matrix := fmt.Sprintf("/api/route/matrix/?json=[{%v,%v},{%v,%v}]", box[0], box[1], box[2], box[3])
	here, osrm := s.Do(http.MethodGet, "/here"+matrix, "", ""), s.Do(http.MethodGet, "/osrm"+matrix, "", "")
	if osrm.Status != http.StatusOK || !strings.Contains(osrm.Body, `"distances"`) || len(osrm.Body) < len(here.Body)/2 {
		t.Errorf("the matrix of OSRM: %d %s, want %s", osrm.Status, osrm.Body, here.Body)
	}
}

// TestRouterErrors: what upstream engines refuse becomes our errors.
func TestRouterErrors(t *testing.T) {
	s, u := routers(t)
	for _, tc := range []struct {
		router string
		status int // of the engine
		body   string
		want   int
	}{
		{"osrm", 400, `{"code":"NoRoute","message":""}`, 404},
		{"osrm", 400, `{"code":"NoSegment","message":""}`, 404},
		{"osrm", 400, `{"code":"TooBig","message":""}`, 422},
		{"osrm", 200, `{"code":"Ok","routes":[],"waypoints":[]}`, 502},
		{"osrm", 200, `{"code":"Ok","routes":[{"legs":[{"distance":1,"duration":1,"steps":[]}]}],` +
			`"waypoints":[{"location":[1,2]},{"location":[1,2]}]}`, 502},
		{"osrm", 200, `{"code":"Ok","routes":[{"legs":[{"distance":1,"duration":1,"steps":[{"geometry":"??","distance":-1}]}]}],` +
			`"waypoints":[{"location":[1,2]},{"location":[1,2]}]}`, 502},
		{"osrm", 200, `{"code":"Ok"`, 502},
		{"osrm", 500, ``, 502},
		{"valhalla", 400, `{"error_code":442,"error":"No path could be found"}`, 404},
		{"valhalla", 400, `{"error_code":171,"error":"No suitable edges near location"}`, 404},
		{"valhalla", 400, `{"error_code":154,"error":"Path distance exceeds the max distance limit"}`, 422},
		{"valhalla", 400, `{"code":"NoRoute","message":""}`, 404},
		{"valhalla", 400, `{}`, 502},
		{"valhalla", 503, ``, 503},
	} {
		u.Send(tc.status, tc.body)
		if got := s.Do(http.MethodGet, "/"+tc.router+"/api/v1/route?origin=1,2&destination=3,4", "", ""); got.Status != tc.want {
			t.Errorf("%s %d %s: %d %s, want %d", tc.router, tc.status, tc.body, got.Status, got.Body, tc.want)
		}
	}
	for _, query := range []string{"avoid=unpaved", `avoid_polygons={"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}`} {
		u.Send(200, `{}`)
		got := s.Do(http.MethodGet, "/osrm/api/v1/route?origin=1,2&destination=3,4&"+query, "", "")
		if got.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, got.Status, got.Body)
		}
	}
	if got := s.Do(http.MethodGet, "/osrm/api/v1/isochrone?origin=1,2&minutes=5", "", ""); got.Status != http.StatusBadRequest {
		t.Errorf("an isochrone of OSRM: %d %s", got.Status, got.Body)
	}
}
