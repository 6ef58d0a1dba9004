package pages_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/pages"
)

const startSite = `
	@start path / /start/*
	handle @start {
		maps_start {
			playground
			console
			docs
			tokens
			tiles
			matching
			geocoding
		}
	}`

// The page shows the parts and regions that its options name, and the requests of the steps with the address that the
// client used. It shows no path of a file.
func TestStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret-village.region")
	s := modulestest.Start(t, modulestest.Config{})
	modulestest.BuildRegion(t, path, modulestest.Village)
	config := func(options string) modulestest.Config {
		return modulestest.Config{
			Maps:   "region village " + path + "\nregion later " + path + ".later {\nawaited\n}\n",
			Global: "servers {\ntrusted_proxies static 127.0.0.1\n}",
			Site:   "maps_start" + options,
		}
	}
	const steps, curl = "Three steps", `curl -H "Authorization: Bearer $MAPS_TOKEN" '`
	for _, test := range []struct {
		options   string
		has, lack []string
	}{
		{" {\nplayground\nconsole\ndocs\ntokens\ntiles\nmatching\nrouting\nsearch\ngeocoding\n}", []string{
			`<a href="playground/">Map</a>`, `<a href="console/">Console</a>`, `<a href="docs/">API reference</a>`,
			"<bdi>village</bdi>", "<bdi>later</bdi>", "Not available at the moment.", steps,
			`<a href="https://www.openstreetmap.org/copyright">© OpenStreetMap contributors</a>`,
			"curl -s '{origin}/api/v1/external/auth'", curl + "{origin}/v2/search/reverse-geocoding?lat=39.1",
			"{origin}/tiles/village.json", "<code>{origin}/api/v1/route</code>",
			"<code>{origin}/v2/search/geocode?query=</code>",
			"--scopes TILE,DIRECTION,MATRIX,ONM,TSS,GEOCODING,REVERSEGEOCODING<",
		}, nil},
		{" village {\ntokens /a/tokens\ntiles /b/tiles\nconsole /c/console\n}", []string{
			`<a href="c/console/">Console</a>`, "'{origin}/a/tokens/auth'", curl + "{origin}/b/tiles/village.json'", steps,
		}, []string{"later", "playground", "docs/", "matching", "reverse", "search"}},
		{" {\ntokens\nmatching\n}", []string{curl + "{origin}/api/route/matching/' \\", `{"radius":100,"path":[{"lat":39.1`}, nil},
		{" {\ntokens\nrouting\n}", []string{curl + "{origin}/api/v1/route?origin=39.1", "--scopes DIRECTION,MATRIX,ONM,TSS<"}, nil},
		{" {\ngeocoding\n}", []string{"{origin}/v2/search/reverse-geocoding"}, []string{steps, "tiles"}},
		{"", []string{"<bdi>village</bdi>"}, []string{steps, "console", "docs/"}},
	} {
		if err := s.Load(config(test.options)); err != nil {
			t.Fatal(err)
		}
		for _, seen := range []struct {
			origin string
			header []string
		}{{s.URL, nil}, {"https://maps.example.com", []string{"X-Forwarded-Proto", "https", "X-Forwarded-Host", "maps.example.com"}}} {
			a := s.Do("GET", "/", "", "", seen.header...)
			body := strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&#43;", "+", "&amp;", "&").Replace(a.Body)
			for _, want := range test.has {
				if want = strings.ReplaceAll(want, "{origin}", seen.origin); !strings.Contains(body, want) {
					t.Errorf("%s from %s: no %s in %s", test.options, seen.origin, want, body)
				}
			}
			for _, lack := range append(test.lack, "secret-", "<no value>") {
				if strings.Contains(body, lack) {
					t.Errorf("%s: %s in %s", test.options, lack, body)
				}
			}
		}
	}

	if err := s.Load(config("")); err != nil {
		t.Fatal(err)
	}
	index := s.Do("GET", "/", "", "")
	for path, want := range map[string]int{
		"/": 200, "/start/start.js": 200, "/start/shared/base.css": 200, "/start/start.html": 404, "/start/index.html": 404,
		"/start": 404, "/start/": 404, "/started": 404, "/index.html": 404,
	} {
		if a := s.Do("HEAD", path, "", ""); a.Status != want || a.Header.Get("Content-Security-Policy") != index.Header.Get("Content-Security-Policy") {
			t.Errorf("%s: %d %v", path, a.Status, a.Header)
		}
	}
	if a := s.Do("POST", "/", "", "{}"); a.Status != 405 || a.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", a.Status, a.Header)
	}
	if a := s.Do("GET", "/", "", "", "If-None-Match", index.Header.Get("ETag")); a.Status != 304 {
		t.Errorf("with its ETag: %d", a.Status)
	}
	// Everything that the page loads is there.
	for _, file := range regexp.MustCompile(`(?:src|href)="(start/[^"]+)"`).FindAllStringSubmatch(index.Body, -1) {
		if a := s.Do("GET", "/"+file[1], "", ""); a.Status != 200 {
			t.Errorf("%s: %d", file[1], a.Status)
		}
	}
}

// Every page has the same header, in which the page itself is marked, and which leads to the pages of this server.
func TestHeader(t *testing.T) {
	s, cfg, _ := startPlayground(t, "TILE", "")
	cfg.Site += startSite + "\nhandle /docs/* {\nmaps_docs\n}\nhandle /console/* {\nmaps_console\n}"
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`<a ([^>]*)>([^<]+)</a>`)
	for page, current := range map[string]string{
		"/": "caddy-maps", "/playground/": "Map", "/console/": "Console", "/docs/": "API reference",
	} {
		head, _, _ := strings.Cut(s.Do("GET", page, "", "").Body, "</nav>")
		var titles []string
		for _, link := range links.FindAllStringSubmatch(head, -1) {
			titles = append(titles, link[2])
			if strings.Contains(link[1], "aria-current") != (link[2] == current) {
				t.Errorf("%s: %s", page, link[0])
			}
		}
		if want := []string{"caddy-maps", "Map", "Console", "API reference"}; !slices.Equal(titles, want) {
			t.Errorf("%s: %q", page, titles)
		}
	}
}
