package valhallamatcher_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// leftOut stands for a search radius that is not sent.
const leftOut = -1.0

// radii are those that were sent.
func radii(asked []sent) (radii []float64) {
	for _, q := range asked {
		radius, named := q.Options["search_radius"]
		if !named {
			radius = leftOut
		}
		radii = append(radii, radius)
	}
	return radii
}

// A radius beyond the limit of the service is not the client's fault: it is asked for less, and from then on at once.
func TestRadiusLimit(t *testing.T) {
	for _, tt := range []struct {
		limit   float64
		more    string
		ownForm bool
		first   []float64
		next    float64
	}{
		{400, `,"radius":300`, false, []float64{300}, 300},
		{100, `,"radius":300`, false, []float64{300, 100}, 100},
		{100, `,"radius":300`, true, []float64{300, 100}, 100},
		{60, `,"radius":300`, false, []float64{300, 100, 50}, 50},
		{40, `,"radius":300`, false, []float64{300, 100, 50, leftOut}, leftOut},
		{40, ``, false, []float64{50, leftOut}, leftOut},
	} {
		t.Run(fmt.Sprint(tt.limit, tt.more, tt.ownForm), func(t *testing.T) {
			f := newFake(t, "ok_route_osrm")
			f.set(func() { f.maxRadius, f.ownForm = tt.limit, tt.ownForm })
			s := modulestest.Start(t, site(f.URL, "", "max_radius 300"))
			modulestest.ReadDrive(t, post(t, s, &f.drives[0], tt.more))
			if got := radii(f.requests(route)); !slices.Equal(got, tt.first) {
				t.Errorf("asked for %v m, want %v", got, tt.first)
			}
			if got := modulestest.ReadDrive(t, post(t, s, &f.drives[0], tt.more)); len(got.Ways) == 0 {
				t.Error("no ways")
			}
			if got := radii(f.requests(route)); !slices.Equal(got, []float64{tt.next}) {
				t.Errorf("asked for %v m then, want %v", got, tt.next)
			}
			logged := strings.Count(s.Log(), "service_limits.trace.max_search_radius")
			if want := min(len(tt.first)-1, 1); logged != want {
				t.Errorf("logged %d times, want %d", logged, want)
			}
		})
	}
}

// OSRM's form has one code for a radius and for a number of points beyond the limits.
func TestPointsLimit(t *testing.T) {
	for _, more := range []string{``, `,"radius":300`} {
		f := newFake(t, "ok_route_osrm")
		f.set(func() { f.maxShape = 18 })
		s := modulestest.Start(t, site(f.URL, "", "max_radius 300"))
		check(t, f.Upstream, post(t, s, &f.drives[0], more), "InvalidInput")
		if n := len(f.requests(route)); n > 4 {
			t.Errorf("asked %d times", n)
		}
		short := f.drives[0]
		short.shape = short.shape[:18]
		modulestest.ReadDrive(t, post(t, s, &short, ""))
		if got := radii(f.requests(route)); !slices.Equal(got, []float64{50}) {
			t.Errorf("asked for %v m after a trace of too many points", got)
		}
	}
}

// Whatever is wanted, the service is asked no more often than it may be, and what was found till then is answered.
func TestCalls(t *testing.T) {
	f := newFake(t, "ok_route_osrm", "silent_split_route_osrm", "sea_point_route_osrm")
	s := start(t, f.URL, "")
	for calls := 1; calls <= 5; calls++ {
		if err := s.Load(site(f.URL, fmt.Sprint("max_calls ", calls), "")); err != nil {
			t.Fatal(err)
		}
		for i, wanted := range []int{1, 3, 3} { // without the ways
			got := modulestest.ReadDrive(t, post(t, s, &f.drives[i], ""))
			var asked int
			f.set(func() { asked, f.asked = len(f.asked), nil })
			if want := min(wanted+1, calls); asked != want {
				t.Errorf("recording %d, at most %d calls: asked %d times, want %d", i, calls, asked, want)
			}
			// The other line was not walked along; of the sea point, the drive is that of the first recording.
			if known := i != 1 && calls > wanted; known != (len(got.Ways) > 0) {
				t.Errorf("recording %d, at most %d calls: %d ways", i, calls, len(got.Ways))
			}
		}
	}
}

// One of two upstreams is killed under load: with the documented options no request fails.
func TestUpstreamKilled(t *testing.T) {
	good := modulestest.Recorded{Status: 200, Body: []byte(modulestest.Matchings("aa"))}
	modulestest.CheckKilled(t, good, matchPath+"?path=[{41,-8},{41,-8.001}]",
		func(upstreams, options string) *modulestest.Server { return start(t, upstreams, options) })
}
