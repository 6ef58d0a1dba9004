package remote_test

import (
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/modules/remote"
)

func readGeometry(body string) (orb.Geometry, error) {
	var g remote.Geometry
	err := json.Unmarshal([]byte(body), &g)
	return g.Geometry, err
}

func TestGeometry(t *testing.T) {
	ring := orb.Ring{{0, 0}, {1, 0}, {1, 1}, {0, 0}}
	for body, want := range map[string]orb.Geometry{
		`null`: nil,
		`{"type":"Point","coordinates":[-75.5,39.1]}`:                                              orb.Point{-75.5, 39.1},
		`{"coordinates" : [ -75.5 , 39.1, 12, 0 ],"type":"Point"}`:                                 orb.Point{-75.5, 39.1},
		`{"crs":{"type":"name"},"type":"MultiPoint","coordinates":[[1,2],[180,-90]],"bbox":[1,2]}`: orb.MultiPoint{{1, 2}, {180, -90}},
		`{"type":"LineString","coordinates":[[1,2],[3,4]]}`:                                        orb.LineString{{1, 2}, {3, 4}},
		`{"type":"LineString","coordinates":[]}`:                                                   orb.LineString{},
		`{"coordinates":[[[1,2],[3,4]],[]],"type":"MultiLineString"}`:                              orb.MultiLineString{{{1, 2}, {3, 4}}, {}},
		`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}`:                             orb.Polygon{ring},
		`{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}`:                      orb.MultiPolygon{{ring}},
		`{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},null]}`:   orb.Collection{orb.Point{1, 2}},
	} {
		got, err := readGeometry(body)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", body, err, diff)
		}
	}
	for _, body := range []string{
		`{}`, `[]`, `"Point"`, `{"type":"Point"}`, `{"coordinates":[1,2]}`, `{"type":"Circle","coordinates":[1,2]}`,
		`{"type":"Point","coordinates":[181,0]}`, `{"type":"Point","coordinates":[0,-90.1]}`,
		`{"type":"Point","coordinates":[1e999,0]}`, `{"type":"Point","coordinates":[]}`, `{"type":"Point","coordinates":[1]}`,
		`{"type":"Point","coordinates":["1","2"]}`, `{"type":"Point","coordinates":null}`,
		`{"type":"Point","coordinates":[[1,2]]}`, `{"coordinates":[[1,2]],"type":"Point"}`,
		`{"type":"Polygon","coordinates":[[1,2],[3,4]]}`, `{"type":"LineString","coordinates":[[1,2],[3,4]`,
		`{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}`,
		`{"type":"GeometryCollection","coordinates":[1,2]}`, `{"type":"Point","geometries":[{"type":"Point","coordinates":[1,2]}]}`,
		strings.Repeat(`{"type":"GeometryCollection","geometries":[`, 9) + `{"type":"Point","coordinates":[1,2]}` +
			strings.Repeat(`]}`, 9),
		strings.Repeat(`{"type":"GeometryCollection","geometries":[`, 100_000),
		strings.Repeat(`{"type":"Polygon","coordinates":[[[`, 9),
	} {
		if got, err := readGeometry(body); err == nil {
			t.Errorf("%.60s: %v", body, got)
		}
	}
}

// A geometry is refused, or lies on the globe.
func FuzzGeometry(f *testing.F) {
	for _, body := range []string{
		`null`, `{"type":"Point","coordinates":[-75.5,39.1]}`, `{"coordinates":[[1,2],[3,4,5]],"type":"LineString"}`,
		`{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}`,
		`{"type":"MultiLineString","coordinates":[[[1,2],[3,4]]]}`,
		`{"type":"GeometryCollection","geometries":[{"type":"MultiPoint","coordinates":[[1,2]]}]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		g, err := readGeometry(string(body))
		if err != nil || g == nil {
			return
		}
		b := g.Bound() // that of nothing is inside out
		if !b.IsEmpty() && !(b.Min[0] >= -180 && b.Max[0] <= 180 && b.Min[1] >= -90 && b.Max[1] <= 90) || math.IsNaN(b.Min[0]) {
			t.Errorf("%v", g)
		}
	})
}
