package integration

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
)

// routingPage serves a page that runs a function of testdata/osrm/page.js, and the libraries of npm.
func routingPage(modules string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/npm/", http.StripPrefix("/npm", http.FileServer(http.Dir(modules))))
	mux.Handle("/page.js", http.FileServer(http.Dir(filepath.Join("testdata", "osrm"))))
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>routes</title>
			<link rel="stylesheet" href="/npm/leaflet/dist/leaflet.css">
			<link rel="stylesheet" href="/npm/leaflet-routing-machine/dist/leaflet-routing-machine.css">
			<link rel="stylesheet" href="/npm/maplibre-gl-5/dist/maplibre-gl.css">
			<body style="margin: 0"><div id="map" style="width: 640px; height: 480px"></div>
			<script src="/npm/leaflet/dist/leaflet.js"></script>
			<script src="/npm/leaflet-routing-machine/dist/leaflet-routing-machine.js"></script>
			<script src="/npm/maplibre-gl-5/dist/maplibre-gl.js"></script>
			<script type="module">
			import * as page from "/page.js";
			import * as directions from "/npm/@maplibre/maplibre-gl-directions/dist/maplibre-gl-directions.js";
			const query = new URLSearchParams(location.search);
			page[query.get("library")](query.get("api"), query.get("key"), query.get("profile"), directions).then(
				(result) => (window.result = result), (error) => (window.result = {failed: String(error)}));
			</script>`)
	})
	return mux
}

// Two libraries for pages plan routes, with a publishable key: by OSRM's API they get lines with all waypoints on them,
// alternatives, and instructions.
func TestRoutingLibraries(t *testing.T) {
	modules := npmModules(t)
	t.Parallel()
	s := startServer(t, "# cors https://app.example.com", "cors *")
	user := s.userToken(t, "acme")
	account := s.create(t, user, map[string]any{"scopes": []string{"DIRECTION"}})
	page := httptest.NewServer(routingPage(modules))
	defer page.Close()
	key, _ := s.publish(t, user, account.ID, page.URL)
	open := func(library, profile string) *browsertest.Tab {
		tab := browsertest.Open(t, 640, 480, chromedp.Flag("disable-gpu", false), chromedp.Flag("use-gl", "angle"),
			chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true))
		query := url.Values{"library": {library}, "profile": {profile}, "api": {s.url("/route/v1")}, "key": {key}}
		tab.Go(page.URL + "/?" + query.Encode())
		tab.Wait("the routes", "window.result")
		tab.CheckOrigin(page.URL, s.url(""))
		return tab
	}

	type leafletRoute struct {
		Name              string
		Metres, Seconds   float64
		Points, Waypoints int
		Joined, OnLine    bool
		Texts, Types      []string
	}
	drawn := browsertest.Eval[struct {
		Failed     string
		Two, Three []leafletRoute
		Rows       int
	}](open("leaflet", "driving"), "window.result")
	for waypoints, routes := range map[int][]leafletRoute{2: drawn.Two, 3: drawn.Three} {
		if drawn.Failed != "" || len(routes) == 0 {
			t.Fatalf("Leaflet Routing Machine: %+v", drawn)
		}
		for _, r := range routes {
			last := len(r.Texts) - 1
			if r.Name == "" || r.Metres < 40_000 || r.Seconds < 1500 || r.Points < 200 || r.Waypoints != waypoints || !r.Joined ||
				!r.OnLine || last < 5 || r.Types[0] != "Head" || r.Types[last] != "DestinationReached" ||
				!strings.HasPrefix(r.Texts[0], "Head ") || !strings.Contains(r.Texts[last], "arrived at your ") {
				t.Errorf("Leaflet Routing Machine, %d waypoints: %+v", waypoints, r)
			}
		}
	}
	if drawn.Rows < len(drawn.Three[0].Texts) {
		t.Errorf("Leaflet Routing Machine shows %d instructions of %d", drawn.Rows, len(drawn.Three[0].Texts))
	}

	type maplibreRoutes struct {
		Routes, Snapped, Selected, Others int
		OnLine                            bool
		Seconds                           float64
	}
	for _, profile := range []string{"driving", "cycling", "walking"} {
		got := browsertest.Eval[struct {
			Failed     string
			Two, Three maplibreRoutes
			Turned     float64 // seconds
		}](open("maplibre", profile), "window.result")
		if got.Turned < got.Three.Seconds {
			t.Errorf("MapLibre GL Directions, %s: %v s with bearings, %v without", profile, got.Turned, got.Three.Seconds)
		}
		for waypoints, r := range map[int]maplibreRoutes{2: got.Two, 3: got.Three} {
			if got.Failed != "" || r.Routes < 1 || r.Snapped != waypoints || r.Selected != waypoints-1 ||
				r.Others != (r.Routes-1)*(waypoints-1) || !r.OnLine || r.Seconds < 1500 {
				t.Errorf("MapLibre GL Directions, %s, %d waypoints: %q %+v", profile, waypoints, got.Failed, r)
			}
		}
	}
}
