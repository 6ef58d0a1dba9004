package matching_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/geo"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/matching"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const (
	endpoint = "/api/route/matching/"
	jsonType = "application/json"
	gpxType  = "application/gpx+xml"
	geoType  = "application/geo+json"
	csvType  = "text/csv"
)

// drive goes along Main Street and up Oak Street.
var drive = [][2]float64{{39.16002, -75.528}, {39.15998, -75.524}, {39.16003, -75.5204}, {39.164, -75.52002},
	{39.168, -75.51998}}

// driveLength is how far that is, in metres.
var driveLength = (0.008*math.Cos(39.16*math.Pi/180) + 0.008) * 6371008.8 * math.Pi / 180

// join writes the drive's points by a format of latitude and longitude.
func join(format, separator string) string {
	parts := make([]string, len(drive))
	for i, p := range drive {
		parts[i] = fmt.Sprintf(format, p[0], p[1])
	}
	return strings.Join(parts, separator)
}

var (
	pairs   = "[" + join("{%v,%v}", ",") + "]"
	objects = "[" + join(`{"lat":%v,"lng":%v}`, ",") + "]"
	body    = `{"path":` + objects + `}`
	gpx     = `<?xml version="1.0"?><gpx><trk><trkseg>` + join(`<trkpt lat="%v" lon="%v"/>`, "") + `</trkseg></trk></gpx>`
	table   = "lat,lng\n" + join("%v,%v", "\n")
	geoJSON = `{"type":"LineString","coordinates":[` + join("[%[2]v,%[1]v]", ",") + `]}`
)

// formType is the media type of form.
const formType = "multipart/form-data; boundary=b"

// form is a form with a file, as curl sends it.
func form(file string, fields ...string) string {
	text := ""
	for _, name := range fields {
		text += "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n1\r\n"
	}
	return text + "--b\r\nContent-Disposition: form-data; name=\"trace\"; filename=\"drive\"\r\n" +
		"Content-Type: application/octet-stream\r\n\r\n" + file + "\r\n--b--\r\n"
}

// buildRegion compiles OpenStreetMap XML, and returns the region's path.
func buildRegion(t testing.TB, osm string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "map.region")
	modulestest.BuildRegion(t, path, osm)
	return path
}

func start(t *testing.T, options string) (s *modulestest.Server, region string) {
	t.Helper()
	region = buildRegion(t, modulestest.Village)
	return modulestest.Start(t, modulestest.Config{
		Maps: "region village " + region,
		Site: "maps_match {\npublic\nmatcher local village\n" + options + "\n}\nrespond \"not for the next handler\" 418",
	}), region
}

type result struct {
	Coordinates [][2]float64 `json:"coordinates"`
	Distance    *float64     `json:"distance"`
	Confidence  *float64     `json:"confidence"`
	Duration    *float64     `json:"duration"`
	Tracepoints []struct {
		Location *[2]float64 `json:"location"`
		Distance *float64    `json:"distance"`
		Name     *string     `json:"name"`
		Matched  *bool       `json:"matched"`
		Index    *int        `json:"index"`
	} `json:"tracepoints"`
	Ways []struct {
		ID   int64   `json:"id"`
		Name *string `json:"name"`
		From *int    `json:"from"`
		To   int     `json:"to"`
	} `json:"ways"`
}

