package app_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	_ "github.com/mapsedge/caddy-maps/modules/app"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// slowApp is an app of a configuration that takes its time to start, by the global option slow_start.
type slowApp struct{}

var (
	slowBegun  = make(chan struct{}, 1) // gets something when an app waits to be let go on
	slowGoesOn = make(chan error)       // lets it go on: to its end, or to fail
)

func init() {
	caddy.RegisterModule(slowApp{})
	httpcaddyfile.RegisterGlobalOption("slow_start", func(*caddyfile.Dispenser, any) (any, error) {
		return httpcaddyfile.App{Name: "slow_start", Value: []byte("{}")}, nil
	})
}

func (slowApp) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "slow_start", New: func() caddy.Module { return new(slowApp) }}
}

func (slowApp) Start() error {
	slowBegun <- struct{}{}
	return <-slowGoesOn
}

func (slowApp) Stop() error { return nil }

// adminAsk sends a GET to the admin endpoint, and returns its status when it is answered.
func adminAsk(t *testing.T, ctx context.Context, s *modulestest.Server, path string) <-chan int {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Admin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	answered := make(chan int, 1)
	go func() {
		resp, err := s.HTTP.Do(req)
		if err != nil {
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	return answered
}

func statusIn(t *testing.T, limit time.Duration, answered <-chan int) int {
	t.Helper()
	select {
	case status := <-answered:
		return status
	case <-time.After(limit):
		t.Fatalf("no response within %v", limit)
		return 0
	}
}

// TestCallsWaitForTheStart asks the admin endpoint while a configuration is being started, of which Caddy knows
// nothing before all of its apps have.
func TestCallsWaitForTheStart(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
	start := func() <-chan error {
		if err := caddy.Stop(); err != nil { // as it is before the first configuration
			t.Fatal(err)
		}
		loaded := make(chan error, 1)
		go func() { loaded <- s.Load(modulestest.Config{Site: site, Global: "slow_start"}) }()
		<-slowBegun
		return loaded
	}

	loaded := start()
	waiting := adminAsk(t, t.Context(), s, "/maps/status")
	gone, leave := context.WithCancel(t.Context())
	left := adminAsk(t, gone, s, "/maps/regions")
	select {
	case status := <-waiting:
		t.Fatalf("answered %d before the start came to its end", status)
	case <-time.After(300 * time.Millisecond):
	}
	leave()
	statusIn(t, 5*time.Second, left)
	slowGoesOn <- nil
	if err := <-loaded; err != nil {
		t.Fatal(err)
	}
	if status := statusIn(t, 5*time.Second, waiting); status != http.StatusOK {
		t.Errorf("after the start: %d", status)
	}

	// A start that fails: the app will not come.
	loaded = start()
	waiting = adminAsk(t, t.Context(), s, "/maps/status")
	slowGoesOn <- context.Canceled
	if err := <-loaded; err == nil {
		t.Fatal("started")
	}
	if err := s.Load(modulestest.Config{}); err != nil {
		t.Fatal(err)
	}
	statusIn(t, 5*time.Second, waiting)
}

// TestNoApp: without a maps app in the configuration, no request waits for one.
func TestNoApp(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{})
	if a := s.AdminDo(http.MethodDelete, "/config/apps/maps", ""); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	begun := time.Now()
	a := s.AdminDo(http.MethodGet, "/maps/status", "")
	if a.Status != http.StatusServiceUnavailable || !strings.Contains(a.Body, "no maps app") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestUnknownAddresses: unknown paths get the usual error, with any method.
func TestUnknownAddresses(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{})
	for _, path := range []string{"/maps", "/maps/", "/maps/nothing", "/maps/status/", "/maps/Status", "/maps/user-tokens/"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			a := s.AdminDo(method, path, "")
			if a.Status != http.StatusNotFound || a.Body != `{"error":"not found"}` ||
				a.Header.Get("Content-Type") != "application/json" || a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %d %s %v", method, path, a.Status, a.Body, a.Header)
			}
		}
	}
	a := s.AdminDo(http.MethodPut, "/maps/status", "")
	if a.Status != http.StatusMethodNotAllowed || a.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("another method: %d %v", a.Status, a.Header)
	}
}
