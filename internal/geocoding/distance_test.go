package geocoding_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// TestDistance measures one object from one position. A thousandth of a degree is 111.2 m of latitude, and 87.02 m of
// longitude at 38.5° north.
func TestDistance(t *testing.T) {
	hole := orb.Polygon{placestest.Square(0, 0, 4), placestest.Reversed(placestest.Square(0, 0, 2))}
	for name, c := range map[string]struct {
		geometry orb.Geometry
		from     orb.Point
		distance float64
		location orb.Point
	}{
		"point":               {placestest.At(0, 1), placestest.Kansas, 111.2, placestest.At(0, 1)},
		"line, from its side": {placestest.Line(-5, 1, 5, 1), placestest.Kansas, 111.2, placestest.At(0, 1)},
		"line, at a bend":     {placestest.Line(-5, -4, 0, 1, 5, -4), placestest.At(0, 2), 111.2, placestest.At(0, 1)},
		"inside an area":      {orb.Polygon{placestest.Square(0, 0, 4)}, placestest.At(1, 1), 0, placestest.At(1, 1)},
		"outside an area":     {orb.Polygon{placestest.Square(0, 0, 4)}, placestest.At(5, 0), 87.02, placestest.At(4, 0)},
		"in the hole":         {hole, placestest.At(0, 1), 111.2, placestest.At(0, 2)},
		"between several": {orb.MultiPolygon{{placestest.Square(-3, 0, 1)}, {placestest.Square(3, 0, 1)}},
			placestest.At(0.5, 0), 130.53, placestest.At(2, 0)},
		"island in the hole": {orb.MultiPolygon{hole, {placestest.Square(0, 0, 1)}}, placestest.Kansas, 0, placestest.Kansas},
	} {
		t.Run(name, func(t *testing.T) {
			var w placestest.World
			w.Add(1, 7, c.geometry, "leisure=park, name=Park")
			got := geocodingtest.Ask(t, geocodingtest.Build(t, w.Cover()), c.from, 5)
			if len(got) != 1 || got[0].Distance != c.distance {
				t.Fatalf("got %+v, want the distance %g", got, c.distance)
			}
			if diff := cmp.Diff(c.location, got[0].Location, placestest.Approximate); diff != "" {
				t.Error("location:", diff)
			}
		})
	}
}

// TestLargeOutlines does the same on outlines that have many chunks: a circle of 1 km with a hole, and a long wave.
func TestLargeOutlines(t *testing.T) {
	circle := func(radius float64, n int) orb.Ring {
		var r orb.Ring
		for i := range n {
			a := 2 * math.Pi * float64(i) / float64(n)
			r = append(r, placestest.At(radius/87.02*math.Cos(a), radius/111.19*math.Sin(a)))
		}
		return append(r, r[0])
	}
	var w placestest.World
	w.Area(1, "leisure=park, name=Ring", circle(2000, 50_000), placestest.Reversed(circle(1000, 3_000)))
	x := geocodingtest.Build(t, w.Cover())
	for metres, want := range map[float64]float64{0: 1000, 300: 700, 990: 10, 1010: 0, 1990: 0, 2010: 10, 2100: 100} {
		for i := range 16 {
			a := 2 * math.Pi * (float64(i) + 0.3) / 16
			got := geocodingtest.Ask(t, x, placestest.At(metres/87.02*math.Cos(a), metres/111.19*math.Sin(a)), 1)
			if len(got) != 1 || math.Abs(got[0].Distance-want) > 2 {
				t.Errorf("%g m from the middle: %+v, want about %g m", metres, got, want)
			}
		}
	}
}

func TestOrderOfWhatIsEquallyFar(t *testing.T) {
	var w placestest.World
	w.Area(1, "leisure=park, name=Large", placestest.Square(0, 0, 5))
	w.Area(2, "building=yes, name=Small", placestest.Square(0, 0, 1))
	w.Area(3, "landuse=retail, name=Middle", placestest.Square(0, 0, 3))
	w.Way(4, placestest.Line(-5, 0, 5, 0), "highway=residential, name=Long")
	w.Way(5, placestest.Line(0, -1, 0, 1), "highway=residential, name=Short")
	w.Node(7, placestest.Kansas, "amenity=cafe, name=Second")
	w.Node(6, placestest.Kansas, "amenity=cafe, name=First")
	x := geocodingtest.Build(t, w.Cover())
	if got, want := geocodingtest.Ids(geocodingtest.Ask(t, x, placestest.Kansas, 5)),
		"node:6 node:7 way:5 way:4 way:2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := geocodingtest.Ids(geocodingtest.Ask(t, x, placestest.Kansas, 5, "building", "landuse", "leisure")),
		"way:2 way:3 way:1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// Two centimetres matter, two millimetres do not.
	if got := geocodingtest.Ask(t, x, placestest.At(0.00002, 0), 2, "cafe"); geocodingtest.Ids(got) != "node:6 node:7" ||
		got[0].Distance != 0 {
		t.Errorf("2 mm beside: %+v", got)
	}
}

