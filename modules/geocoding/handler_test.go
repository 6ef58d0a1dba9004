package geocoding_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/google/go-cmp/cmp"

	_ "github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/geocoding"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const (
	endpoint = "/v2/search/reverse-geocoding"
	crossing = "lat=39.1601&lon=-75.5201" // where the café is
)

// buildRegion compiles OpenStreetMap XML, and returns the region's path.
func buildRegion(t testing.TB, osm string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "map.region")
	modulestest.BuildRegion(t, path, osm)
	return path
}

// far is a region of one place, with a time unless that is empty.
func far(lat, lon, timestamp string) string {
	if timestamp != "" {
		timestamp = ` timestamp="` + timestamp + `"`
	}
	return `<osm version="0.6"><node id="7" version="1"` + timestamp + ` lat="` + lat + `" lon="` + lon + `">` +
		`<tag k="name" v="Far"/><tag k="amenity" v="bar"/></node></osm>`
}

// start runs a server whose one handler is the reverse geocoder, on a region of its own.
func start(t *testing.T) (s *modulestest.Server, region string) {
	t.Helper()
	region = buildRegion(t, modulestest.Village)
	return modulestest.Start(t, config(region)), region
}

func config(region string) modulestest.Config {
	return modulestest.Config{Maps: "region village " + region,
		Site: "maps_reverse_geocode {\npublic\ngeocoder local village\n}\nrespond \"not for the next handler\" 418"}
}

type place struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	DisplayName string             `json:"display_name"`
	Category    string             `json:"category"`
	Type        string             `json:"type"`
	Distance    float64            `json:"distance"`
	Location    map[string]float64 `json:"location"`
	Address     map[string]string  `json:"address"`
}

