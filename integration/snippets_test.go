package integration

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// snippetChecks are what the Caddyfiles of examples/engines have to do, by their names.
var snippetChecks = map[string]func(t *testing.T, text string){
	"match-osrm":              checkChainSnippet,
	"match-valhalla":          checkValhallaSnippet,
	"reverse-nominatim":       checkNominatimSnippet,
	"reverse-photon":          checkPhotonSnippet,
	"route-osrm":              checkRoutesByOSRM,
	"route-valhalla":          checkRoutesByValhalla,
	"matrix-osrm":             checkMatrixByOSRM,
	"matrix-valhalla-vroom":   checkBodies,
	"search-nominatim-photon": checkGeocoding,
	"tiles":                   checkTiles,
	"limits-and-logs":         checkLimits,
}

const page = "https://app.example.com"

// checkPreflight checks that a browser may ask whether a script of the page may send a token.
func (f *fronted) checkPreflight(path string) {
	f.t.Helper()
	preflight := call{method: "OPTIONS", path: path, header: map[string][]string{
		"Origin": {page}, "Access-Control-Request-Method": {"GET"}, "Access-Control-Request-Headers": {"authorization"},
	}}
	f.ask(preflight).want(204).wantHeader("Access-Control-Allow-Origin", page).
		wantHeader("Access-Control-Allow-Headers", "authorization")
	preflight.header["Origin"] = []string{"https://elsewhere.example.com"}
	f.ask(preflight).want(204).wantHeader("Access-Control-Allow-Origin", "")
	f.ask(call{path: path, header: map[string][]string{"Origin": {page}}}).want(401).
		wantHeader("Access-Control-Allow-Origin", page)
	f.notPassed()
}

// wantVary checks that an answer varies with all of these headers.
func (a *answer) wantVary(names ...string) {
	a.t.Helper()
	all := strings.ToLower(strings.Join(a.header.Values("Vary"), ","))
	for _, name := range names {
		if !strings.Contains(all, strings.ToLower(name)) {
			a.t.Errorf("%s: Vary is %q, without %s", a.call.path, all, name)
		}
	}
}

// badPositions are no positions.
var badPositions = []string{
	"", "39.15", "39.15,", "39.15,-75.52,1", "91,1", "-90.1,1", "1,181", "1,-180.01", "NaN,1", "1e1,1", "0x1,1",
	"39.15;-75.52", "39.15,-75.52&origin=39.15,-75.52&destination=39.15,-75.52", "{env.HOME},1", "%7Benv.HOME%7D,1",
	"1,1%0A", "1,1%00", "1,1/../x", "1.0000000000000000001,1",
}

// checkRoute checks that origin and destination reach the upstream as read says, or are refused.
func checkRoute(t *testing.T, text string, read func(r recordedRequest) (from, to [2]string)) {
	f := startFronted(t, text)
	f.checkPreflight(route + "?origin=1,2&destination=3,4")
	_, got := f.gate("DIRECTION", call{path: route + "?origin=39.15727,-75.5293&destination=42.5063,1.5218"})
	f.wantAccount(got)
	if from, to := read(got); from != [2]string{"39.15727", "-75.5293"} || to != [2]string{"42.5063", "1.5218"} {
		t.Errorf("%s: from %v to %v", got.uri, from, to)
	}
	_, token := f.token("DIRECTION")
	random := rand.New(rand.NewPCG(3, 4))
	decimal := func(most float64) string {
		return strconv.FormatFloat((2*random.Float64()-1)*most, 'f', random.IntN(10), 64)
	}
	for range 50 {
		from, to := [2]string{decimal(90), decimal(180)}, [2]string{decimal(90), decimal(180)}
		separator := []string{",", "%2C", ",+", ", ", "%2c%20"}[random.IntN(5)]
		separator = strings.ReplaceAll(separator, " ", "%20")
		c := call{bearer: token, path: route + "?destination=" + strings.Join(to[:], separator) +
			"&x=y&origin=" + strings.Join(from[:], separator)}
		f.ask(c).want(200)
		got := f.passed(token)
		if gotFrom, gotTo := read(got); gotFrom != from || gotTo != to {
			t.Errorf("%s: %s", c.path, got.uri)
		}
	}
	for _, bad := range badPositions {
		for name, query := range map[string]string{
			"origin": "?origin=" + bad + "&destination=1,2", "destination": "?origin=1,2&destination=" + bad,
		} {
			a := f.ask(call{path: route + query, bearer: token, header: map[string][]string{"Origin": {page}}}).
				want(400).wantHeader("Content-Type", jsonType)
			if strings.Contains(bad, "&") { // both are there twice
				name = "origin"
			}
			want := fmt.Sprintf(`{"error":"%s: must be <lat>,<lon>","code":"FAILED_VALIDATION"}`, name)
			if string(a.body) != want {
				t.Errorf("%s: %s, want %s", query, a.body, want)
			}
			a.wantHeader("Access-Control-Allow-Origin", page)
		}
	}
	f.ask(call{path: route, bearer: token}).want(400)
	f.notPassed()
	f.checkBadBodies(call{path: route + "?origin=1,2&destination=3,4", bearer: token})
}

