package profile

import "testing"

func TestBarriers(t *testing.T) {
	tests := []struct{ tags, stops string }{
		{"", ""},
		{"highway=traffic_signals access=no", ""},
		{"barrier=bollard", "c"},
		{"barrier=bollard bollard=rising", ""},
		{"barrier=bollard motor_vehicle=yes", ""},
		{"barrier=bollard access=private", "bf"},
		{"barrier=gate", ""},
		{"barrier=gate access=private", "bf"},
		{"barrier=gate access=no", "cbf"},
		{"barrier=gate access=no foot=yes bicycle=yes", "c"},
		{"barrier=lift_gate vehicle=no", "cb"},
		{"barrier=cycle_barrier", "c"},
		{"barrier=block", "c"},
		{"barrier=toll_booth", ""},
		{"barrier=cattle_grid", ""},
		{"barrier=stile", "cb"},
		{"barrier=fence", "cbf"},
		{"barrier=swing_gate emergency=yes", ""},
		{"barrier=fence sensory=yes", ""},
		{"barrier=fence sensory=audible", ""},
		{"barrier=wall sensory=visual", ""},
		{"barrier=hedge sensory=no", "cbf"},
		{"barrier=fence sensory=yes access=no", "cbf"},
		{"barrier=bollard access=taxi", "cbf"},
		{"barrier=bollard access=foot", "cb"},
		{"barrier=gate motor_vehicle=agricultural;forestry", "c"},
		{"barrier=gate motor_vehicle=agricultural;destination", ""},
		{"barrier=cycle_barrier bicycle=dismount", "c"},
		{"barrier=kerb", ""},
		{"barrier=kerb kerb=raised", "c"},

		{"barrier=gate locked=yes", "c"},
		{"barrier=gate locked=no", ""},
		{"barrier=lift_gate locked=yes", "c"},
		{"barrier=gate locked=yes motor_vehicle=yes", ""},
		{"barrier=gate locked=yes access=private", "bf"},
		{"barrier=gate locked=yes bicycle=no", "cb"},
		{"locked=yes", ""},

		// Nodes of which the tags say who passes, and nodes at which they say something else.
		{"access=no", "cbf"},
		{"motor_vehicle=no", "c"},
		{"bicycle=no", "b"},
		{"access=private", ""},
		{"access=yes", ""},
		{"highway=crossing bicycle=no", ""},
		{"railway=level_crossing foot=no", ""},
		{"amenity=parking_entrance access=no", ""},
	}
	for _, test := range tests {
		if got := Stops(tagsOf(test.tags)); got != modesIn(test.stops) {
			t.Errorf("%s: stops %03b, want %q", test.tags, got, test.stops)
		}
	}
}
