package trace

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/paulmach/orb"
)

// same compares points; what is unknown is equal to itself.
var same = cmpopts.EquateNaNs()

func full(lat, lon, time, accuracy float64) Point {
	return Point{Location: orb.Point{lon, lat}, Time: time, Accuracy: accuracy}
}

var nan = math.NaN()

func path(text string) ([]Point, error) { return ParsePath(nil, []byte(text), 3) }

func jsonBody(text string) ([]Point, error) {
	doc, err := ParseJSON(nil, []byte(text), 3)
	return doc.Points, err
}

func geoJSONBody(text string) ([]Point, error) { return ParseGeoJSON(nil, []byte(text), 3) }

func gpxBody(text string) ([]Point, error) { return ParseGPX(nil, []byte(text), 3, nil) }

func csvBody(text string) ([]Point, error) { return ParseCSV(nil, []byte(text), 3, nil) }

func TestParse(t *testing.T) {
	plain := []Point{At(39.1, -75.5), At(39.2, -75.6)}
	for name, tc := range map[string]struct {
		parse func(string) ([]Point, error)
		text  string
		want  []Point
	}{
		"path of pairs":               {path, `[{39.1,-75.5},{39.2,-75.6}]`, plain},
		"path of objects":             {path, `[{"lat":39.1,"lng":-75.5},{"lng":-75.6,"lat":39.2}]`, plain},
		"path with lon":               {path, `[{"lon":-75.5,"lat":39.1},{"lat":39.2,"lng":-75.6}]`, plain},
		"path of both":                {path, `[{39.1,-75.5},{"lat":39.2,"lng":-75.6}]`, plain},
		"path with spaces":            {path, " [ { 39.1 ,\t-75.5 } ,\n{ \"lat\" : 39.2 , \"lng\" : -75.6 } ]\r\n", plain},
		"path with plus and exponent": {path, `[{+391e-1,-7.55E+1},{39.2,-75.6}]`, plain},
		"path at the edges":           {path, `[{90,180},{-90,-180}]`, []Point{At(90, 180), At(-90, -180)}},
		"path with the most points":   {path, `[{1,1},{2,2},{3,3}]`, []Point{At(1, 1), At(2, 2), At(3, 3)}},
		"path with unknown members":   {path, `[{"lat":39.1,"lng":-75.5,"x":{"y":[1,"]",null]}},{39.2,-75.6}]`, plain},
		"path with escapes":           {path, `[{"l\u0061t":39.1,"lng":-75.5},{39.2,-75.6}]`, plain},

		"JSON": {jsonBody, `{"path":[{"lat":39.1,"lng":-75.5},{"lat":39.2,"lng":-75.6}]}`, plain},
		"JSON with times": {jsonBody, `{"path":[{"lat":39.1,"lng":-75.5,"time":"2024-05-01T12:00:00.5Z","accuracy":4.5},` +
			`{"lat":39.2,"lng":-75.6,"time":1714564801,"accuracy":null}]}`,
			[]Point{full(39.1, -75.5, 1714564800.5, 4.5), full(39.2, -75.6, 1714564801, nan)}},
		"JSON with unknown members": {jsonBody, `{"apiKey":"x","deep":[[{"a":1}]],"path":[{"lat":39.1,"lng":-75.5,"speed":3},{"lat":39.2,"lng":-75.6}]}`, plain},
		"JSON with a BOM":           {jsonBody, "\ufeff" + `{"path":[{"lat":39.1,"lng":-75.5},{"lat":39.2,"lng":-75.6}]}`, plain},

		"LineString":               {geoJSONBody, `{"type":"LineString","coordinates":[[-75.5,39.1],[-75.6,39.2]]}`, plain},
		"LineString with altitude": {geoJSONBody, `{"coordinates":[[-75.5,39.1,12.5],[-75.6,39.2,13]],"bbox":[1,2,3,4],"type":"LineString"}`, plain},
		"Feature": {geoJSONBody, `{"type":"Feature","geometry":{"type":"LineString","coordinates":[[-75.5,39.1],[-75.6,39.2]]},` +
			`"properties":{"name":"drive","coordTimes":["2024-05-01T14:00:00+02:00",null]}}`,
			[]Point{full(39.1, -75.5, 1714564800, nan), At(39.2, -75.6)}},
		"Feature with times first": {geoJSONBody, `{"properties":{"coordTimes":[5,6]},"geometry":{"coordinates":[[-75.5,39.1],[-75.6,39.2]],"type":"LineString"},"type":"Feature"}`,
			[]Point{full(39.1, -75.5, 5, nan), full(39.2, -75.6, 6, nan)}},
		"Feature without properties": {geoJSONBody, `{"type":"Feature","properties":null,"geometry":{"type":"LineString","coordinates":[[-75.5,39.1],[-75.6,39.2]]}}`, plain},

		"FeatureCollection": {geoJSONBody, `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},` +
			`"geometry":{"type":"LineString","coordinates":[[-75.5,39.1],[-75.6,39.2]]}}]}`, plain},
		"FeatureCollection with points and areas, times and types last": {geoJSONBody,
			`{"features":[{"geometry":{"coordinates":[1,2],"type":"Point"},` +
				`"properties":{"coordTimes":"x"},"type":"Feature"},null,{"type":"Feature","geometry":null},` +
				`{"properties":{"coordTimes":[5,"2024-05-01T12:00:00Z"]},"geometry":{"bbox":[1,2,3,4],` +
				`"coordinates":[[-75.5,39.1,7],[-75.6,39.2]],"type":"LineString"},"type":"Feature"},` +
				`{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[1,2],[3,4],[5,6],[1,2]]]}},` +
				`{"geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}],` +
				`"coordinates":[[1,2],[3,4]],"type":"FeatureCollection","bbox":[1,2,3,4]}`,
			[]Point{full(39.1, -75.5, 5, nan), full(39.2, -75.6, 1714564800, nan)}},
		"LineString with a foreign member features": {geoJSONBody,
			`{"type":"LineString","features":[1],"coordinates":[[-75.5,39.1],[-75.6,39.2]]}`, plain},

		"CSV":                  {csvBody, "lat,lng\n39.1,-75.5\n39.2,-75.6\n", plain},
		"CSV without last end": {csvBody, "lat,lon\n39.1,-75.5\n39.2,-75.6", plain},
		"CSV of a spreadsheet": {csvBody, "\ufeffID,Time,LON,Lat,\"what, \"\"where\"\"\",Accuracy\r\n" +
			"1,2024-05-01T14:00:00+02:00,-75.5,39.1,\"one\r\ntwo\",4.5\r\n\r\n2,, -75.6 ,\"39.2\",x,\r\n,,,,,\r\n",
			[]Point{full(39.1, -75.5, 1714564800, 4.5), At(39.2, -75.6)}},
		"CSV with short and long rows": {csvBody, "lat,lng,time,accuracy\n39.1,-75.5\n39.2,-75.6,1714564800.25,+7e0,,\n",
			[]Point{At(39.1, -75.5), full(39.2, -75.6, 1714564800.25, 7)}},
		"CSV of three points": {csvBody, "lat,lng\n-90,-180\n90,180\n0,0\n", []Point{At(-90, -180), At(90, 180), At(0, 0)}},

		"GPX track": {gpxBody, `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><metadata><time>2020-01-01T00:00:00Z</time></metadata><wpt lat="1" lon="1"/>
<trk><name>a</name><trkseg><trkpt lat="39.1" lon="-75.5"><ele>3</ele><time>2024-05-01T12:00:00Z</time><hdop>2</hdop>
<extensions><x:time xmlns:x="x">never</x:time></extensions></trkpt></trkseg><trkseg><trkpt lon=" -75.6 " lat="+39.2"/></trkseg></trk></gpx>`,
			[]Point{full(39.1, -75.5, 1714564800, nan), At(39.2, -75.6)}},
		"GPX route": {gpxBody, `<gpx><rte><rtept lat="39.1" lon="-75.5"/><rtept lat="39.2" lon="-75.6"><time>2024-05-01T12:00:00.25</time></rtept></rte></gpx>`,
			[]Point{At(39.1, -75.5), full(39.2, -75.6, 1714564800.25, nan)}},
		"GPX track before route": {gpxBody, `<gpx><rte><rtept lat="1" lon="1"/><rtept lat="x" lon="2"/></rte><trk><trkseg><trkpt lat="39.1" lon="-75.5"/><trkpt lat="39.2" lon="-75.6"/></trkseg></trk></gpx>`, plain},
		"GPX in another charset": {gpxBody, "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><gpx><trk><name>Stra\xdfe</name><trkseg><trkpt lat=\"39.1\" lon=\"-75.5\"/><trkpt lat=\"39.2\" lon=\"-75.6\"/></trkseg></trk></gpx>", plain},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.parse(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, same); diff != "" {
				t.Errorf("points (-want +got):\n%s", diff)
			}
			doc, err := Parse(nil, []byte(tc.text), 3, nil)
			if !strings.HasPrefix(strings.TrimSpace(tc.text), "[") && (err != nil || !cmp.Equal(tc.want, doc.Points, same)) {
				t.Errorf("Parse does not find the form by itself: %v, %v", doc.Points, err)
			}
		})
	}
}

