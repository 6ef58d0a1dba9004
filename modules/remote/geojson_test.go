package remote

import (
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
)

func read(body string) (orb.Geometry, error) {
	var g Geometry
	err := json.Unmarshal([]byte(body), &g)
	return g.Geometry, err
}

func TestGeometry(t *testing.T) {
	ring := orb.Ring{{0, 0}, {1, 0}, {1, 1}, {0, 0}}
	for _, test := range []struct {
		body string
		want orb.Geometry
	}{
		{`null`, nil},
		{`{"type":"Point","coordinates":[-75.5,39.1]}`, orb.Point{-75.5, 39.1}},
		{`{"coordinates" : [ -75.5 , 39.1, 12, 0 ],"type":"Point"}`, orb.Point{-75.5, 39.1}},
		{`{"crs":{"type":"name"},"type":"MultiPoint","coordinates":[[1,2],[180,-90]],"bbox":[1,2]}`,
			orb.MultiPoint{{1, 2}, {180, -90}}},
		{`{"type":"LineString","coordinates":[[1,2],[3,4]]}`, orb.LineString{{1, 2}, {3, 4}}},
		{`{"type":"LineString","coordinates":[]}`, orb.LineString{}},
		{`{"coordinates":[[[1,2],[3,4]],[]],"type":"MultiLineString"}`, orb.MultiLineString{{{1, 2}, {3, 4}}, {}}},
		{`{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}`, orb.Polygon{ring}},
		{`{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]]]}`, orb.MultiPolygon{{ring}}},
		{`{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},null]}`,
			orb.Collection{orb.Point{1, 2}}},
	} {
		got, err := read(test.body)
		if err != nil {
			t.Errorf("%s: %v", test.body, err)
		} else if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.body, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, body := range []string{
		`{}`, `[]`, `"Point"`, `{"type":"Point"}`, `{"coordinates":[1,2]}`, `{"type":"Circle","coordinates":[1,2]}`,
		`{"type":"Point","coordinates":[181,0]}`, `{"type":"Point","coordinates":[0,-90.1]}`,
		`{"type":"Point","coordinates":[1e999,0]}`,
		`{"type":"Point","coordinates":[]}`, `{"type":"Point","coordinates":[1]}`, `{"type":"Point","coordinates":["1","2"]}`,
		`{"type":"Point","coordinates":null}`, `{"type":"Point","coordinates":[[1,2]]}`,
		`{"coordinates":[[1,2]],"type":"Point"}`,
		`{"type":"Polygon","coordinates":[[1,2],[3,4]]}`, `{"type":"LineString","coordinates":[[1,2],[3,4]`,
		`{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}`,
		`{"type":"GeometryCollection","coordinates":[1,2]}`,
		`{"type":"Point","geometries":[{"type":"Point","coordinates":[1,2]}]}`,
		strings.Repeat(`{"type":"GeometryCollection","geometries":[`, 9) + `{"type":"Point","coordinates":[1,2]}` +
			strings.Repeat(`]}`, 9),
		strings.Repeat(`{"type":"GeometryCollection","geometries":[`, 100_000),
		strings.Repeat(`{"type":"Polygon","coordinates":[[[`, 9),
	} {
		if got, err := read(body); err == nil {
			t.Errorf("%.60s: %v", body, got)
		}
	}
}

// Whatever is read, it is refused or lies on the globe.
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
		got, err := read(string(body))
		if err != nil || got == nil {
			return
		}
		each(got, func(p orb.Point) {
			if !(math.Abs(p[0]) <= 180 && math.Abs(p[1]) <= 90) {
				t.Errorf("%v", p)
			}
		})
	})
}

// each calls f for every position of a geometry.
func each(g orb.Geometry, f func(orb.Point)) {
	lines := func(lines ...[]orb.Point) {
		for _, line := range lines {
			for _, p := range line {
				f(p)
			}
		}
	}
	switch g := g.(type) {
	case orb.Point:
		f(g)
	case orb.MultiPoint:
		lines(g)
	case orb.LineString:
		lines(g)
	case orb.MultiLineString:
		for _, line := range g {
			lines(line)
		}
	case orb.Polygon:
		for _, ring := range g {
			lines(ring)
		}
	case orb.MultiPolygon:
		for _, polygon := range g {
			each(polygon, f)
		}
	case orb.Collection:
		for _, part := range g {
			each(part, f)
		}
	}
}
