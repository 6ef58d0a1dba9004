package profile

import (
	"math"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/region"
)

func TestParseMaxspeed(t *testing.T) {
	tests := []struct {
		value string
		kmh   float64 // 0: none
	}{
		{"50", 50}, {" 50 ", 50}, {"50 km/h", 50}, {"50kmh", 50}, {"30 mph", 48.28032}, {"30mph", 48.28032},
		{"10 knots", 18.52}, {"7.5", 7.5}, {"walk", 7}, {"none", 130}, {"120;80", 120},
		{"RO:urban", 50}, {"RO:rural", 90}, {"RO:motorway", 130}, {"DE:rural", 100}, {"DE:zone:30", 30}, {"DE:zone30", 30},
		{"DE:30", 30}, {"GB:nsl_single", 96.56064}, {"UK:nsl_dual", 112.65408}, {"FR:urban", 50}, {"urban", 50},
		{"IT:trunk", 110}, {"DE:living_street", 15},
		{"", 0}, {"signals", 0}, {"variable", 0}, {"0", 0}, {"-30", 0}, {"fast", 0}, {"50 parsecs", 0}, {"1e3", 0},
		{"99999", 0},
		{"NaN", 0}, {"Inf", 0}, {"5.5.5", 0}, {"RO:", 0}, {":", 0}, {"zone", 30}, {"DE:zone:", 0}, {"５０", 0},
	}
	for _, test := range tests {
		kmh := parseMaxspeed(test.value)
		if none := math.IsInf(kmh, 1); none != (test.kmh == 0) || !none && math.Abs(kmh-test.kmh) > 1e-9 {
			t.Errorf("%q: %v, want %v", test.value, kmh, test.kmh)
		}
	}
}

func FuzzParseMaxspeed(f *testing.F) {
	for _, seed := range []string{"50", "30 mph", "10 knots", "walk", "none", "RO:urban", "DE:zone:30", "50;30", "1.5.",
		":", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if kmh := parseMaxspeed(value); !(kmh > 0 && kmh < 1000 || math.IsInf(kmh, 1)) {
			t.Errorf("%q: %v km/h", value, kmh)
		}
		forward, backward := car.speeds(tagsOf("highway=primary maxspeed="+value), &way{kind: kinds["primary"]})
		if forward < minSpeed || backward < minSpeed || forward > maxSpeed || backward > maxSpeed {
			t.Errorf("%q: %d, %d km/h", value, forward, backward)
		}
	})
}

func TestSpeeds(t *testing.T) {
	tests := []struct {
		tags              string
		forward, backward uint8
	}{
		{"highway=motorway", 110, 110},
		{"highway=motorway maxspeed=none", 130, 130},
		{"highway=motorway_link", 55, 55},
		{"highway=residential", 30, 30},
		{"highway=residential maxspeed=25+mph", 40, 40},
		{"highway=primary maxspeed=80 maxspeed:backward=50", 80, 50},
		{"highway=primary maxspeed:forward=70", 70, 80},
		{"highway=primary maxspeed=signals", 80, 80},
		{"highway=primary source:maxspeed=RO:urban", 50, 50},
		{"highway=primary maxspeed=60 source:maxspeed=RO:urban", 60, 60},
		{"highway=unclassified maxspeed=80 surface=gravel", 40, 40},
		{"highway=track tracktype=grade5", 15, 15},
		{"highway=track tracktype=grade5 maxspeed=50", 20, 20},
		{"highway=tertiary smoothness=very_horrible", 5, 5},
		{"highway=service", 18, 18},
		{"highway=service service=driveway", 10, 10},
		{"highway=service service=parking_aisle maxspeed=20", 20, 20},
		{"highway=residential maxspeed=1", 5, 5},
		{"highway=motorway maxspeed=400", 200, 200},
		{"highway=winter_road", 25, 25},
		{"highway=ice_road maxspeed=40", 40, 40},
		{"highway=primary source:maxspeed=RO:rural zone:traffic=RO:urban", 50, 50},
		{"route=ferry surface=mud", 10, 10},
		{"route=shuttle_train tracktype=grade5", 20, 20},
	}
	for _, test := range tests {
		r, _ := RoadOf(tagsOf(test.tags))
		if r.SpeedForward != test.forward || r.SpeedBackward != test.backward {
			t.Errorf("%s: %d and %d, want %d and %d", test.tags, r.SpeedForward, r.SpeedBackward, test.forward, test.backward)
		}
	}
}

// TestClassSpeeds: without tags, a more important road is never slower, and a link never as fast as its road.
func TestClassSpeeds(t *testing.T) {
	order := []string{"motorway", "trunk", "primary", "secondary", "tertiary", "unclassified", "residential", "service",
		"living_street"}
	for i := 1; i < len(order); i++ {
		if car.usual[order[i-1]] < car.usual[order[i]] {
			t.Errorf("%s is slower than %s", order[i-1], order[i])
		}
	}
	for _, class := range order[:5] {
		if car.usual[class+"_link"] >= car.usual[class] {
			t.Errorf("%s_link is as fast as %s", class, class)
		}
	}
}

func TestSlowSpeeds(t *testing.T) {
	tests := []struct {
		tags          string
		bicycle, foot uint8
	}{
		{"highway=residential", 18, 5},
		{"highway=residential maxspeed=30", 18, 5},
		{"highway=primary surface=asphalt", 18, 5},
		{"highway=cycleway", 18, 5},
		{"highway=living_street", 15, 5},
		{"highway=path", 14, 5},
		{"highway=path surface=gravel", 10, 4},
		{"highway=path surface=mud", 5, 3},
		{"highway=path sac_scale=mountain_hiking", 5, 4},
		{"highway=path sac_scale=difficult_alpine_hiking", 3, 1},
		{"highway=track tracktype=grade5", 7, 5},
		{"highway=track tracktype=grade3 surface=grass", 8, 5},
		{"highway=residential surface=cobblestone", 9, 5},
		{"highway=footway bicycle=yes", 12, 5},
		{"highway=pedestrian bicycle=yes", 10, 5},
		{"highway=steps", 3, 3},
		{"highway=residential sidewalk=separate", 18, 4},
		{"highway=residential sidewalk=both", 18, 5},
		{"route=ferry surface=mud", 10, 10},
		{"man_made=pier surface=wood", 10, 5},
	}
	for _, test := range tests {
		r, _ := RoadOf(tagsOf(test.tags))
		if r.BicycleSpeed != test.bicycle || r.FootSpeed != test.foot {
			t.Errorf("%s: %d and %d km/h, want %d and %d", test.tags, r.BicycleSpeed, r.FootSpeed, test.bicycle, test.foot)
		}
	}
}

// TestSlowSpeedsOfKinds: nobody stands still anywhere, and nobody walks faster than they ride, but down steps.
func TestSlowSpeedsOfKinds(t *testing.T) {
	for name, k := range kinds {
		ride, walk := bicycle.byKind[k.number].speed, foot.byKind[k.number].speed
		if k.class != region.Ferry && (walk < 1 || walk > foot.speed || ride < walk || ride > bicycle.speed) {
			t.Errorf("%s: %v and %v km/h", name, ride, walk)
		}
	}
	for _, p := range []*profile{bicycle, foot} {
		for _, c := range p.caps {
			for value, speed := range c.speeds {
				if speed < 1 || speed >= p.speed {
					t.Errorf("%v=%s: %v km/h", c.key, value, speed)
				}
			}
		}
	}
}
