package answer

import (
	"encoding/json"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/routing/guidance"
)

// corner is a route of two legs, east along Main Street and north up Oak Street.
func corner() *routing.Route {
	return &routing.Route{
		Distance: 350.04, Duration: 61.26, Line: orb.LineString{{9, 45}, {9.001, 45}, {9.002, 45}, {9.002, 45.001}},
		Legs: []routing.Leg{
			{Distance: 100.04, Duration: 21.26, Last: 1, Segments: []routing.Segment{{Distance: 100.0426, Duration: 21.26}}},
			{Distance: 250, Duration: 40, First: 1, Last: 3, Summary: `Main "Street"`,
				Segments: []routing.Segment{{Distance: 100}, {Distance: 150, Duration: 40}},
				Steps: []guidance.Step{{
					Distance: 100, First: 1, Last: 2, Name: "Main", Ref: "US 13", Destinations: "Dover", Exits: "2",
					RotaryName: "Circle", Mode: guidance.Driving,
					Maneuver: guidance.Maneuver{Type: "depart", Modifier: "left", BearingAfter: 90, Exit: 3},
					Intersections: []guidance.Intersection{{Index: 1, Bearings: []int{90, 270}, Entry: []bool{true, false},
						In: -1, Lanes: []guidance.Lane{{Indications: []string{"left", "straight"}, Valid: true}, {}},
						Classes: []string{"toll"}}},
				}, {
					First: 3, Last: 3, Mode: guidance.OnFerry, LeftDriving: true,
					Maneuver:      guidance.Maneuver{Type: "arrive", BearingBefore: 359},
					Intersections: []guidance.Intersection{{Index: 3, Bearings: []int{180}, Entry: []bool{true}, Out: -1}},
				}}},
		},
	}
}

var snapped = []routing.Snapped{{Location: orb.Point{9, 45}}, {Location: orb.Point{9.001, 45}, Name: "Main", Distance: 1.234},
	{Location: orb.Point{9.002, 45.001}, Name: "Oak", Distance: 2}}

const (
	cornerLine = `"geometry":{"type":"LineString","coordinates":[[9.000000,45.000000],[9.001000,45.000000],` +
		`[9.002000,45.000000],[9.002000,45.001000]]},`
	cornerHead = `"distance":350,"duration":61.3,"weight":61.3,"weight_name":"duration","legs":[` +
		`{"distance":100,"duration":21.3,"weight":21.3,"summary":"","steps":[]`
	cornerLegs = cornerHead + `},{"distance":250,"duration":40,"weight":40,"summary":"","steps":[]}]`
)