func parse(t *testing.T, a modulestest.Response) result {
	t.Helper()
	var r result
	dec := json.NewDecoder(strings.NewReader(a.Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil || a.Status != http.StatusOK || r.Distance == nil || len(r.Coordinates) < 2 {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	return r
}

// checkError checks for an error in the routing style.
func checkError(t *testing.T, a modulestest.Response, status int, code, says string) {
	t.Helper()
	var e struct {
		Error struct {
			Code, Message string
			Status        int
		}
	}
	dec := json.NewDecoder(strings.NewReader(a.Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil || a.Status != status || e.Error.Status != status || e.Error.Code != code ||
		!strings.Contains(e.Error.Message, says) || a.Header.Get("Content-Type") != jsonType {
		t.Errorf("%d %s, want %d %s %q", a.Status, a.Body, status, code, says)
	}
}

// All forms of a trace give the same drive.
func TestTraceForms(t *testing.T) {
	s, _ := start(t, "")
	want := s.Do(http.MethodGet, endpoint+"?path="+url.QueryEscape(pairs), "", "")
	if got := want.Header.Get("Content-Type"); got != jsonType {
		t.Errorf("Content-Type %q", got)
	}
	r := parse(t, want)
	if math.Abs(*r.Distance-driveLength) > 2 || r.Confidence != nil || r.Tracepoints != nil {
		t.Errorf("%s, want a distance of %.1f", want.Body, driveLength)
	}
	first, last := r.Coordinates[0], r.Coordinates[len(r.Coordinates)-1]
	if math.Abs(first[0]-39.16) > 1e-5 || math.Abs(first[1]+75.528) > 1e-4 || math.Abs(last[0]-39.168) > 1e-4 ||
		math.Abs(last[1]+75.52) > 1e-5 {
		t.Errorf("from %v to %v", first, last)
	}
	for _, tc := range []struct{ method, path, body, media string }{
		{"GET", "?path=" + pairs, "", ""},
		{"GET", "?path=" + strings.ReplaceAll(pairs, ",", ",%20"), "", ""},
		{"GET", "?path=" + strings.ReplaceAll(pairs, ",", ",+"), "", ""},
		{"GET", "?path=" + strings.ReplaceAll(pairs, "{39", "{+39"), "", ""},
		{"GET", "?path=" + url.QueryEscape(strings.ReplaceAll(pairs, "{39", "{+39")), "", ""},
		{"GET", "?path=" + url.PathEscape(objects), "", ""},
		{"GET", "?p%61th=" + pairs + "&apiKey=x&unknown=1&unknown=2&radius=1", "", ""},
		{"POST", "", body, jsonType},
		{"POST", "", body, ""},
		{"POST", "", body, "application/json; charset=UTF-8"},
		{"POST", "?radius=1", body, jsonType},
		{"POST", "", body[:len(body)-1] + `,"radius":1,"details":false,"format":"json","apiKey":"x"}`, jsonType},
		{"POST", "?radius=1&format=json&details=false", gpx, gpxType},
		{"POST", "", geoJSON, geoType},
		{"POST", "", `{"type":"FeatureCollection","features":[{"type":"Feature","properties":null,` +
			`"geometry":{"type":"Point","coordinates":[1,2]}},` +
			`{"type":"Feature","properties":null,"geometry":` + geoJSON + `}]}`, geoType},
		{"POST", "", strings.ReplaceAll(body, "lng", "lon"), jsonType},
		{"POST", "", form(body), formType}, {"POST", "", form(geoJSON), formType}, {"POST", "", form(table), formType},
		{"POST", "?radius=1&format=json", form(gpx, "note"), formType},
		{"POST", "", table, csvType},
		{"POST", "?radius=1&format=json&details=false", strings.ReplaceAll(strings.Replace(table, "lng", "Lon", 1), "\n",
			"\r\n"), "text/csv; charset=UTF-8; header=present"},
	} {
		for _, path := range []string{endpoint, strings.TrimSuffix(endpoint, "/")} {
			a := s.Do(tc.method, path+tc.path, "", tc.body, "Content-Type", "", "Content-Type", tc.media)
			if a.Status != 200 || a.Body != want.Body {
				t.Errorf("%s %s %s %s: %d %s", tc.method, path+tc.path, tc.media, tc.body, a.Status, a.Body)
			}
		}
	}
	head := s.Do(http.MethodHead, endpoint+"?path="+pairs, "", "")
	if head.Status != 200 || head.Body != "" || head.Header.Get("Content-Length") != want.Header.Get("Content-Length") {
		t.Errorf("HEAD: %d %v", head.Status, head.Header)
	}
}

// Details and the formats of an answer.
func TestAnswers(t *testing.T) {
	s, _ := start(t, "")
	get := func(query string) modulestest.Response { return s.Do(http.MethodGet, endpoint+"?path="+query, "", "") }

	r := parse(t, get(strings.Replace(pairs, "{39.16003,-75.5204}", "{39.19,-75.58}", 1)+"&details=true"))
	if r.Confidence == nil || *r.Confidence < 0 || *r.Confidence > 1 || r.Duration == nil || *r.Duration <= 0 ||
		len(r.Tracepoints) != len(drive) {
		t.Fatalf("%+v", r)
	}
	for i, p := range r.Tracepoints {
		if i == 2 {
			if p.Index != nil || *p.Matched || p.Location != nil || *p.Name != "" {
				t.Errorf("the outlier: %+v", p)
			}
			continue
		}
		name := map[bool]string{true: "Main Street", false: "Oak Street"}[i < 2]
		if !*p.Matched || *p.Name != name || *p.Distance > 5 || math.Abs(p.Location[0]-drive[i][0]) > 1e-4 ||
			math.Abs(p.Location[1]-drive[i][1]) > 1e-4 || p.Index == nil || *p.Index >= len(r.Coordinates) ||
			r.Coordinates[*p.Index] != *p.Location {
			t.Errorf("point %d: %+v", i, p)
		}
	}
	// Main Street up to the crossing, which is coordinate 2, and Oak Street.
	if w := r.Ways; len(w) != 2 || w[0].ID != 20 || *w[0].Name != "Main Street" || *w[0].From != 0 || w[0].To != 2 ||
		w[1].ID != 21 || *w[1].Name != "Oak Street" || *w[1].From != 2 || w[1].To != len(r.Coordinates)-1 ||
		r.Coordinates[2] != [2]float64{39.16, -75.52} {
		t.Errorf("ways %+v of %v", w, r.Coordinates)
	}
	if a := get(pairs + "&details=false"); strings.Contains(a.Body, "tracepoints") {
		t.Errorf("details=false: %s", a.Body)
	}

	for _, details := range []string{"", "&details=true"} {
		a := get(pairs + details)
		plain := parse(t, a)
		var feature struct {
			Type     string
			Geometry struct {
				Type        string
				Coordinates [][2]float64
			}
			Properties map[string]any
		}
		g := get(pairs + "&format=geojson" + details)
		if err := json.Unmarshal([]byte(g.Body), &feature); err != nil || g.Header.Get("Content-Type") != geoType ||
			feature.Type != "Feature" || feature.Geometry.Type != "LineString" || len(feature.Geometry.Coordinates) != len(plain.Coordinates) {
			t.Fatalf("%v: %v %s", err, g.Header, g.Body)
		}
		var line struct {
			Polyline string
		}
		p := get(pairs + "&format=polyline6" + details)
		if err := json.Unmarshal([]byte(p.Body), &line); err != nil || p.Header.Get("Content-Type") != jsonType {
			t.Fatalf("%v: %v %s", err, p.Header, p.Body)
		}
		decoded, err := geo.DecodePolyline([]byte(line.Polyline), geo.Polyline6)
		if err != nil || len(decoded) != len(plain.Coordinates) {
			t.Fatalf("%v: %s", err, p.Body)
		}
		for i, c := range plain.Coordinates {
			if feature.Geometry.Coordinates[i] != [2]float64{c[1], c[0]} || math.Abs(decoded[i].Lat()-c[0]) > 6e-7 ||
				math.Abs(decoded[i].Lon()-c[1]) > 6e-7 {
				t.Errorf("position %d: %v, %v, plain %v", i, feature.Geometry.Coordinates[i], decoded[i], c)
			}
		}
		var want, rest map[string]any // all else is the same
		_ = json.Unmarshal([]byte(a.Body), &want)
		_ = json.Unmarshal([]byte(p.Body), &rest)
		delete(want, "coordinates")
		delete(rest, "polyline")
		diff := cmp.Diff(want, rest)
		points, _ := want["tracepoints"].([]any)
		for _, p := range points {
			slices.Reverse(p.(map[string]any)["location"].([]any))
		}
		if diff += cmp.Diff(want, feature.Properties); diff != "" {
			t.Error(diff)
		}
		for format, want := range map[string]string{"geojson": g.Body, "polyline6": p.Body} {
			more := fmt.Sprintf(`,"format":%q,"details":%v}`, format, details != "")
			if post := s.Do(http.MethodPost, endpoint, "", body[:len(body)-1]+more); post.Body != want {
				t.Errorf("%s by the body: %s, by the query: %s", format, post.Body, want)
			}
		}
	}

	// Six decimals or more, also of round numbers.
	a := get(pairs)
	inside := strings.NewReplacer(`{"coordinates":[[`, "", "],[", ",").Replace(a.Body)
	inside, _, _ = strings.Cut(inside, "]]")
	for number := range strings.SplitSeq(inside, ",") {
		if _, decimals, _ := strings.Cut(number, "."); len(decimals) < 6 {
			t.Errorf("%s in %s", number, a.Body)
		}
	}
	// If all points are at one place, the snapped coordinate is there twice.
	if r := parse(t, get("[{39.1601,-75.525},{39.1601,-75.525},{39.1601,-75.525}]")); *r.Distance != 0 ||
		len(r.Coordinates) != 2 || r.Coordinates[0] != r.Coordinates[1] || math.Abs(r.Coordinates[0][0]-39.16) > 1e-5 {
		t.Errorf("%+v", r)
	}
	// The radius is a hint: the road is found however far from it the search starts.
	off := "[{39.1604,-75.529},{39.1604,-75.526},{39.1604,-75.523}]" // 44 m
	for _, radius := range []string{"", "0.1", "1", "5e1", "100", "%2B7", "+7"} {
		query := off
		if radius != "" {
			query += "&radius=" + radius
		}
		if r := parse(t, get(query)); math.Abs(*r.Distance-0.006*math.Cos(39.16*math.Pi/180)*111195) > 2 {
			t.Errorf("radius %s: %+v", radius, r)
		}
	}
}

func TestRefusals(t *testing.T) {
	s, _ := start(t, "max_points 6\nmax_body 2KiB\nmax_radius 60")
	const one = "[{39.16,-75.53},{39.16,-75.51}]"
	oneBody := `{"path":[{"lat":39.16,"lng":-75.53},{"lat":39.16,"lng":-75.51}]`
	for _, tc := range []struct{ query, says string }{
		{"", "path: is missing"},
		{"path=", "path: it ends early"},
		{"path=" + one + "&path=" + one, "path: appears more than once"},
		{"path=%5", "path: a percent-encoding"},
		{"path=39.1,-75.5", "path: '[' is expected"},
		{"path=[]", "path: at least 2 points"},
		{"path=[{1,2}]", "path: at least 2 points"},
		{"path=[{1,2},{1,2},{1,2},{1,2},{1,2},{1,2},{1,2}]", "path: more than 6 points"},
		{"path=[{1,2},{91,2}]", "path: point 1: latitude 91"},
		{"path=[{1,200},{1,2}]", "path: point 0: longitude 200"},
		{"path=[{1,2},{1,x}]", "path: point 1: a number"},
		{"path=[{1,2},{NaN,2}]", "path: point 1: a number"},
		{"radius=0&path=" + one, "radius:"}, {"radius=-1&path=" + one, "radius:"}, {"radius=60.1&path=" + one, "radius:"},
		{"radius=&path=" + one, "radius:"}, {"radius=5m&path=" + one, "radius:"}, {"radius=1e999&path=" + one, "radius:"},
		{"radius=NaN&path=" + one, "radius:"},
		{"radius=1&r%61dius=1&path=" + one, "radius: appears more than once"},
		{"details=yes&path=" + one, "details:"}, {"details=&path=" + one, "details:"},
		{"details=true&details=true&path=" + one, "details:"},
		{"format=xml&path=" + one, "format:"}, {"format=json&format=json&path=" + one, "format:"},
	} {
		checkError(t, s.Do(http.MethodGet, endpoint+"?"+tc.query, "", ""), 422, "InvalidInput", tc.says)
	}
	for _, tc := range []struct{ query, body, media, says string }{
		{"", " ", jsonType, "body:"},
		{"", "path=[]", jsonType, "body:"},
		{"", "{}", jsonType, "path: is missing"},
		{"", `{"path":[{"lat":1,"lng":2},{"lat":1}]}`, jsonType, "path: point 1: lng is missing"},
		{"", oneBody + `,"radius":0}`, jsonType, "radius:"},
		{"", oneBody + `,"radius":"5"}`, jsonType, "radius:"},
		{"", oneBody + `,"format":"kml"}`, jsonType, "format:"},
		{"", oneBody + `,"details":1}`, jsonType, "details:"},
		{"?radius=5", oneBody + `,"radius":5}`, jsonType, "radius:"},
		{"?path=" + one, oneBody + `}`, jsonType, "path:"},
		{"?radius=0", oneBody + `}`, jsonType, "radius:"},
		{"", `{"path":[{"lat":1,"lng":2,"accuracy":0},{"lat":1,"lng":2}]}`, jsonType, "path: point 0: accuracy"},
		{"", `{"path":[{"lat":1,"lng":2},{"lat":1,"lng":2,"time":"x"}]}`, jsonType, "path: point 1: time"},
		{"", "<gpx>", gpxType, "gpx:"},
		{"", `<gpx><trk><trkseg><trkpt lat="95" lon="1"/>`, gpxType, "trkpt: point 0: latitude"},
		{"", `{"type":"Point","coordinates":[[1,2],[1,2]]}`, geoType, "type:"},
		{"", `{"type":"FeatureCollection","features":[]}`, geoType, "features: 0 have a LineString"},
		{"", `{"type":"LineString","coordinates":[[1,2],[1,95]]}`, geoType, "coordinates: point 1: latitude"},
		{"", geoJSON, jsonType, "body: is GeoJSON; send it with Content-Type application/geo+json"},
		{"", form(gpx, "radius"), formType, "radius: belongs in the query, not in the form"},
		{"", form("\x0e\x10\x43\x08\x2c\x26\x00\x00.FIT"), formType, "trace: is neither GPX nor GeoJSON nor CSV nor JSON"},
		{"", form(gpx), "multipart/form-data; boundary=c", "body: is not a form with the boundary of Content-Type"},
		{"", form(gpx), "multipart/form-data", "body: is not a form with the boundary of Content-Type"},
		{"", "a,b\n1,2", csvType, "csv: the header has no column lat"},
		{"", "lat,lng\n1,2\n91,2", csvType, "csv: point 1: line 3, column lat: latitude 91"},
		{"", "lat,lng" + strings.Repeat("\n1,2", 7), csvType, "csv: more than 6 points"},
	} {
		a := s.Do(http.MethodPost, endpoint+tc.query, "", tc.body, "Content-Type", "", "Content-Type", tc.media)
		checkError(t, a, 422, "InvalidInput", tc.says)
	}
	for query, says := range map[string]string{
		"[{39.19,-75.59},{39.19,-75.58}]": ": the trace lies inside the region's coverage, but no drive",
		"[{10,20},{10,20.01}]":            ": the whole trace lies outside the region's coverage",
		"[{39.16,-75.53},{39.16,-75.51},{10,20},{10,20.01},{10,20.02}]": ": part of the trace, 3 of 5 points, lies outside " +
			"the region's coverage",
		"[{39.16,-75.53},{39.161,-75.45}]": ": the trace lies inside the region's coverage",
	} {
		checkError(t, s.Do(http.MethodGet, endpoint+"?path="+query, "", ""), 404, "NoRoute",
			"no matching route for the given coordinates"+says)
	}
	for _, tc := range []struct {
		method, path, body, media string
		status                    int
		code, says                string
	}{
		{"PUT", "", oneBody + "}", jsonType, 405, "MethodNotAllowed", "method"},
		{"DELETE", "", "", "", 405, "MethodNotAllowed", "method"},
		{"POST", "", oneBody + `,"x":"` + strings.Repeat("x", 3000) + `"}`, jsonType, 413, "TooLarge", "large"},
		{"POST", "", "path=" + one, "application/x-www-form-urlencoded", 415, "UnsupportedMediaType",
			"Content-Type: application/x-www-form-urlencoded is not accepted; send application/json, application/gpx+xml, " +
				"application/geo+json, text/csv or multipart/form-data"},
		{"POST", "", gpx, "text/xml", 415, "UnsupportedMediaType", "text/xml is not"},
		{"POST", "", oneBody + "}", "application/json; charset=utf-16", 415, "UnsupportedMediaType", "utf-16"},
		{"POST", "", table, "text/csv; charset=utf-16", 415, "UnsupportedMediaType", "utf-16"},
		{"POST", "", oneBody + "}", "json;;", 415, "UnsupportedMediaType", "malformed"},
		{"GET", "x?path=" + one, "", "", 404, "NotFound", "not found"},
		{"GET", "/?path=" + one, "", "", 404, "NotFound", "not found"},
	} {
		a := s.Do(tc.method, endpoint+tc.path, "", tc.body, "Content-Type", "", "Content-Type", tc.media)
		checkError(t, a, tc.status, tc.code, tc.says)
		if allow := a.Header.Get("Allow"); (allow == "GET, HEAD, POST") != (tc.status == 405) {
			t.Errorf("%s %s: Allow %q", tc.method, tc.path, allow)
		}
		if accept := a.Header.Get("Accept"); (accept != "") != (tc.status == 415) {
			t.Errorf("%s %s: Accept %q", tc.method, tc.path, accept)
		}
	}
	a := s.Do(http.MethodPost, endpoint, "", oneBody+"}", "Content-Encoding", "gzip")
	checkError(t, a, 415, "UnsupportedMediaType", "Content-Encoding: gzip")
	checkError(t, s.Do(http.MethodGet, "/api/route", "", ""), 404, "NotFound", "not found")

	// A body whose length is not told is cut off at the limit as well.
	for size, status := range map[int]int{1000: 200, 5000: 413} {
		text := body[:len(body)-1] + `,"x":"` + strings.Repeat("x", size) + `"}`
		// of this kind net/http does not know the length
		resp, err := s.HTTP.Post(s.URL+endpoint, jsonType, struct{ *strings.Reader }{strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != status || resp.Request.ContentLength > 0 {
			t.Errorf("%d bytes: %d, length %d", size, resp.StatusCode, resp.Request.ContentLength)
		}
	}
}

// After a region was truncated in place, requests get 503, the log has one line, and the server goes on.
func TestDamagedRegion(t *testing.T) {
	s, region := start(t, "")
	if err := os.Truncate(region, 4096); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		checkError(t, s.Do(http.MethodPost, endpoint, "", body), 503, "Unavailable", "unavailable")
	}
	if n := strings.Count(s.Log(), "a region file is damaged"); n != 1 {
		t.Errorf("%d lines about the damage", n)
	}
	modulestest.BuildRegion(t, region, modulestest.Village)
	if a := s.AdminDo(http.MethodPost, "/maps/regions/reload", ""); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	parse(t, s.Do(http.MethodPost, endpoint, "", body))
}

// The first of several matchers that covers the whole trace answers, else the one that covers most of it.
func TestChain(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region village " + buildRegion(t, modulestest.Village) + "\nregion far " + buildRegion(t, `<osm version="0.6">
			<node id="1" version="1" lat="10" lon="20"/><node id="2" version="1" lat="10" lon="20.01"/>
			<way id="1" version="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way></osm>`),
		Site: `
			@one query one=*
			maps_match @one {
				public
				matcher local village far
			}
			maps_match {
				public
				matcher local village
				matcher local far
			}`,
	})
	for _, how := range []string{"", "&one=1"} {
		for path, latitude := range map[string]float64{
			pairs:                       39.16,
			"[{10,20.001},{10,20.005}]": 10,
			"[{10,20.001},{10,20.005},{10,20.006},{39.16,-75.528}]": 10,
		} {
			r := parse(t, s.Do(http.MethodGet, endpoint+"?path="+path+how, "", ""))
			if got := r.Coordinates[0][0]; math.Abs(got-latitude) > 0.001 {
				t.Errorf("%s%s: %v, want %v", path, how, got, latitude)
			}
		}
		for path, where := range map[string]string{
			"[{-10,-20},{-10,-20.1}]":               "the whole trace lies outside the coverage of all regions",
			"[{10,20.001},{-10,-20},{-10,-20.1}]":   "2 of 3 points, lies outside the coverage of all regions",
			"[{10,20.001},{39.16,-75.528}]":         "no region covers the whole trace",
			"[{39.19,-75.59},{39.19,-75.58}]":       "the trace lies inside the region's coverage",
			"[{-10,-20},{39.19,-75.59},{10,20.02}]": "1 of 3 points, lies outside the coverage of all regions",
		} {
			checkError(t, s.Do(http.MethodGet, endpoint+"?path="+path+how, "", ""), 404, "NoRoute", where)
		}
	}
}
