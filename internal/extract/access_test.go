package extract

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// modesOf reads "cbf": car, bicycle, foot.
func modesOf(text string) (m Modes) {
	for i, letter := range "cbf" {
		if strings.ContainsRune(text, letter) {
			m |= 1 << i
		}
	}
	return m
}

func TestAccess(t *testing.T) {
	tests := []struct {
		tags              string
		forward, backward string
	}{
		{"highway=residential", "cbf", "cbf"},
		{"highway=motorway", "c", ""},
		{"highway=motorway oneway=no", "c", "c"},
		{"highway=motorway_link", "c", "c"},
		{"highway=motorway_link oneway=yes", "c", ""},
		{"highway=trunk", "cb", "cb"},
		{"highway=trunk foot=yes", "cbf", "cbf"},
		{"highway=trunk motorroad=yes", "c", "c"},
		{"highway=primary motorroad=yes bicycle=yes", "cb", "cb"},
		{"highway=cycleway", "bf", "bf"},
		{"highway=cycleway motor_vehicle=yes", "cbf", "cbf"},
		{"highway=footway", "f", "f"},
		{"highway=footway bicycle=yes", "bf", "bf"},
		{"highway=footway access=yes", "f", "f"},
		{"highway=pedestrian motor_vehicle=destination", "f", "f"},
		{"highway=pedestrian motor_vehicle=yes", "cf", "cf"},
		{"highway=track", "bf", "bf"},
		{"highway=track motorcar=designated", "cbf", "cbf"},
		{"highway=track access=permissive", "cbf", "cbf"},
		{"highway=track motor_vehicle=agricultural", "bf", "bf"},
		{"highway=busway", "", ""},
		{"highway=busway bicycle=designated", "b", "b"},

		// One-ways.
		{"highway=residential oneway=yes", "cbf", "f"},
		{"highway=residential oneway=true", "cbf", "f"},
		{"highway=residential oneway=1", "cbf", "f"},
		{"highway=residential oneway=-1", "f", "cbf"},
		{"highway=residential oneway=reverse", "f", "cbf"},
		{"highway=residential oneway=no", "cbf", "cbf"},
		{"highway=primary oneway=reversible", "cbf", "cbf"},
		{"highway=residential oneway=yes oneway:bicycle=no", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway=opposite", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway=opposite_lane", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:left=opposite_track", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway=lane", "cbf", "f"},
		{"highway=residential oneway=-1 oneway:bicycle=yes", "bf", "cf"},
		{"highway=residential oneway=yes bicycle:backward=yes", "cbf", "bf"},
		{"highway=residential oneway=yes oneway:foot=yes", "cbf", ""},
		{"highway=tertiary junction=roundabout", "cbf", "f"},
		{"highway=tertiary junction=circular", "cbf", "f"},
		{"highway=tertiary junction=roundabout oneway=-1", "f", "cbf"},
		{"highway=tertiary junction=roundabout oneway=no", "cbf", "cbf"},
		{"highway=residential junction=yes", "cbf", "cbf"},

		// Access.
		{"highway=residential access=no", "", ""},
		{"highway=residential access=no foot=yes", "f", "f"},
		{"highway=residential access=private", "c", "c"},
		{"highway=service access=private", "", ""},
		{"highway=service access=private motor_vehicle=yes", "c", "c"},
		{"highway=service access=customers", "cbf", "cbf"},
		{"highway=residential access=destination", "cbf", "cbf"},
		{"highway=service service=emergency_access", "bf", "bf"},
		{"highway=residential vehicle=no", "f", "f"},
		{"highway=residential vehicle=no bicycle=yes", "bf", "bf"},
		{"highway=residential motor_vehicle=no", "bf", "bf"},
		{"highway=residential motor_vehicle=no motorcar=yes", "cbf", "cbf"},
		{"highway=residential motorcar=no", "bf", "bf"},
		{"highway=residential access=emergency", "", ""},
		{"highway=residential access=psv", "", ""},
		{"highway=residential access=agricultural;forestry", "", ""},
		{"highway=residential bicycle=use_sidepath", "cf", "cf"},
		{"highway=residential bicycle=dismount", "cf", "cf"},
		{"highway=residential motor_vehicle:backward=no", "cbf", "bf"},
		{"highway=residential access:forward=no", "", "cbf"},
		{"highway=residential access=unheard_of", "cbf", "cbf"},
		{"highway=unclassified smoothness=impassable", "bf", "bf"},

		{"route=ferry", "cbf", "cbf"},
		{"route=ferry motor_vehicle=no", "bf", "bf"},
		{"route=ferry foot=yes vehicle=no", "f", "f"},
	}
	for _, test := range tests {
		tags := tagsOf(test.tags)
		h, ok := highwayOf(tags)
		if !ok {
			t.Errorf("%s: no road", test.tags)
			continue
		}
		forward, backward := access(tags, h)
		if forward != modesOf(test.forward) || backward != modesOf(test.backward) {
			t.Errorf("%s: %03b and %03b, want %q and %q", test.tags, forward, backward, test.forward, test.backward)
		}
	}
}

