package extract

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
		kmh, ok := parseMaxspeed(test.value)
		if ok != (test.kmh > 0) || ok && math.Abs(kmh-test.kmh) > 1e-9 {
			t.Errorf("%q: %v, %v; want %v", test.value, kmh, ok, test.kmh)
		}
	}
}

func FuzzParseMaxspeed(f *testing.F) {
	for _, seed := range []string{"50", "30 mph", "10 knots", "walk", "none", "RO:urban", "DE:zone:30", "50;30", "1.5.",
		":", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		kmh, ok := parseMaxspeed(value)
		if ok && !(kmh > 0 && kmh < 1000) {
			t.Errorf("%q: %v km/h", value, kmh)
		}
		forward, backward := speeds(tagsOf("highway=primary maxspeed="+value), highways["primary"])
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
	}
	for _, test := range tests {
		tags := tagsOf(test.tags)
		h, _ := highwayOf(tags)
		if forward, backward := speeds(tags, h); forward != test.forward || backward != test.backward {
			t.Errorf("%s: %d and %d, want %d and %d", test.tags, forward, backward, test.forward, test.backward)
		}
	}
}

// TestClassSpeeds: without tags, a more important road is never slower, and a link never as fast as its road.
func TestClassSpeeds(t *testing.T) {
	order := []string{"motorway", "trunk", "primary", "secondary", "tertiary", "unclassified", "residential", "service",
		"living_street"}
	for i := 1; i < len(order); i++ {
		if highways[order[i-1]].speed < highways[order[i]].speed {
			t.Errorf("%s is slower than %s", order[i-1], order[i])
		}
	}
	for _, class := range order[:5] {
		if highways[class+"_link"].speed >= highways[class].speed {
			t.Errorf("%s_link is as fast as %s", class, class)
		}
	}
}