// parse reads a response into what its data must be.
func parse(t *testing.T, a modulestest.Response, data any) {
	t.Helper()
	body := struct {
		Data any `json:"data"`
	}{data}
	dec := json.NewDecoder(strings.NewReader(a.Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil || a.Status != http.StatusOK || a.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
}

// results gets places. query is the query in the response.
func results(t *testing.T, s *modulestest.Server, target string, header ...string) (query string, places []place) {
	t.Helper()
	var data struct {
		Query   string  `json:"query"`
		Results []place `json:"results"`
	}
	parse(t, s.Do(http.MethodGet, endpoint+"?"+target, "", "", header...), &data)
	if data.Results == nil {
		t.Fatalf("%s: no list", target)
	}
	return data.Query, data.Results
}

func reload(t *testing.T, s *modulestest.Server) {
	t.Helper()
	if a := s.AdminDo(http.MethodPost, "/maps/regions/reload", ""); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
}

func TestReverseGeocoding(t *testing.T) {
	s, _ := start(t)
	query, got := results(t, s, crossing)
	want := place{ID: "node:100", Name: "Crossing Café", Category: "amenity", Type: "cafe",
		Location: map[string]float64{"lat": 39.1601, "lng": -75.5201}}
	if len(got) != 1 || query != "39.160100,-75.520100" {
		t.Fatalf("%s: %+v", query, got)
	}
	want.DisplayName, want.Address = got[0].DisplayName, got[0].Address
	if diff := cmp.Diff(want, got[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a, d := got[0].Address, got[0].DisplayName; a["city"] != "Testville" || a["country_code"] != "USA" ||
		a["country"] == "" || !strings.Contains(d, "Crossing Café") || !strings.Contains(d, "Testville") {
		t.Errorf("%+v", got[0])
	}

	// The size bounds the results, which come by distance.
	for more, want := range map[string]int{"": 1, "&size=1": 1, "&size=2": 2, "&limit=2": 2, "&size=5": 5, "&size=%2B3": 3, "&size=2.0": 2} {
		_, got := results(t, s, crossing+more)
		if len(got) != want {
			t.Errorf("%q: %d results", more, len(got))
		}
		for i := range len(got) - 1 {
			if got[i].Distance > got[i+1].Distance {
				t.Errorf("%q: result %d at %v m comes before one at %v m", more, i, got[i].Distance, got[i+1].Distance)
			}
		}
	}
	for category, want := range map[string]string{
		"": "node:100", "%20%20": "node:100", ",": "node:100", "school": "node:101", "%20SCHOOL%20": "node:101",
		"amenity": "node:100", "nothing,school": "node:101", "highway": "way:21", "restaurant,bank": "",
		"cafe;school": "", "cafe&category2=bar": "node:100",
	} {
		_, got := results(t, s, crossing+"&category="+category)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].ID != want) {
			t.Errorf("%q: %+v, want %q", category, got, want)
		}
	}
	// A house has its number and street for a name.
	if _, got := results(t, s, "lat=39.1601&lon=-75.5150"); len(got) != 1 || got[0].ID != "node:102" ||
		!strings.Contains(got[0].Name, "5") || got[0].Address["house_number"] != "5" ||
		got[0].Address["street"] != "Main Street" || got[0].Address["postcode"] != "19901" {
		t.Errorf("%+v", got)
	}
	for outside, want := range map[string]string{
		"lat=0&lon=0": "0.000000,0.000000", "lat=-0&lon=-0.00000001": "0.000000,0.000000",
		"lat=+90&lon=-180": "90.000000,-180.000000", "lat=-90.0&lon=1e-7": "-90.000000,0.000000",
		"lat=9&l%6Eg=1&limit=5": "9.000000,1.000000", "lat=%2B9e1&lon=1.8E%2B2&apiKey=x&utm=y&lat2=z": "90.000000,180.000000",
	} {
		if query, got := results(t, s, outside); query != want || len(got) != 0 {
			t.Errorf("%s: %s %+v, want %s", outside, query, got, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	s, _ := start(t)
	const here = "lat=1&lon=1&"
	many := ""
	for i := range 70 {
		many += "t" + strings.Repeat("x", i) + ","
	}
	for parameter, queries := range map[string][]string{
		"lat": {"", "lon=1", "lat=&lon=1", "lat&lon=1", "lat=91&lon=1", "lat=-90.0000001&lon=1", "lat=NaN&lon=1",
			"lat=Infinity&lon=1", "lat=0x10&lon=1", "lat=1_0&lon=1", "lat=.5&lon=1", "lat=5.&lon=1", "lat=01&lon=1",
			"lat=1e999&lon=1", "lat=1,5&lon=1", "lat=%201&lon=1", "lat=1%20&lon=1", "lat=north&lon=1", "lat=1&lat=1&lon=1"},
		"lon":   {"lat=1", "lat=1&lon=", "lat=1&lon=180.5", "lat=1&lon=-181", "lat=1&lon=1%", "lat=1&lon=1&l%6Fn=1"},
		"lng":   {"lat=1&lng=180.5", "lat=1&lng=", "lat=1&lng=1&lng=1", "lat=1&lng=1&lon=1", "lat=1&lon=x&lng=1"},
		"limit": {here + "limit=6", here + "limit=", here + "limit=1&limit=1", here + "limit=1&size=1"},
		"size": {here + "size=", here + "size=0", here + "size=6", here + "size=-1", here + "size=1.5", here + "size=two",
			here + "size=99999999999999999999", here + "size=1&size=1"},
		"category": {here + "category=a&category=b", here + "category=%zz", here + "category=" + many},
		"geometry": {here + "geometry=1", here + "geometry=true&geometry=true"},
		"language": {here + "language=d", here + "language=de_CH", here + "language=fr%3Bq%3D2", here + "language=%zz",
			here + "language=fr&language=de", here + "language=" + strings.Repeat("fr,", 20)},
	} {
		for _, query := range queries {
			a := s.Do(http.MethodGet, endpoint+"?"+query, "", "")
			var body struct{ Error, Code string }
			if err := json.Unmarshal([]byte(a.Body), &body); err != nil || a.Status != http.StatusBadRequest ||
				body.Code != "FAILED_VALIDATION" || !strings.HasPrefix(body.Error, parameter+":") ||
				a.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%.60q: %d %s, want a 400 that names %s", query, a.Status, a.Body, parameter)
			}
		}
	}
	const notFound, notAllowed = `{"error":"not found"}`, `{"error":"method not allowed"}`
	for _, tc := range []struct{ method, path, body string }{
		{"POST", endpoint + "?" + crossing, notAllowed}, {"DELETE", endpoint, notAllowed}, {"OPTIONS", endpoint, notAllowed},
		{"POST", coverage, notAllowed}, {"OPTIONS", coverage, notAllowed},
		{"GET", endpoint + "/?" + crossing, notFound}, {"GET", endpoint + "/x?" + crossing, notFound},
		{"GET", "/v2/search", notFound}, {"POST", "/", notFound},
		{"GET", coverage + "/", notFound}, {"GET", coverage + "/far", notFound}, {"GET", "/v2/search/Coverage", notFound},
	} {
		a := s.Do(tc.method, tc.path, "", "")
		status, allow := 404, ""
		if tc.body == notAllowed {
			status, allow = 405, "GET, HEAD"
		}
		if a.Status != status || a.Body != tc.body || a.Header.Get("Allow") != allow ||
			a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %d %v %s", tc.method, tc.path, a.Status, a.Header, a.Body)
		}
	}
	for _, path := range []string{endpoint + "?" + crossing, coverage} {
		get, head := s.Do(http.MethodGet, path, "", ""), s.Do(http.MethodHead, path, "", "")
		for _, name := range []string{"Content-Type", "Content-Length"} {
			if head.Status != 200 || head.Body != "" || head.Header.Get(name) != get.Header.Get(name) || get.Header.Get(name) == "" {
				t.Errorf("HEAD %s: %d, %s %q, GET has %q", path, head.Status, name, head.Header.Get(name), get.Header.Get(name))
			}
		}
	}
}

// With geometry=true places have their shapes, and positions have none.
func TestGeometry(t *testing.T) {
	s, _ := start(t)
	const (
		oakStreet = `"geometry":{"type":"MultiLineString","coordinates":[[[-75.5200000,39.1500000],` +
			`[-75.5200000,39.1600000],[-75.5200000,39.1700000]]]}`
		town = `"geometry":{"type":"MultiLineString","coordinates":[[[-75.6000000,39.1000000],[-75.4000000,39.1000000],` +
			`[-75.4000000,39.2000000],[-75.6000000,39.2000000],[-75.6000000,39.1000000]]]}`
		street = "lat=39.165&lon=-75.5199"
	)
	for query, test := range map[string]struct{ with, without string }{
		street + "&geometry=true":                   {oakStreet, town},
		street + "&category=boundary&geometry=true": {town, oakStreet},
		crossing + "&geometry=true":                 {"Crossing Café", "geometry"},
		street + "&geometry=false":                  {"Oak Street", "geometry"},
		street:                                      {"Oak Street", "geometry"},
	} {
		a := s.Do(http.MethodGet, endpoint+"?"+query, "", "")
		if a.Status != 200 || !strings.Contains(a.Body, test.with) || strings.Contains(a.Body, test.without) {
			t.Errorf("%s: %d %s", query, a.Status, a.Body)
		}
	}
}

// Names are given in the languages of the parameter, else in those of the header.
func TestLanguage(t *testing.T) {
	s := modulestest.Start(t, config(buildRegion(t, `<osm version="0.6"><node id="7" version="1" lat="46.94" lon="7.44">`+
		`<tag k="name" v="Bern"/><tag k="name:fr" v="Berne"/><tag k="name:it" v="Berna"/><tag k="place" v="city"/></node></osm>`)))
	for _, tc := range []struct{ parameter, header, name, vary string }{
		{"", "", "Bern", ""},
		{"&language=fr", "", "Berne", ""},
		{"&language=fr-CH", "", "Berne", ""},
		{"&language=de%2C+it%3Bq%3D0.5", "", "Berna", ""},
		{"&language=ja", "fr", "Bern", ""},
		{"&language=*", "fr", "Bern", ""},
		{"&language=", "it", "Berna", "Accept-Language"},
		{"", "it, fr;q=0.9", "Berna", "Accept-Language"},
		{"", "!!", "Bern", ""},
		{"&language=it", "fr", "Berna", ""},
	} {
		const query = "lat=46.94&lon=7.44"
		_, got := results(t, s, query+tc.parameter, "Accept-Language", tc.header)
		if len(got) != 1 || got[0].Name != tc.name || got[0].Address["city"] != tc.name ||
			!strings.HasPrefix(got[0].DisplayName, tc.name+",") {
			t.Errorf("%+v: %+v", tc, got)
		}
		a := s.Do(http.MethodGet, endpoint+"?"+query+tc.parameter, "", "", "Accept-Language", tc.header)
		if vary := a.Header.Get("Vary"); vary != tc.vary {
			t.Errorf("%+v: Vary is %q", tc, vary)
		}
	}
}

// A new region file is served without a reload of the configuration. One that was cut short in place is 503 and one
// line in the log. A reload keeps the file that is open; one that cannot be opened, or is not configured, is refused.
func TestRegionFile(t *testing.T) {
	s, region := start(t)
	town := func(want string) {
		t.Helper()
		if _, got := results(t, s, crossing); got[0].Address["city"] != want {
			t.Errorf("%s, want %s", got[0].Address["city"], want)
		}
	}
	town("Testville")
	modulestest.BuildRegion(t, region, modulestest.Renamed("Newtown"))
	reload(t, s)
	town("Newtown")

	regions := func() string { return s.AdminDo(http.MethodGet, "/maps/regions", "").Body }
	before := regions()
	if err := s.Load(config(region)); err != nil {
		t.Fatal(err)
	}
	if after := regions(); after != before || !strings.Contains(before, `"opened"`) || strings.Contains(after, region) {
		t.Errorf("before the reload %s, after it %s", before, after)
	}
	if err := s.Load(config(region + ".none")); err == nil || !strings.Contains(err.Error(), "caddy maps build") {
		t.Errorf("a region file that is not there: %v", err)
	}
	unknown := config(region)
	unknown.Site = strings.Replace(unknown.Site, "local village", "local town", 1)
	if err := s.Load(unknown); err == nil || !strings.Contains(err.Error(), `no region "town"`) {
		t.Errorf("a region that is not configured: %v", err)
	}
	town("Newtown")

	if err := os.Truncate(region, 4096); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for _, path := range []string{endpoint + "?lat=39.155&lon=-75.52&size=5", coverage} {
			a := s.Do(http.MethodGet, path, "", "")
			if a.Status != 503 || a.Body != `{"error":"service unavailable"}` || a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s of a file that was cut short: %d %s", path, a.Status, a.Body)
			}
		}
	}
	if n := strings.Count(s.Log(), "a region file is damaged"); n != 1 {
		t.Errorf("%d lines about the damage", n)
	}
	modulestest.BuildRegion(t, region, modulestest.Renamed("Oldtown"))
	reload(t, s)
	town("Oldtown")
}

const coverage = "/v2/search/coverage"

// The first of several geocoders that covers the position answers. The regions of all of them are listed once, in their
// order; geocoders elsewhere have none.
func TestChainAndCoverage(t *testing.T) {
	const date = "2026-05-01T12:00:00Z"
	farFile := buildRegion(t, far("10", "20", date))
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region village " + buildRegion(t, modulestest.Village) + "\nregion far " + farFile,
		Site: `
			@two header Two *
			maps_reverse_geocode @two {
				public
				prefix /where
				coverage /known
				geocoder local village
				geocoder local far
				max_distance 50.5
			}
			maps_reverse_geocode {
				public
				geocoder local far village
				geocoder local village
			}`,
	})
	type bounds = map[string]float64
	type region struct {
		Name        string  `json:"name"`
		Bounds      bounds  `json:"bounds"`
		Date        *string `json:"date"`
		Attribution string  `json:"attribution"`
	}
	const osm = "© OpenStreetMap contributors"
	villageBounds := bounds{"minLat": 39.1, "minLon": -75.6, "maxLat": 39.2, "maxLon": -75.4}
	list := func(path string, header ...string) []region {
		t.Helper()
		var data struct {
			Regions []region `json:"regions"`
		}
		parse(t, s.Do(http.MethodGet, path, "", "", header...), &data)
		return data.Regions
	}
	want := []region{{"far", bounds{"minLat": 10, "minLon": 20, "maxLat": 10, "maxLon": 20}, new(date), osm},
		{"village", villageBounds, nil, osm}}
	if diff := cmp.Diff(want, list(coverage+"?lat=x&unknown=1")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]region{want[1], want[0]}, list("/known", "Two", "1")); diff != "" {
		t.Errorf("at another path (-want +got):\n%s", diff)
	}
	for query, want := range map[string]string{"lat=10&lon=20": "node:7", crossing: "node:100", "lat=-10&lon=20": ""} {
		_, got := results(t, s, query)
		a := s.Do(http.MethodGet, "/where?"+query, "", "", "Two", "1")
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].ID != want) || !strings.Contains(a.Body, want) {
			t.Errorf("%s: %+v, %s, want %q", query, got, a.Body, want)
		}
	}
	// The description of a file is replaced with the file.
	modulestest.BuildRegion(t, farFile, far("11", "21", ""))
	reload(t, s)
	want[0].Bounds, want[0].Date = bounds{"minLat": 11, "minLon": 21, "maxLat": 11, "maxLon": 21}, nil
	if diff := cmp.Diff(want, list(coverage)); diff != "" {
		t.Errorf("after the swap (-want +got):\n%s", diff)
	}
}

