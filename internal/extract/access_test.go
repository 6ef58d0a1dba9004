package extract

import (
	"strings"
	"testing"

	"github.com/paulmach/osm"
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
		{"highway=unclassified smoothness=impassable", "f", "f"},
		{"highway=residential access=official foot=official", "f", "f"},
		{"highway=runway", "", ""},
		{"highway=runway motor_vehicle=yes", "c", "c"},
		{"highway=runway access=yes", "cbf", "cbf"},
		{"highway=runway bicycle=designated", "b", "b"},

		// What bicycles and walkers have of their own.
		{"highway=motorway bicycle=yes", "cb", ""},
		{"highway=motorway cycleway=track", "cb", ""},
		{"highway=motorway cycleway=track bicycle=no", "c", ""},
		{"highway=trunk sidewalk=both", "cbf", "cbf"},
		{"highway=trunk sidewalk:left=yes", "cbf", "cbf"},
		{"highway=trunk sidewalk=no", "cb", "cb"},
		{"highway=trunk sidewalk=both foot=no", "cb", "cb"},
		{"highway=trunk sidewalk=both motorroad=yes", "c", "c"},
		{"highway=motorway foot=yes", "cf", "f"},
		{"highway=residential foot=no", "cb", "cb"},
		{"highway=residential foot=use_sidepath", "cb", "cb"},
		{"highway=residential sidewalk=separate", "cbf", "cbf"},
		{"highway=residential bicycle=no", "cf", "cf"},
		{"highway=residential access=no bicycle=yes", "b", "b"},
		{"highway=steps bicycle=yes", "bf", "bf"},
		{"highway=steps conveying=forward", "f", ""},
		{"highway=footway conveying=backward", "", "f"},
		{"highway=steps conveying=reversible", "f", "f"},
		{"highway=elevator", "f", "f"},
		{"highway=footway oneway=yes", "f", "f"},
		{"highway=footway oneway:foot=-1", "", "f"},
		{"highway=cycleway oneway=yes", "bf", "f"},
		{"highway=path oneway=yes oneway:bicycle=no", "bf", "bf"},
		{"man_made=pier", "bf", "bf"},
		{"man_made=pier access=private", "", ""},
		{"railway=platform", "f", "f"},
		{"public_transport=platform bicycle=yes", "bf", "bf"},
		{"leisure=track foot=no", "", ""},

		// Against a one-way by bicycle.
		{"highway=residential oneway=yes oneway:bicycle=-1", "cf", "bf"},
		{"highway=residential oneway=yes cycleway=opposite_share_busway", "cbf", "bf"},
		{"highway=residential oneway=-1 cycleway=opposite", "bf", "cbf"},
		{"highway=residential oneway=yes cycleway:right=opposite_lane", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:both=opposite", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:left=lane", "cbf", "f"},
		{"highway=residential oneway=yes cycleway:left=lane cycleway:left:oneway=-1", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:left=track cycleway:left:oneway=no", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:left=lane cycleway:left:oneway=yes", "cbf", "f"},
		{"highway=residential oneway=yes cycleway:both=lane cycleway:both:oneway=no", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway=track cycleway:oneway=-1", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:left=no cycleway:left:oneway=-1", "cbf", "f"},
		{"highway=residential oneway=yes cycleway:left=separate cycleway:left:oneway=no", "cbf", "f"},
		{"highway=residential oneway=-1 cycleway:right=lane cycleway:right:oneway=yes", "bf", "cbf"},
		{"highway=residential oneway=-1 cycleway:right=lane cycleway:right:oneway=-1", "f", "cbf"},
		{"highway=residential oneway=yes bicycle=no cycleway=opposite", "cf", "f"},
		{"highway=tertiary junction=roundabout cycleway=opposite_track", "cbf", "bf"},
		{"highway=tertiary junction=roundabout oneway:bicycle=no", "cbf", "bf"},
		{"highway=cycleway junction=roundabout", "bf", "f"},

		// Along the edges of squares.
		{"highway=pedestrian area=yes", "f", "f"},
		{"highway=pedestrian area=yes bicycle=yes", "bf", "bf"},
		{"highway=pedestrian area=yes motor_vehicle=yes", "f", "f"},
		{"highway=footway area=yes oneway=yes", "f", "f"},
		{"highway=service area=yes", "bf", "bf"},
		{"highway=residential area=yes oneway=yes junction=roundabout", "bf", "bf"},
		{"highway=pedestrian area=yes access=private", "", ""},
		{"railway=platform area=yes", "f", "f"},

		{"route=ferry", "cbf", "cbf"},
		{"route=shuttle_train", "cbf", "cbf"},
		{"route=shuttle_train railway=rail", "cbf", "cbf"},
		{"route=shuttle_train motor_vehicle=no", "bf", "bf"},
		{"route=shuttle_train foot=no bicycle=no", "c", "c"},
		{"route=road;ferry", "cbf", "cbf"},
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
		if forward.open != modesOf(test.forward) || backward.open != modesOf(test.backward) {
			t.Errorf("%s: %03b and %03b, want %q and %q", test.tags, forward.open, backward.open, test.forward, test.backward)
		}
	}
}

