package integration

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geojson"
	"github.com/paulmach/orb/planar"
)

// startValhalla runs Valhalla on the map of Delaware, and returns its address.
func startValhalla(t *testing.T) string {
	source := filepath.Join(npmModules(t), "@valhallajs", "valhallajs")
	if _, err := os.Stat(source); err != nil {
		t.Skip("MAPS_TEST_NPM has no Valhalla")
	}
	for _, program := range []string{"node", "python3"} { // its configuration is written by a script of Python
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("there is no ", program)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "valhalla", "server.mjs"), source, extract,
		t.TempDir())
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close() // which ends it
		cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if address, ok := strings.CutPrefix(lines.Text(), "http://"); ok {
			return address
		}
	}
	cmd.Wait()
	t.Fatalf("Valhalla does not start:\n%s", problems.String())
	return ""
}

// shape returns what a body has, without its values: the names of members, and what the first element of a list has.
func shape(v any) any {
	switch v := v.(type) {
	case map[string]any:
		all := map[string]any{}
		for name, value := range v {
			all[name] = shape(value)
		}
		return all
	case []any:
		if len(v) > 0 {
			return []any{shape(v[0])}
		}
		return []any{}
	}
	return fmt.Sprintf("%T", v)
}

// Another server's routes, matrices and isochrones are like ours: the same bodies, places, and about the same times.
func TestValhallaRouter(t *testing.T) {
	npmModules(t)
	t.Parallel()
	s := startServer(t, "# handlers", fmt.Sprintf(`handle /local/* {
		maps_route delaware {
			prefix /local
			public
		}
	}
	handle /valhalla/* {
		maps_route {
			prefix /valhalla
			router valhalla %s {
				timeout 20s
			}
			public
		}
	}
	# handlers`, startValhalla(t)))
	// both asks us and Valhalla.
	both := func(c call, status int) (ours, theirs *answer) {
		t.Helper()
		path := c.path
		c.path = "/local" + path
		ours = s.send(t, c).want(status)
		c.path = "/valhalla" + path
		return ours, s.send(t, c).want(status)
	}
	// near reports whether two amounts are alike.
	near := func(a, b float64) bool { return max(a, b) <= 2*min(a, b)+1 }

	type routes struct {
		Data struct {
			Routes []struct {
				Distance, Duration float64
				Coordinates        orb.LineString // latitude first
				Legs               []struct {
					Distance, Duration float64
					Steps              []struct{ Instruction string }
				}
			}
			Waypoints []struct{ Distance float64 }
		}
	}
	const wilmington = "39.745,-75.546"
	for _, c := range []call{
		{path: "?origin=39.158,-75.524&destination=" + wilmington},
		{path: "?origin=39.158,-75.524&destination=39.165,-75.54&profile=bicycle"},
		{path: "?origin=39.158,-75.524&destination=39.165,-75.54&profile=foot"},
		{path: "?origin=39.158,-75.524&waypoints=[39.3,-75.6]&destination=" + wilmington + "&language=de"},
		{path: "?origin=39.158,-75.524&destination=" + wilmington + "&alternatives=2&avoid=toll,motorway"},
		{path: "?origin=39.158,-75.524&destination=39.165,-75.54&heading=90&curbside=true"},
		{method: http.MethodPost, contentType: "application/json", body: `{"origin": [39.158, -75.524], "destination": [39.745, -75.546],
			"avoid_polygons": {"type": "Polygon", "coordinates": [[[-75.67, 39.44], [-75.65, 39.44], [-75.65, 39.46], [-75.67, 39.46], [-75.67, 39.44]]]}}`},
	} {
		c.path = "/api/v1/route" + c.path
		if c.method == "" {
			c.path += "&steps=true"
		}
		ours, theirs := both(c, http.StatusOK)
		var a, b routes
		ours.into(&a)
		theirs.into(&b)
		if len(b.Data.Routes) == 0 || len(b.Data.Waypoints) != len(a.Data.Waypoints) {
			t.Fatalf("%s: %d routes, %d waypoints", c.path, len(b.Data.Routes), len(b.Data.Waypoints))
		}
		us, they := a.Data.Routes[0], b.Data.Routes[0]
		if !near(us.Distance, they.Distance) || !near(us.Duration, they.Duration) || len(us.Legs) != len(they.Legs) {
			t.Errorf("%s: ours %v m, %v s, %d legs; Valhalla's %v m, %v s, %d legs", c.path, us.Distance, us.Duration,
				len(us.Legs), they.Distance, they.Duration, len(they.Legs))
		}
		for i := range us.Legs {
			if !near(us.Legs[i].Duration, they.Legs[i].Duration) || c.method == "" && they.Legs[i].Steps[0].Instruction == "" {
				t.Errorf("%s: leg %d: ours %+v, Valhalla's %+v", c.path, i, us.Legs[i], they.Legs[i])
			}
		}
		last := len(they.Coordinates) - 1
		for i, p := range they.Coordinates {
			far := 0.1 // degrees: two ways to the same place
			if i == 0 || i == last {
				far = 0.001
			}
			if planar.DistanceFrom(us.Coordinates, p) > far {
				t.Errorf("%s: Valhalla's route passes %v, %d of %d, far from ours", c.path, p, i, last)
				break
			}
		}
	}

	for _, path := range []string{
		"/api/route/matrix/?json=[{39.158,-75.524},{39.165,-75.54},{39.745,-75.546}]",
		"/api/route/onm/?origin={39.158,-75.524}&json=[39.165,-75.54;39.745,-75.546]&includeCoordinate=1",
		"/api/route/tss/?json=[{39.158,-75.524},{39.745,-75.546},{39.165,-75.54},{38.78,-75.15}]&roundtrip=1",
		"/api/route/direction/?origin={39.158,-75.524}&destination={39.745,-75.546}&instruction=1",
		"/api/route/direction/?origin={39.158,-75.524}&destination={39.745,-75.546}&format=valhalla",
		"/route/v1/driving/-75.524,39.158;-75.546,39.745?steps=true&overview=full",
		"/table/v1/driving/-75.524,39.158;-75.546,39.745;-75.54,39.165?annotations=duration,distance",
		"/trip/v1/driving/-75.524,39.158;-75.546,39.745;-75.54,39.165",
	} {
		ours, theirs := both(call{path: path}, http.StatusOK)
		var a, b any
		ours.into(&a)
		theirs.into(&b)
		if a, b := shape(a), shape(b); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: ours has\n%v\nValhalla's\n%v", path, a, b)
		}
	}
	var matrices [2]struct {
		Durations, Distances []struct{ Duration []float64 }
	}
	ours, theirs := both(call{path: "/api/route/matrix/?json=[{39.158,-75.524},{39.165,-75.54},{39.745,-75.546}]"}, http.StatusOK)
	ours.into(&matrices[0])
	theirs.into(&matrices[1])
	for i := range 3 {
		for k := range 3 {
			a, b := matrices[0], matrices[1]
			if !near(a.Durations[i].Duration[k], b.Durations[i].Duration[k]) ||
				!near(a.Distances[i].Duration[k], b.Distances[i].Duration[k]) {
				t.Errorf("from %d to %d: ours %v, Valhalla's %v", i, k, a, b)
			}
		}
	}

	for _, query := range []string{"minutes=5,10,15", "metres=1000,3000", "minutes=10&reverse=true&profile=foot"} {
		ours, theirs := both(call{path: "/api/v1/isochrone?origin=39.158,-75.524&" + query}, http.StatusOK)
		a, err := geojson.UnmarshalFeatureCollection(ours.body)
		if err != nil {
			t.Fatal(err)
		}
		b, err := geojson.UnmarshalFeatureCollection(theirs.body)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Features) != len(b.Features) {
			t.Fatalf("%s: %d and %d areas", query, len(a.Features), len(b.Features))
		}
		for i := range a.Features {
			us, they := a.Features[i], b.Features[i]
			area := planar.Area(us.Geometry) / planar.Area(they.Geometry)
			middle, _ := planar.CentroidArea(they.Geometry)
			bound := us.Geometry.Bound()
			if !reflect.DeepEqual(us.Properties, they.Properties) || !(area > 1./3 && area < 3) || !bound.Contains(middle) {
				t.Errorf("%s: ours %v in %v, Valhalla's %v around %v, %v of its area", query, us.Properties, bound, they.Properties,
					middle, area)
			}
		}
	}

	// What it cannot find, and does not know.
	for path, status := range map[string]int{
		"/api/v1/route?origin=39.158,-75.524&destination=39,-74.7":                            http.StatusNotFound,
		"/api/v1/isochrone?origin=39,-74.7&minutes=5":                                         http.StatusNotFound,
		"/route/v1/driving/-75.524,39.158;-74.7,39":                                           http.StatusBadRequest,
		"/api/route/direction/?origin={39.158,-75.524}&destination={39,-74.7}":                http.StatusNotFound,
		"/api/v1/route?origin=39.158,-75.524&destination=39.165,-75.54&profile=foot&radius=1": http.StatusNotFound,
	} {
		ours, theirs := both(call{path: path}, status)
		var a, b any
		ours.into(&a)
		theirs.into(&b)
		if a, b := shape(a), shape(b); !reflect.DeepEqual(a, b) {
			t.Errorf("%s: ours %s, Valhalla's %s", path, ours.body, theirs.body)
		}
	}
	// It limits the areas to avoid, to 10 km around them.
	s.send(t, call{method: http.MethodPost, path: "/valhalla/api/v1/route", contentType: "application/json",
		body: `{"origin": [39.158, -75.524], "destination": [39.745, -75.546], "avoid_polygons": {"type": "Polygon",
			"coordinates": [[[-75.7, 39.4], [-75.6, 39.4], [-75.6, 39.5], [-75.7, 39.5], [-75.7, 39.4]]]}}`}).
		want(http.StatusUnprocessableEntity)
}
