package valhallamatcher_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// Times are not sent, neither exact ones nor those that Valhalla would split the drive for.
func TestTimes(t *testing.T) {
	exact, floored := read(t, "times_2hz_exact"), read(t, "times_2hz_floored")
	equal := exact
	equal.shape = slices.Clone(exact.shape)
	for i := range equal.shape {
		equal.shape[i].Time = new(float64)
	}
	f := newFake(t)
	f.set(func() { f.drives = []recording{exact, floored} })
	s := start(t, f.URL, "")
	for name, r := range map[string]recording{"exact": exact, "floored": floored, "equal": equal} {
		t.Run(name, func(t *testing.T) {
			got := modulestest.ReadDrive(t, post(t, s, &r, ""))
			if strings.Contains(got.Matched(), "0") {
				t.Errorf("matched %s", got.Matched())
			}
			got.CheckLine(t, exact.line(t, 0))
			for _, q := range f.requests(route) {
				timed := slices.ContainsFunc(q.Shape, func(p position) bool { return p.Time != nil })
				if timed || q.members["use_timestamps"] != nil {
					t.Errorf("sent %s %s", q.members["use_timestamps"], q.members["shape"])
				}
			}
		})
	}
}

// The radius of a request is how exact its points are. Points that turn out to be less exact are asked for again.
func TestSigma(t *testing.T) {
	f := newFake(t, "ok_route_osrm")
	s := start(t, f.URL, "")
	modulestest.ReadDrive(t, post(t, s, &f.drives[0], `,"radius":20`))
	asked := f.requests(route)
	if len(asked) != 1 || asked[0].Options["search_radius"] != 80 || asked[0].Options["turn_penalty_factor"] != 200 {
		t.Errorf("asked %+v", asked)
	}

	far := rowOf(8, 33)
	if err := json.Unmarshal([]byte(modulestest.Matchings("aaaaaaaa")), &far.answer); err != nil {
		t.Fatal(err)
	}
	f.set(func() { f.drives = append(f.drives, *far) })
	modulestest.ReadDrive(t, post(t, s, far, ""))
	asked = f.requests(route)
	if got := radii(asked); !slices.Equal(got, []float64{50, 100}) {
		t.Fatalf("asked for %v m", got)
	}
	// Half of the points are nearer than 0.6745 sigma to their road.
	for i, want := range []float64{100, 10 * 33 / 0.6745} {
		if got := asked[i].Options["turn_penalty_factor"]; math.Abs(got-want) > 1 {
			t.Errorf("request %d: a turn costs %v, want %v", i, got, want)
		}
	}
}
