package profile

import "testing"

// TestBarriers: whom nodes stop.
func TestBarriers(t *testing.T) {
	for _, test := range []struct {
		stops string
		tags  []string
	}{
		{"", []string{"", "highway=traffic_signals access=no", "barrier=bollard bollard=rising", "barrier=bollard motor_vehicle=yes", "barrier=gate",
			"barrier=toll_booth", "barrier=cattle_grid", "barrier=swing_gate emergency=yes", "barrier=fence sensory=yes", "barrier=fence sensory=audible",
			"barrier=wall sensory=visual", "barrier=gate motor_vehicle=agricultural;destination", "barrier=kerb", "barrier=gate locked=no",
			"barrier=gate locked=yes motor_vehicle=yes", "locked=yes"}},
		{"c", []string{"barrier=bollard", "barrier=gate access=no foot=yes bicycle=yes", "barrier=cycle_barrier", "barrier=block",
			"barrier=gate motor_vehicle=agricultural;forestry", "barrier=cycle_barrier bicycle=dismount", "barrier=kerb kerb=raised",
			"barrier=gate locked=yes", "barrier=lift_gate locked=yes"}},
		{"bf", []string{"barrier=bollard access=private", "barrier=gate access=private", "barrier=gate locked=yes access=private"}},
		{"cbf", []string{"barrier=gate access=no", "barrier=fence", "barrier=hedge sensory=no", "barrier=fence sensory=yes access=no",
			"barrier=bollard access=taxi"}},
		{"cb", []string{"barrier=lift_gate vehicle=no", "barrier=stile", "barrier=bollard access=foot", "barrier=gate locked=yes bicycle=no"}},
		// Nodes of which the tags say who passes, and nodes at which they say something else.
		{"cbf", []string{"access=no"}},
		{"c", []string{"motor_vehicle=no"}},
		{"b", []string{"bicycle=no"}},
		{"", []string{"access=private", "access=yes", "highway=crossing bicycle=no", "railway=level_crossing foot=no",
			"amenity=parking_entrance access=no"}},
	} {
		for _, tags := range test.tags {
			if got := Stops(tagsOf(tags)); got != modesIn(test.stops) {
				t.Errorf("%s: stops %03b, want %q", tags, got, test.stops)
			}
		}
	}
}