func TestRefuse(t *testing.T) {
	const xmlHead = `<gpx><trk><trkseg>`
	const line = `{"type":"LineString","coordinates":[[1,2],[3,4]]}`
	collected := func(geometries ...string) string {
		return `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":` +
			strings.Join(geometries, `},{"type":"Feature","geometry":`) + `}]}`
	}
	deep := strings.Repeat("[", 100)
	for _, tc := range []struct {
		parse func(string) ([]Point, error)
		text  string
		want  string
	}{
		{path, ``, "path: it ends early, '[' is expected at byte 0"},
		{path, `[]`, "path: at least 2 points are needed, and it has 0"},
		{path, `[{1,1},{2,2},{3,3},{4,4}]`, "path: more than 3 points"},
		{path, `[{1,1},{91,2}]`, "path: point 1: latitude 91 is not in -90 to 90"},
		{path, `[{1,-180.5},{1,2}]`, "path: point 0: longitude -180.5 is not in -180 to 180"},
		{path, `[{1,1},{1 2}]`, "path: point 1: ',' is expected at byte 10"},
		{path, `[{1,1},{1,2,3}]`, "path: point 1: '}' is expected at byte 11"},
		{path, `[{1,1},{.5,2}]`, "path: point 1: a number is expected at byte 8"},
		{path, `[{1,1},{NaN,2}]`, "path: point 1: a number is expected at byte 8"},
		{path, `[{1,1},{"lat":1}]`, "path: point 1: lng is missing"},
		{path, `[{1,1},{"lon":1}]`, "path: point 1: lat is missing"},
		{path, `[{1,1},{"lat":1,"lon":2,"lng":2}]`, "path: point 1: lng: means the same as lon; only one of them is accepted"},
		{path, `[{1,1},{"lat":1,"lon":2,"lon":2}]`, "path: point 1: lon appears more than once"},
		{path, `[{1,1},{"lat":1,"lat":2,"lng":3}]`, "path: point 1: lat appears more than once"},
		{path, `[{1,1},{"lat":"1","lng":3}]`, "path: point 1: a number is expected at byte 14"},
		{path, `[{1,1},{"lat":1,"lng":3`, "path: point 1: it ends early, ',' or '}' is expected at byte 23"},
		{path, `[{1,1},{1,2}]]`, "path: something follows the end at byte 13"},
		{path, `[{1,1},{1,2}`, "path: point 2: it ends early, ',' or ']' is expected at byte 12"},
		{path, `[{1,1},{"x":` + deep, "path: point 1: a value that is nested too deeply at byte 76"},

		{jsonBody, ``, "body: not the JSON of a trace: it ends early, '{' is expected at byte 0"},
		{jsonBody, `{}`, "path: is missing"},
		{jsonBody, `{"path":"[{1,1},{2,2}]"}`, "path: must be an array of points"},
		{jsonBody, `{"path":[]}`, "path: at least 2 points are needed, and it has 0"},
		{jsonBody, `{"path":[{"lat":1,"lng":1},{1,2}]}`, "path: point 1: a string is expected at byte 28"},
		{jsonBody, `{"path":[{"lat":+1,"lng":1}]}`, "path: point 0: a number is expected at byte 16"},
		{jsonBody, `{"path":[],"path":[]}`, "path: appears more than once"},
		{jsonBody, `{"path":[],"radius":"5"}`, "radius: must be a number"},
		{jsonBody, `{"radius":1,"radius":2}`, "radius: appears more than once"},
		{jsonBody, `{"path":[],"details":"true"}`, "details: must be true or false"},
		{jsonBody, `{"path":[],"format":1}`, "format: must be a string"},
		{jsonBody, `{"path":[]} x`, "body: not the JSON of a trace: something follows the end at byte 12"},
		{jsonBody, "{\"path\":[],\"\xff\":1}", "body: not the JSON of a trace: a string that is not UTF-8 at byte 11"},
		{jsonBody, `{"a":` + deep, "body: not the JSON of a trace: a value that is nested too deeply at byte 69"},
		{jsonBody, `{"path":[{"lat":1,"lng":1,"time":"yesterday"}]}`, "path: point 0: time is neither RFC 3339 nor Unix seconds"},
		{jsonBody, `{"path":[{"lat":1,"lng":1,"time":1714564800000}]}`, "path: point 0: time 1.7145648e+12 is not in Unix seconds"},
		{jsonBody, `{"path":[{"lat":1,"lng":1,"accuracy":0}]}`, "path: point 0: accuracy 0 is not a positive number of metres"},

		{geoJSONBody, `{}`, "type: must be a LineString, or a Feature or a FeatureCollection with one"},
		{geoJSONBody, `{"type":"Point","coordinates":[1,2]}`,
			"type: must be a LineString, or a Feature or a FeatureCollection with one; it is a Point"},
		{geoJSONBody, `{"coordinates":[[[1,2],[3,4]]],"type":"MultiLineString"}`,
			"type: must be a LineString, or a Feature or a FeatureCollection with one; it is a MultiLineString"},
		{geoJSONBody, `{"type":"Line","coordinates":[1,2]}`, "coordinates: point 0: must be an array [longitude, latitude]"},
		{geoJSONBody, `{"type":"Feature","geometry":null}`,
			"geometry: must be a LineString, or a Feature or a FeatureCollection with one"},
		{geoJSONBody, `{"type":"Feature","geometry":{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}}`,
			"geometry: must be a LineString, or a Feature or a FeatureCollection with one; it is a MultiPoint"},
		{geoJSONBody, `{"type":"LineString"}`, "coordinates: is missing"},
		{geoJSONBody, `{"type":"LineString","coordinates":7}`, "coordinates: must be an array of positions"},
		{geoJSONBody, `{"type":"LineString","coordinates":[[1,2],[1,2],[1,2],[1,2]]}`, "coordinates: more than 3 points"},
		{geoJSONBody, `{"type":"LineString","coordinates":[[1,2],[1]]}`, "coordinates: point 1: ',' is expected at byte 44"},
		{geoJSONBody, `{"type":"LineString","coordinates":[[1,2],[39.1,-175.5]]}`, "coordinates: point 1: latitude -175.5 is not in -90 to 90"},
		{geoJSONBody, `{"type":"LineString","coordinates":[[1,2]],"coordinates":[]}`, "coordinates: appears more than once"},
		{geoJSONBody, `{"type":"LineString","coordinates":[[1,2]`, "body: not the GeoJSON of a trace: it ends early, ',' or ']' is expected at byte 41"},
		{geoJSONBody, `{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]},"properties":{"coordTimes":[1]}}`, "coordTimes: has 1 times for 2 positions"},
		{geoJSONBody, `{"properties":{"coordTimes":[1,2,3,4]}}`, "coordTimes: more than 3 times"},
		{geoJSONBody, `{"properties":{"coordTimes":[1,true]}}`, "body: not the GeoJSON of a trace: a number is expected at byte 31"},
		{geoJSONBody, `{"properties":{"coordTimes":[1,"x"]}}`, "coordTimes: point 1: time is neither RFC 3339 nor Unix seconds"},
		{geoJSONBody, `{"properties":{"coordTimes":"x"}}`, "coordTimes: must be an array of times"},

		{geoJSONBody, `{"type":"FeatureCollection"}`, "features: is missing"},
		{geoJSONBody, `{"type":"FeatureCollection","features":null}`, "features: must be an array"},
		{geoJSONBody, `{"type":"FeatureCollection","features":[]}`, "features: 0 have a LineString; a trace is one"},
		{geoJSONBody, `{"type":"FeatureCollection","features":[],"features":[]}`, "features: appears more than once"},
		{geoJSONBody, collected(`{"type":"Point","coordinates":[1,2]}`), "features: 0 have a LineString; a trace is one"},
		{geoJSONBody, collected(line, line), "features: 2 have a LineString; a trace is one"},
		{geoJSONBody, collected(line, `{"type":"MultiLineString","coordinates":[]}`),
			"features: one has a MultiLineString; a trace is one LineString"},
		{geoJSONBody, collected(`{"type":"GeometryCollection","geometries":[` + line + `]}`),
			"features: one has a GeometryCollection; a trace is one LineString"},
		{geoJSONBody, collected(`{"type":"LineString","coordinates":[[1,2],[1,95]]}`),
			"coordinates: point 1: latitude 95 is not in -90 to 90"},
		{geoJSONBody, collected(`{"type":"LineString","coordinates":[[1,2],[1]]}`),
			"coordinates: point 1: ',' is expected at byte 113"},
		{geoJSONBody, collected(`{"type":"LineString","coordinates":[[1,2],[1,2],[1,2],[1,2]]}`),
			"coordinates: more than 3 points"},
		{geoJSONBody, collected(`{"type":"LineString","coordinates":[],"coordinates":[]}`),
			"coordinates: appears more than once"},
		{geoJSONBody,
			`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"coordTimes":[true,1]},"geometry":` + line +
				`}]}`,
			"body: not the GeoJSON of a trace: a number is expected at byte 86"},
		{geoJSONBody,
			`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"coordTimes":[1]},"geometry":` + line +
				`}]}`,
			"coordTimes: has 1 times for 2 positions"},
		{geoJSONBody, `{"type":"FeatureCollection","features":[{"type":"Feature"`,
			"body: not the GeoJSON of a trace: it ends early, ',' or '}' is expected at byte 57"},

		{csvBody, ``, "csv: a header and rows are needed, and it is empty"},
		{csvBody, "39.1,-75.5\n39.2,-75.6\n", "csv: the header has no column lat"},
		{csvBody, "latitude,lat\n1,2", "csv: the header has no column lng or lon"},
		{csvBody, "lat,lng,LON\n1,2,3\n1,2,3", "csv: line 1: the header names lng and LON, which are the same"},
		{csvBody, "lat,lng\n1,2\n", "csv: at least 2 points are needed, and it has 1"},
		{csvBody, "lat,lng\n1,2\n1,2\n1,2\n1,2\nx", "csv: more than 3 points"},
		{csvBody, "lat,lng\n1,2\n1,x\n", `csv: point 1: line 3, column lng: "x" is not a number`},
		{csvBody, "lat,lng\n1,2\n\n,2\n", "csv: point 1: line 4, column lat: is missing"},
		{csvBody, "lat,a,Lng\n1,2\n", "csv: point 0: line 2, column Lng: is missing"},
		{csvBody, "lat,lng\n1,2,3\n", "csv: point 0: line 2: 3 cells for 2 columns"},
		{csvBody, "lat,lng\nNaN,2\n", `csv: point 0: line 2, column lat: "NaN" is not a number`},
		{csvBody, "lat,lng\n91,2\n", "csv: point 0: line 2, column lat: latitude 91 is not in -90 to 90"},
		{csvBody, "\"a\nb\",lat,lon\n\"\n\n\",1,-200",
			"csv: point 0: line 5, column lon: longitude -200 is not in -180 to 180"},
		{csvBody, "lat,lng,time\n1,2,noon\n",
			`csv: point 0: line 2, column time: time "noon" is neither RFC 3339 nor Unix seconds`},
		{csvBody, "lat,lng,time\n1,2,1714564800000\n",
			"csv: point 0: line 2, column time: time 1.7145648e+12 is not in Unix seconds"},
		{csvBody, "lat,lng,accuracy\n1,2,0\n",
			`csv: point 0: line 2, column accuracy: accuracy "0" is not a positive number of metres`},
		{csvBody, "lat,lng,accuracy\n1,2,-3\n",
			`csv: point 0: line 2, column accuracy: accuracy "-3" is not a positive number of metres`},
		{csvBody, "lat,lng\n1,2\n3,\"4\n", `csv: line 3, character 6: extraneous or missing " in quoted-field`},
		{csvBody, "lat,lng\n1,2\n3,4\"\n", `csv: line 3, character 4: bare " in non-quoted-field`},
		{csvBody, "lat,lng\n" + strings.Repeat(",", 2000), "csv: line 2 has more than 1000 cells"},
		{csvBody, "lat,lng\n1,\"" + strings.Repeat("\n", 1<<17),
			"csv: line 65536 and what belongs to it has more than 65536 bytes"},

		{gpxBody, ``, "gpx: the document is empty"},
		{gpxBody, `<kml/>`, "gpx: the document is not GPX"},
		{gpxBody, `<gpx/>`, "gpx: it has no track points and no route points"},
		{gpxBody, xmlHead, "gpx: not well-formed XML: unexpected EOF in line 1"},
		{gpxBody, xmlHead + `<trkpt lat="1" lon="2"/></trkseg></trk></gpx>`, "trkpt: at least 2 points are needed, and it has 1"},
		{gpxBody, xmlHead + strings.Repeat(`<trkpt lat="1" lon="2"/>`, 4), "trkpt: more than 3 points"},
		{gpxBody, xmlHead + `<trkpt lat="1"/>`, "trkpt: point 0: lon is missing"},
		{gpxBody, xmlHead + `<trkpt lat="" lon="2"/>`, "trkpt: point 0: lat is not a number"},
		{gpxBody, xmlHead + `<trkpt lat="9" lon="2"><time>noon</time></trkpt>`, "trkpt: point 0: time is not an ISO 8601 date and time"},
		{gpxBody, `<gpx><rte><rtept lat="9" lon="200"/></rte></gpx>`, "rtept: point 0: longitude 200 is not in -180 to 180"},
		{gpxBody, `<gpx>` + strings.Repeat("<a>", 70), "gpx: elements are nested too deeply"},
		{gpxBody, `<!DOCTYPE gpx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><gpx>&b;</gpx>`, "gpx: not well-formed XML: invalid character entity &b; in line 1"},
	} {
		got, err := tc.parse(tc.text)
		var input *InputError
		if !errors.As(err, &input) {
			t.Errorf("%.60q gave %v, %v", tc.text, got, err)
		} else if diff := cmp.Diff(tc.want, err.Error()); diff != "" {
			t.Errorf("%.60q (-want +got):\n%s", tc.text, diff)
		}
	}
}