// rightsOf reads "cbf" for modes to which a road is open, in capitals where only to those who have a destination there.
func rightsOf(text string) (r rights) {
	r.destination = modesOf(strings.ToLower(strings.Map(func(letter rune) rune {
		if letter >= 'a' {
			return -1
		}
		return letter
	}, text)))
	r.open = modesOf(strings.ToLower(text))
	return r
}

// TestAccessValues: every value that means something, on a street, on a service road, on a footway by its mode's own key, and
// on a gate.
func TestAccessValues(t *testing.T) {
	tests := []struct{ value, street, service, footway, gate string }{
		{"yes", "cbf", "cbf", "cbf", ""},
		{"permissive", "cbf", "cbf", "cbf", ""},
		{"designated", "cbf", "cbf", "cbf", ""},
		{"public", "cbf", "cbf", "cbf", ""},
		{"destination", "CBF", "CBF", "F", ""},
		{"customers", "CBF", "CBF", "F", ""},
		{"visitors", "CBF", "CBF", "F", ""},
		{"private", "C", "", "", "bf"},
		{"permit", "C", "C", "", "bf"},
		{"residents", "C", "C", "", "bf"},
		{"employees", "C", "C", "", "bf"},
		{"delivery", "C", "C", "", "bf"},
		{"hov", "C", "C", "", "bf"},
		{"no", "", "", "", "cbf"},
		{"official", "", "", "bf", "cbf"},
		{"taxi", "", "", "", "cbf"},
		{"share_taxi", "", "", "", "cbf"},
		{"minibus", "", "", "", "cbf"},
		{"bus", "", "", "", "cbf"},
		{"psv", "", "", "", "cbf"},
		{"emergency", "", "", "", "cbf"},
		{"emergency_vehicle", "", "", "", "cbf"},
		{"agricultural", "", "", "", "cbf"},
		{"forestry", "", "", "", "cbf"},
		{"military", "", "", "", "cbf"},
		{"hgv", "", "", "", "cbf"},
		{"moped", "", "", "", "cbf"},
		{"horse", "", "", "", "cbf"},
		{"disabled", "", "", "", "cbf"},
		{"foot", "f", "f", "f", "cb"},
		{"bicycle", "b", "b", "b", "cf"},
		{"motorcar", "c", "c", "c", "bf"},
		{"motor_vehicle", "c", "c", "c", "bf"},
		{"vehicle", "cb", "cb", "cb", "f"},
		{"dismount", "cf", "cf", "f", ""},
		{"discouraged", "cbf", "cbf", "f", ""},
		{"unheard_of", "cbf", "cbf", "f", ""},

		// Of several each counts.
		{"no;destination", "CBF", "CBF", "F", ""},
		{"agricultural;forestry", "", "", "", "cbf"},
		{"psv; taxi", "", "", "", "cbf"},
		{"psv;yes", "cbf", "cbf", "cbf", ""},
		{"taxi;bicycle", "b", "b", "b", "cf"},
		{"private;destination", "CBF", "CBF", "F", ""},
		{"private;agricultural", "C", "", "", "bf"},
		{"foot;bicycle;emergency", "bf", "bf", "bf", "c"},
		{"unheard_of;no", "", "", "", "cbf"},
		{";", "cbf", "cbf", "f", ""},
	}
	rights := func(tags ...osm.Tag) rights {
		h, _ := highwayOf(tags)
		forward, backward := access(tags, h)
		if forward != backward {
			t.Errorf("%v: %+v and %+v", tags, forward, backward)
		}
		return forward
	}
	for _, test := range tests {
		street := rights(osm.Tag{Key: "highway", Value: "residential"}, osm.Tag{Key: "access", Value: test.value})
		if street != rightsOf(test.street) {
			t.Errorf("access=%s on a street: %+v, want %q", test.value, street, test.street)
		}
		service := rights(osm.Tag{Key: "highway", Value: "service"}, osm.Tag{Key: "access", Value: test.value})
		if service != rightsOf(test.service) {
			t.Errorf("access=%s on a service road: %+v, want %q", test.value, service, test.service)
		}
		footway := rights(osm.Tag{Key: "highway", Value: "footway"}, osm.Tag{Key: "motor_vehicle", Value: test.value},
			osm.Tag{Key: "bicycle", Value: test.value}, osm.Tag{Key: "foot", Value: test.value})
		if footway != rightsOf(test.footway) {
			t.Errorf("%s by every mode's key on a footway: %+v, want %q", test.value, footway, test.footway)
		}
		gate := barrierOf(osm.Tags{{Key: "barrier", Value: "gate"}, {Key: "access", Value: test.value}})
		if gate != modesOf(test.gate) {
			t.Errorf("access=%s on a gate stops %03b, want %q", test.value, gate, test.gate)
		}
	}
}

