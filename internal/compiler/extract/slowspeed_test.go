package extract

import "testing"

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
		tags := tagsOf(test.tags)
		h, _ := highwayOf(tags)
		if bicycle, foot := slowSpeeds(tags, h); bicycle != test.bicycle || foot != test.foot {
			t.Errorf("%s: %d and %d km/h, want %d and %d", test.tags, bicycle, foot, test.bicycle, test.foot)
		}
	}
}

// TestSlowSpeedsOfClasses: nobody stands still anywhere, and nobody walks faster than they ride, but down steps.
func TestSlowSpeedsOfClasses(t *testing.T) {
	for kind, h := range highways {
		if h.foot < 1 || h.foot > walking || h.bicycle < h.foot || h.bicycle > riding {
			t.Errorf("%s: %d and %d km/h", kind, h.bicycle, h.foot)
		}
	}
	for _, table := range []struct {
		speeds map[string]map[string]float64
		most   float64
	}{{ridingSpeeds, riding}, {walkingSpeeds, walking}} {
		for key, values := range table.speeds {
			for value, speed := range values {
				if speed < 1 || speed >= table.most {
					t.Errorf("%s=%s: %v km/h", key, value, speed)
				}
			}
		}
	}
}