// fit is the beginning of a FIT file, with a comma in it.
const fit = "\x0e\x10\x43\x08\x2c\x26\x00\x00.FIT"

// A text of another format than the one it is sent as is told so.
func TestReadOther(t *testing.T) {
	const valid = `{"path":[{"lat":1,"lng":2},{"lat":1,"lng":2}]}`
	const feature = `{"type":"Feature","geometry":{"type":"LineString","coordinates":[[1,2],[3,4]]}}`
	for _, tc := range []struct {
		format     *Format
		text, want string
	}{
		{jsonFormat, feature, "body: is GeoJSON; send it with Content-Type application/geo+json"},
		{jsonFormat, `{"type":"Point","coordinates":[1,2]}`, "body: is GeoJSON; send it with Content-Type application/geo+json"},
		{jsonFormat, "\ufeff <?xml version='1.0'?><gpx/>", "body: is GPX; send it with Content-Type application/gpx+xml"},
		{jsonFormat, "lat,lng\n1,2", "body: is CSV; send it with Content-Type text/csv"},
		{geoJSONFormat, valid, "body: is JSON with a path; send it with Content-Type application/json"},
		{gpxFormat, feature, "body: is GeoJSON; send it with Content-Type application/geo+json"},
		{csvFormat, valid, "body: is JSON with a path; send it with Content-Type application/json"},
		{gpxFormat, fit, "body: " + noTrace}, {jsonFormat, fit, "body: " + noTrace}, {csvFormat, fit, "body: " + noTrace},
		{jsonFormat, `{"type":"car"}`, "path: is missing"},
		{jsonFormat, "path=[{1,2},{3,4}]", "body: not the JSON of a trace: '{' is expected at byte 0"},
		{gpxFormat, "<kml/>", "gpx: the document is not GPX"},
	} {
		if _, err := tc.format.Read(nil, []byte(tc.text), 3, nil); err == nil || err.Error() != tc.want {
			t.Errorf("%s: %q: %v, want %s", tc.format.Name, tc.text, err, tc.want)
		}
	}
}