// TestDestinationOnly: which roads are no through roads, and in which direction.
func TestDestinationOnly(t *testing.T) {
	tests := []struct{ tags, forward, backward string }{
		{"highway=residential", "cbf", "cbf"},
		{"highway=residential access=destination foot=yes", "CBf", "CBf"},
		{"highway=residential vehicle=destination bicycle=yes", "Cbf", "Cbf"},
		{"highway=residential motor_vehicle=destination", "Cbf", "Cbf"},
		{"highway=residential access=no motor_vehicle=destination", "C", "C"},
		{"highway=residential access=destination motorcar=yes", "cBF", "cBF"},
		{"highway=residential motor_vehicle:backward=destination", "cbf", "Cbf"},
		{"highway=residential oneway=yes access=destination", "CBF", "F"},
		{"highway=pedestrian motor_vehicle=destination", "f", "f"},
		{"highway=track motor_vehicle=destination", "bf", "bf"},
		{"highway=secondary hov=designated", "Cbf", "Cbf"},
		{"highway=motorway hov:lanes=designated|designated", "C", ""},
		{"highway=motorway hov:lanes=designated|yes", "c", ""},
		{"highway=secondary hov:lanes:backward=designated", "cbf", "Cbf"},
		{"highway=residential motor_vehicle=no hov=designated", "bf", "bf"},
		{"route=ferry access=private", "C", "C"},
	}
	for _, test := range tests {
		tags := tagsOf(test.tags)
		h, _ := highwayOf(tags)
		forward, backward := access(tags, h)
		if forward != rightsOf(test.forward) || backward != rightsOf(test.backward) {
			t.Errorf("%s: %+v and %+v, want %q and %q", test.tags, forward, backward, test.forward, test.backward)
		}
	}
}

func TestNoRoads(t *testing.T) {
	for _, tags := range []string{
		"", "building=yes", "highway=construction construction=primary", "highway=proposed", "highway=bus_stop",
		"highway=services", "highway=rest_area", "route=bus", "railway=rail", "highway=raceway", "highway=abandoned route=ferry",
		"highway=services access=yes", "highway=construction motor_vehicle=yes", "route=train", "leisure=pitch", "man_made=bridge",
		"highway=winter_road", "highway=ice_road", "highway=winter_road motor_vehicle=yes", "highway=primary winter_road=yes",
		"highway=unclassified ice_road=yes", "highway=track ice_road=yes foot=yes", "route=ferry winter_road=yes",
		"highway=primary construction=yes", "highway=primary construction=primary", "highway=footway construction=yes",
		"route=ferry construction=yes", "highway=primary proposed=yes", "highway=residential impassable=yes",
		"highway=path status=impassable",
	} {
		if r := newCollector(nil).road(1, tagsOf(tags)); r != nil {
			t.Errorf("%s: %+v", tags, r)
		}
	}
	for _, tags := range []string{
		"highway=primary construction=no", "highway=primary construction=minor", "highway=primary construction=widening",
		"highway=primary winter_road=no ice_road=no", "highway=primary proposed=no", "highway=primary status=passable",
	} {
		if r := newCollector(nil).road(1, tagsOf(tags)); r == nil || r.Forward != everyone || r.Backward != everyone {
			t.Errorf("%s: %+v", tags, r)
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
		{"route=shuttle_train", Ferry, false}, {"man_made=pier", Footway, false}, {"railway=platform", Footway, false},
		{"highway=runway", Unclassified, false},
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
