package integration

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mapsedge/caddy-maps/internal/testkit/browsertest"
)

// MapLibre draws our tiles by the style of Protomaps, whose schema they have, and by our own, in all of both versions'
// opinion without an error: towns, streets and buildings, and the sea where it is. Our style comes from another origin
// than the page, by one URL with a publishable key, which needs no preflight.
func TestMapLibre(t *testing.T) {
	modules := npmModules(t)
	t.Parallel()
	s := startServer(t, "# cors https://app.example.com", "cors *")
	user := s.userToken(t, "acme")
	account := s.create(t, user, map[string]any{"scopes": []string{"TILE"}})
	token, _ := s.exchange(t, account.ClientToken, account.ServerToken)
	var own string // the address of our style
	pages := httptest.NewServer(maplibrePages(t, s, modules, token, &own))
	defer pages.Close()
	key, _ := s.publish(t, user, account.ID, pages.URL)
	own = s.url("/tiles/delaware/style.json?apiKey=") + key

	views := []struct {
		name       string
		lat, lon   float64
		zoom       int
		least      map[string]int // features by layer
		leastColor int
	}{
		{"the state", 39.1, -75.5, 8, map[string]int{"earth": 1, "water": 1, "roads": 1, "boundaries": 1}, 8},
		{"Dover", 39.158, -75.524, 12, map[string]int{"earth": 1, "water": 1, "roads": 100, "landuse": 5}, 10},
		{"the middle of Dover", 39.158, -75.524, 16, map[string]int{"earth": 1, "roads": 50, "buildings": 5}, 10},
		{"Cape Henlopen", 38.79, -75.09, 12, map[string]int{"earth": 1, "water": 1, "roads": 5}, 6},
	}
	for _, version := range []string{"5", "6"} {
		for _, style := range []string{"protomaps", "own"} {
			tab := browsertest.Open(t, 640, 480, chromedp.Flag("disable-gpu", false), chromedp.Flag("use-gl", "angle"),
				chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true))
			shown := views
			if style == "own" {
				shown = views[1:3] // which have all of its layers
			}
			for _, view := range shown {
				tab.Go(fmt.Sprintf("%s/?version=%s&style=%s&view=%v,%v,%d", pages.URL, version, style,
					view.lat, view.lon, view.zoom))
				tab.Wait("the map", "window.result")
				result := browsertest.Eval[struct {
					Errors   []string
					Features map[string]int
					Colors   int
				}](tab, "window.result")
				name := fmt.Sprintf("MapLibre %s, style %s, %s at zoom %d", version, style, view.name, view.zoom)
				if len(result.Errors) > 0 || result.Colors < view.leastColor {
					t.Errorf("%s: %d colours, errors %q", name, result.Colors, result.Errors)
				}
				for layer, least := range view.least {
					if result.Features[layer] < least {
						t.Errorf("%s: %d features of %s, want at least %d", name, result.Features[layer], layer, least)
					}
				}
			}
			if style == "own" {
				tab.CheckOrigin(pages.URL, s.url(""))
			} else {
				tab.CheckOrigin(pages.URL)
			}
		}
	}
	if log, err := os.ReadFile(s.log); err != nil || strings.Contains(string(log), `"method":"OPTIONS"`) ||
		!strings.Contains(string(log), `"uri":"/tiles/delaware/style.json?apiKey=`) {
		t.Errorf("there was a preflight, or the log lacks the style: %v", err)
	}
}

// maplibrePages serves a page that draws what its query says, MapLibre itself, and the server's tiles. Our style is at
// another address.
func maplibrePages(t *testing.T, s *server, modules, token string, own *string) http.Handler {
	t.Helper()
	upstream, err := url.Parse(s.url(""))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/tiles/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(upstream)
		r.Out.Host = r.In.Host // TileJSON names the address that was asked
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}})
	for _, version := range []string{"5", "6"} {
		dist := filepath.Join(modules, "maplibre-gl-"+version, "dist")
		mux.Handle("/"+version+"/", http.StripPrefix("/"+version, http.FileServer(http.Dir(dist))))
	}
	mux.HandleFunc("/basemaps.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(modules, "@protomaps", "basemaps", "dist", "basemaps.js"))
	})
	mux.Handle("/check.js", http.FileServer(http.Dir(filepath.Join("testdata", "maplibre"))))
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		style := "protomaps(basemaps)"
		if query.Get("style") == "own" {
			style = strconv.Quote(*own)
		}
		library := `<script src="/5/maplibre-gl.js"></script>`
		name := "maplibregl"
		imports := ""
		if query.Get("version") == "6" {
			library, name, imports = "", "maplibre", `import * as maplibre from "/6/maplibre-gl.mjs";`
		}
		fmt.Fprintf(w, `<!doctype html><title>map</title><link rel="stylesheet" href="/%[1]s/maplibre-gl.css">
			<body style="margin: 0"><div id="map" style="width: 640px; height: 480px"></div>
			<script src="/basemaps.js"></script>%[2]s
			<script type="module">%[3]s import {protomaps, render} from "/check.js";
			render(%[4]s, %[5]s, [%[6]s]);</script>`, query.Get("version"), library, imports, name, style, query.Get("view"))
	})
	return mux
}
