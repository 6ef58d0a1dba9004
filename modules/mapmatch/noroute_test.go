package mapmatch_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// isle is a street far from the village.
const isle = `<osm version="0.6">
	<node id="1" version="1" lat="-5" lon="30"/><node id="2" version="1" lat="-5" lon="30.01"/>
	<way id="1" version="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="residential"/></way></osm>`

// Where no region has the whole trace, a guest gets all of it, and when that finds nothing, the client hears of both.
func TestNoRouteOfService(t *testing.T) {
	osrm, dir := modulestest.NewUpstream(t), t.TempDir()
	maps := ""
	for name, text := range map[string]string{"village": modulestest.Village, "isle": isle} {
		file := filepath.Join(dir, name+".region")
		modulestest.BuildRegion(t, file, text)
		maps += "region " + name + " " + file + "\n"
	}
	const (
		none    = "no matching route for the given coordinates"
		service = "; the service that was asked for the whole trace found no route"
		village = "{39.16,-75.53},{39.16,-75.51}"
		unroads = "{39.19,-75.59},{39.19,-75.58}" // of the village's coverage, and far from its roads
		onIsle  = "{-5,30.001},{-5,30.002}"
		nowhere = "{10,20},{10,20.01},{10,20.02}"
	)
	chain := fmt.Sprintf("maps_match {\npublic\n%%s\nmatcher osrm %s\n%%s\n}", osrm.URL)
	for _, tc := range []struct{ before, behind, path, reason string }{
		{"village", "", village + "," + nowhere,
			": part of the trace, 3 of 5 points, lies outside the region's coverage" + service},
		{"village isle", "", village + "," + onIsle + "," + nowhere,
			": part of the trace, 3 of 7 points, lies outside the coverage of all regions" + service},
		{"village\nmatcher local isle", "", village + "," + onIsle,
			": each point lies in some region's coverage, but no region covers the whole trace" + service},
		{"village", "", nowhere, ""},
		// The region is asked, and the service is not.
		{"village", "", unroads, ": the trace lies inside the region's coverage, but no drive on its roads fits it"},
		// A service is asked before the regions behind it, wherever the trace lies.
		{"", "village", village, ""},
		{"", "village", village + "," + nowhere, ""},
		{"isle", "village", village + "," + onIsle,
			": part of the trace, 2 of 4 points, lies outside the region's coverage" + service},
	} {
		local := func(names string) string {
			if names == "" {
				return ""
			}
			return "matcher local " + names
		}
		s := modulestest.Start(t, modulestest.Config{Maps: maps, Site: fmt.Sprintf(chain, local(tc.before), local(tc.behind))})
		for _, code := range []string{"NoMatch", "NoSegment"} {
			osrm.Send(http.StatusBadRequest, `{"code":"`+code+`","message":"Could not match the trace."}`)
			a := s.Do(http.MethodGet, endpoint+"?path=["+tc.path+"]", "", "")
			want := fmt.Sprintf(`{"error":{"code":"NoRoute","message":"%s","status":404}}`, none+tc.reason)
			if a.Status != http.StatusNotFound || a.Body != want {
				t.Errorf("%q before and %q behind, %s of %s: %d %s, want %s",
					tc.before, tc.behind, code, tc.path, a.Status, a.Body, want)
			}
		}
	}
}
