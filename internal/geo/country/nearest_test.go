package country

import (
	"math"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// TestNearestAtCoasts asks for land that the outlines put in the sea: quays, islets, small islands, fjord towns.
func TestNearestAtCoasts(t *testing.T) {
	for _, test := range []struct {
		name string
		p    orb.Point
		want string
	}{
		{"Tromsø", at(69.65, 18.96), "NOR"},
		{"Ajaccio", at(41.93, 8.75), "FRA"},
		{"Longyearbyen", at(78.22, 15.65), "SJM"},
		{"West Island, Cocos", at(-12.17, 96.835), "CCK"},
		{"Nuuk", at(64.18, -51.70), "GRL"},
		{"Adak", at(51.88, -176.65), "USA"},
		{"pier of Santa Monica", at(34.0083, -118.4987), "USA"},
		{"Cape Henlopen", at(38.804, -75.091), "USA"},
		{"Heligoland", at(54.18, 7.89), "DEU"},
		{"Changi", at(1.357, 103.99), "SGP"},
		{"Macau airport", at(22.149, 113.592), "MAC"},
		{"Hulhulé", at(4.19, 73.53), "MDV"},
		{"Funafuti", at(-8.52, 179.2), "TUV"},
		{"off Taveuni, across the antimeridian", at(-16.9, -179.8), "FJI"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, metres, ok := Nearest(test.p, 25_000)
			if !ok || got.Code != test.want {
				t.Errorf("Nearest(%v) = %q at %.0f m, want %s", test.p, got.Code, metres, test.want)
			}
		})
	}
}

func TestNearestLimits(t *testing.T) {
	inside, atSea, open := at(48.85, 2.35), at(43.5, 7.6), at(-40, -120)
	if c, metres, ok := Nearest(inside, 0); !ok || c.Code != "FRA" || metres != 0 {
		t.Errorf("inside: %v, %v, %v", c, metres, ok)
	}
	c, metres, ok := Nearest(atSea, 100_000)
	if !ok || metres < 10_000 || metres > 50_000 {
		t.Fatalf("off Nice: %v, %v, %v", c, metres, ok)
	}
	if _, _, ok := Nearest(atSea, metres-1); ok {
		t.Error("found beyond the limit")
	}
	if _, again, ok := Nearest(atSea, metres+1); !ok || again != metres {
		t.Errorf("with a narrow limit %v, %v; want %v", again, ok, metres)
	}
	for _, limit := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		if c, _, ok := Nearest(atSea, limit); ok {
			t.Errorf("limit %v: %v", limit, c)
		}
	}
	if c, metres, ok := Nearest(open, math.Inf(1)); ok {
		t.Errorf("mid-ocean: %v at %v m", c, metres)
	}
	for _, p := range []orb.Point{{math.NaN(), 0}, {0, math.Inf(1)}, {181, 0}, {0, 91}} {
		if c, _, ok := Nearest(p, 1000); ok {
			t.Errorf("%v: %v", p, c)
		}
	}
}

// TestNearestAgainstCircles checks distances only by Lookup: no land on circles well within the distance, and the
// country itself on a circle not far beyond it.
func TestNearestAgainstCircles(t *testing.T) {
	const limit = 30_000
	tried := 0
	for _, s := range readSamples(t)[samplesAnywhere:] {
		if math.Abs(s.point.Lat()) > 84 {
			continue
		}
		c, metres, ok := Nearest(s.point, limit)
		if metres == 0 && ok {
			continue
		}
		if tried++; tried > 400 {
			break
		}
		if !ok {
			metres = limit
		}
		touches := func(radius float64, bearings int, code string) bool {
			for i := range bearings {
				// The library's sphere is the larger one.
				scaled := radius * orb.EarthRadius / earthRadius
				q := geo.PointAtBearingAndDistance(s.point, 360*float64(i)/float64(bearings), scaled)
				q[0] = math.Remainder(q[0], 360)
				if got, found := Lookup(q); found && (code == "" || got.Code == code) {
					return true
				}
			}
			return false
		}
		for _, fraction := range []float64{0.2, 0.5, 0.8, 0.9, 0.95, 0.99} {
			if radius := metres*fraction - 15; radius > 0 && touches(radius, 360, "") {
				t.Errorf("%v: nearest is said to be %s at %.0f m, but there is land at %.0f m", s.point, c.Code, metres, radius)
			}
		}
		// What is nearest may be the tip of a spit that widens slowly.
		if ok && !touches(metres+30, 3600, c.Code) && !touches(metres+100, 3600, c.Code) && !touches(metres+400, 3600, c.Code) {
			t.Errorf("%v: nearest is said to be %s at %.0f m, but it is not there", s.point, c.Code, metres)
		}
	}
	if tried < 400 {
		t.Errorf("only %d positions tried", tried)
	}
}

func BenchmarkNearest(b *testing.B) {
	var atSea []orb.Point
	for _, s := range readSamples(b)[samplesAnywhere:] {
		if _, ok := Lookup(s.point); !ok {
			atSea = append(atSea, s.point)
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Nearest(atSea[i%len(atSea)], 30_000)
	}
}
