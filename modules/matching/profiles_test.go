package matching_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/remote/osrm"
	_ "github.com/mapsedge/caddy-maps/modules/remote/valhalla"
)

// quarter has High Street, one-way to the east, a footway to the north at its end, and a cycleway to the south of it.
const quarter = `<osm version="0.6">
	<node id="1" version="1" lat="39.160" lon="-75.530"/><node id="2" version="1" lat="39.160" lon="-75.520"/>
	<node id="3" version="1" lat="39.164" lon="-75.520"/>
	<node id="4" version="1" lat="39.150" lon="-75.530"/><node id="5" version="1" lat="39.150" lon="-75.520"/>
	<way id="1" version="1"><nd ref="1"/><nd ref="2"/>
		<tag k="highway" v="residential"/><tag k="oneway" v="yes"/><tag k="maxspeed" v="36"/></way>
	<way id="2" version="1"><nd ref="2"/><nd ref="3"/><tag k="highway" v="footway"/></way>
	<way id="3" version="1"><nd ref="4"/><nd ref="5"/><tag k="highway" v="cycleway"/><tag k="foot" v="no"/></way>
</osm>`

// Traces in the quarter.
const (
	eastward    = "[{39.16,-75.529},{39.16,-75.526},{39.16,-75.523}]"
	westward    = "[{39.16,-75.523},{39.16,-75.526},{39.16,-75.529}]"
	upTheFoot   = "[{39.16,-75.523},{39.16,-75.5203},{39.161,-75.52},{39.163,-75.52}]"
	onTheCycles = "[{39.15,-75.529},{39.15,-75.526},{39.15,-75.523}]"
)

// eastwardLength is the length of eastward, and of westward and onTheCycles, in metres.
var eastwardLength = 0.006 * math.Cos(39.16*math.Pi/180) * 6371008.8 * math.Pi / 180

// at is a handler of the quarter at a path of its own.
func at(path, options string) string {
	return fmt.Sprintf("handle %[1]s {\nmaps_match {\npublic\nprefix %[1]s\nmatcher local quarter\n%[2]s\n}\n}\n", path, options)
}

// Each profile is matched on its own network, at its own speed.
func TestProfiles(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region quarter " + buildRegion(t, quarter), Site: at("/m", "profile car bicycle foot"),
	})
	for _, tc := range []struct {
		path    string
		profile string
		length  float64 // metres; 0: there is no such drive
		speed   float64 // km/h
	}{
		{eastward, "", eastwardLength, 36},
		{eastward, "car", eastwardLength, 36},
		{eastward, "bicycle", eastwardLength, 0},
		{eastward, "foot", eastwardLength, 5},
		{westward, "car", 0, 0},
		{westward, "bicycle", 0, 0},
		{westward, "foot", eastwardLength, 5},
		{upTheFoot, "car", 0, 0},
		{upTheFoot, "bicycle", 0, 0},
		{upTheFoot, "foot", eastwardLength/2 + 333.6, 5},
		{onTheCycles, "car", 0, 0},
		{onTheCycles, "bicycle", eastwardLength, 0},
		{onTheCycles, "foot", 0, 0},
	} {
		query := "/m?details=true&path=" + tc.path
		if tc.profile != "" {
			query += "&profile=" + tc.profile
		}
		a := s.Do(http.MethodGet, query, "", "")
		if tc.length == 0 {
			if a.Status == 200 && *parse(t, a).Distance > eastwardLength*0.9 {
				t.Errorf("%+v: there is a drive: %s", tc, a.Body)
			}
			continue
		}
		r := parse(t, a)
		speed := *r.Distance / *r.Duration * 3.6
		if math.Abs(*r.Distance-tc.length) > 2 || tc.speed > 0 && math.Abs(speed-tc.speed) > 0.1 {
			t.Errorf("%+v: %v m at %v km/h", tc, *r.Distance, speed)
		}
	}
}

