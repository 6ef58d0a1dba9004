package mapmatch_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/mapmatch"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/osrmmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/valhallamatcher"
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

func startQuarter(t *testing.T, options string) *modulestest.Server {
	t.Helper()
	region := filepath.Join(t.TempDir(), "quarter.region")
	modulestest.BuildRegion(t, region, quarter)
	return modulestest.Start(t, modulestest.Config{
		Maps: "region quarter " + region, Site: "maps_match {\npublic\nmatcher local quarter\n" + options + "\n}",
	})
}

// Each profile is matched on its own network, at its own speed.
func TestProfiles(t *testing.T) {
	s := startQuarter(t, "profile car bicycle foot")
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
		t.Run(tc.profile+tc.path, func(t *testing.T) {
			query := endpoint + "?details=true&path=" + tc.path
			if tc.profile != "" {
				query += "&profile=" + tc.profile
			}
			a := s.Do(http.MethodGet, query, "", "")
			if tc.length == 0 {
				if a.Status == 200 && *parse(t, a).Distance > eastwardLength*0.9 {
					t.Errorf("there is a drive: %s", a.Body)
				}
				return
			}
			r := parse(t, a)
			if math.Abs(*r.Distance-tc.length) > 2 {
				t.Errorf("%v m, want %v", *r.Distance, tc.length)
			}
			if speed := *r.Distance / *r.Duration * 3.6; tc.speed > 0 && math.Abs(speed-tc.speed) > 0.1 {
				t.Errorf("%v km/h, want %v", speed, tc.speed)
			}
		})
	}
}

// The parameter is one like the others: it stands in the query or in a JSON body, once, and is one that is offered.
func TestProfileParameter(t *testing.T) {
	path := fmt.Sprintf(`{"path":[%s]`,
		`{"lat":39.16,"lng":-75.523},{"lat":39.16,"lng":-75.526},{"lat":39.16,"lng":-75.529}`)
	geo := `{"type":"LineString","coordinates":[[-75.523,39.16],[-75.526,39.16],[-75.529,39.16]]}`
	for i, tc := range []struct {
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
		{"foot", "&profile=car", "", "", "profile: must be foot"},
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
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := startQuarter(t, "profile "+tc.offered)
			method, query := http.MethodPost, "?"+tc.query
			if tc.body == "" {
				method, query = http.MethodGet, "?path="+westward+tc.query
			}
			a := s.Do(method, endpoint+query, "", tc.body, "Content-Type", "", "Content-Type", tc.media)
			if tc.says != "" {
				checkError(t, a, 422, "InvalidInput", tc.says)
				return
			}
			if r := parse(t, a); math.Abs(*r.Distance-eastwardLength) > 2 {
				t.Errorf("%s", a.Body)
			}
		})
	}
}

// A profile that is offered needs somebody who answers for it. A matcher for another one is passed over.
func TestProfilesAndMatchers(t *testing.T) {
	region := filepath.Join(t.TempDir(), "quarter.region")
	modulestest.BuildRegion(t, region, quarter)
	s := modulestest.Start(t, modulestest.Config{Maps: "region quarter " + region, Site: `
		maps_match {
			public
			matcher osrm http://127.0.0.1:1 {
				profile bicycle
			}
			matcher local quarter
			profile foot bicycle
		}`})
	if r := parse(t, s.Do(http.MethodGet, endpoint+"?path="+westward, "", "")); math.Abs(*r.Distance-eastwardLength) > 2 {
		t.Errorf("%+v", r)
	}
	checkError(t, s.Do(http.MethodGet, endpoint+"?profile=bicycle&path="+onTheCycles, "", ""), 503, "Unavailable", "")

	for block, says := range map[string]string{
		"matcher osrm http://a:1\nprofile car foot":                               "none of the matchers answers for foot",
		"matcher osrm http://a:1 {\nprofile foot\n}":                              "none of the matchers answers for car",
		"matcher osrm http://a:1 {\nprofile velo bicycle\n}\nprofile foot":        "none of the matchers answers for foot",
		"matcher osrm http://a:1\nmatcher valhalla http://a\nprofile car bicycle": "",
		"matcher osrm http://a:1 {\nprofile velo bicycle\n}\nprofile bicycle":     "",
	} {
		err := s.Load(modulestest.Config{Site: "maps_match {\n" + block + "\n}"})
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", block, err, says)
		}
	}
}

// A matcher for other profiles says nothing about where a trace lies.
func TestNoRouteBesideOtherProfiles(t *testing.T) {
	region := filepath.Join(t.TempDir(), "quarter.region")
	modulestest.BuildRegion(t, region, quarter)
	s := modulestest.Start(t, modulestest.Config{Maps: "region quarter " + region, Site: `
		maps_match {
			public
			matcher local quarter
			matcher osrm http://127.0.0.1:1 {
				profile foot
			}
			profile car foot
		}`})
	a := s.Do(http.MethodGet, endpoint+"?path=[{42.5,1.5},{42.51,1.5}]", "", "")
	checkError(t, a, 404, "NoRoute", "the whole trace lies outside the region's coverage")
}

// In JSON a list of profiles, or one alone.
func TestProfilesInJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"profile":"foot"}`:          `{"profile":["foot"]}`,
		`{"profile":["foot","car"]}`:  `{"profile":["foot","car"]}`,
		`{"profile":[]}`:              `{}`,
		`{}`:                          `{}`,
		`{"profile":5}`:               "error",
		`{"profile":{"foot":true}}`:   "error",
		`{"profile":["foot",["car"]]`: "error",
	} {
		h := new(mapmatch.Handler)
		got := "error"
		if err := json.Unmarshal([]byte(text), h); err == nil {
			out, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			got = string(out)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
