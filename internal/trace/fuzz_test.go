package trace

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fuzzMax = 16

// checkParsed holds for whatever a parser makes of any input.
func checkParsed(t *testing.T, points []Point, err error) {
	t.Helper()
	if err != nil {
		var input *InputError
		if !errors.As(err, &input) || input.Parameter == "" || input.Problem == "" {
			t.Fatalf("the error names nothing: %#v", err)
		}
		return
	}
	if len(points) < MinPoints || len(points) > fuzzMax {
		t.Fatalf("%d points", len(points))
	}
	for i, p := range points {
		if problem := outside(p.Location[1], p.Location[0]); problem != "" {
			t.Fatalf("point %d: %s", i, problem)
		}
		if p.Accuracy <= 0 {
			t.Fatalf("point %d: accuracy %v", i, p.Accuracy)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{
		`[{39.1,-75.5},{39.2,-75.6}]`, `[{"lat":39.1,"lng":-75.5},{+1e1,-2E+0}]`, ` [ { 1 , 2 } , {"lat":1,"lng":2,"x":[{}]} ] `,
		`[{1,2},{3,4}`, `[]`, `[{"lat":1,"lng":2,"time":"2024-05-01T12:00:00Z","accuracy":3},{1,2}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		points, err := ParsePath(nil, text, fuzzMax)
		checkParsed(t, points, err)
	})
}

func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{
		`{"path":[{"lat":1,"lng":2},{"lat":3,"lng":4,"time":5,"accuracy":6}],"radius":7,"details":true,"format":"json"}`,
		`{"path":[{"lat":1,"lng":2,"time":"2024-05-01T12:00:00Z"}],"x":"\ud800","y":{"z":[null,false]}}`, `{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := ParseJSON(nil, text, fuzzMax)
		checkParsed(t, doc.Points, err)
		if _, err := Parse(text, fuzzMax); err != nil {
			checkParsed(t, nil, err)
		}
	})
}

func FuzzParseGeoJSON(f *testing.F) {
	for _, seed := range []string{
		`{"type":"LineString","coordinates":[[1,2],[3,4,5]]}`,
		`{"features":[{"type":"Feature","geometry":{"coordinates":[[1,2],[3,4]],"type":"LineString"},` +
			`"properties":{"coordTimes":[5,6]}},` +
			`{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}],"type":"FeatureCollection"}`,
		`{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]},"properties":{"coordTimes":["2024-05-01T12:00:00Z",6]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		points, err := ParseGeoJSON(nil, text, fuzzMax)
		checkParsed(t, points, err)
	})
}

func FuzzParseCSV(f *testing.F) {
	for _, seed := range []string{
		"lat,lng,time,accuracy\n1,2,2024-05-01T12:00:00Z,3\n4,5,6,\n",
		"\ufeffLON,x,Lat\r\n1,\"a\"\"b\r\n\",2\r\n\r\n3,,4,,\r\n", "lat,lng\n,\n1,2\"\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		points, err := ParseCSV(nil, text, fuzzMax, nil)
		checkParsed(t, points, err)
	})
}

func FuzzParseGPX(f *testing.F) {
	for _, seed := range []string{
		`<?xml version="1.0"?><gpx><trk><trkseg><trkpt lat="1" lon="2"><time>2024-05-01T12:00:00Z</time></trkpt><trkpt lat="1" lon="2"/></trkseg></trk></gpx>`,
		`<gpx><rte><rtept lat="1" lon="2"/><rtept lat="1" lon="2"/></rte></gpx>`,
		`<!DOCTYPE gpx [<!ENTITY a "b">]><gpx>&a;</gpx>`, `<?xml version="1.0" encoding="utf-7"?><gpx/>`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		points, err := ParseGPX(nil, text, fuzzMax, nil)
		checkParsed(t, points, err)
	})
}

// The path parameter and the JSON body read a point alike.
func TestFormsAgree(t *testing.T) {
	const array = `[{"lat":1.25,"lng":-2e-3,"time":7,"accuracy":2},{"lat":3,"lng":4}]`
	fromPath, err := ParsePath(nil, []byte(array), 2)
	if err != nil {
		t.Fatal(err)
	}
	fromBody, err := ParseJSON(nil, []byte(`{"path":`+array+`}`), 2)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromPath, fromBody.Points, same); diff != "" {
		t.Error(diff)
	}
}