func TestParseForms(t *testing.T) {
	for _, text := range []string{"", "lat lon\n1 2", "[1,2]", ",", `"path"`, "{}", `{"type":"Topology"}`, "<kml/>", fit} {
		if _, err := Parse(nil, []byte(text), 3, nil); err == nil || err.Error() != "trace: "+noTrace {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
	doc, err := ParseJSON(nil,
		[]byte(`{"radius":-1.5e1,"path":[{"lat":1,"lng":1},{"lat":1,"lng":2}],`+
			`"details":false,"format":"geojson","profile":"foot"}`), 3)
	if err != nil || doc.Radius == nil || *doc.Radius != -15 || doc.Details == nil || *doc.Details || doc.Format == nil ||
		*doc.Format != "geojson" ||
		doc.Profile == nil || *doc.Profile != "foot" {
		t.Errorf("parameters of a body: %+v, %v", doc, err)
	}
}

// longPath is a path of n points with six decimals.
func longPath(n int) []byte {
	text := []byte{'['}
	for i := range n {
		if i > 0 {
			text = append(text, ',')
		}
		text = fmt.Appendf(text, "{%.6f,%.6f}", 39+float64(i)*1e-5, -75.5-float64(i)*1e-5)
	}
	return append(text, ']')
}

func TestParsePathReusesMemory(t *testing.T) {
	text := longPath(1000)
	points, err := ParsePath(nil, text, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if allocs := testing.AllocsPerRun(10, func() { points, _ = ParsePath(points, text, 1000) }); allocs > 0 {
		t.Errorf("%v allocations for a path that fits the memory it was given", allocs)
	}
}

// TestStopsAtTheLimit: an input that is too long is refused at the limit, before anything after it is read.
func TestStopsAtTheLimit(t *testing.T) {
	for _, text := range []string{`[{1,1},{1,1},{1,1},{1,1},{,`, `[{1,1},{1,1},{1,1},{"`} {
		if _, err := path(text); err == nil || err.Error() != "path: more than 3 points" {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func BenchmarkParsePath(b *testing.B) {
	text := longPath(10000)
	var points []Point
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if points, err = ParsePath(points, text, 10000); err != nil {
			b.Fatal(err)
		}
	}
}
