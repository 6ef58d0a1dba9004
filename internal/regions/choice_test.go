package regions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// TestPinCovering: the first region that covers a position answers for it; where none covers a trace whole, the one that
// covers most.
func TestPinCovering(t *testing.T) {
	named := map[string]*Region{}
	for name, covers := range map[string][]orb.Point{"a": {dover}, "b": {dover, newcomer}, "c": {newcomer}} {
		path := filepath.Join(t.TempDir(), name+".region")
		testregion.Write(t, path, firstData, len(covers), covers...)
		named[name] = New(name, watch(t, Options{Path: path}).Watched)
	}
	nowhere := orb.Point{10, 10}
	for _, tc := range []struct {
		regions string
		points  []orb.Point
		want    string
	}{
		{"abc", []orb.Point{dover}, "a"},
		{"abc", []orb.Point{newcomer}, "b"},
		{"cba", []orb.Point{newcomer}, "c"},
		{"ca", []orb.Point{nowhere}, "c"},
		{"a", []orb.Point{nowhere}, "a"},
		{"acb", []orb.Point{dover, newcomer}, "b"},
		{"ac", []orb.Point{dover, newcomer, newcomer}, "c"},
		{"ac", []orb.Point{dover, dover, newcomer, newcomer}, "a"},
	} {
		var regions []*Region
		for _, name := range strings.Split(tc.regions, "") {
			regions = append(regions, named[name])
		}
		var points []trace.Point
		for _, p := range tc.points {
			points = append(points, trace.At(p[1], p[0]))
		}
		got, err := PinCoveringTrace(regions, points)
		if err == nil && len(points) == 1 {
			got.Release()
			got, err = PinCovering(regions, tc.points[0])
		}
		if err != nil {
			t.Fatal(err)
		}
		if name := strings.TrimSuffix(filepath.Base(got.File.Path()), ".region"); name != tc.want {
			t.Errorf("%v of %s: %s, want %s", tc.points, tc.regions, name, tc.want)
		}
		got.Release()
	}

	// One that cannot be read matters only where no other covers anything.
	if err := os.Truncate(named["a"].Path(), 100); err != nil {
		t.Fatal(err)
	}
	_ = named["a"].watched.Poll(t.Context(), true)
	regions := []*Region{named["a"], named["c"]}
	if p, err := PinCovering(regions, newcomer); err != nil {
		t.Errorf("another region covers it: %v", err)
	} else {
		p.Release()
	}
	_, err := PinCovering(regions, dover)
	isDamage(t, "the damaged region may be the one", err)
}