// The parameter is given once, in the query or in a JSON body, and names a profile of the handler.
func TestProfileParameter(t *testing.T) {
	const path = `{"path":[{"lat":39.16,"lng":-75.523},{"lat":39.16,"lng":-75.526},{"lat":39.16,"lng":-75.529}]`
	const geo = `{"type":"LineString","coordinates":[[-75.523,39.16],[-75.526,39.16],[-75.529,39.16]]}`
	cases := []struct {
		offered, query, body, media string
		says                        string // "" where westward is matched, which is on foot
	}{
		{"foot", "", "", "", ""},
		{"foot", "&profile=foot", "", "", ""},
		{"car foot", "&pr%6Ffile=f%6Fot", "", "", ""},
		{"car\nprofile foot", "&profile=foot", "", "", ""},
		{"car foot", "", path + `,"profile":"foot"}`, jsonType, ""},
		{"car foot", "profile=foot", path + "}", jsonType, ""},
		{"car foot", "profile=foot", geo, geoType, ""},

		{"car", "&profile=foot", "", "", "profile: must be car"},
		{"foot bicycle", "&profile=car", "", "", "profile: must be foot or bicycle"},
		{"car bicycle foot", "&profile=bus", "", "", "profile: must be car, bicycle or foot"},
		{"car bicycle foot", "&profile=", "", "", "profile: must be car, bicycle or foot"},
		{"car bicycle foot", "&profile", "", "", "profile: must be car, bicycle or foot"},
		{"car bicycle foot", "&profile=Foot", "", "", "profile: must be car, bicycle or foot"},
		{"car bicycle foot", "&profile=%5", "", "", "profile: must be car, bicycle or foot"},
		{"foot", "&profile=foot&profile=foot", "", "", "profile: appears more than once"},
		{"car", "", path + `,"profile":"foot"}`, jsonType, "profile: must be car"},
		{"foot", "", path + `,"profile":""}`, jsonType, "profile: must be foot"},
		{"foot", "", path + `,"profile":null}`, jsonType, "profile: must be a string"},
		{"foot", "", path + `,"profile":["foot"]}`, jsonType, "profile: must be a string"},
		{"foot", "", path + `,"profile":"foot","profile":"foot"}`, jsonType, "profile: appears more than once"},
		{"foot", "profile=foot", path + `,"profile":"foot"}`, jsonType, "profile: stands in the query and in the body"},
		{"foot", "profile=car", geo, geoType, "profile: must be foot"},
	}
	site := ""
	for i, tc := range cases {
		site += at(fmt.Sprint("/", i), "profile "+tc.offered)
	}
	s := modulestest.Start(t, modulestest.Config{Maps: "region quarter " + buildRegion(t, quarter), Site: site})
	for i, tc := range cases {
		method, query := http.MethodPost, "?"+tc.query
		if tc.body == "" {
			method, query = http.MethodGet, "?path="+westward+tc.query
		}
		a := s.Do(method, fmt.Sprint("/", i, query), "", tc.body, "Content-Type", "", "Content-Type", tc.media)
		if tc.says != "" {
			checkError(t, a, 422, "InvalidInput", tc.says)
		} else if r := parse(t, a); math.Abs(*r.Distance-eastwardLength) > 2 {
			t.Errorf("%+v: %s", tc, a.Body)
		}
	}
}

