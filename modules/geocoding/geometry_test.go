package geocoding_test

import (
	"net/http"
	"strings"
	"testing"
)

// Places have their shapes where they are asked for, and positions have none.
func TestGeometry(t *testing.T) {
	s, _ := start(t)
	const (
		oakStreet = `"geometry":{"type":"MultiLineString","coordinates":[[[-75.5200000,39.1500000],` +
			`[-75.5200000,39.1600000],[-75.5200000,39.1700000]]]}`
		town = `"geometry":{"type":"MultiLineString","coordinates":[[[-75.6000000,39.1000000],[-75.4000000,39.1000000],` +
			`[-75.4000000,39.2000000],[-75.6000000,39.2000000],[-75.6000000,39.1000000]]]}`
	)
	for _, test := range []struct {
		name, query string
		status      int
		with        string
		without     string
	}{
		{"line", "lat=39.165&lon=-75.5199&geometry=true", 200, oakStreet, town},
		{"outline", "lat=39.165&lon=-75.5199&category=boundary&geometry=true", 200, town, oakStreet},
		{"position", crossing + "&geometry=true", 200, "Crossing Café", "geometry"},
		{"not wanted", "lat=39.165&lon=-75.5199&geometry=false", 200, "Oak Street", "geometry"},
		{"not asked for", "lat=39.165&lon=-75.5199", 200, "Oak Street", "geometry"},
		{"neither", crossing + "&geometry=1", 400, "geometry: must be true or false", "Café"},
		{"twice", crossing + "&geometry=true&geometry=true", 400, "geometry: appears more than once", "Café"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := s.Do(http.MethodGet, endpoint+"?"+test.query, "", "")
			if a.Status != test.status || !strings.Contains(a.Body, test.with) || strings.Contains(a.Body, test.without) {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		})
	}
}
