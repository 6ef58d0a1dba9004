package regionmatcher_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/localgeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/localmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/mapmatch"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/regionmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/reversegeocode"
)

const (
	reverse = "/v2/search/reverse-geocoding"
	match   = "/api/route/matching/"
	inside  = `{"path":[{"lat":39.16,"lng":-75.525},{"lat":39.16,"lng":-75.522}]}`
	outside = `{"path":[{"lat":42.5,"lng":1.5},{"lat":42.51,"lng":1.5}]}`
)

func buildVillage(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, path, modulestest.Village)
	return path
}

// node is an upstream that says its name and how much of a body it got.
func node(t *testing.T, name string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprint(w, name, " ", len(body))
		if err != nil {
			fmt.Fprint(w, err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Requests go to the server that has their region, whole, and those that nobody understands to the last.
func TestSharding(t *testing.T) {
	site := func(first, second string) string {
		return fmt.Sprintf(`
			@village %s
			@andorra %s
			handle @village {
				reverse_proxy %s
			}
			handle @andorra {
				reverse_proxy %s
			}
			handle {
				reverse_proxy %s
			}`, first, second, node(t, "village"), node(t, "andorra"), node(t, "rest"))
	}
	maps := "region village " + buildVillage(t)
	s := modulestest.Start(t, modulestest.Config{Maps: maps, Site: site("maps_region village", "maps_region 42.42,1.40,42.66,1.79")})
	large := `{"path":[` + strings.Repeat(" ", 9<<20) + inside[len(`{"path":[`):]
	for _, form := range []struct{ name, first, second string }{
		{"matchers", "maps_region village", "maps_region 42.42,1.40,42.66,1.79"},
		{"with options", "maps_region village {\nmax_body 1MiB\nmax_points 100\n}", "maps_region 42.42,1.40,42.66,1.79 {\nmax_body 1MiB\n}"},
		{"expressions", "expression maps_region('village') && path('/*')", "`maps_region('42.42,1.40,42.66,1.79', '0,0,1,1')`"},
		{"sets", "{\nmaps_region village\nnot maps_region 0,0,1,1\n}", "{\nnot maps_region village\nmaps_region 0,0,1,1\nmaps_region 42.42,1.40,42.66,1.79\n}"},
	} {
		t.Run(form.name, func(t *testing.T) {
			s := s.With(t)
			if err := s.Load(modulestest.Config{Maps: maps, Site: site(form.first, form.second)}); err != nil {
				t.Fatal(err)
			}
			for _, test := range []struct{ target, body, want string }{
				{reverse + "?lat=39.16&lon=-75.52", "", "village 0"},
				{reverse + "?lat=42.5&lon=1.5", "", "andorra 0"},
				{reverse + "?lat=0&lon=-30", "", "rest 0"},
				{reverse + "?lat=x&lon=1.5", "", "rest 0"},
				{match, inside, fmt.Sprint("village ", len(inside))},
				{match, outside, fmt.Sprint("andorra ", len(outside))},
				{match, "{", "rest 1"},
				{match, large, fmt.Sprint("rest ", len(large))},
				{match + "?path=" + url.QueryEscape("[{39.16,-75.525},{39.16,-75.522}]"), "", "village 0"},
				{"/api/v1/route?origin=39.16,-75.52&destination=42.5,1.5", "", "village 0"},
				{"/api/v1/route?origin=42.5,1.5&destination=39.16,-75.52", "", "andorra 0"},
				{"/anything", "", "rest 0"},
			} {
				method := http.MethodGet
				if test.body != "" {
					method = http.MethodPost
				}
				if a := s.Do(method, test.target, "", test.body); a.Status != http.StatusOK || a.Body != test.want {
					t.Errorf("%s %.60s %.60s: %d %s, want %s", method, test.target, test.body, a.Status, a.Body, test.want)
				}
			}
		})
	}
}

// What the matcher understands, the handlers behind it understand too, and what not, they refuse.
func TestUnderstandsWhatTheHandlersDo(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: "region village " + buildVillage(t), Site: `
		@understood maps_region -90,-180,90,180 {
			max_body 1KiB
			max_points 10
		}
		header @understood Understood yes
		handle /api/* {
			maps_match {
				public
				matcher local village
				max_body 1KiB
				max_points 10
			}
		}
		handle {
			maps_reverse_geocode {
				public
				geocoder local village
			}
		}`})
	const point = `{"lat":39.16,"lng":-75.52}`
	points := func(n int) string { return `{"path":[` + strings.Repeat(point+",", n-1) + point + `]}` }
	for _, test := range []struct{ method, target, media, body string }{
		{"GET", reverse + "?lat=39.16&lon=-75.52", "", ""},
		{"HEAD", reverse + "?lat=+39.16&lon=%2D75.52", "", ""},
		{"GET", reverse + "?lat=39.16&lon=-75.52&x=1&x=2", "", ""},
		{"GET", reverse + "?lat=39.16&lon=-180", "", ""},
		{"GET", reverse + "?lat=39.16&lon=-180.1", "", ""},
		{"GET", reverse + "?lat=39.16", "", ""},
		{"GET", reverse + "?lat=&lon=", "", ""},
		{"GET", reverse + "?lat=0x10&lon=1", "", ""},
		{"GET", reverse + "?lat=%&lon=1", "", ""},
		{"GET", reverse + "?lat=1&lon=1&lon=1", "", ""},
		{"GET", match + "?path=[{39.16,-75.52},{39.16,-75.52}]", "", ""},
		{"GET", match[:len(match)-1] + "?path=[{+39.16,-75.52},{39.16,-7.552e%2B1}]", "", ""},
		{"GET", match + "?path=[{39.16,-7.552e+1},{39.16,-75.52}]", "", ""},
		{"GET", match + "?path=[{39.16,-75.52}]", "", ""},
		{"GET", match + "?path=[]", "", ""},
		{"GET", match, "", ""},
		{"GET", match + "?path=[{39.16,-75.52},{39.16,-75.52}]&path=", "", ""},
		{"PUT", match + "?path=[{39.16,-75.52},{39.16,-75.52}]", "", ""},
		{"POST", match, "", points(2)},
		{"POST", match, "application/json", points(10)},
		{"POST", match, "application/json", points(11)},
		{"POST", match, "application/json", points(3) + strings.Repeat(" ", 1024-len(points(3)))},
		{"POST", match, "application/json", points(3) + strings.Repeat(" ", 1025-len(points(3)))},
		{"POST", match, "application/json", points(3) + "x"},
		{"POST", match, "text/json", points(3)},
		{"POST", match, "application/geo+json", `{"type":"LineString","coordinates":[[-75.52,39.16],[-75.52,39.16]]}`},
		{"POST", match, "application/geo+json", `{"type":"Point","coordinates":[-75.52,39.16]}`},
		{"POST", match, "application/gpx+xml", `<gpx><rte><rtept lat="39.16" lon="-75.52"/><rtept lat="39.16" lon="-75.52"/></rte></gpx>`},
		{"POST", match, "application/gpx+xml", `<kml/>`},
		{"POST", match + "?path=[{39.16,-75.52},{39.16,-75.52}]", "application/json", points(2)},
	} {
		a := s.Do(test.method, test.target, "", test.body, "Content-Type", "", "Content-Type", test.media)
		understood := a.Header.Get("Understood") == "yes"
		switch a.Status {
		case 200:
			if !understood {
				t.Errorf("%+v is not understood but answered: %s", test, a.Body)
			}
		case 400, 405, 413, 415, 422:
			if understood {
				t.Errorf("%+v is understood but refused: %d %s", test, a.Status, a.Body)
			}
		default:
			t.Errorf("%+v: %d %s", test, a.Status, a.Body)
		}
	}
}

// A region whose file is damaged covers nothing, so that another server may answer.
func TestRegionThatCannotBeRead(t *testing.T) {
	region := buildVillage(t)
	cfg := modulestest.Config{Maps: "region village " + region, Site: `
		@village maps_region village
		respond @village village
		respond elsewhere`}
	s := modulestest.Start(t, cfg)
	if a := s.Do(http.MethodGet, reverse+"?lat=39.16&lon=-75.52", "", ""); a.Body != "village" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if err := os.WriteFile(region, []byte("not a region file"), 0o600); err != nil { // in place, as nobody should
		t.Fatal(err)
	}
	s.AdminDo(http.MethodPost, "/maps/regions/reload", "{}")
	if a := s.Do(http.MethodGet, reverse+"?lat=39.16&lon=-75.52", "", ""); a.Body != "elsewhere" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestRefusedConfigurations(t *testing.T) {
	maps := "region village " + buildVillage(t)
	s := modulestest.Start(t, modulestest.Config{Maps: maps, Site: "respond ok"})
	for _, test := range []struct{ matcher, want string }{
		{"maps_region delaware", `there is no region "delaware": it can only be village`},
		{"expression maps_region('delaware')", `there is no region "delaware"`},
		{"expression maps_region('1,2,3')", "south,west,north,east"},
		{"maps_region", "needs the name of a region"},
	} {
		err := s.Load(modulestest.Config{Maps: maps, Site: "@m " + test.matcher + "\nrespond @m yes"})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.matcher, err)
		}
	}
}

// A configuration without the app that names maps_region, or was refused for it, is not one that is still being started.
func TestNoAppIsStarting(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: "region village " + buildVillage(t), Site: "respond ok"})
	running := func(what string) {
		t.Helper()
		began := time.Now()
		if _, err := app.Running(t.Context()); !errors.Is(err, app.ErrNoApp) || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %v after %v", what, err, time.Since(began))
		}
	}
	load := func(text string) error {
		adapted, err := modulestest.Adapt("{\nadmin " + s.Admin + "\nauto_https off\n}\n" + s.URL + " {\nbind 127.0.0.1\n" + text + "\n}\n")
		if err != nil {
			return err
		}
		return caddy.Load(adapted, true)
	}
	if err := load("@m maps_region 39,-76,40,-75\nrespond @m yes"); err != nil {
		t.Fatal(err)
	}
	running("bounds alone")
	if err := load("@m expression maps_region('nowhere')\nrespond @m yes"); err == nil {
		t.Fatal("a region that there is not")
	}
	if err := load("respond ok"); err != nil {
		t.Fatal(err)
	}
	running("after a configuration that was refused")
}