func checkRoutesByOSRM(t *testing.T, text string) {
	checkRoute(t, text, func(r recordedRequest) (from, to [2]string) {
		path, query, _ := strings.Cut(r.uri, "?")
		pairs, is := strings.CutPrefix(path, "/route/v1/driving/")
		if !is || query != "overview=full&geometries=geojson" {
			return from, to
		}
		first, second, _ := strings.Cut(pairs, ";")
		from[1], from[0], _ = strings.Cut(first, ",")
		to[1], to[0], _ = strings.Cut(second, ",")
		return from, to
	})
}

func checkRoutesByValhalla(t *testing.T, text string) {
	checkRoute(t, text, func(r recordedRequest) (from, to [2]string) {
		u, err := url.ParseRequestURI(r.uri)
		if err != nil || u.Path != "/route" || len(u.Query()) != 1 {
			t.Errorf("%s: %v", r.uri, err)
			return from, to
		}
		var question struct {
			Locations []struct{ Lat, Lon json.Number }
			Costing   string
		}
		err = json.Unmarshal([]byte(u.Query().Get("json")), &question)
		if err != nil || len(question.Locations) != 2 || question.Costing != "auto" {
			t.Errorf("%s: %v", r.uri, err)
			return from, to
		}
		from = [2]string{question.Locations[0].Lat.String(), question.Locations[0].Lon.String()}
		to = [2]string{question.Locations[1].Lat.String(), question.Locations[1].Lon.String()}
		return from, to
	})
}

