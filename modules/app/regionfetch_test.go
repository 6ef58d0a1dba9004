package app_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"

	_ "github.com/mapsedge/caddy-maps/modules/geocoding"
)

const place = "/v2/search/reverse-geocoding?lat=39.1601&lon=-75.5201"

// fileServer is the server that regions are fetched from. It serves the file whose name is stored, or 503 without one.
type fileServer struct {
	*httptest.Server
	name  atomic.Value // string
	given atomic.Value // string: the Authorization of the last request
}

func newFileServer(t *testing.T) *fileServer {
	t.Helper()
	f := new(fileServer)
	f.name.Store("")
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.given.Store(r.Header.Get("Authorization"))
		name := f.name.Load().(string)
		if name == "" {
			http.Error(w, "s1gnature hunter2", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("ETag", `"`+filepath.Base(name)+`"`)
		http.ServeFile(w, r, name)
	}))
	t.Cleanup(f.Close)
	return f
}

// town is what a server calls the place, or else what is wrong with its answer.
func town(s *modulestest.Server) string {
	a, err := s.Try(place, "")
	switch {
	case err != nil:
		return err.Error()
	case a.Status != http.StatusOK:
		return http.StatusText(a.Status)
	}
	for _, name := range []string{"Oldtown", "Newtown"} {
		if strings.Contains(a.Body, name) {
			return name
		}
	}
	return "no town in " + a.Body
}

