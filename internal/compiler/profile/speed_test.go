package profile

import (
	"math"
	"testing"
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

// TestSpeeds: a car's free speed in both directions.
func TestSpeeds(t *testing.T) {
	for _, test := range []struct {
		forward, backward uint8
		tags              []string
	}{
		{110, 110, []string{"highway=motorway"}},
		{130, 130, []string{"highway=motorway maxspeed=none"}},
		{55, 55, []string{"highway=motorway_link"}},
		{30, 30, []string{"highway=residential"}},
		{40, 40, []string{"highway=residential maxspeed=25+mph", "highway=unclassified maxspeed=80 surface=gravel", "highway=ice_road maxspeed=40"}},
		{80, 50, []string{"highway=primary maxspeed=80 maxspeed:backward=50"}},
		{70, 80, []string{"highway=primary maxspeed:forward=70"}},
		{80, 80, []string{"highway=primary maxspeed=signals"}},
		{50, 50, []string{"highway=primary source:maxspeed=RO:urban", "highway=primary source:maxspeed=RO:rural zone:traffic=RO:urban"}},
		{60, 60, []string{"highway=primary maxspeed=60 source:maxspeed=RO:urban"}},
		{15, 15, []string{"highway=track tracktype=grade5"}},
		{20, 20, []string{"highway=track tracktype=grade5 maxspeed=50", "highway=service service=parking_aisle maxspeed=20",
			"route=shuttle_train tracktype=grade5"}},
		{5, 5, []string{"highway=tertiary smoothness=very_horrible", "highway=residential maxspeed=1"}},
		{18, 18, []string{"highway=service"}},
		{10, 10, []string{"highway=service service=driveway", "route=ferry surface=mud"}},
		{200, 200, []string{"highway=motorway maxspeed=400"}},
		{25, 25, []string{"highway=winter_road"}},
	} {
		for _, tags := range test.tags {
			if r, _ := RoadOf(tagsOf(tags)); r.SpeedForward != test.forward || r.SpeedBackward != test.backward {
				t.Errorf("%s: %d and %d, want %d and %d", tags, r.SpeedForward, r.SpeedBackward, test.forward, test.backward)
			}
		}
	}
}

// TestSlowSpeeds: how fast people ride and walk.
func TestSlowSpeeds(t *testing.T) {
	for _, test := range []struct {
		bicycle, foot uint8
		tags          []string
	}{
		{18, 5, []string{"highway=residential", "highway=residential maxspeed=30", "highway=primary surface=asphalt", "highway=cycleway",
			"highway=residential sidewalk=both"}},
		{15, 5, []string{"highway=living_street"}},
		{14, 5, []string{"highway=path"}},
		{10, 4, []string{"highway=path surface=gravel"}},
		{5, 3, []string{"highway=path surface=mud"}},
		{5, 4, []string{"highway=path sac_scale=mountain_hiking"}},
		{3, 1, []string{"highway=path sac_scale=difficult_alpine_hiking"}},
		{7, 5, []string{"highway=track tracktype=grade5"}},
		{8, 5, []string{"highway=track tracktype=grade3 surface=grass"}},
		{9, 5, []string{"highway=residential surface=cobblestone"}},
		{12, 5, []string{"highway=footway bicycle=yes"}},
		{10, 5, []string{"highway=pedestrian bicycle=yes", "man_made=pier surface=wood"}},
		{3, 3, []string{"highway=steps"}},
		{18, 4, []string{"highway=residential sidewalk=separate"}},
		{10, 10, []string{"route=ferry surface=mud"}},
	} {
		for _, tags := range test.tags {
			if r, _ := RoadOf(tagsOf(tags)); r.BicycleSpeed != test.bicycle || r.FootSpeed != test.foot {
				t.Errorf("%s: %d and %d km/h, want %d and %d", tags, r.BicycleSpeed, r.FootSpeed, test.bicycle, test.foot)
			}
		}
	}
}