func checkMatrixByOSRM(t *testing.T, text string) {
	f := startFronted(t, text)
	for _, service := range []struct{ scope, endpoint, query string }{
		{"MATRIX", "/api/v1/matrix/", "?annotations=duration,distance"},
		{"ONM", "/api/v1/one-to-many/", "?annotations=duration,distance&sources=0"},
	} {
		_, got := f.gate(service.scope, call{path: service.endpoint + "39.1,-75.5;42.5,1.5;-0.25,7"})
		f.wantAccount(got)
		if want := "/table/v1/driving/-75.5,39.1;1.5,42.5;7,-0.25" + service.query; got.uri != want {
			t.Errorf("%s, want %s", got.uri, want)
		}
		_, token := f.token(service.scope)
		// The path is sent as it is written here, encoded or not.
		for _, path := range []string{"39.1%2C-75.5%3B42.5%2C1.5", "39.1,-75.5;42.5,1.5?annotations=speed&sources=1"} {
			req, err := http.NewRequest("GET", f.site+service.endpoint+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			resp, err := httpClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if got := f.passed(token); got.uri != "/table/v1/driving/-75.5,39.1;1.5,42.5"+service.query {
				t.Errorf("%s: %s", path, got.uri)
			}
		}
		for _, bad := range []string{
			"", "39.1,-75.5;", ";39.1,-75.5", "39.1,-75.5;;1,1", "139.1,-75.5;1,1", "1,1;1,181", "a,b;c,d", "1,1/2,2",
			"1,1;2,2/x", "1,1,1",
		} {
			a := f.ask(call{path: service.endpoint + bad, bearer: token}).want(400).wantHeader("Content-Type", jsonType)
			if !bytes.Contains(a.body, []byte(`"code":"FAILED_VALIDATION"`)) {
				t.Errorf("%s: %s", bad, a.body)
			}
		}
		f.notPassed()
		f.checkBadBodies(call{path: service.endpoint + "39.1,-75.5;42.5,1.5", bearer: token})
	}
}

func checkGeocoding(t *testing.T, text string) {
	f := startFronted(t, text)
	results := `{"results":"` + strings.Repeat("Dover ", 500) + `"}`
	f.upstream.says(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		if strings.Contains(r.URL.RawQuery, "broken") {
			w.WriteHeader(500)
		}
		fmt.Fprint(w, results)
	})
	for _, service := range []struct{ endpoint, uri, cache string }{
		{"/v2/search/geocoding", "/search?format=jsonv2&q=Dover+Castle", "private"},
		{"/v2/search/autocomplete", "/api?q=Dover%20Castle", "private, max-age=60"},
	} {
		query := "?q=Dover%20Castle"
		f.checkPreflight(service.endpoint + query)
		_, got := f.gate("GEOCODING", call{path: service.endpoint + query})
		f.wantAccount(got)
		if got.uri != service.uri {
			t.Errorf("%s, want %s", got.uri, service.uri)
		}
		_, token := f.token("GEOCODING")
		header := map[string][]string{"Origin": {page}, "Accept-Encoding": {"gzip"}}
		a := f.ask(call{path: service.endpoint + query + "&apiKey=" + token, header: header}).want(200)
		if got := f.passed(token); got.uri != service.uri {
			t.Errorf("%s, want %s", got.uri, service.uri)
		}
		a.wantHeader("Access-Control-Allow-Origin", page).wantHeader("Access-Control-Allow-Credentials", "").
			wantHeader("Cache-Control", service.cache).wantHeader("Referrer-Policy", "no-referrer").
			wantHeader("Content-Encoding", "gzip").wantVary("Authorization", "Origin", "Accept-Encoding")
		if unzipped(t, a.body) != results {
			t.Error("the answer is not what the upstream said")
		}
		f.ask(call{path: service.endpoint + "?q=broken", bearer: token}).want(500).wantHeader("Cache-Control", "private")
		f.upstream.take()
	}
	_, token := f.token("GEOCODING")
	f.ask(call{path: "/v2/search/geocoding?format=xml&q=a&format=html", bearer: token}).want(200)
	if got := f.passed(token); got.uri != "/search?format=jsonv2&q=a" {
		t.Errorf("%s", got.uri)
	}
}

