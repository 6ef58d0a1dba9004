package reversegeocode_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/nominatimgeocoder"
)

const coverage = "/v2/search/coverage"

// osm is © OpenStreetMap contributors, as region files have it.
const osm = "© OpenStreetMap contributors"

type regions struct {
	Data struct {
		Regions []coveredRegion `json:"regions"`
	} `json:"data"`
}

type coveredRegion struct {
	Name        string             `json:"name"`
	Bounds      map[string]float64 `json:"bounds"`
	Date        *string            `json:"date"`
	Attribution string             `json:"attribution"`
}

func parseCoverage(t *testing.T, a modulestest.Response) []coveredRegion {
	t.Helper()
	var r regions
	dec := json.NewDecoder(strings.NewReader(a.Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil || a.Status != http.StatusOK || r.Data.Regions == nil ||
		a.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	return r.Data.Regions
}

func bounds(minLat, minLon, maxLat, maxLon float64) map[string]float64 {
	return map[string]float64{"minLat": minLat, "minLon": minLon, "maxLat": maxLat, "maxLon": maxLon}
}

// Each region of the geocoders is listed once, in the order in which they are asked; geocoders elsewhere have none.
func TestCoverage(t *testing.T) {
	dir := t.TempDir()
	village, far := filepath.Join(dir, "village.region"), filepath.Join(dir, "far.region")
	modulestest.BuildRegion(t, village, modulestest.Village)
	modulestest.BuildRegion(t, far,
		`<osm version="0.6"><node id="7" version="1" timestamp="2026-05-01T12:00:00Z" lat="10" lon="20">`+
			`<tag k="name" v="Far"/><tag k="amenity" v="bar"/></node></osm>`)
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region village " + village + "\nregion far " + far,
		Site: `
			@guest header Guest *
			maps_reverse_geocode @guest {
				public
				geocoder nominatim http://127.0.0.1:1
			}
			@moved header Moved *
			maps_reverse_geocode @moved {
				public
				prefix /where
				coverage /known
				geocoder local village
			}
			maps_reverse_geocode {
				public
				geocoder local far village
				geocoder local village
				geocoder nominatim http://127.0.0.1:1
			}`,
	})
	date := "2026-05-01T12:00:00Z"
	want := []coveredRegion{
		{"far", bounds(10, 20, 10, 20), &date, osm},
		{"village", bounds(39.1, -75.6, 39.2, -75.4), nil, osm},
	}
	get := s.Do(http.MethodGet, coverage, "", "")
	if diff := cmp.Diff(want, parseCoverage(t, get)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := parseCoverage(t, s.Do(http.MethodGet, coverage+"?lat=x&unknown=1", "", "")); len(got) != 2 {
		t.Errorf("with parameters: %+v", got)
	}
	if got := parseCoverage(t, s.Do(http.MethodGet, coverage, "", "", "Guest", "1")); len(got) != 0 {
		t.Errorf("of another service: %+v", got)
	}
	if got := parseCoverage(t, s.Do(http.MethodGet, "/known", "", "", "Moved", "1")); len(got) != 1 ||
		got[0].Name != "village" {
		t.Errorf("at another path: %+v", got)
	}
	head := s.Do(http.MethodHead, coverage, "", "")
	if length := head.Header.Get("Content-Length"); head.Status != 200 || head.Body != "" || length == "" ||
		length != get.Header.Get("Content-Length") {
		t.Errorf("HEAD: %d %v", head.Status, head.Header)
	}
	for _, tc := range []struct {
		method, path, body, allow string
		status                    int
		header                    []string
	}{
		{http.MethodPost, coverage, `{"error":"method not allowed"}`, "GET, HEAD", 405, nil},
		{http.MethodOptions, coverage, `{"error":"method not allowed"}`, "GET, HEAD", 405, nil},
		{http.MethodGet, coverage + "/", `{"error":"not found"}`, "", 404, nil},
		{http.MethodGet, coverage + "/far", `{"error":"not found"}`, "", 404, nil},
		{http.MethodGet, "/v2/search/Coverage", `{"error":"not found"}`, "", 404, nil},
		{http.MethodGet, coverage, `{"error":"not found"}`, "", 404, []string{"Moved", "1"}},
	} {
		a := s.Do(tc.method, tc.path, "", "", tc.header...)
		if a.Status != tc.status || a.Body != tc.body || a.Header.Get("Allow") != tc.allow ||
			a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %d %v %s", tc.method, tc.path, a.Status, a.Header, a.Body)
		}
	}

	// What a file says of itself goes with the file.
	modulestest.BuildRegion(t, far,
		`<osm version="0.6"><node id="7" version="1" lat="11" lon="21"><tag k="name" v="Far"/></node></osm>`)
	if a := s.AdminDo(http.MethodPost, "/maps/regions/reload", ""); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	want[0].Bounds, want[0].Date = bounds(11, 21, 11, 21), nil
	if diff := cmp.Diff(want, parseCoverage(t, s.Do(http.MethodGet, coverage, "", ""))); diff != "" {
		t.Errorf("after the swap (-want +got):\n%s", diff)
	}

	// A region that cannot be read is not passed over.
	if err := os.Truncate(far, 4096); err != nil {
		t.Fatal(err)
	}
	if a := s.Do(http.MethodGet, coverage, "", ""); a.Status != 503 || a.Body != `{"error":"service unavailable"}` ||
		a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("cut short: %d %s", a.Status, a.Body)
	}
}

// The two paths cannot be the same.
func TestCoverageAddress(t *testing.T) {
	s, region := start(t)
	for option, says := range map[string]string{
		"coverage /v2/search/reverse-geocoding": "the path of the endpoint itself",
		"prefix /v2/search/coverage/":           "the path of the endpoint itself",
	} {
		config := config(region)
		config.Site = strings.Replace(config.Site, "geocoder", option+"\ngeocoder", 1)
		if err := s.Load(config); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", option, err)
		}
	}
}