func TestCaddyfile(t *testing.T) {
	unmarshal := func(text string) (string, error) {
		h := new(geocoding.Handler)
		if err := h.UnmarshalCaddyfile(caddyfile.NewTestDispenser(text)); err != nil {
			return "", err
		}
		out, err := json.Marshal(h)
		return string(out), err
	}
	got, err := unmarshal("maps_reverse_geocode {\n geocoder local a b\n geocoder local c\n max_distance 250.5\n " +
		"coverage /where\n public\n}")
	const want = `{"coverage":"/where","geocoders":[{"regions":["a","b"],"source":"local"},` +
		`{"regions":["c"],"source":"local"}],"max_distance":250.5,"public":true}`
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	const local = "geocoder local a\n "
	for inside, says := range map[string]string{
		"":                                 "at least one geocoder",
		"geocoder":                         "argument",
		"geocoder local":                   "at least one region",
		"geocoder nothing x":               `geocoder: "nothing" is not known`,
		"geocoder local a {\n x \n}":       "unknown option",
		local + "max_distance":             "argument",
		local + "max_distance 0":           "max_distance",
		local + "max_distance -5":          "max_distance",
		local + "max_distance NaN":         "max_distance",
		local + "max_distance 1e9":         "max_distance",
		local + "max_distance 1 2":         "argument",
		local + "radius 5":                 "radius",
		local + "prefix":                   "argument",
		local + "coverage x":               "coverage",
		local + "prefix /a//b":             "empty segments",
		local + "coverage " + endpoint:     "the path of the endpoint itself",
		local + "prefix " + coverage + "/": "the path of the endpoint itself",
	} {
		if _, err := unmarshal("maps_reverse_geocode {\n" + inside + "\n}"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", inside, err)
		}
	}
	if _, err := unmarshal("maps_reverse_geocode x"); err == nil {
		t.Error("an argument was taken")
	}
}
