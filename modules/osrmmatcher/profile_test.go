package osrmmatcher_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// A profile's name stands in the path of OSRM, and says whose requests the matcher answers.
func TestProfiles(t *testing.T) {
	u := modulestest.NewUpstream(t)
	var asked string
	u.Answer(func(w http.ResponseWriter, r *http.Request) {
		asked = strings.Split(r.URL.Path, "/")[3]
		w.WriteHeader(400)
		fmt.Fprint(w, `{"code":"NoSegment"}`)
	})
	var s *modulestest.Server
	for _, tc := range []struct{ profile, offered, asked string }{
		{"", "car", "driving"},
		{"profile driving", "car", "driving"},
		{"profile car", "car", "car"},
		{"profile cycling", "bicycle", "cycling"},
		{"profile bicycle", "bicycle", "bicycle"},
		{"profile bike", "bicycle", "bike"},
		{"profile walking", "foot", "walking"},
		{"profile foot", "foot", "foot"},
		{"profile truck car", "car", "truck"},
		{"profile hike-v5_15 foot", "foot", "hike-v5_15"},
		{"profile driving bicycle", "bicycle", "driving"},
	} {
		offering := func(profile string) modulestest.Config {
			return modulestest.Config{
				Site: fmt.Sprintf("maps_match {\npublic\nmatcher osrm %s {\n%s\n}\nprofile %s\n}", u.URL, tc.profile, profile),
			}
		}
		if s == nil {
			s = modulestest.Start(t, offering(tc.offered))
		} else if err := s.Load(offering(tc.offered)); err != nil {
			t.Errorf("%q for %s: %v", tc.profile, tc.offered, err)
			continue
		}
		asked = ""
		s.Do(http.MethodGet, matchPath+"?path=[{41,-8},{41.1,-8.1}]", "", "")
		if asked != tc.asked {
			t.Errorf("%q: %s was asked, want %s", tc.profile, asked, tc.asked)
		}
		for _, other := range []string{"car", "bicycle", "foot"} {
			if other == tc.offered {
				continue
			}
			if err := s.Load(offering(other)); err == nil ||
				!strings.Contains(err.Error(), "none of the matchers answers for "+other) {
				t.Errorf("%q for %s: %v", tc.profile, other, err)
			}
		}
	}
}
