package app_test

import (
	"net/http"
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
}