func unzipped(t *testing.T, body []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func checkTiles(t *testing.T, text string) {
	f := startFronted(t, text)
	const mvt = "application/vnd.mapbox-vector-tile"
	tile := strings.Repeat("road ", 1000)
	f.upstream.says(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Cache-Control", "public, max-age=5, s-maxage=5")
		switch {
		case r.URL.Path == "/9/9/9.pbf":
			w.WriteHeader(404)
		case r.Header.Get("If-None-Match") == `"1"`:
			w.WriteHeader(304)
		case strings.HasSuffix(r.URL.Path, ".png"):
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, tile)
		case strings.HasPrefix(r.URL.Path, "/packed/"):
			w.Header().Set("Content-Type", mvt)
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, tile)
		default:
			w.Header().Set("Content-Type", mvt)
			fmt.Fprint(w, tile)
		}
	})
	f.checkPreflight("/basemap/1/2/3.pbf")
	a, got := f.gate("TILE", call{path: "/basemap/1/2/3.pbf"})
	f.wantAccount(got)
	const cache = "private, max-age=86400, stale-while-revalidate=604800"
	a.wantHeader("Cache-Control", cache).wantHeader("Access-Control-Allow-Origin", page).
		wantVary("Authorization", "Origin")
	if got.uri != "/1/2/3.pbf" {
		t.Error(got.uri)
	}
	_, token := f.token("TILE")
	ask := func(path, encoding, match string) *answer {
		t.Helper()
		header := map[string][]string{"Accept-Encoding": {encoding}}
		if match != "" {
			header["If-None-Match"] = []string{match}
		}
		a := f.ask(call{path: "/basemap" + path + "?apiKey=" + token, header: header})
		if got := f.passed(token); got.uri != path {
			t.Errorf("%s, want %s", got.uri, path)
		}
		return a
	}
	a = ask("/1/2/3.pbf", "gzip", "").want(200).wantHeader("Content-Encoding", "gzip").wantHeader("Cache-Control", cache)
	a.wantVary("Authorization", "Origin", "Accept-Encoding")
	if unzipped(t, a.body) != tile {
		t.Error("another tile")
	}
	ask("/packed/1.pbf", "gzip, br", "").want(200).wantHeader("Content-Encoding", "br").wantHeader("Cache-Control", cache)
	ask("/1/2/3.png", "gzip", "").want(200).wantHeader("Content-Encoding", "").wantHeader("Cache-Control", cache)
	ask("/1/2/3.pbf", "gzip", a.header.Get("ETag")).want(304).wantHeader("Cache-Control", cache)
	ask("/1/2/3.pbf", "identity", `"1"`).want(304).wantHeader("Cache-Control", cache)
	ask("/9/9/9.pbf", "identity", "").want(404).wantHeader("Cache-Control", "private, max-age=5")
}

func checkLimits(t *testing.T, text string) {
	f := startFronted(t, text, "events 1000", "events 5", "window 10s", "window 1m")
	f.upstream.says(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/broken") {
			panic(http.ErrAbortHandler)
		}
	})
	id, token := f.token("TILE", "GEOCODING")
	forged := map[string][]string{"X-Account": {"forged"}, "X-Organization": {"forged"}, "X-Scopes": {"forged"}}
	f.ask(call{path: "/basemap/1?apiKey=" + token, header: forged}).want(200)
	got := f.passed(token)
	want := map[string][]string{"X-Account": {id}, "X-Organization": {"fronting"}, "X-Scopes": {"TILE GEOCODING"}}
	for name, values := range want {
		if diff := cmp.Diff(values, got.header[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	a := f.ask(call{path: "/basemap/broken", bearer: token}).want(502).wantHeader("Content-Type", jsonType)
	if string(a.body) != `{"error":"Bad Gateway"}` {
		t.Errorf("%s", a.body)
	}
	for range 3 {
		f.ask(call{path: "/basemap/1", bearer: token}).want(200)
	}
	f.upstream.take()
	a = f.ask(call{path: "/basemap/1", bearer: token}).want(429).wantHeader("Content-Type", jsonType).
		wantHeader("Cache-Control", "no-store")
	wait, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || wait < 1 || wait > 61 || string(a.body) != `{"error":"Too Many Requests"}` {
		t.Errorf("Retry-After %q: %s", a.header.Get("Retry-After"), a.body)
	}
	f.ask(call{path: "/basemap/1"}).want(401)
	f.notPassed()
	_, other := f.token("TILE")
	f.ask(call{path: "/basemap/1", bearer: other}).want(200)
	log, err := os.ReadFile(f.log)
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{`"account":"` + id + `"`, `"organization":"fronting"`, "apiKey=REDACTED"} {
		if !bytes.Contains(log, []byte(wanted)) {
			t.Errorf("the log has no %s", wanted)
		}
	}
}
