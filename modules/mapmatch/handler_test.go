package mapmatch_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/geo"
	_ "github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/localmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/mapmatch"
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

func start(t *testing.T, options string) (s *modulestest.Server, region string) {
	t.Helper()
	region = filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
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

// The same drive comes out in whatever form the trace is sent.
func TestForms(t *testing.T) {
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
		{"GET", "?path=" + strings.ReplaceAll(objects, `"`, "%22"), "", ""},
		{"GET", "?p%61th=" + pairs + "&apiKey=x&unknown=1&unknown=2&radius=1", "", ""},
		{"POST", "", body, jsonType},
		{"POST", "", body, ""},
		{"POST", "", body, "application/json; charset=UTF-8"},
		{"POST", "?radius=1", body, jsonType},
		{"POST", "", body[:len(body)-1] + `,"radius":1,"details":false,"format":"json","apiKey":"x"}`, jsonType},
		{"POST", "", gpx, gpxType},
		{"POST", "?radius=1&format=json&details=false", gpx, gpxType},
		{"POST", "", geoJSON, geoType},
		{"POST", "", `{"type":"Feature","properties":null,"geometry":` + geoJSON + `}`, geoType},
		{"POST", "",
			`{"type":"FeatureCollection","features":[{"type":"Feature","properties":null,` +
				`"geometry":{"type":"Point","coordinates":[1,2]}},` +
				`{"type":"Feature","properties":null,"geometry":` + geoJSON + `}]}`, geoType},
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

func TestAnswers(t *testing.T) {
	s, _ := start(t, "")
	get := func(query string) modulestest.Response {
		t.Helper()
		return s.Do(http.MethodGet, endpoint+"?path="+query, "", "")
	}

	t.Run("details", func(t *testing.T) {
		outlier := strings.Replace(pairs, "{39.16003,-75.5204}", "{39.19,-75.58}", 1)
		r := parse(t, get(outlier+"&details=true"))
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
			name := "Main Street"
			if i > 2 {
				name = "Oak Street"
			}
			if !*p.Matched || *p.Name != name || *p.Distance > 5 || math.Abs(p.Location[0]-drive[i][0]) > 1e-4 ||
				math.Abs(p.Location[1]-drive[i][1]) > 1e-4 {
				t.Errorf("point %d: %+v", i, p)
			}
			if p.Index == nil || *p.Index >= len(r.Coordinates) || r.Coordinates[*p.Index] != *p.Location {
				t.Errorf("point %d is at no coordinate: %+v", i, p)
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
	})

	t.Run("GeoJSON", func(t *testing.T) {
		a := get(pairs + "&format=geojson&details=true")
		var f struct {
			Type     string
			Geometry struct {
				Type        string
				Coordinates [][2]float64
			}
			Properties map[string]any
		}
		if err := json.Unmarshal([]byte(a.Body), &f); err != nil || a.Header.Get("Content-Type") != geoType {
			t.Fatalf("%v: %v %s", err, a.Header, a.Body)
		}
		plain := parse(t, get(pairs+"&details=true"))
		if f.Type != "Feature" || f.Geometry.Type != "LineString" || len(f.Geometry.Coordinates) != len(plain.Coordinates) ||
			f.Properties["distance"] != *plain.Distance {
			t.Errorf("%s", a.Body)
		}
		for i, c := range f.Geometry.Coordinates {
			if c[0] != plain.Coordinates[i][1] || c[1] != plain.Coordinates[i][0] {
				t.Errorf("position %d: %v, plain %v", i, c, plain.Coordinates[i])
			}
		}
		for _, name := range []string{"confidence", "duration", "tracepoints", "ways"} {
			if f.Properties[name] == nil {
				t.Errorf("no %s: %s", name, a.Body)
			}
		}
		post := s.Do(http.MethodPost, endpoint, "", body[:len(body)-1]+`,"format":"geojson","details":true}`)
		if post.Body != a.Body || post.Header.Get("Content-Type") != geoType {
			t.Errorf("by the body: %s", post.Body)
		}
	})

	t.Run("polyline6", func(t *testing.T) {
		for _, details := range []string{"", "&details=true"} {
			plain := parse(t, get(pairs+details))
			a := get(pairs + "&format=polyline6" + details)
			var answer map[string]any
			if err := json.Unmarshal([]byte(a.Body), &answer); err != nil || a.Header.Get("Content-Type") != jsonType {
				t.Fatalf("%v: %v %s", err, a.Header, a.Body)
			}
			line, err := geo.DecodePolyline([]byte(answer["polyline"].(string)), geo.Polyline6)
			if err != nil || len(line) != len(plain.Coordinates) {
				t.Fatalf("%v: %s", err, a.Body)
			}
			for i, p := range line {
				if math.Abs(p.Lat()-plain.Coordinates[i][0]) > 6e-7 || math.Abs(p.Lon()-plain.Coordinates[i][1]) > 6e-7 {
					t.Errorf("position %d: %v, plain %v", i, p, plain.Coordinates[i])
				}
			}
			var rest map[string]any // all else is the same
			_ = json.Unmarshal([]byte(get(pairs+details).Body), &rest)
			delete(rest, "coordinates")
			delete(answer, "polyline")
			if diff := cmp.Diff(rest, answer); diff != "" {
				t.Error(diff)
			}
		}
		post := s.Do(http.MethodPost, endpoint, "", body[:len(body)-1]+`,"format":"polyline6"}`)
		if want := get(pairs + "&format=polyline6"); post.Body != want.Body {
			t.Errorf("by the body: %s, by the query: %s", post.Body, want.Body)
		}
	})

	// Six decimals or more, also of round numbers.
	t.Run("decimals", func(t *testing.T) {
		a := get(pairs)
		inside := strings.NewReplacer(`{"coordinates":[[`, "", "],[", ",").Replace(a.Body)
		inside, _, _ = strings.Cut(inside, "]]")
		for _, number := range strings.Split(inside, ",") {
			if _, decimals, _ := strings.Cut(number, "."); len(decimals) < 6 {
				t.Errorf("%s in %s", number, a.Body)
			}
		}
	})

	// All points at one place: the snapped coordinate twice.
	t.Run("standing", func(t *testing.T) {
		r := parse(t, get("[{39.1601,-75.525},{39.1601,-75.525},{39.1601,-75.525}]"))
		if *r.Distance != 0 || len(r.Coordinates) != 2 || r.Coordinates[0] != r.Coordinates[1] ||
			math.Abs(r.Coordinates[0][0]-39.16) > 1e-5 {
			t.Errorf("%+v", r)
		}
	})

	// The radius is a hint: the road is found however far the search starts from it.
	t.Run("radius", func(t *testing.T) {
		off := "[{39.1604,-75.529},{39.1604,-75.526},{39.1604,-75.523}]" // 44 m
		for _, radius := range []string{"", "&radius=0.1", "&radius=1", "&radius=5e1", "&radius=100", "&radius=%2B7",
			"&radius=+7"} {
			if r := parse(t, get(off+radius)); math.Abs(*r.Distance-0.006*math.Cos(39.16*math.Pi/180)*111195) > 2 {
				t.Errorf("%s: %+v", radius, r)
			}
		}
	})
}

type routingError struct {
	Error struct {
		Code, Message string
		Status        int
	}
}

func TestRefusals(t *testing.T) {
	s, _ := start(t, "max_points 6\nmax_body 2KiB\nmax_radius 60")
	const one = "[{39.16,-75.53},{39.16,-75.51}]"
	oneBody := `{"path":[{"lat":39.16,"lng":-75.53},{"lat":39.16,"lng":-75.51}]`
	for _, tc := range []struct {
		name, method, path, body, media string
		status                          int
		code, says                      string
	}{
		{"no path", "GET", "", "", "", 422, "InvalidInput", "path: is missing"},
		{"empty path", "GET", "?path=", "", "", 422, "InvalidInput", "path: it ends early"},
		{"path repeated", "GET", "?path=" + one + "&path=" + one, "", "", 422, "InvalidInput",
			"path: appears more than once"},
		{"path badly encoded", "GET", "?path=%5", "", "", 422, "InvalidInput", "path: a percent-encoding"},
		{"path not a list", "GET", "?path=39.1,-75.5", "", "", 422, "InvalidInput", "path: '[' is expected"},
		{"no point", "GET", "?path=[]", "", "", 422, "InvalidInput", "path: at least 2 points"},
		{"one point", "GET", "?path=[{1,2}]", "", "", 422, "InvalidInput", "path: at least 2 points"},
		{"too many points", "GET", "?path=[{1,2},{1,2},{1,2},{1,2},{1,2},{1,2},{1,2}]", "", "", 422, "InvalidInput",
			"path: more than 6 points"},
		{"latitude", "GET", "?path=[{1,2},{91,2}]", "", "", 422, "InvalidInput", "path: point 1: latitude 91"},
		{"longitude", "GET", "?path=[{1,200},{1,2}]", "", "", 422, "InvalidInput", "path: point 0: longitude 200"},
		{"no number", "GET", "?path=[{1,2},{1,x}]", "", "", 422, "InvalidInput", "path: point 1: a number"},
		{"NaN", "GET", "?path=[{1,2},{NaN,2}]", "", "", 422, "InvalidInput", "path: point 1: a number"},
		{"radius zero", "GET", "?radius=0&path=" + one, "", "", 422, "InvalidInput", "radius:"},
		{"radius negative", "GET", "?radius=-1&path=" + one, "", "", 422, "InvalidInput", "radius:"},
		{"radius too large", "GET", "?radius=60.1&path=" + one, "", "", 422, "InvalidInput", "radius:"},
		{"radius empty", "GET", "?radius=&path=" + one, "", "", 422, "InvalidInput", "radius:"},
		{"radius no number", "GET", "?radius=5m&path=" + one, "", "", 422, "InvalidInput", "radius:"},
		{"radius infinite", "GET", "?radius=1e999&path=" + one, "", "", 422, "InvalidInput", "radius:"},
		{"radius NaN", "GET", "?radius=NaN&path=" + one, "", "", 422, "InvalidInput", "radius:"},
		{"radius repeated", "GET", "?radius=1&r%61dius=1&path=" + one, "", "", 422, "InvalidInput",
			"radius: appears more than once"},
		{"details", "GET", "?details=yes&path=" + one, "", "", 422, "InvalidInput", "details:"},
		{"details empty", "GET", "?details=&path=" + one, "", "", 422, "InvalidInput", "details:"},
		{"details repeated", "GET", "?details=true&details=true&path=" + one, "", "", 422, "InvalidInput", "details:"},
		{"format", "GET", "?format=xml&path=" + one, "", "", 422, "InvalidInput", "format:"},
		{"format repeated", "GET", "?format=json&format=json&path=" + one, "", "", 422, "InvalidInput", "format:"},

		{"body empty", "POST", "", " ", jsonType, 422, "InvalidInput", "body:"},
		{"body no JSON", "POST", "", "path=[]", jsonType, 422, "InvalidInput", "body:"},
		{"body without path", "POST", "", "{}", jsonType, 422, "InvalidInput", "path: is missing"},
		{"path of the body", "POST", "", `{"path":[{"lat":1,"lng":2},{"lat":1}]}`, jsonType, 422, "InvalidInput",
			"path: point 1: lng is missing"},
		{"radius of the body", "POST", "", oneBody + `,"radius":0}`, jsonType, 422, "InvalidInput", "radius:"},
		{"radius a string", "POST", "", oneBody + `,"radius":"5"}`, jsonType, 422, "InvalidInput", "radius:"},
		{"format of the body", "POST", "", oneBody + `,"format":"kml"}`, jsonType, 422, "InvalidInput", "format:"},
		{"details of the body", "POST", "", oneBody + `,"details":1}`, jsonType, 422, "InvalidInput", "details:"},
		{"radius twice", "POST", "?radius=5", oneBody + `,"radius":5}`, jsonType, 422, "InvalidInput", "radius:"},
		{"path twice", "POST", "?path=" + one, oneBody + `}`, jsonType, 422, "InvalidInput", "path:"},
		{"radius beside a body", "POST", "?radius=0", oneBody + `}`, jsonType, 422, "InvalidInput", "radius:"},
		{"accuracy", "POST", "", `{"path":[{"lat":1,"lng":2,"accuracy":0},{"lat":1,"lng":2}]}`, jsonType, 422,
			"InvalidInput", "path: point 0: accuracy"},
		{"time", "POST", "", `{"path":[{"lat":1,"lng":2},{"lat":1,"lng":2,"time":"x"}]}`, jsonType, 422, "InvalidInput",
			"path: point 1: time"},
		{"GPX", "POST", "", "<gpx>", gpxType, 422, "InvalidInput", "gpx:"},
		{"GPX point", "POST", "", `<gpx><trk><trkseg><trkpt lat="95" lon="1"/>`, gpxType, 422, "InvalidInput",
			"trkpt: point 0: latitude"},
		{"GeoJSON", "POST", "", `{"type":"Point","coordinates":[[1,2],[1,2]]}`, geoType, 422, "InvalidInput", "type:"},
		{"GeoJSON collection", "POST", "", `{"type":"FeatureCollection","features":[]}`, geoType, 422, "InvalidInput",
			"features: 0 have a LineString"},
		{"CSV", "POST", "", "a,b\n1,2", csvType, 422, "InvalidInput", "csv: the header has no column lat"},
		{"CSV point", "POST", "", "lat,lng\n1,2\n91,2", csvType, 422, "InvalidInput",
			"csv: point 1: line 3, column lat: latitude 91"},
		{"CSV points", "POST", "", "lat,lng" + strings.Repeat("\n1,2", 7), csvType, 422, "InvalidInput",
			"csv: more than 6 points"},
		{"CSV in another charset", "POST", "", "lat,lng\n1,2\n1,2", "text/csv; charset=utf-16", 415, "UnsupportedMediaType",
			"media type"},
		{"GeoJSON point", "POST", "", `{"type":"LineString","coordinates":[[1,2],[1,95]]}`, geoType, 422, "InvalidInput",
			"coordinates: point 1: latitude"},

		{"nowhere near a road", "GET", "?path=[{39.19,-75.59},{39.19,-75.58}]", "", "", 404, "NoRoute",
			"no matching route for the given coordinates: the trace lies inside the region's coverage, but no drive"},
		{"outside the region", "GET", "?path=[{10,20},{10,20.01}]", "", "", 404, "NoRoute",
			"no matching route for the given coordinates: the whole trace lies outside the region's coverage"},
		{"partly outside the region", "GET", "?path=[{39.16,-75.53},{39.16,-75.51},{10,20},{10,20.01},{10,20.02}]", "", "",
			404, "NoRoute",
			"no matching route for the given coordinates: part of the trace, 3 of 5 points, lies outside the region's coverage"},
		{"roads that are not joined", "GET", "?path=[{39.16,-75.53},{39.161,-75.45}]", "", "", 404, "NoRoute",
			"inside the region's coverage"},

		{"PUT", "PUT", "", oneBody + "}", jsonType, 405, "MethodNotAllowed", "method"},
		{"DELETE", "DELETE", "", "", "", 405, "MethodNotAllowed", "method"},
		{"large", "POST", "", oneBody + `,"x":"` + strings.Repeat("x", 3000) + `"}`, jsonType, 413, "TooLarge", "large"},
		{"form", "POST", "", "path=" + one, "application/x-www-form-urlencoded", 415, "UnsupportedMediaType", "media type"},
		{"plain XML", "POST", "", gpx, "text/xml", 415, "UnsupportedMediaType", "media type"},
		{"charset", "POST", "", oneBody + "}", "application/json; charset=utf-16", 415, "UnsupportedMediaType", "media type"},
		{"broken type", "POST", "", oneBody + "}", "json;;", 415, "UnsupportedMediaType", "media type"},
		{"below", "GET", "x?path=" + one, "", "", 404, "NotFound", "not found"},
		{"double slash", "GET", "/?path=" + one, "", "", 404, "NotFound", "not found"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := s.Do(tc.method, endpoint+tc.path, "", tc.body, "Content-Type", "", "Content-Type", tc.media)
			checkError(t, a, tc.status, tc.code, tc.says)
			if allow := a.Header.Get("Allow"); (allow == "GET, HEAD, POST") != (tc.status == 405) {
				t.Errorf("Allow %q", allow)
			}
		})
	}
	a := s.Do(http.MethodPost, endpoint, "", oneBody+"}", "Content-Encoding", "gzip")
	checkError(t, a, 415, "UnsupportedMediaType", "media type")
	checkError(t, s.Do(http.MethodGet, "/api/route", "", ""), 404, "NotFound", "not found")
}

func checkError(t *testing.T, a modulestest.Response, status int, code, says string) {
	t.Helper()
	var e routingError
	dec := json.NewDecoder(strings.NewReader(a.Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil || a.Status != status || e.Error.Status != status || e.Error.Code != code ||
		!strings.Contains(e.Error.Message, says) || a.Header.Get("Content-Type") != jsonType {
		t.Errorf("%d %s, want %d %s %q", a.Status, a.Body, status, code, says)
	}
}

// A body whose length is not told is cut off at the limit as well.
func TestLargeBodyOfUnknownLength(t *testing.T) {
	s, _ := start(t, "max_body 2KiB")
	for _, tc := range []struct{ size, status int }{{1000, 200}, {5000, 413}} {
		text := body[:len(body)-1] + `,"x":"` + strings.Repeat("x", tc.size) + `"}`
		// of this kind net/http does not know the length
		resp, err := s.HTTP.Post(s.URL+endpoint, jsonType, struct{ *strings.Reader }{strings.NewReader(text)})
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tc.status || resp.Request.ContentLength > 0 {
			t.Errorf("%d bytes: %d, length %d", tc.size, resp.StatusCode, resp.Request.ContentLength)
		}
	}
}

// A region that was cut short in place is 503, and the server goes on.
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
	if log := s.Log(); strings.Contains(log, "panic") && !strings.Contains(log, `"stack"`) {
		t.Errorf("log: %s", log)
	}
	modulestest.BuildRegion(t, region, modulestest.Village)
	if a := s.AdminDo(http.MethodPost, "/maps/regions/reload", ""); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	parse(t, s.Do(http.MethodPost, endpoint, "", body))
}

// Of several matchers the first that covers the whole trace answers, or else the one that covers most of it.
func TestChain(t *testing.T) {
	dir := t.TempDir()
	village, far := filepath.Join(dir, "village.region"), filepath.Join(dir, "far.region")
	modulestest.BuildRegion(t, village, modulestest.Village)
	modulestest.BuildRegion(t, far, `<osm version="0.6">
		<node id="1" version="1" lat="10" lon="20"/><node id="2" version="1" lat="10" lon="20.01"/>
		<way id="1" version="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way></osm>`)
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region village " + village + "\nregion far " + far,
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