func TestOSRM(t *testing.T) {
	bare := OSRM{Overview: OSRMNone}
	full := OSRM{Overview: OSRMFull, Geometries: OSRMGeoJSON, Steps: true, Annotations: OSRMAll}
	places := OSRM{Overview: OSRMNone, Waypoints: true, Hints: true}
	matched := matching.Result{Confidence: 0.98765, Tracepoints: []matching.Tracepoint{
		{Matched: true, Location: orb.Point{9, 45}}, {}, {Matched: true, Location: orb.Point{9.002, 45.001}, Name: "Oak"},
		{Matched: true, Location: orb.Point{9.001, 45}}}}
	unsure := matched
	unsure.Confidence = math.NaN()
	nan := math.NaN()
	table := &routing.Table{Durations: [][]float64{{0, 12.34}, {nan, 0}}, Distances: [][]float64{{0, 99.96}, {5, 0}},
		Sources: snapped[:2], Destinations: snapped[1:2]}
	const (
		first = `{"hint":"gEpdBYB00ho","location":[9.000000,45.000000],"name":"","distance":0`
		main  = `{"hint":"kHFdBYB00ho","location":[9.001000,45.000000],"name":"Main","distance":1.23`
		oak   = `{"hint":"oJhdBZCb0ho","location":[9.002000,45.001000],"name":"Oak","distance":2`
	)
	for name, tc := range map[string]struct{ got, want []byte }{
		"routes without anything": {bare.AppendRoutes(nil, &routing.Result{Routes: []routing.Route{*corner(), *corner()}}),
			[]byte(`{"code":"Ok","routes":[{` + cornerLegs + `},{` + cornerLegs + `}]}`)},
		"routes with everything": {full.AppendRoutes(nil, &routing.Result{Routes: []routing.Route{*corner()}}),
			[]byte(`{"code":"Ok","routes":[{` + cornerLine + cornerHead +
				`,"annotation":{"distance":[100.043],"duration":[21.26],"weight":[21.26],"speed":[4.7],"datasources":[0],` +
				`"metadata":{"datasource_names":["profile"]}}},` +
				`{"distance":250,"duration":40,"weight":40,"summary":"Main \"Street\"","steps":[` +
				`{"geometry":{"type":"LineString","coordinates":[[9.001000,45.000000],[9.002000,45.000000]]},` +
				`"distance":100,"duration":0,"weight":0,"name":"Main","ref":"US 13","destinations":"Dover","exits":"2",` +
				`"rotary_name":"Circle","mode":"driving","driving_side":"right","maneuver":{"type":"depart","modifier":"left",` +
				`"exit":3,"bearing_before":0,"bearing_after":90,"location":[9.001000,45.000000]},"intersections":[` +
				`{"location":[9.001000,45.000000],"bearings":[90,270],"entry":[true,false],"out":0,` +
				`"lanes":[{"indications":["left","straight"],"valid":true},{"indications":[],"valid":false}],"classes":["toll"]}]},` +
				`{"geometry":{"type":"LineString","coordinates":[[9.002000,45.001000],[9.002000,45.001000]]},` +
				`"distance":0,"duration":0,"weight":0,"name":"","mode":"ferry","driving_side":"left","maneuver":{"type":"arrive",` +
				`"bearing_before":359,"bearing_after":0,"location":[9.002000,45.001000]},"intersections":[` +
				`{"location":[9.002000,45.001000],"bearings":[180],"entry":[true],"in":0}]}],` +
				`"annotation":{"distance":[100,150],"duration":[0,40],"weight":[0,40],"speed":[0,3.8],"datasources":[0,0],` +
				`"metadata":{"datasource_names":["profile"]}}}]}]}`)},
		"waypoints": {places.AppendRoutes(nil, &routing.Result{Waypoints: snapped}),
			[]byte(`{"code":"Ok","routes":[],"waypoints":[` + first + `},` + main + `},` + oak + `}]}`)},
		"trip": {places.AppendTrip(nil, corner(), []routing.Snapped{snapped[0], snapped[2], snapped[1], snapped[0]}, []int{0, 2, 1}),
			[]byte(`{"code":"Ok","trips":[{` + cornerLegs + `}],"waypoints":[` + first + `,"trips_index":0,"waypoint_index":0},` +
				main + `,"trips_index":0,"waypoint_index":2},` + oak + `,"trips_index":0,"waypoint_index":1}]}`)},
		"nearest": {places.AppendNearest(nil, snapped[:1]), []byte(`{"code":"Ok","waypoints":[` + first + `,"nodes":[0,0]}]}`)},
		"table": {places.AppendTable(nil, table, nil), []byte(`{"code":"Ok","durations":[[0,12.3],[null,0]],` +
			`"distances":[[0,100],[5,0]],"sources":[` + first + `},` + main + `}],"destinations":[` + main + `}]}`)},
		"table with estimates": {bare.AppendTable(nil, &routing.Table{Durations: [][]float64{{1}}}, [][2]int{{0, 1}, {2, 0}}),
			[]byte(`{"code":"Ok","durations":[[1]],"fallback_speed_cells":[[0,1],[2,0]]}`)},
		"matchings": {places.AppendMatchings(nil, corner(), &matched, []int{0, -1, 1, -1}),
			[]byte(`{"code":"Ok","matchings":[{` + cornerLegs + `,"confidence":0.9877}],"tracepoints":[` +
				first + `,"matchings_index":0,"alternatives_count":0,"waypoint_index":0},null,` +
				strings.Replace(oak, `:2`, `:0`, 1) + `,"matchings_index":0,"alternatives_count":0,"waypoint_index":1},` +
				strings.NewReplacer("1.23", "0", "Main", "").Replace(main) +
				`,"matchings_index":0,"alternatives_count":0,"waypoint_index":null}]}`)},
		"matchings of unknown confidence": {bare.AppendMatchings(nil, corner(), &unsure, nil),
			[]byte(`{"code":"Ok","matchings":[{` + cornerLegs + `}]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(string(tc.want), string(tc.got)); diff != "" || !json.Valid(tc.got) {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOSRMError(t *testing.T) {
	w := httptest.NewRecorder()
	WriteOSRMError(w, "InvalidValue", `a "b"`)
	const want = `{"code":"InvalidValue","message":"a \"b\""}`
	if got := w.Body.String(); w.Code != 400 || got != want || w.Header().Get("Content-Type") != JSON {
		t.Errorf("%d %v %s, want %s", w.Code, w.Header(), got, want)
	}
}

// Lines are the same in all three forms, also where they have backslashes.
func TestOSRMGeometries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "points")
		route := &routing.Route{Legs: []routing.Leg{{Last: n - 1}}}
		for range n {
			route.Line = append(route.Line, orb.Point{float64(rapid.IntRange(-18e6, 18e6).Draw(t, "lon")) / 1e5,
				float64(rapid.IntRange(-9e6, 9e6).Draw(t, "lat")) / 1e5})
		}
		for _, form := range []OSRMGeometries{OSRMPolyline, OSRMPolyline6, OSRMGeoJSON} {
			o := OSRM{Overview: OSRMFull, Geometries: form}
			var got struct {
				Routes []struct{ Geometry json.RawMessage }
			}
			if err := json.Unmarshal(o.AppendRoutes(nil, &routing.Result{Routes: []routing.Route{*route}}), &got); err != nil {
				t.Fatal(err)
			}
			var line orb.LineString
			if form == OSRMGeoJSON {
				var object struct{ Coordinates orb.LineString }
				if err := json.Unmarshal(got.Routes[0].Geometry, &object); err != nil {
					t.Fatal(err)
				}
				line = object.Coordinates
			} else {
				var encoded string
				if err := json.Unmarshal(got.Routes[0].Geometry, &encoded); err != nil {
					t.Fatal(err)
				}
				var err error
				if line, err = geo.DecodePolyline([]byte(encoded), []float64{geo.Polyline5, geo.Polyline6}[form]); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(route.Line, line, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); diff != "" {
				t.Fatalf("form %d: (-want +got):\n%s", form, diff)
			}
		}
	})
}

// A simplified line keeps the waypoints and the order of points, leaves the route as it is, and is nowhere far from it.
func TestOSRMSimplified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		route := &routing.Route{Line: orb.LineString{{rapid.SampledFrom([]float64{9, 179.99}).Draw(t, "lon"), 45}}}
		for range rapid.IntRange(1, 4).Draw(t, "legs") {
			leg := routing.Leg{First: len(route.Line) - 1}
			for range rapid.IntRange(0, 30).Draw(t, "points") {
				p := route.Line[len(route.Line)-1]
				p = orb.Point{p[0] + rapid.Float64Range(-0.01, 0.01).Draw(t, "east"), p[1] + rapid.Float64Range(-0.01, 0.01).Draw(t, "north")}
				route.Line = append(route.Line, orb.Point{math.Remainder(p[0], 360), p[1]})
			}
			leg.Last = len(route.Line) - 1
			route.Legs = append(route.Legs, leg)
		}
		before := slices.Clone(route.Line)
		short := simplified(route)
		if !slices.Equal(before, route.Line) {
			t.Fatal("the route has changed")
		}
		at := 0
		for _, p := range short {
			i := slices.Index(route.Line[at:], p)
			if i < 0 {
				t.Fatalf("%v is not on the rest of the line", p)
			}
			at += i
		}
		for _, leg := range route.Legs {
			if !slices.Contains(short, route.Line[leg.First]) || !slices.Contains(short, route.Line[leg.Last]) {
				t.Fatalf("no waypoints of leg %v in %v", leg, short)
			}
		}
	})
	// A straight road with a wave of a metre over 20 km, and one of 100 m.
	for amplitude, want := range map[float64]int{1e-5: 2, 1e-3: 100} {
		route := &routing.Route{Legs: []routing.Leg{{Last: 199}}}
		for i := range 200 {
			route.Line = append(route.Line, orb.Point{9 + float64(i)/1000, 45 + amplitude*float64(i%2)})
		}
		if got := len(simplified(route)); want == 2 && got != 2 || got < want {
			t.Errorf("%d points of a wave of %v degrees, want %d", got, amplitude, want)
		}
	}
}
