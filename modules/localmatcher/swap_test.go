package localmatcher_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/mapsedge/caddy-maps/modules/app"
	_ "github.com/mapsedge/caddy-maps/modules/localgeocoder"
	_ "github.com/mapsedge/caddy-maps/modules/localmatcher"
	_ "github.com/mapsedge/caddy-maps/modules/mapmatch"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/reversegeocode"
)

// While requests of both kinds are served, the region is replaced by files good and bad, and the configuration is reloaded: every
// answer is of one file or the other, and none fails.
func TestSwapsAndReloadsUnderLoad(t *testing.T) {
	dir := t.TempDir()
	region := filepath.Join(dir, "live.region")
	var files [2]string
	for i, town := range []string{"Testville", "Newtown"} {
		files[i] = filepath.Join(dir, town)
		modulestest.BuildRegion(t, files[i], modulestest.Renamed(town))
	}
	replace := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(region+".new", content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(region+".new", region); err != nil {
			t.Fatal(err)
		}
	}
	var contents [2][]byte
	for i, file := range files {
		var err error
		if contents[i], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	replace(contents[0])
	config := modulestest.Config{
		Maps: "region live " + region,
		Site: `
			handle /v2/* {
				maps_reverse_geocode {
					public
					geocoder local live
				}
			}
			handle {
				maps_match {
					public
					matcher local live
				}
			}`,
		Level: "WARN",
	}
	s := modulestest.Start(t, config)
	path := url.QueryEscape("[{39.16,-75.528},{39.16,-75.524},{39.1601,-75.5204},{39.164,-75.52},{39.168,-75.52}]")
	drive := s.Do(http.MethodGet, "/api/route/matching/?path="+path, "", "").Body

	var stop atomic.Bool
	var served atomic.Int64
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			for !stop.Load() {
				var problem error
				if i%2 == 0 {
					problem = get(s, "/api/route/matching/?path="+path, func(body string) bool { return body == drive })
				} else {
					problem = get(s, "/v2/search/reverse-geocoding?lat=39.1601&lon=-75.5201", func(body string) bool {
						return strings.Contains(body, "Testville") != strings.Contains(body, "Newtown")
					})
				}
				if problem != nil {
					t.Error(problem)
					return
				}
				served.Add(1)
			}
		})
	}
	for i := range 24 {
		switch i % 4 {
		case 0:
			replace(contents[i/4%2])
			reload(t, s, 200)
		case 1:
			replace(contents[0][:len(contents[0])/2])
			reload(t, s, 500)
		case 2:
			replace(contents[i/4%2])
			config.Maps = fmt.Sprintf("region live %s\nmax_stale %ds", region, 60+i) // so that the configuration differs
			if err := s.Load(config); err != nil {
				t.Error(err)
			}
			s.HTTP.CloseIdleConnections() // the admin endpoint has a new server
		}
		for before := served.Load(); served.Load() < before+20 && !t.Failed(); {
			get(s, "/v2/search/reverse-geocoding?lat=0&lon=0", func(string) bool { return true })
		}
	}
	stop.Store(true)
	clients.Wait()
	if text, err := os.ReadFile("/proc/self/maps"); err == nil {
		if n := strings.Count(string(text), dir); n != 1 {
			t.Errorf("%d mappings of region files, want the present one", n)
		}
	}
}

// reload has the region files looked at.
func reload(t *testing.T, s *modulestest.Server, want int) {
	t.Helper()
	if a := s.AdminDo(http.MethodPost, "/maps/regions/reload", ""); a.Status != want {
		t.Errorf("reload: %d %s", a.Status, a.Body)
	}
}

// get reports what is wrong with an answer. A connection that is reset is tried again: when Caddy replaces a listener, those that
// wait in its queue are lost before any request has been read.
func get(s *modulestest.Server, path string, right func(body string) bool) error {
	resp, err := s.HTTP.Get(s.URL + path)
	for tries := 0; err != nil && tries < 5; tries++ {
		resp, err = s.HTTP.Get(s.URL + path)
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := new(strings.Builder)
	if err := resp.Write(body); err != nil {
		return err
	}
	_, text, _ := strings.Cut(body.String(), "\r\n\r\n")
	if resp.StatusCode != 200 || !right(text) {
		return fmt.Errorf("%s: %d %s", path, resp.StatusCode, text)
	}
	return nil
}