func TestNoRoads(t *testing.T) {
	for _, tags := range []string{
		"", "building=yes", "highway=construction construction=primary", "highway=proposed", "highway=bus_stop",
		"highway=pedestrian area=yes", "highway=services", "highway=rest_area", "route=bus", "railway=rail", "highway=raceway", "highway=abandoned route=ferry",
	} {
		if h, ok := highwayOf(tagsOf(tags)); ok {
			t.Errorf("%s: a road of class %d", tags, h.class)
		}
	}
}

func TestRoadClasses(t *testing.T) {
	tests := []struct {
		tags  string
		class RoadClass
		link  bool
	}{
		{"highway=motorway", Motorway, false}, {"highway=motorway_link", Motorway, true}, {"highway=trunk_link", Trunk, true},
		{"highway=primary", Primary, false}, {"highway=secondary_link", Secondary, true}, {"highway=tertiary", Tertiary, false},
		{"highway=road", Unclassified, false}, {"highway=residential", Residential, false},
		{"highway=living_street", LivingStreet, false}, {"highway=service", Service, false}, {"highway=track", Track, false},
		{"highway=bus_guideway", BusWay, false}, {"highway=cycleway", Cycleway, false}, {"highway=steps", Footway, false},
		{"highway=path", Footway, false}, {"route=ferry", Ferry, false},
	}
	for _, test := range tests {
		if h, ok := highwayOf(tagsOf(test.tags)); !ok || h.class != test.class || h.link != test.link {
			t.Errorf("%s: %+v", test.tags, h)
		}
	}
}

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
	}
	for _, test := range tests {
		if got := barrierOf(tagsOf(test.tags)); got != modesOf(test.stops) {
			t.Errorf("%s: stops %03b, want %q", test.tags, got, test.stops)
		}
	}
}

// TestOnewayReversed: a way drawn the other way round, with its tags turned round as well, is the same road.
func TestOnewayReversed(t *testing.T) {
	turned := map[string]string{"yes": "-1", "-1": "yes", "no": "no", "reversible": "reversible"}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"primary", "residential", "service", "cycleway", "path", "track"}).Draw(t, "highway")
		oneway := rapid.SampledFrom([]string{"yes", "-1", "no", "reversible"}).Draw(t, "oneway")
		closed := rapid.SampledFrom([]string{"motor_vehicle", "bicycle", "access", "vehicle"}).Draw(t, "key")
		there := tagsOf("highway=" + kind + " oneway=" + oneway + " " + closed + ":forward=no")
		back := tagsOf("highway=" + kind + " oneway=" + turned[oneway] + " " + closed + ":backward=no")
		h, _ := highwayOf(there)
		f1, b1 := access(there, h)
		f2, b2 := access(back, h)
		if f1 != b2 || b1 != f2 {
			t.Fatalf("%v: %03b %03b; turned: %03b %03b", there, f1, b1, f2, b2)
		}
	})
}