func TestSizeAndReach(t *testing.T) {
	var w placestest.World
	for i := range 8 {
		w.Node(int64(i+1), placestest.At(0, float64(i+1)), "amenity=bench, name=Bench")
	}
	x := geocodingtest.Build(t, w.Cover())
	for size, want := range map[int]int{-1: 1, 0: 1, 1: 1, 3: 3, 5: 5, 6: 6, 1 << 40: 8} {
		if got := len(geocodingtest.Ask(t, x, placestest.Kansas, size)); got != want {
			t.Errorf("size %d: %d results, want %d", size, got, want)
		}
	}
	for reach, want := range map[float64]int{111.19: 0, 111.2: 1, 222.38: 1, 222.39: 2, 400: 3, 0: 5, math.NaN(): 5,
		1e9: 5} {
		r, err := x.Reverse(t.Context(), &geocoding.Request{Point: placestest.Kansas, Size: 5, MaxDistance: reach, Categories: []string{"bench"}})
		if err != nil || len(r.Places) != want {
			t.Errorf("within %g m: %d results, want %d; %v", reach, len(r.Places), want, err)
		}
	}
}

func TestCoverage(t *testing.T) {
	var w placestest.World
	w.Node(1, placestest.Kansas, "amenity=bench, name=Bench")
	x := geocodingtest.Build(t, w.Cover())
	if got := geocodingtest.Ask(t, x, placestest.At(1, 1), 1); geocodingtest.Ids(got) != "node:1" {
		t.Errorf("inside: %v", got)
	}
	for _, p := range []orb.Point{placestest.At(120, 0), placestest.At(0, 120), {0, 0}, {180, 90}, {-180, -90}} {
		r, err := x.Reverse(t.Context(), &geocoding.Request{Point: p, Size: 5, MaxDistance: 1e7})
		if err != nil || len(r.Places) != 0 {
			t.Errorf("outside, at %v: %v, %v", p, r, err)
		}
	}
}

func TestBadRequests(t *testing.T) {
	var w placestest.World
	w.Node(1, placestest.Kansas, "amenity=bench, name=Bench")
	x := geocodingtest.Build(t, w.Cover())
	for _, p := range []orb.Point{{math.NaN(), 0}, {0, math.NaN()}, {math.Inf(1), 0}, {0, math.Inf(-1)}, {181, 0}, {0,
		91}} {
		if _, err := x.Reverse(t.Context(), &geocoding.Request{Point: p}); err == nil {
			t.Errorf("%v is a position", p)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Reverse(ctx, &geocoding.Request{Point: placestest.Kansas}); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

// TestPoles looks from the poles, where all longitudes meet.
func TestPoles(t *testing.T) {
	for _, side := range []float64{1, -1} {
		var w placestest.World
		w.Node(1, orb.Point{120, 89.999 * side}, "natural=peak, name=Node")
		w.Way(2, orb.LineString{{-90, 89.998 * side}, {90, 89.998 * side}}, "highway=ice_road, name=Way")
		w.Node(3, orb.Point{0, 90 * side}, "natural=pole, name=Pole")
		for x := range uint32(1 << region.CoverageZoom) {
			w.Tiles = append(w.Tiles, region.CoverageTile(orb.Point{float64(x)/(1<<region.CoverageZoom)*360 - 180, 90 * side}))
		}
		x := geocodingtest.Build(t, w.Cover())
		for _, lon := range []float64{-180, -45, 0, 120, 180} {
			got := geocodingtest.Ask(t, x, orb.Point{lon, 90 * side}, 5)
			if geocodingtest.Ids(got) != "node:3 node:1 way:2" || got[0].Distance != 0 || got[1].Distance != 111.2 ||
				got[2].Distance != 222.39 {
				t.Errorf("at %g, %g: %+v", lon, 90*side, got)
			}
		}
	}
}
