package reversegeocode_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/localgeocoder"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/reversegeocode"
)

const (
	endpoint = "/v2/search/reverse-geocoding"
	crossing = "lat=39.1601&lon=-75.5201" // where the café is
)

// start runs a server whose one handler is the reverse geocoder, on a region of its own.
func start(t *testing.T) (s *modulestest.Server, region string) {
	t.Helper()
	region = filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	return modulestest.Start(t, config(region)), region
}

func config(region string) modulestest.Config {
	return modulestest.Config{
		Maps: "region village " + region,
		Site: `
			maps_reverse_geocode {
				public
				geocoder local village
			}
			respond "not for the next handler" 418`,
	}
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

type result struct {
	Data struct {
		Query   string  `json:"query"`
		Results []place `json:"results"`
	} `json:"data"`
}

func parse(t *testing.T, a modulestest.Response) result {
	t.Helper()
	var r result
	dec := json.NewDecoder(strings.NewReader(a.Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil || a.Status != http.StatusOK || r.Data.Results == nil {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	return r
}

func TestReverseGeocoding(t *testing.T) {
	s, _ := start(t)
	get := func(query string) modulestest.Response {
		t.Helper()
		return s.Do(http.MethodGet, endpoint+"?"+query, "", "")
	}

	t.Run("the nearest", func(t *testing.T) {
		a := get(crossing)
		if got := a.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("Content-Type %q", got)
		}
		got := parse(t, a)
		if got.Data.Query != "39.160100,-75.520100" || len(got.Data.Results) != 1 {
			t.Fatalf("%s", a.Body)
		}
		want := place{
			ID: "node:100", Name: "Crossing Café", DisplayName: got.Data.Results[0].DisplayName, Category: "amenity",
			Type:     "cafe",
			Location: map[string]float64{"lat": 39.1601, "lng": -75.5201}, Address: got.Data.Results[0].Address,
		}
		if diff := cmp.Diff(want, got.Data.Results[0]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		address := got.Data.Results[0].Address
		if address["city"] != "Testville" || address["country_code"] != "USA" || address["country"] == "" {
			t.Errorf("address %v", address)
		}
		for _, part := range []string{"Crossing Café", "Testville"} {
			if !strings.Contains(want.DisplayName, part) {
				t.Errorf("display_name %q lacks %s", want.DisplayName, part)
			}
		}
	})

	// The size bounds the results, which come by distance.
	t.Run("size", func(t *testing.T) {
		for query, want := range map[string]int{"": 1, "&size=1": 1, "&size=2": 2, "&size=5": 5, "&size=%2B3": 3,
			"&size=2.0": 2} {
			got := parse(t, get(crossing+query)).Data.Results
			if len(got) != want {
				t.Errorf("%q: %d results", query, len(got))
			}
			for i := range len(got) - 1 {
				if got[i].Distance > got[i+1].Distance {
					t.Errorf("%q: result %d at %v m comes before one at %v m", query, i, got[i].Distance, got[i+1].Distance)
				}
			}
		}
	})

	t.Run("category", func(t *testing.T) {
		for category, want := range map[string]string{
			"":                   "node:100",
			"%20%20":             "node:100",
			",":                  "node:100",
			"school":             "node:101",
			"%20SCHOOL%20":       "node:101",
			"amenity":            "node:100",
			"nothing,school":     "node:101",
			"highway":            "way:21",
			"restaurant,bank":    "",
			"cafe;school":        "",
			"cafe&category2=bar": "node:100",
		} {
			got := parse(t, get(crossing+"&category="+category)).Data.Results
			if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].ID != want) {
				t.Errorf("%q: %+v, want %q", category, got, want)
			}
			if category == "highway" && got[0].Category != "highway" {
				t.Errorf("highway: %+v", got)
			}
		}
	})

	// A house has its number and street for a name.
	t.Run("house", func(t *testing.T) {
		got := parse(t, get("lat=39.1601&lon=-75.5150")).Data.Results
		if len(got) != 1 || got[0].ID != "node:102" || !strings.Contains(got[0].Name, "5") ||
			got[0].Address["house_number"] != "5" ||
			got[0].Address["street"] != "Main Street" || got[0].Address["postcode"] != "19901" {
			t.Errorf("%+v", got)
		}
	})

	t.Run("outside", func(t *testing.T) {
		for query, want := range map[string]string{
			"lat=0&lon=0":            "0.000000,0.000000",
			"lat=-0&lon=-0.00000001": "0.000000,0.000000",
			"lat=+90&lon=-180":       "90.000000,-180.000000",
			"lat=%2B9e1&lon=1.8E%2B2&apiKey=x&utm=y&lat2=z": "90.000000,180.000000",
			"lat=-90.0&lon=1e-7":                            "-90.000000,0.000000",
		} {
			if got := parse(t, get(query)); got.Data.Query != want || len(got.Data.Results) != 0 {
				t.Errorf("%s: %+v, want %s", query, got, want)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	s, _ := start(t)
	const validation = "FAILED_VALIDATION"
	for _, tc := range []struct {
		query, names string
	}{
		{"", "lat"},
		{"lon=1", "lat"},
		{"lat=1", "lon"},
		{"lat=&lon=1", "lat"},
		{"lat=1&lon=", "lon"},
		{"lat&lon=1", "lat"},
		{"lat=91&lon=1", "lat"},
		{"lat=-90.0000001&lon=1", "lat"},
		{"lat=1&lon=180.5", "lon"},
		{"lat=1&lon=-181", "lon"},
		{"lat=NaN&lon=1", "lat"},
		{"lat=Infinity&lon=1", "lat"},
		{"lat=0x10&lon=1", "lat"},
		{"lat=1_0&lon=1", "lat"},
		{"lat=.5&lon=1", "lat"},
		{"lat=5.&lon=1", "lat"},
		{"lat=01&lon=1", "lat"},
		{"lat=1e999&lon=1", "lat"},
		{"lat=1,5&lon=1", "lat"},
		{"lat=%201&lon=1", "lat"},
		{"lat=1%20&lon=1", "lat"},
		{"lat=1&lon=1%", "lon"},
		{"lat=north&lon=1", "lat"},
		{"lat=1&lat=1&lon=1", "lat"},
		{"lat=1&lon=1&l%6Fn=1", "lon"},
		{"lat=1&lon=1&size=", "size"},
		{"lat=1&lon=1&size=0", "size"},
		{"lat=1&lon=1&size=6", "size"},
		{"lat=1&lon=1&size=-1", "size"},
		{"lat=1&lon=1&size=1.5", "size"},
		{"lat=1&lon=1&size=two", "size"},
		{"lat=1&lon=1&size=99999999999999999999", "size"},
		{"lat=1&lon=1&size=1&size=1", "size"},
		{"lat=1&lon=1&category=a&category=b", "category"},
		{"lat=1&lon=1&category=%zz", "category"},
		{"lat=1&lon=1&category=" + strings.Repeat("ab,", 63) + manyTerms(70), "category"},
	} {
		a := s.Do(http.MethodGet, endpoint+"?"+tc.query, "", "")
		var body struct{ Error, Code string }
		if err := json.Unmarshal([]byte(a.Body), &body); err != nil || a.Status != http.StatusBadRequest ||
			body.Code != validation ||
			!strings.HasPrefix(body.Error, tc.names+":") || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%.60q: %d %s, want a 400 that names %s", tc.query, a.Status, a.Body, tc.names)
		}
	}

	for _, tc := range []struct {
		method, path, body, allow string
		status                    int
	}{
		{http.MethodPost, endpoint + "?" + crossing, `{"error":"method not allowed"}`, "GET, HEAD", 405},
		{http.MethodDelete, endpoint, `{"error":"method not allowed"}`, "GET, HEAD", 405},
		{http.MethodOptions, endpoint, `{"error":"method not allowed"}`, "GET, HEAD", 405},
		{http.MethodGet, endpoint + "/?" + crossing, `{"error":"not found"}`, "", 404},
		{http.MethodGet, endpoint + "/x?" + crossing, `{"error":"not found"}`, "", 404},
		{http.MethodGet, "/v2/search", `{"error":"not found"}`, "", 404},
		{http.MethodPost, "/", `{"error":"not found"}`, "", 404},
	} {
		a := s.Do(tc.method, tc.path, "", "")
		if a.Status != tc.status || a.Body != tc.body || a.Header.Get("Allow") != tc.allow ||
			a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %d %v %s", tc.method, tc.path, a.Status, a.Header, a.Body)
		}
	}

	get := s.Do(http.MethodGet, endpoint+"?"+crossing, "", "")
	head := s.Do(http.MethodHead, endpoint+"?"+crossing, "", "")
	for _, name := range []string{"Content-Type", "Content-Length"} {
		if head.Status != 200 || head.Body != "" || head.Header.Get(name) != get.Header.Get(name) ||
			get.Header.Get(name) == "" {
			t.Errorf("HEAD: %d, %s %q, GET has %q", head.Status, name, head.Header.Get(name), get.Header.Get(name))
		}
	}
}

func manyTerms(n int) string {
	terms := make([]string, n)
	for i := range terms {
		terms[i] = "t" + strings.Repeat("x", i)
	}
	return url.QueryEscape(strings.Join(terms, ","))
}

// A region that was cut short in place is 503 and a line in the log; a new file is served without a reload.
func TestRegionFile(t *testing.T) {
	s, region := start(t)
	town := func() string {
		t.Helper()
		return parse(t, s.Do(http.MethodGet, endpoint+"?"+crossing, "", "")).Data.Results[0].Address["city"]
	}
	if got := town(); got != "Testville" {
		t.Fatal(got)
	}
	modulestest.BuildRegion(t, region, modulestest.Renamed("Newtown"))
	if a := s.AdminDo(http.MethodPost, "/maps/regions/reload", ""); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if got := town(); got != "Newtown" {
		t.Errorf("after the swap: %s", got)
	}

	if err := os.Truncate(region, 4096); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		a := s.Do(http.MethodGet, endpoint+"?lat=39.155&lon=-75.52&size=5", "", "")
		if a.Status != 503 || a.Body != `{"error":"service unavailable"}` || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("cut short: %d %s", a.Status, a.Body)
		}
	}
	if n := strings.Count(s.Log(), "a region file is damaged"); n != 1 {
		t.Errorf("%d lines about the damage", n)
	}
	modulestest.BuildRegion(t, region, modulestest.Renamed("Oldtown"))
	if a := s.AdminDo(http.MethodPost, "/maps/regions/reload", ""); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if got := town(); got != "Oldtown" {
		t.Errorf("after the repair: %s", got)
	}
}

// A reload keeps the file that is open; one whose region cannot be opened, or is not configured, is refused.
func TestReload(t *testing.T) {
	s, region := start(t)
	regions := func() string { return s.AdminDo(http.MethodGet, "/maps/regions", "").Body }
	before := regions()
	if err := s.Load(config(region)); err != nil {
		t.Fatal(err)
	}
	if after := regions(); after != before || !strings.Contains(before, `"opened"`) {
		t.Errorf("before the reload %s, after it %s", before, after)
	}
	missing := config(region + ".none")
	if err := s.Load(missing); err == nil || !strings.Contains(err.Error(), "caddy maps build") {
		t.Errorf("a region file that is not there: %v", err)
	}
	unknown := config(region)
	unknown.Site = strings.Replace(unknown.Site, "local village", "local town", 1)
	if err := s.Load(unknown); err == nil || !strings.Contains(err.Error(), `no region "town"`) {
		t.Errorf("a region that is not configured: %v", err)
	}
	if a := s.Do(http.MethodGet, endpoint+"?"+crossing, "", ""); a.Status != 200 {
		t.Errorf("after refused reloads: %d %s", a.Status, a.Body)
	}
	if strings.Contains(regions(), region) {
		t.Errorf("a path is shown: %s", regions())
	}
}

// Of several geocoders the first that covers the position answers.
func TestChain(t *testing.T) {
	dir := t.TempDir()
	village, far := filepath.Join(dir, "village.region"), filepath.Join(dir, "far.region")
	modulestest.BuildRegion(t, village, modulestest.Village)
	modulestest.BuildRegion(t, far, `<osm version="0.6"><node id="7" version="1" lat="10" lon="20">
		<tag k="name" v="Far"/><tag k="amenity" v="bar"/></node></osm>`)
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region village " + village + "\nregion far " + far,
		Site: `
			@two query two=*
			maps_reverse_geocode @two {
				public
				geocoder local village
				geocoder local far
				max_distance 50.5
			}
			maps_reverse_geocode {
				public
				geocoder local village far
			}`,
	})
	for query, want := range map[string]string{"lat=10&lon=20": "node:7", crossing: "node:100", "lat=-10&lon=20": ""} {
		for _, how := range []string{"", "&two=1"} {
			got := parse(t, s.Do(http.MethodGet, endpoint+"?"+query+how, "", "")).Data.Results
			if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].ID != want) {
				t.Errorf("%s%s: %+v, want %q", query, how, got, want)
			}
		}
	}
}
