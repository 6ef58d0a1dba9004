package matching

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"
	"pgregory.net/rapid"
)

func TestBoundsHold(t *testing.T) {
	for _, test := range []struct {
		bounds   string
		lat, lon float64
		want     bool
	}{
		{"38.4,-75.8,39.9,-75", 39.15, -75.52, true},
		{"38.4,-75.8,39.9,-75", 39.15, -74.99, false},
		{"38.4,-75.8,39.9,-75", 39.91, -75.52, false},
		{"38.4,-75.8,39.9,-75", 38.4, -75.8, true}, // edges are inside
		{"38.4,-75.8,39.9,-75", 39.9, -75, true},
		{"-20,177,-15,-178", -17, 179, true}, // Fiji, on both sides of the antimeridian
		{"-20,177,-15,-178", -17, -179, true},
		{"-20,177,-15,-178", -17, 180, true},
		{"-20,177,-15,-178", -17, -180, true},
		{"-20,177,-15,-178", -17, 176.9, false},
		{"-20,177,-15,-178", -17, 0, false},
		{"-90,-180,90,180", 90, 180, true},
		{"-90,-180,90,180", -90, -180, true},
		{"60,170,70,180", 65, -180, true}, // the same meridian as 180
		{"60,-180,70,-170", 65, 180, true},
		{"60,170,70,180", 65, -179.9, false},
	} {
		numbers, err := parseBounds(test.bounds)
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBounds(numbers)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.holds(orb.Point{test.lon, test.lat}); got != test.want {
			t.Errorf("%s holds %v,%v: %v", test.bounds, test.lat, test.lon, got)
		}
	}
}

// A rectangle holds what lies so far east of its west side, wherever the antimeridian is.
func TestBoundsAnywhere(t *testing.T) {
	normal := func(lon float64) float64 {
		for lon > 180 {
			lon -= 360
		}
		for lon < -180 {
			lon += 360
		}
		return lon
	}
	rapid.Check(t, func(t *rapid.T) {
		// quarters of a degree, which floating point has exactly
		quarter := func(name string, low, high int) float64 { return float64(rapid.IntRange(low, high).Draw(t, name)) / 4 }
		west := quarter("west", -719, 719)
		width := quarter("width", 1, 1439)
		south := quarter("south", -360, 359)
		north := quarter("north", int(4*south)+1, 360)
		b, err := newBounds([]float64{south, west, north, normal(west + width)})
		if err != nil {
			t.Fatal(err)
		}
		east := quarter("eastward", 0, 1439)
		lat := quarter("lat", -360, 360)
		want := east <= width && lat >= south && lat <= north
		if got := b.holds(orb.Point{normal(west + east), lat}); got != want {
			t.Errorf("%+v holds %v,%v: %v", b, lat, normal(west+east), got)
		}
	})
}

func TestCaddyfile(t *testing.T) {
	for _, test := range []struct {
		text string
		want RegionMatcher
		err  string
	}{
		{text: "maps_region delaware", want: RegionMatcher{Regions: []string{"delaware"}}},
		{text: "maps_region delaware andorra 42.4,1.4,42.7,1.8", want: RegionMatcher{
			Regions: []string{"delaware", "andorra"}, Bounds: [][]float64{{42.4, 1.4, 42.7, 1.8}},
		}},
		{text: `maps_region "42.4, 1.4, 42.7, 1.8"`, want: RegionMatcher{Bounds: [][]float64{{42.4, 1.4, 42.7, 1.8}}}},
		{text: "maps_region a {\nmax_body 1MiB\nmax_points 50\n}", want: RegionMatcher{Regions: []string{"a"}, MaxBody: 1 << 20, MaxPoints: 50}},
		{text: "maps_region a\nmaps_region b", want: RegionMatcher{Regions: []string{"a", "b"}}},
		{text: "maps_region", err: "needs the name of a region"},
		{text: "maps_region {\nmax_body 1MiB\n}", err: "needs the name of a region"},
		{text: "maps_region 1,2,3", err: "south,west,north,east"},
		{text: "maps_region 1,2,3,x", err: `"x" is not a number`},
		{text: "maps_region 1,2,3,NaN", err: `"NaN" is not a number`},
		{text: "maps_region 1,2,3,1e999", err: "is not a number"},
		{text: "maps_region 40,-76,39,-75", err: "south 40 is not less than north 39"},
		{text: "maps_region 39,-76,40,-76", err: "west and east are both -76"},
		{text: "maps_region 39,-181,40,-75", err: "west: -181 is not in -180 to 180"},
		{text: "maps_region -91,-180,40,-75", err: "south: -91 is not in -90 to 90"},
		{text: "maps_region a {\nmax_body 0\n}", err: "max_body"},
		{text: "maps_region a {\nmax_body 9EiB\n}", err: "max_body"},
		{text: "maps_region a {\nmax_points 1\n}", err: "max_points"},
		{text: "maps_region a {\nmax_points\n}", err: "wrong argument count"},
		{text: "maps_region a {\nmin_body 1\n}", err: "unknown option of maps_region: min_body"},
	} {
		var m RegionMatcher
		err := m.UnmarshalCaddyfile(caddyfile.NewTestDispenser(test.text))
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: %v, not %s", test.text, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		same := cmp.Equal(m.Regions, test.want.Regions) && cmp.Equal(m.Bounds, test.want.Bounds) &&
			m.MaxBody == test.want.MaxBody && m.MaxPoints == test.want.MaxPoints
		if !same {
			t.Errorf("%s: %+v", test.text, m)
		}
	}
}
