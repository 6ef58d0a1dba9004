package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

func TestHealthMethods(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: site})
	if a := s.Do(http.MethodHead, "/healthz", "", ""); a.Status != http.StatusOK || a.Body != "" ||
		a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("HEAD: %d %v", a.Status, a.Header)
	}
	if a := s.Do(http.MethodPost, "/healthz", "", "{}"); a.Status != http.StatusMethodNotAllowed ||
		a.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", a.Status, a.Header)
	}
	for directive, want := range map[string]string{
		"maps_health x":             "unexpected argument",
		"maps_health {\nnothing\n}": "unknown option of maps_health: nothing",
	} {
		_, err := modulestest.Adapt("http://127.0.0.1:1 {\n" + directive + "\n}\n")
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%q: got %v, want %q", directive, err, want)
		}
	}
}
