package trace

import (
	"errors"
	"testing"
)

const fuzzMax = 16

// checkParsed checks what holds for the result of any parser with any input.
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

// FuzzParse gives any input to any parser: 0 path, 1 JSON, 2 GeoJSON, 3 CSV, 4 GPX, 5 Parse.
func FuzzParse(f *testing.F) {
	for kind, seeds := range [][]string{
		{`[{39.1,-75.5},{39.2,-75.6}]`, `[{"lat":39.1,"lng":-75.5},{+1e1,-2E+0}]`, ` [ { 1 , 2 } , {"lat":1,"lng":2,"x":[{}]} ] `,
			`[{1,2},{3,4}`, `[{"lat":1,"lng":2,"time":"2024-05-01T12:00:00Z","accuracy":3},{1,2}]`},
		{`{"path":[{"lat":1,"lng":2},{"lat":3,"lng":4,"time":5,"accuracy":6}],"radius":7,"details":true,"format":"json"}`,
			`{"path":[{"lat":1,"lng":2,"time":"2024-05-01T12:00:00Z"}],"x":"\ud800","y":{"z":[null,false]}}`},
		{`{"type":"LineString","coordinates":[[1,2],[3,4,5]]}`,
			`{"features":[{"type":"Feature","geometry":{"coordinates":[[1,2],[3,4]],"type":"LineString"},` +
				`"properties":{"coordTimes":[5,"2024-05-01T12:00:00Z"]}},` +
				`{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]}}],"type":"FeatureCollection"}`},
		{"lat,lng,time,accuracy\n1,2,2024-05-01T12:00:00Z,3\n4,5,6,\n",
			"\ufeffLON,x,Lat\r\n1,\"a\"\"b\r\n\",2\r\n\r\n3,,4,,\r\n", "lat,lng\n,\n1,2\"\n"},
		{`<?xml version="1.0"?><gpx><trk><trkseg><trkpt lat="1" lon="2"><time>2024-05-01T12:00:00Z</time></trkpt></trkseg></trk></gpx>`,
			`<gpx><rte><rtept lat="1" lon="2"/><rtept lat="1" lon="2"/></rte></gpx>`,
			`<!DOCTYPE gpx [<!ENTITY a "b">]><gpx>&a;</gpx>`, `<?xml version="1.0" encoding="utf-7"?><gpx/>`},
	} {
		for _, seed := range seeds {
			f.Add(byte(kind), []byte(seed))
			f.Add(byte(5), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, text []byte) {
		var points []Point
		var doc Document
		var err error
		switch kind % 6 {
		case 0:
			points, err = ParsePath(nil, text, fuzzMax)
		case 1:
			doc, err = ParseJSON(nil, text, fuzzMax)
			points = doc.Points
		case 2:
			points, err = ParseGeoJSON(nil, text, fuzzMax)
		case 3:
			points, err = ParseCSV(nil, text, fuzzMax, nil)
		case 4:
			points, err = ParseGPX(nil, text, fuzzMax, nil)
		default:
			doc, err = Parse(nil, text, fuzzMax, nil)
			points = doc.Points
		}
		checkParsed(t, points, err)
	})
}