// detail is what the admin endpoint says of the one region.
func detail(t *testing.T, a modulestest.Response) app.RegionDetail {
	t.Helper()
	var list struct{ Regions []app.RegionDetail }
	if err := json.Unmarshal([]byte(a.Body), &list); err != nil || len(list.Regions) != 1 {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	return list.Regions[0]
}

// A region that is fetched: the server starts without it, serves it when it is there, and another when it is told so,
// after a restart it serves what it has, even if the origin is down.
func TestFetchedRegion(t *testing.T) {
	dir := t.TempDir()
	oldtown, newtown, bad := filepath.Join(dir, "old"), filepath.Join(dir, "new"), filepath.Join(dir, "bad")
	modulestest.BuildRegion(t, oldtown, modulestest.Renamed("Oldtown"))
	modulestest.BuildRegion(t, newtown, modulestest.Renamed("Newtown"))
	if err := os.WriteFile(bad, []byte("<html>"), 0o600); err != nil {
		t.Fatal(err)
	}
	origin := newFileServer(t)
	t.Setenv("MAPS_TEST_ORIGIN", strings.Replace(origin.URL, "://", "://ann:hunter2@", 1))
	cache := filepath.Join(dir, "cache", "regions")
	config := modulestest.Config{
		Maps: `region village {env.MAPS_TEST_ORIGIN}/village.region?X-Amz-Signature=s1gnature {
			cache_dir ` + cache + `
		}`,
		Site: site + `
		handle ` + strings.Split(place, "?")[0] + ` {
			maps_reverse_geocode {
				public
				geocoder local village
			}
		}`,
	}
	s := modulestest.Start(t, config)
	reload := func(status int) app.RegionDetail {
		t.Helper()
		a := s.AdminDo(http.MethodPost, "/maps/regions/reload", "")
		if a.Status != status {
			t.Fatalf("reload: %d %s", a.Status, a.Body)
		}
		return detail(t, s.AdminDo(http.MethodGet, "/maps/regions", ""))
	}
	expect := func(d app.RegionDetail, health int, status, problem string) {
		t.Helper()
		if a := s.Do(http.MethodGet, "/healthz", "", ""); a.Status != health || strings.Contains(a.Body, "origin") {
			t.Errorf("health: %d %s", a.Status, a.Body)
		}
		if d.Status.Status != status || !strings.Contains(d.Origin.Problem, problem) ||
			(d.Origin.Problem == "") != (problem == "") || d.Origin.URL != origin.URL+"/village.region" {
			t.Errorf("the region is %+v of %+v", d, d.Origin)
		}
	}

	expect(reload(http.StatusInternalServerError), 503, "unavailable", "answers 503")
	if got := town(s); got != "Service Unavailable" {
		t.Errorf("without a file: %s", got)
	}
	origin.name.Store(oldtown)
	d := reload(http.StatusOK)
	expect(d, 200, "ok", "")
	if d.Origin.ETag != `"old"` || time.Since(d.Origin.Fetched) > time.Minute {
		t.Errorf("the region is %+v of %+v", d, d.Origin)
	}
	if got := town(s); got != "Oldtown" {
		t.Errorf("the first file: %s", got)
	}
	origin.name.Store(bad)
	expect(reload(http.StatusInternalServerError), 200, "stale", "is not a region file")

	origin.name.Store(newtown)
	expect(reload(http.StatusOK), 200, "ok", "")
	if got := town(s); got != "Newtown" {
		t.Errorf("the second file: %s", got)
	}

	// A reload of the configuration goes on where the one before was; a restart serves what is there.
	before := detail(t, s.AdminDo(http.MethodGet, "/maps/regions", "")).Origin
	if err := s.Load(config); err != nil {
		t.Fatal(err)
	}
	after := detail(t, s.AdminDo(http.MethodGet, "/maps/regions", "")).Origin
	if !after.Next.Equal(before.Next) || after.Next.IsZero() {
		t.Errorf("the origin is asked at %v, and before the reload it was %v", after.Next, before.Next)
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	origin.name.Store("")
	if err := s.Load(config); err != nil {
		t.Fatal(err)
	}
	if got := town(s); got != "Newtown" {
		t.Errorf("after a restart: %s", got)
	}
	expect(reload(http.StatusInternalServerError), 200, "stale", "answers 503")
	for _, secret := range []string{"hunter2", "s1gnature"} {
		if strings.Contains(s.Log(), secret) {
			t.Errorf("the log shows %s", secret)
		}
	}
}

// A damaged file in the cache is downloaded again, though the server has no other one: when it cannot be opened at the
// start, and when a reload of the regions finds the damage.
func TestDamagedCache(t *testing.T) {
	dir := t.TempDir()
	built, cache := filepath.Join(dir, "built"), filepath.Join(dir, "cache")
	modulestest.BuildRegion(t, built, modulestest.Renamed("Oldtown"))
	origin := newFileServer(t)
	origin.name.Store(built)
	config := modulestest.Config{
		Maps: `region village ` + origin.URL + `/village.region {
			cache_dir ` + cache + `
			wait 1m
		}`,
		Site: site,
	}
	s := modulestest.Start(t, config)
	whole, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		text    string // where a byte is damaged
		atStart bool   // whether the start finds it
	}{{`"sources"`, true}, {"Oldtown", false}} {
		if err := caddy.Stop(); err != nil {
			t.Fatal(err)
		}
		copies, err := filepath.Glob(filepath.Join(cache, "*.region"))
		if err != nil || len(copies) != 1 {
			t.Fatal(copies, err)
		}
		content := append([]byte(nil), whole...)
		at := bytes.Index(content, []byte(tc.text))
		if at < 0 {
			t.Fatalf("%s is not found", tc.text)
		}
		content[at]++
		if err := os.WriteFile(copies[0], content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Load(config); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(copies[0]); err != nil || bytes.Equal(got, whole) != tc.atStart {
			t.Errorf("%s: after the start: %v, %+v", tc.text, err,
				detail(t, s.AdminDo(http.MethodGet, "/maps/regions", "")))
		}
		d := detail(t, s.AdminDo(http.MethodPost, "/maps/regions/reload", ""))
		if got, err := os.ReadFile(copies[0]); err != nil || !bytes.Equal(got, whole) || d.Status.Status != "ok" {
			t.Errorf("%s: after the reload: %v, %+v of %+v", tc.text, err, d, d.Origin)
		}
	}
}

// A file of this machine may come after the start. The log says how to make it, and requests find it when it is there.
func TestAwaitedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.region")
	s := modulestest.Start(t, modulestest.Config{Site: site, Maps: "region x " + path + " {\nawaited\n}"})
	if !strings.Contains(s.Log(), "caddy maps build EXTRACT --output "+path) {
		t.Error("the log does not say how to make the file")
	}
	if a := s.AdminDo(http.MethodPost, "/maps/regions/reload", ""); a.Status != http.StatusInternalServerError {
		t.Errorf("a reload without the file: %d %s", a.Status, a.Body)
	}
	modulestest.BuildRegion(t, path, modulestest.Village)
	a := s.AdminDo(http.MethodPost, "/maps/regions/reload", "")
	if d := detail(t, a); d.Status.Status != "ok" {
		t.Errorf("with the file: %+v", d)
	}
}

// wait lets a start go on after a while, and has a reload refused that would serve nothing.
func TestWaitForRegion(t *testing.T) {
	origin := newFileServer(t)
	t.Setenv("MAPS_TEST_TOKEN", "t0ken")
	dir := t.TempDir()
	config := func(name string) modulestest.Config {
		return modulestest.Config{Site: site, Maps: `region ` + name + ` ` + origin.URL + `/x.region {
			cache_dir ` + dir + `
			header Authorization "Bearer {env.MAPS_TEST_TOKEN}"
			wait 300ms
		}`}
	}
	s := modulestest.Start(t, config("first"))
	if !strings.Contains(s.Log(), "no file of a region has been downloaded yet") {
		t.Error("no word about the region that is missing")
	}
	err := s.Load(config("second"))
	if err == nil || !strings.Contains(err.Error(), "region second: "+origin.URL+"/x.region: no file was downloaded within 300ms") ||
		!strings.Contains(err.Error(), "answers 503") {
		t.Errorf("a reload without a file: %v", err)
	}
	path := filepath.Join(dir, "built")
	modulestest.BuildRegion(t, path, modulestest.Village)
	origin.name.Store(path)
	long := config("second")
	long.Maps = strings.Replace(long.Maps, "300ms", "1m", 1)
	if err := s.Load(long); err != nil {
		t.Fatal(err)
	}
	if d := detail(t, s.AdminDo(http.MethodGet, "/maps/regions", "")); d.Name != "second" || d.Status.Status != "ok" {
		t.Errorf("after the reload: %+v", d)
	}
	if got := origin.given.Load(); got != "Bearer t0ken" {
		t.Errorf("the origin was asked with %q", got)
	}
}

// The metric follows the data of the running configuration's regions, also after a reload.
func TestRegionTimestampMetric(t *testing.T) {
	dir := t.TempDir()
	dated := filepath.Join(dir, "dated.region")
	osm := strings.Replace(modulestest.Village, `<node id="1" version="1"`,
		`<node id="1" version="1" timestamp="2025-01-02T00:00:00Z"`, 1)
	modulestest.BuildRegion(t, dated, osm)
	undated := filepath.Join(dir, "undated.region")
	modulestest.BuildRegion(t, undated, modulestest.Village)
	s := modulestest.Start(t, modulestest.Config{Site: site, Maps: "region first " + dated})
	for _, tc := range []struct{ region, path, want string }{
		{"first", dated, "1.735776e+09"}, {"second", dated, "1.735776e+09"}, {"third", undated, "0"},
	} {
		if err := s.Load(modulestest.Config{Site: site, Maps: "region " + tc.region + " " + tc.path}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(s.AdminDo(http.MethodGet, "/metrics", "").Body) {
			if strings.HasPrefix(line, "caddy_maps_region_timestamp_seconds{") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		want := `caddy_maps_region_timestamp_seconds{region="` + tc.region + `"} ` + tc.want
		if len(got) != 1 || got[0] != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