// Each profile of a handler needs a matcher for it. A matcher for another profile is skipped, and an error tells
// nothing of its regions.
func TestProfilesAndMatchers(t *testing.T) {
	const bicycle, foot = "matcher osrm http://127.0.0.1:1 {\nprofile bicycle\n}", "matcher osrm http://127.0.0.1:1 {\nprofile foot\n}"
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region quarter " + buildRegion(t, quarter),
		Site: strings.Replace(at("/before", "profile foot bicycle"), "matcher local", bicycle+"\nmatcher local", 1) +
			at("/behind", foot+"\nprofile car foot"),
	})
	if r := parse(t, s.Do(http.MethodGet, "/before?path="+westward, "", "")); math.Abs(*r.Distance-eastwardLength) > 2 {
		t.Errorf("%+v", r)
	}
	checkError(t, s.Do(http.MethodGet, "/before?profile=bicycle&path="+onTheCycles, "", ""), 503, "Unavailable", "")
	checkError(t, s.Do(http.MethodGet, "/behind?path=[{42.5,1.5},{42.51,1.5}]", "", ""), 404, "NoRoute",
		"the whole trace lies outside the region's coverage")
	for block, says := range map[string]string{
		"matcher osrm http://a:1\nprofile car foot":                               "none of the matchers answers for foot",
		"matcher osrm http://a:1 {\nprofile foot\n}":                              "none of the matchers answers for car",
		"matcher osrm http://a:1 {\nprofile velo bicycle\n}\nprofile foot":        "none of the matchers answers for foot",
		"matcher osrm http://a:1\nmatcher valhalla http://a\nprofile car bicycle": "",
		"matcher osrm http://a:1 {\nprofile velo bicycle\n}\nprofile bicycle":     "",
	} {
		_, err := modulestest.Adapt(":0 {\nmaps_match {\n" + block + "\n}\n}")
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", block, err, says)
		}
	}
}

// If no region has the whole trace, an upstream engine gets all of it. If that finds nothing, the error tells of both.
func TestNoRouteOfService(t *testing.T) {
	const isle = `<osm version="0.6">
		<node id="1" version="1" lat="-5" lon="30"/><node id="2" version="1" lat="-5" lon="30.01"/>
		<way id="1" version="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way></osm>`
	const (
		none    = "no matching route for the given coordinates"
		service = "; the service that was asked for the whole trace found no route"
		village = "{39.16,-75.53},{39.16,-75.51}"
		unroads = "{39.19,-75.59},{39.19,-75.58}" // of the village's coverage, and far from its roads
		onIsle  = "{-5,30.001},{-5,30.002}"
		nowhere = "{10,20},{10,20.01},{10,20.02}"
	)
	osrm := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"code":"NoMatch"}`)
	}))
	defer osrm.Close()
	cases := []struct{ before, behind, path, reason string }{
		{"matcher local village", "", village + "," + nowhere,
			": part of the trace, 3 of 5 points, lies outside the region's coverage" + service},
		{"matcher local village isle", "", village + "," + onIsle + "," + nowhere,
			": part of the trace, 3 of 7 points, lies outside the coverage of all regions" + service},
		{"matcher local village\nmatcher local isle", "", village + "," + onIsle,
			": each point lies in some region's coverage, but no region covers the whole trace" + service},
		{"matcher local village", "", nowhere, ""},
		// The region matches; the service gets no request.
		{"matcher local village", "", unroads, ": the trace lies inside the region's coverage, but no drive on its roads fits it"},
		// A service in front of the regions gets every trace, wherever it lies.
		{"", "matcher local village", village, ""},
		{"", "matcher local village", village + "," + nowhere, ""},
		{"matcher local isle", "matcher local village", village + "," + onIsle,
			": part of the trace, 2 of 4 points, lies outside the region's coverage" + service},
	}
	site := ""
	for i, tc := range cases {
		site += fmt.Sprintf("handle /%[1]d {\nmaps_match {\npublic\nprefix /%[1]d\n%[2]s\nmatcher osrm %[3]s\n%[4]s\n}\n}\n",
			i, tc.before, osrm.URL, tc.behind)
	}
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region village " + buildRegion(t, modulestest.Village) + "\nregion isle " + buildRegion(t, isle), Site: site,
	})
	for i, tc := range cases {
		a := s.Do(http.MethodGet, fmt.Sprintf("/%d?path=[%s]", i, tc.path), "", "")
		want := fmt.Sprintf(`{"error":{"code":"NoRoute","message":"%s","status":404}}`, none+tc.reason)
		if a.Status != http.StatusNotFound || a.Body != want {
			t.Errorf("%+v: %d %s, want %s", tc, a.Status, a.Body, want)
		}
	}
}
